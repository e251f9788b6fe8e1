"""The hot loops of tree search: histograms, the best split, and what would follow it.

Rows come with a few numbers each (``stats``): scores, then the weight, whether the row
counts as support, and one. What a leaf loses follows from the sums of these over its
rows, so that all splits of a node can be judged by its histogram.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._numeric import kernel
from clearwood.search._kernels import put

N_EXTRA = 3
"""Columns after the scores: weight, support, number of rows."""

SQUARES, LOG_VARIANCE, LOG_MEAN = 0, 1, 2

SMALLEST_GAIN = 1e-9
"""A tree whose nodes are boxes to choose from grows only if it loses so much less."""


class LeafLoss(NamedTuple):
    """What a leaf loses, as a function of sums over its rows.

    Attributes
    ----------
    kind : int
        ``SQUARES``: ``hard`` times the least score (the cost of the class that costs
        least) less ``soft`` times what the mean scores explain of their squares.
        ``LOG_VARIANCE``: the weight times the log of the variance, summed over pairs
        of scores, a value and its square. ``LOG_MEAN``: less the scores times the logs
        of their means: the cross-entropy of class probabilities, the deviance of a
        rate.
    hard, soft : float
    """

    kind: int
    hard: float = 0.0
    soft: float = 0.0


SQUARED_ERROR = LeafLoss(SQUARES, soft=1.0)
"""A leaf says the mean of its rows, and loses their squared differences from it."""


@kernel
def add_rows(column, rows, here, sums):
    """Add a line per row to those of bins; for few scores without a slower loop."""
    n_columns = here.shape[1]
    for j in range(len(rows)):
        b = column[rows[j]]
        if n_columns == 4 or n_columns == 5:
            sums[b, 0] += here[j, 0]
            sums[b, 1] += here[j, 1]
            sums[b, 2] += here[j, 2]
            sums[b, 3] += here[j, 3]
            if n_columns == 5:
                sums[b, 4] += here[j, 4]
            continue
        for c in range(n_columns):
            sums[b, c] += here[j, c]


@kernel
def histogram(columns, start, n_total, rows, stats):
    """Sums of ``stats`` over some rows, per bin of every feature."""
    sums = np.zeros((n_total, stats.shape[1]))
    here = stats[rows]
    for d in range(columns.shape[0]):
        add_rows(columns[d], rows, here, sums[start[d] :])
    return sums


@kernel
def partition(column, rows, goes_left):
    """The rows whose bins go left, and the others."""
    left = np.empty(len(rows), dtype=np.int64)
    right = np.empty(len(rows), dtype=np.int64)
    n_left = 0
    for j in range(len(rows)):
        i = rows[j]
        is_left = goes_left[column[i]]
        left[n_left] = i
        right[j - n_left] = i
        n_left += is_left
    return left[:n_left].copy(), right[: len(rows) - n_left].copy()


@kernel
def sum_rows(stats, rows):
    """Sums of ``stats`` over some rows."""
    sums = np.zeros(stats.shape[1])
    for i in rows:
        for c in range(stats.shape[1]):
            sums[c] += stats[i, c]
    return sums


@kernel
def leaf_loss(sums, leaf):
    """What is lost in a leaf, but for a constant per row; see :class:`LeafLoss`."""
    n_scores = len(sums) - N_EXTRA
    weight = sums[n_scores]
    if weight <= 0.0:
        return 0.0
    lost = 0.0
    if leaf.kind == LOG_VARIANCE:
        for c in range(0, n_scores, 2):
            mean = sums[c] / weight
            lost += weight * np.log(sums[c + 1] / weight - mean * mean)
        return lost
    if leaf.kind == LOG_MEAN:
        for c in range(n_scores):
            if sums[c] > 0.0:
                lost -= sums[c] * np.log(sums[c] / weight)
        return lost
    least, squares = sums[0], 0.0
    for c in range(n_scores):
        least = min(least, sums[c])
        squares += sums[c] * sums[c]
    return leaf.hard * least - leaf.soft * squares / weight


@kernel
def in_order(sums, bins, score, n_compared):
    """Some bins of a category by how much one score stands out among the first few."""
    n_scores = sums.shape[1] - N_EXTRA
    key = np.empty(len(bins))
    for j in range(len(bins)):
        line = sums[bins[j]]
        others = 0.0
        for c in range(n_compared):
            others += line[c]
        own = line[score] - (others - line[score]) / max(n_compared - 1, 1)
        key[j] = own / line[n_scores]
    return bins[np.argsort(key)]


@kernel
def prefix_split(sums, order, kept_right, leaf, least):
    """The best cut in an order of bins: first bins left, all others right.

    Bins with rows that are not in the order are summed in ``kept_right``. Returns the
    loss and how many bins go left.
    """
    n_columns = sums.shape[1]
    if leaf.kind == SQUARES:
        return prefix_split_of_squares(
            sums, order, kept_right, leaf.hard, leaf.soft, least
        )
    support = n_columns - 2
    left, right = np.zeros(n_columns), kept_right.copy()
    for b in order:
        for c in range(n_columns):
            right[c] += sums[b, c]
    best, n_left = np.inf, 0
    for j in range(len(order)):
        for c in range(n_columns):
            left[c] += sums[order[j], c]
            right[c] -= sums[order[j], c]
        if left[support] >= least and right[support] >= least:
            loss = leaf_loss(left, leaf) + leaf_loss(right, leaf)
            if loss < best:
                best, n_left = loss, j + 1
    return best, n_left


@kernel
def prefix_split_of_squares(sums, order, kept_right, hard, soft, least):
    """The same for ``SQUARES``, bit for bit, in less time."""
    n_scores = sums.shape[1] - N_EXTRA
    left, right = np.zeros(n_scores), kept_right[:n_scores].copy()
    weight, support = 0.0, 0.0
    their_weight, their_support = kept_right[n_scores], kept_right[n_scores + 1]
    for b in order:
        for c in range(n_scores):
            right[c] += sums[b, c]
        their_weight += sums[b, n_scores]
        their_support += sums[b, n_scores + 1]
    best, n_left = np.inf, 0
    for j in range(len(order)):
        line = sums[order[j]]
        weight += line[n_scores]
        their_weight -= line[n_scores]
        support += line[n_scores + 1]
        their_support -= line[n_scores + 1]
        squares, their_squares = 0.0, 0.0
        lowest, their_lowest = np.inf, np.inf
        for c in range(n_scores):
            left[c] += line[c]
            right[c] -= line[c]
            squares += left[c] * left[c]
            their_squares += right[c] * right[c]
            lowest = min(lowest, left[c])
            their_lowest = min(their_lowest, right[c])
        if support >= least and their_support >= least:
            loss, other = 0.0, 0.0
            if weight > 0.0:
                loss = hard * lowest - soft * squares / weight
            if their_weight > 0.0:
                other = hard * their_lowest - soft * their_squares / their_weight
            loss += other
            if loss < best:
                best, n_left = loss, j + 1
    return best, n_left


@kernel
def left_is_larger(sums, order, n_left):
    """Whether more rows are in the first bins of an order than in the others."""
    left, right = 0.0, 0.0
    for j in range(len(order)):
        if j < n_left:
            left += sums[order[j], -1]
        else:
            right += sums[order[j], -1]
    return left > right


@kernel
def split_numeric(sums, leaf, least, goes_left):
    """The best cut of a numeric feature, its missing values on the better side.

    Of cuts that part the rows alike, the middle one. Returns the loss; ``goes_left`` is
    filled.
    """
    last, ones = len(sums) - 1, sums.shape[1] - 1
    filled = np.flatnonzero(sums[:last, ones] > 0.0)
    best, n_left = prefix_split(sums, filled, sums[last], leaf, least)
    missing_left = False
    if sums[last, ones] > 0.0:
        # Missing values go left with the low ones: the same from the other end.
        other, n_other = prefix_split(
            sums, filled[::-1].copy(), sums[last], leaf, least
        )
        if other < best:
            best, n_left, missing_left = other, len(filled) - n_other, True
    else:
        missing_left = left_is_larger(sums, filled, n_left)
    if best == np.inf:
        return best
    cut = filled[n_left - 1] if n_left > 0 else 0
    if 0 < n_left < len(filled):
        cut = (cut + filled[n_left] - 1) // 2
    elif n_left == len(filled):
        cut = last - 1
    for b in range(last):
        goes_left[b] = n_left > 0 and b <= cut
    goes_left[last] = missing_left
    return best


@kernel
def split_categories(sums, leaf, least, goes_left):
    """The best two groups of categories among those in order of some score.

    Bins without rows go with the larger group.
    """
    ones = sums.shape[1] - 1
    n_scores = sums.shape[1] - N_EXTRA
    filled = np.flatnonzero(sums[:, ones] > 0.0)
    nothing = np.zeros(sums.shape[1])
    # Beside a value, its square says nothing of the order.
    n_compared = 1 if leaf.kind == LOG_VARIANCE else n_scores
    best = np.inf
    for score in range(n_compared if n_compared > 2 else 1):
        order = in_order(sums, filled, score, n_compared)
        loss, n_left = prefix_split(sums, order, nothing, leaf, least)
        if loss < best:
            best = loss
            goes_left[:] = left_is_larger(sums, order, n_left)
            for j in range(len(order)):
                goes_left[order[j]] = j < n_left
    return best


@kernel
def split_feature(sums, is_category, leaf, least, goes_left):
    """The best split by one feature, of either kind."""
    if is_category:
        return split_categories(sums, leaf, least, goes_left)
    return split_numeric(sums, leaf, least, goes_left)


@kernel
def best_splits(sums, start, n_bins, is_category, leaf, least):
    """Per feature the least loss after one split, and which bins it sends left.

    Infinite where no split leaves ``least`` support on both sides.
    """
    losses = np.empty(len(start))
    goes_left = np.zeros(len(sums), dtype=np.bool_)
    for d in range(len(start)):
        part = slice(start[d], start[d] + n_bins[d])
        losses[d] = split_feature(
            sums[part], is_category[d], leaf, least, goes_left[part]
        )
    return losses, goes_left


@kernel
def best_splits_of_rows(columns, start, n_bins, is_category, rows, stats, leaf, least):
    """The same for some rows; a histogram of hundreds of scores fits no cache."""
    losses = np.empty(len(start))
    goes_left = np.zeros(n_bins.sum(), dtype=np.bool_)
    sums = np.zeros((n_bins.max(), stats.shape[1]))
    here = stats[rows]
    for d in range(len(start)):
        column, part = columns[d], sums[: n_bins[d]]
        add_rows(column, rows, here, part)
        mask = goes_left[start[d] : start[d] + n_bins[d]]
        losses[d] = split_feature(part, is_category[d], leaf, least, mask)
        if len(rows) > n_bins[d]:
            part[:] = 0.0
            continue
        for i in rows:
            part[column[i]] = 0.0
    return losses, goes_left


@kernel
def look_ahead(
    asked, columns, start, n_bins, is_category, rows, stats, feature, goes_left, leaf,
    least,
):  # fmt: skip
    """What both sides of some splits lose, as leaves and after their best splits.

    Parameters
    ----------
    asked : ndarray of shape (n_features, n_rows)
        The bins that the splits ask about.
    columns, start, n_bins, is_category : ndarray
        Fields of a ``Grid``, in which the best splits that follow are sought.
    rows : ndarray of int64
        The node's rows.
    stats : ndarray of shape (n_rows, n_scores + 3)
    feature : ndarray of int64 of shape (n_splits,)
    goes_left : ndarray of bool of shape (n_splits, largest number of bins)
    leaf : LeafLoss
    least : float

    Returns
    -------
    ndarray of shape (n_splits, 4)
        Left leaf, right leaf, left split, right split; infinite where a side has too
        little support, a leaf's loss where it cannot be split.
    """
    found = np.full((len(feature), 4), np.inf)
    small = np.empty(len(rows), dtype=np.int64)
    sums = histogram(columns, start, n_bins.sum(), rows, stats)
    for j in range(len(feature)):
        d = feature[j]
        column, mask = asked[d], goes_left[j]
        n_left = 0
        for i in rows:
            n_left += mask[column[i]]
        wanted = 2 * n_left <= len(rows)
        n_small = 0
        for i in rows:
            if mask[column[i]] == wanted:
                small[n_small] = i
                n_small += 1
        few = histogram(columns, start, len(sums), small[:n_small], stats)
        many = sums - few
        for side in range(2):
            part = few if (side == 0) == wanted else many
            whole = part[start[d] : start[d] + n_bins[d]].sum(axis=0)
            if whole[len(whole) - 2] < least:
                break
            alone = leaf_loss(whole, leaf)
            losses, _ = best_splits(part, start, n_bins, is_category, leaf, least)
            found[j, side] = alone
            found[j, 2 + side] = min(alone, losses.min())
    return found


@kernel
def node_boxes(
    columns, start, n_bins, is_category, rows, stats, leaf, asked, n_asked, max_leaves
):
    """The boxes of all nodes but the root of a tree, the best split first.

    Parameters
    ----------
    columns, start, n_bins, is_category : ndarray
        Fields of a ``Grid``.
    rows : ndarray of int64
        Rows that the tree is grown on; their order is changed.
    stats : ndarray of shape (n_rows, n_scores + 3)
    leaf : LeafLoss
    asked : ndarray of int64 of shape (2 max_leaves - 1, n_features)
        Per node the features in an order of its own.
    n_asked : int
        How many of them that can split the rows a node chooses from.
    max_leaves : int

    Returns
    -------
    ndarray of bool of shape (n_boxes, total number of bins)
    """
    n_most, n_nodes = len(asked), 1
    boxes = np.ones((n_most, n_bins.sum()), dtype=np.bool_)
    begin, end = np.zeros(n_most, dtype=np.int64), np.full(n_most, len(rows))
    gain, feature = np.full(n_most, -np.inf), np.zeros(n_most, dtype=np.int64)
    masks = np.zeros((n_most, n_bins.max()), dtype=np.bool_)
    sums, mask = np.zeros((n_bins.max(), stats.shape[1])), np.zeros_like(masks[0])
    for node in range(n_most):
        if node == n_nodes:  # split the leaf with most to gain
            parent = gain[:n_nodes].argmax()
            if gain[parent] <= SMALLEST_GAIN:
                break
            gain[parent] = -np.inf
            d, own = feature[parent], rows[begin[parent] : end[parent]]
            goes_left = masks[parent]
            left, right = partition(columns[d], own, goes_left)
            put(left, own)
            put(right, own[len(left) :])
            put(boxes[parent], boxes[node])
            put(boxes[parent], boxes[node + 1])
            for b in range(n_bins[d]):
                boxes[node, start[d] + b] &= goes_left[b]
                boxes[node + 1, start[d] + b] &= not goes_left[b]
            begin[node], end[node + 1] = begin[parent], end[parent]
            end[node] = begin[node + 1] = begin[parent] + len(left)
            n_nodes += 2
            if n_nodes == n_most:  # the last two are not split
                break
        own = rows[begin[node] : end[node]]
        stats_here = stats[own]
        least, n_able = np.inf, 0
        for d in asked[node]:
            here, size = sums[: n_bins[d]], n_bins[d]
            here[:] = 0.0
            add_rows(columns[d], own, stats_here, here)
            loss = split_feature(here, is_category[d], leaf, 1.0, mask[:size])
            n_able += loss < np.inf
            if loss < least:
                least, feature[node] = loss, d
                put(mask[:size], masks[node])
            if n_able == n_asked:
                break
        if n_able > 0:
            gain[node] = leaf_loss(sum_rows(stats, own), leaf) - least
    return boxes[1:n_nodes]
