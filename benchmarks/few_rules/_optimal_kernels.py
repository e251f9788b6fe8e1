"""The inner loops of optimal trees: all trees of two levels, from counts of pairs.

A question is an order of positions; a cut after one of them sends those before it to
the left. Given the sums of the rows per pair of positions of two questions, all cuts of
one after all cuts of the other are evaluated without a further pass over the rows.
"""

from __future__ import annotations

import numpy as np

from clearwood._kernels.search import LOG_MEAN, LOG_VARIANCE
from clearwood._kernels.search_trees import N_EXTRA

try:  # The study requires it; small problems run without.
    from numba import njit

    kernel = njit(cache=True, error_model="numpy")
except ImportError:

    def kernel(function):
        """The function itself."""
        return function


LOW, HIGH, OTHERWISE, MISSING = 1, 2, 4, 8
"""How a box bounds a feature: below, above, otherwise, to missing values alone."""

LITERALS = np.array(
    [1 if m & 8 else max((m & 1) + (m >> 1 & 1), m >> 2) for m in range(16)]
)
"""Literals that it takes to write such bounds down."""


@kernel
def leaf_loss(sums, leaf):
    """Loss of a leaf, up to a constant per row; see ``LossForm``."""
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
def sum_rows(stats, rows):
    """Sums of ``stats`` over some rows."""
    sums = np.zeros(stats.shape[1])
    for i in rows:
        for c in range(stats.shape[1]):
            sums[c] += stats[i, c]
    return sums


@kernel
def pair_sums(columns, start, n_total, stats):
    """Sums of ``stats`` per pair of positions, over all positions of all questions."""
    n_questions, n_rows = columns.shape
    n_columns = stats.shape[1]
    sums = np.zeros((n_total, n_total, n_columns))
    for q in range(n_questions):
        for p in range(q, n_questions):
            block = sums[start[q] :, start[p] :]
            for i in range(n_rows):
                line = block[columns[q, i], columns[p, i]]
                for c in range(n_columns):
                    line[c] += stats[i, c]
    for a in range(n_total):
        for b in range(a):
            sums[a, b] = sums[b, a]
    return sums


@kernel
def two_levels(
    columns, n_positions, marks, feature, rows, stats, bounds, literals, literal, leaf,
    least,
):  # fmt: skip
    """The least cost of 1, 2, 3 and 4 leaves on some rows, no deeper than two splits.

    Parameters
    ----------
    columns : ndarray of shape (n_questions, n_rows)
        Position of every row in every question.
    n_positions : ndarray of int64 of shape (n_questions,)
    marks : ndarray of int64 of shape (n_questions, largest number of positions, 2)
        How the cut after a position bounds the feature on its left and on its right; 0
        where there is none.
    feature : ndarray of int64 of shape (n_questions,)
        The feature of a question.
    rows : ndarray of int64
    stats : ndarray of shape (n_rows, n_scores + 3)
    bounds : ndarray of int64 of shape (n_features,)
        How the box of the rows bounds each feature.
    literals : ndarray of int64
        ``LITERALS``.
    literal : float
        Penalty per literal of a leaf.
    leaf : LossForm
    least : float
        Least support of a leaf.

    Returns
    -------
    costs : ndarray of shape (4,)
        Infinite where there is no such tree.
    plans : ndarray of int64 of shape (4, 3, 2)
        Question and position of the first cut, the one on its left, and the one on
        its right; -1 where there is none.
    """
    costs, plans = np.full(4, np.inf), np.full((4, 3, 2), -1)
    whole = sum_rows(stats, rows)
    if whole[-2] < least:
        return costs, plans
    base = literals[bounds].sum()
    costs[0] = leaf_loss(whole, leaf) + literal * base
    start = np.cumsum(n_positions) - n_positions
    pairs = pair_sums(columns[:, rows], start, n_positions.sum(), stats[rows])
    for q in range(len(columns)):
        n, own = n_positions[q], bounds[feature[q]]
        left, right = np.zeros(len(whole)), whole.copy()
        # What is left and right of the cut: the sums by the positions of all questions.
        here = pairs[start[q] : start[q] + n]
        on_right = here.sum(axis=0)
        on_left = np.zeros_like(on_right)
        for j in range(n - 1):
            filled = here[j, start[q] + j]
            on_left += here[j]
            on_right -= here[j]
            left += filled
            right -= filled
            if marks[q, j, 0] == 0 or filled[-1] == 0.0:
                continue
            if min(left[-2], right[-2]) < least or right[-1] == 0.0:
                continue
            follow, then = np.empty((2, 2)), np.empty((2, 2), dtype=np.int64)
            for side in range(2):
                sums = right if side else left
                bound = own | marks[q, j, side]
                n_literals = base - literals[own] + literals[bound]
                bounds[feature[q]] = bound
                follow[side, 0] = leaf_loss(sums, leaf) + literal * n_literals
                follow[side, 1], then[side, 0], then[side, 1] = best_cut(
                    on_right if side else on_left, sums, start, n_positions, marks,
                    feature, bounds, literals, literal, n_literals, leaf, least,
                )  # fmt: skip
                bounds[feature[q]] = own
            for splits in range(4):  # one more on the left, on the right, on both
                more_left, more_right = splits % 2, splits // 2
                lost = follow[0, more_left] + follow[1, more_right]
                k = 1 + more_left + more_right
                if lost < costs[k]:
                    costs[k] = lost
                    plans[k] = -1
                    plans[k, 0] = q, j
                    for side in range(2):
                        if more_right if side else more_left:
                            plans[k, 1 + side] = then[side]
    return costs, plans


@kernel
def best_cut(
    sums, whole, start, n_positions, marks, feature, bounds, literals, literal,
    n_literals, leaf, least,
):  # fmt: skip
    """The best cut by sums per position: its loss, question and position."""
    best, question, position = np.inf, -1, -1
    n_columns = len(whole)
    left, right = np.empty(n_columns), np.empty(n_columns)
    for p in range(len(start)):
        own = bounds[feature[p]]
        left[:] = 0.0
        for k in range(n_positions[p] - 1):
            line = sums[start[p] + k]
            # Counts are whole numbers, and exact.
            if line[-1] == 0.0:
                continue
            for c in range(n_columns):
                left[c] += line[c]
                right[c] = whole[c] - left[c]
            if marks[p, k, 0] == 0 or left[-2] < least or right[-2] < least:
                continue
            if right[-1] == 0.0:
                break
            both = 2 * (n_literals - literals[own])
            both += literals[own | marks[p, k, 0]] + literals[own | marks[p, k, 1]]
            lost = leaf_loss(left, leaf) + leaf_loss(right, leaf) + literal * both
            if lost < best:
                best, question, position = lost, p, k
    return best, question, position
