"""The hot loops over rows and whole trees: who comes to which leaf, at what cost."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.search._kernels import dot_product, part_literals, put
from clearwood.search.trees._kernels import (
    LOG_MEAN,
    LOG_VARIANCE,
    N_EXTRA,
    leaf_loss,
)


@kernel
def nodes_of_rows(columns, rows, feature, goes_left, children):
    """The leaf that each row comes to, of a tree whose root is node 0."""
    found = np.zeros(len(rows), dtype=np.int64)
    for j in range(len(rows)):
        node, i = 0, rows[j]
        while feature[node] >= 0:
            right = not goes_left[node, columns[feature[node], i]]
            node = children[node, int(right)]
        found[j] = node
    return found


@kernel
def cost_of_tree(
    columns, start, n_bins, is_category, seen, rows, stats, leaf, literal, least, box,
    n_literals, feature, goes_left, children,
):  # fmt: skip
    """Loss and literals of the leaves of a tree; infinite with too little support.

    Parameters
    ----------
    columns, start, n_bins, is_category, seen : ndarray
        Grid, and the bins that hold rows.
    rows : ndarray of int64
        The rows that come to its root.
    stats : ndarray of shape (n_rows, n_scores + 3)
    leaf : LeafLoss
    literal, least : float
        Penalty, and least support of a leaf.
    box : ndarray of bool of shape (total number of bins,)
        The root's.
    n_literals : int
        Those of the box.
    feature, goes_left, children : ndarray
        Of every node, each before its children: the feature that is asked about (-1 in
        a leaf), which of its bins go left, and the two nodes below.
    """
    n_nodes, n_columns = len(feature), stats.shape[1]
    sums = np.zeros((n_nodes, n_columns))
    at = nodes_of_rows(columns, rows, feature, goes_left, children)
    for j in range(len(rows)):
        line, i = sums[at[j]], rows[j]
        for c in range(n_columns):
            line[c] += stats[i, c]
    boxes = np.empty((n_nodes, len(box)), dtype=np.bool_)
    put(box, boxes[0])
    literals = np.empty(n_nodes, dtype=np.int64)
    literals[0] = n_literals
    total = 0.0
    for node in range(n_nodes):
        d = feature[node]
        if d < 0:
            if sums[node, n_columns - 2] < least:
                return np.inf
            total += leaf_loss(sums[node], leaf) + literal * literals[node]
            continue
        part = slice(start[d], start[d] + n_bins[d])
        before = part_literals(boxes[node, part], seen[part], is_category[d])
        for side in range(2):
            child = children[node, side]
            put(boxes[node], boxes[child])
            below = boxes[child, part]
            for b in range(n_bins[d]):
                below[b] &= goes_left[node, b] == (side == 0)
            here = part_literals(below, seen[part], is_category[d])
            literals[child] = literals[node] - before + here
    return total


@kernel
def costs_of_rows(columns, rows, stats, leaf, sums, feature, goes_left, children):
    """What each row would cost in a tree that says what it says.

    ``sums`` are those of ``stats`` over the rows of every node, by which its leaves
    say what they say.
    """
    n_nodes, n_scores = len(feature), stats.shape[1] - N_EXTRA
    means = sums[:, :n_scores].copy()
    constant = np.zeros(n_nodes)
    least = np.zeros(n_nodes, dtype=np.int64)
    for node in range(n_nodes):
        line = means[node]
        line /= max(sums[node, n_scores], 1e-300)
        least[node] = line.argmin()
        if leaf.kind == LOG_MEAN:
            constant[node] = line.sum()
            for c in range(n_scores):
                line[c] = np.log(max(line[c], 1e-300))
        elif leaf.kind == LOG_VARIANCE:
            for c in range(0, n_scores, 2):
                line[c + 1] = max(line[c + 1] - line[c] * line[c], 1e-300)
                constant[node] += np.log(line[c + 1])
        else:
            constant[node] = leaf.soft * (line * line).sum()
    costs = np.empty(len(rows))
    at = nodes_of_rows(columns, rows, feature, goes_left, children)
    for j in range(len(rows)):
        node, line, mean = at[j], stats[rows[j]], means[at[j]]
        cost = line[n_scores] * constant[node]
        if leaf.kind == LOG_MEAN:
            cost -= dot_product(line, mean)
        elif leaf.kind == LOG_VARIANCE:
            for c in range(0, n_scores, 2):
                away = line[c + 1] - 2.0 * mean[c] * line[c]
                away += line[n_scores] * mean[c] * mean[c]
                cost += away / mean[c + 1]
        else:
            cost -= 2.0 * leaf.soft * dot_product(line, mean)
            cost += leaf.hard * line[least[node]]
        costs[j] = cost
    return costs


@kernel
def stats_of_sides(rows, left, right, stats):
    """Stats for sending each row to the side where it costs less."""
    found = np.empty((len(stats), 2 + N_EXTRA))
    for j in range(len(rows)):
        line = found[rows[j]]
        line[:] = 1.0
        line[0], line[1] = left[j], right[j]
        line[3] = stats[rows[j], stats.shape[1] - 2]
    return found


@kernel
def is_turned(column, rows, goes_left, left, right):
    """Whether the rows that go left would cost less on the right."""
    cost = 0.0
    for j in range(len(rows)):
        if goes_left[column[rows[j]]]:
            cost += left[j] - right[j]
    return cost > 0.0
