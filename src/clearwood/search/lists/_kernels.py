"""The hot loops of lists: what lines say and cost, and the best move of one box.

What a line says is a vector ``said`` of as many numbers as a row has scores: one of
them 1 for a class, a value, or probabilities. Of every loss, saying it costs a row

    constant + share * offset - scores @ factors,

where the scores hold the share already, and the offset and the factors follow from
``said``. The constant is the same whatever is said.
"""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.search._kernels import (
    ROUNDING,
    dot_product,
    improve_box,
    n_literals,
)

REGRET, SQUARES, CHANCES, SURE = 0, 1, 2, 3
"""Kinds of losses: ``ClassLoss``, ``SquaredLoss``, ``LogLoss``, ``ProbabilityLoss``."""

LEAST_SAID = 1e-3
"""Least probability or rate of a box while it is moved: what no row of it was may be
so in the next one."""

MOST_TURNS = 20
"""Most rounds over the sides and the value of one box."""

MOST_CLASSES = 3
"""Most classes that a box is tried with."""

SMALLEST_CHANGE = 1e-9
"""Nothing changes unless the cost falls by more than this."""


@kernel
def factors_of(kind, softness, said, factors):
    """Write the factors of what is said; the offset."""
    total, squares = 0.0, 0.0
    for s in range(len(said)):
        total += said[s]
        squares += said[s] * said[s]
        if kind == REGRET:
            factors[s] = said[s]
        elif kind == SQUARES:
            factors[s] = 2.0 * said[s]
        elif kind == CHANCES:
            factors[s] = np.log(said[s])
        else:
            factors[s] = 2.0 * softness * said[s]
    if kind == REGRET:
        return 0.0
    if kind == SQUARES:
        return squares
    if kind == CHANCES:
        return total
    factors[said.argmax()] += 1.0
    return softness * squares


@kernel
def say_best(kind, sums, share, said):
    """Write what costs rows least, by the sums of their scores and shares.

    Rows without weight leave what is said as it is.
    """
    if share <= 0.0:
        return
    best = sums.argmax()
    for s in range(len(said)):
        if kind == REGRET:
            said[s] = 1.0 if s == best else 0.0
        elif kind == CHANCES:
            said[s] = max(sums[s] / share, LEAST_SAID)
        else:
            said[s] = sums[s] / share


@kernel
def sums_of_lines(member, scores, shares):
    """Sums of the scores and shares of the rows that each line decides.

    And the share of rows times the number of further boxes that they are in.
    """
    n_boxes, n_rows = member.shape
    first = np.full(n_rows, n_boxes, dtype=np.int32)
    times = np.zeros(n_rows, dtype=np.int32)
    for j in range(n_boxes - 1, -1, -1):
        for i in range(n_rows):
            if member[j, i]:
                first[i] = j
                times[i] += 1
    sums = np.zeros((n_boxes + 1, scores.shape[1]))
    share = np.zeros(n_boxes + 1)
    further = 0.0
    for i in range(n_rows):
        line = first[i]
        share[line] += shares[i]
        for s in range(scores.shape[1]):
            sums[line, s] += scores[i, s]
        if times[i] > 1:
            further += shares[i] * (times[i] - 1)
    return sums, share, further


@kernel
def loss_of_lines(kind, softness, sums, share, said):
    """What all lines cost together, but for the constant; from sums of their rows."""
    factors = np.empty(said.shape[1])
    total = 0.0
    for line in range(len(said)):
        total += share[line] * factors_of(kind, softness, said[line], factors)
        total -= (sums[line] * factors).sum()
    return total


@kernel
def decided_without(member, k):
    """The line that decides each row if box k were not there, and in how many it is.

    Those of the lines before it do so anyway.
    """
    n_boxes, n_rows = member.shape
    line = np.full(n_rows, n_boxes, dtype=np.int32)
    times = np.zeros(n_rows, dtype=np.int32)
    for j in range(n_boxes - 1, -1, -1):
        if j == k:
            continue
        for i in range(n_rows):
            if member[j, i]:
                line[i] = j
                times[i] += 1
    return line, times


@kernel
def cost_of_rows(scores, shares, line, offsets, factors, offset, mine, extra, k, cost):
    """Write what every row costs if it joins box k, against what it costs now.

    Rows that an earlier line decides cost what overlap costs (``extra``), and no more.
    """
    apart = mine - factors
    for i in range(len(scores)):
        cost[i] = extra[i]
        decides = line[i]
        if decides > k:
            cost[i] += shares[i] * (offset - offsets[decides])
            cost[i] -= dot_product(scores[i], apart[decides])


@kernel
def kind_of_box(start, n_bins, signs, box):
    """1 where the box has to top all behind it, -1 where it has to stay below, or 0."""
    for d in range(len(signs)):
        if signs[d] == 0:
            continue
        size = n_bins[d] - 1
        part = box[start[d] : start[d] + size]
        if not part.any() or part.all():
            continue
        return signs[d] if not part[0] else -signs[d]
    return 0


@kernel
def open_box(start, n_bins, signs, box, bounds):
    """Take from a box the bounds that it may not have."""
    for d in range(len(signs)):
        size = n_bins[d] - 1
        part = box[start[d] : start[d] + size]
        if signs[d] == 0 or not part.any():
            continue
        low, high = 0, size - 1
        while not part[low]:
            low += 1
        while not part[high]:
            high -= 1
        if not bounds[0, d]:
            part[:low] = True
        if not bounds[1, d]:
            part[high:] = True


@kernel
def level_of(kind, said):
    """The one number that a monotone list orders: a class of two, or a value."""
    return float(said.argmax()) if kind == REGRET else said[0]


@kernel
def say_within(kind, said, low, high):
    """Move what is said between two levels."""
    level = min(max(level_of(kind, said), low), high)
    if kind == REGRET:
        said[:] = 0.0
        said[int(level)] = 1.0
    else:
        said[0] = level


@kernel
def ranges_of(kind, said, kinds, k):
    """The least and the largest level that line k may say, if its box is of a kind.

    One line per kind: 0, 1, -1 (at the end, where -1 points to).
    """
    low, high = -np.inf, np.inf
    least, most = np.inf, -np.inf
    for j in range(len(said)):
        level = level_of(kind, said[j])
        if j > k:
            least, most = min(least, level), max(most, level)
        elif j < k and kinds[j] == -1:
            low = max(low, level)
        elif j < k and kinds[j] == 1:
            high = min(high, level)
    ranges = np.empty((3, 2))
    ranges[:, 0], ranges[:, 1] = low, high
    ranges[1, 0] = max(low, most)
    ranges[-1, 1] = min(high, least)
    return ranges


@kernel
def says_to_try(kind, scores, shares, line, offsets, factors, said, k):
    """What box k says, and of classes those with most to win; one per line."""
    if kind != REGRET:
        return said[k : k + 1].copy()
    n_rows, n_classes = scores.shape
    won = np.zeros(n_classes)
    for i in range(n_rows):
        decides = line[i]
        if decides <= k:
            continue
        now = shares[i] * offsets[decides] - dot_product(scores[i], factors[decides])
        for s in range(n_classes):
            won[s] += min(-scores[i, s] - now, 0.0)
    is_now = said[k].argmax()
    n_tried = min(n_classes, MOST_CLASSES)
    tried = np.zeros((n_tried, n_classes))
    tried[0, is_now] = 1.0
    won[is_now] = np.inf
    for n in range(1, n_tried):
        wins_most = won.argmin()
        tried[n, wins_most] = 1.0
        won[wins_most] = np.inf
    return tried


@kernel
def improve_line(
    columns, start, n_bins, is_category, seen,
    scores, shares, kind, softness,
    literal, overlap, counts, min_rows, signs,
    boxes, member, literals, said, k,
):  # fmt: skip
    """Find better sides and something better to say for one box; the others stay.

    Sides and what is said are improved in turns, while the cost falls. Boxes and what
    is known of them are changed in place.

    Parameters
    ----------
    columns, start, n_bins, is_category, seen : ndarray
        Grid, and the bins that hold rows.
    scores : ndarray of shape (n_rows, n_scores)
        Times the share of each row.
    shares : ndarray of shape (n_rows,)
    kind, softness : int, float
        Of the loss.
    literal, overlap : float
        Penalties.
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards ``min_rows``.
    min_rows : float
    signs : ndarray of int of shape (n_features,)
        All 0 where the list need not rise or fall anywhere.
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    member : ndarray of bool of shape (n_boxes, n_rows)
    literals : ndarray of int of shape (n_boxes,)
    said : ndarray of float64 of shape (n_boxes + 1, n_scores)
        What each line says, ``otherwise`` at the end.
    k : int
        Which box.
    """
    n_lines, n_scores = said.shape
    factors, offsets = np.empty((n_lines, n_scores)), np.empty(n_lines)
    for j in range(n_lines):
        offsets[j] = factors_of(kind, softness, said[j], factors[j])
    line, times = decided_without(member, k)
    free = counts * (line > k)
    extra = overlap * shares * (times > 0)
    cost, mine = np.empty(len(shares)), factors[k].copy()
    cost_of_rows(
        scores, shares, line, offsets, factors, offsets[k], mine, extra, k, cost
    )
    least = literal * literals[k] - ROUNDING
    for i in range(len(cost)):
        if member[k, i]:
            least += cost[i]
    kinds = np.zeros(n_lines, dtype=np.int64)
    bounds = np.ones((2, len(signs)), dtype=np.bool_)
    signed = (signs != 0).any()
    if signed:
        for j in range(n_lines - 1):
            kinds[j] = kind_of_box(start, n_bins, signs, boxes[j])
    ranges = ranges_of(kind, said, kinds, k)
    tried = says_to_try(kind, scores, shares, line, offsets, factors, said, k)
    inside, sums = np.empty(len(cost), dtype=np.bool_), np.empty(n_scores)
    best_box, best_inside = boxes[k].copy(), member[k].copy()
    best_said, is_better = said[k].copy(), False
    for t in range(len(tried)):
        says = tried[t]
        level = level_of(kind, says)
        if signed and not ranges[0, 0] <= level <= ranges[0, 1]:
            continue
        box, reached = boxes[k].copy(), np.inf
        for turn in range(MOST_TURNS):
            now = box.copy()
            if signed:
                bounds_for(kind, signs, said, k, level_of(kind, says), bounds)
                open_box(start, n_bins, signs, now, bounds)
            if t > 0 or turn > 0:  # What it says as it is has been asked above.
                offset = factors_of(kind, softness, says, mine)
                cost_of_rows(
                    scores, shares, line, offsets, factors, offset, mine, extra, k, cost
                )
            found = improve_box(
                columns, start, n_bins, is_category, seen, cost, free, now, literal,
                min_rows, bounds, inside,
            )  # fmt: skip
            if found > reached - SMALLEST_CHANGE:
                break
            box, reached = now, found
            if found < least:
                least, is_better = found, True
                best_box[:], best_inside[:], best_said[:] = now, inside, says
            share = 0.0
            sums[:] = 0.0
            for i in range(len(cost)):
                if inside[i] and line[i] > k:
                    share += shares[i]
                    for s in range(n_scores):
                        sums[s] += scores[i, s]
            before, says = says, says.copy()
            say_best(kind, sums, share, says)
            if signed:
                of_kind = kind_of_box(start, n_bins, signs, now)
                say_within(kind, says, ranges[of_kind, 0], ranges[of_kind, 1])
            if (says == before).all():
                break
    if is_better:
        boxes[k], member[k], said[k] = best_box, best_inside, best_said
        literals[k] = n_literals(start, n_bins, is_category, seen, best_box)


@kernel
def bounds_for(kind, signs, said, k, level, bounds):
    """Write which bounds box k may have on each feature if it says a level."""
    tops, stays_below = True, True
    for j in range(k + 1, len(said)):
        behind = level_of(kind, said[j])
        tops &= level >= behind
        stays_below &= level <= behind
    of_kind = 1 if tops else (-1 if stays_below else 0)
    for d in range(len(signs)):
        bounds[0, d] = signs[d] == 0 or signs[d] == of_kind
        bounds[1, d] = signs[d] == 0 or signs[d] == -of_kind
