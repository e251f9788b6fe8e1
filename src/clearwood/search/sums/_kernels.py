"""The hot loops of sums: rows that are in the same boxes, and the best move of one."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.search._kernels import ROUNDING, improve_box

MOST_TURNS = 20
"""Most rounds over the sides and the value of one box."""

MOST_NEWTON_STEPS = 50
"""Most steps to the best value."""

SMALLEST_CHANGE = 1e-9
"""Nothing changes unless the cost falls by more than this."""


@kernel
def groups_of(member):
    """Rows that are in the same boxes: the group of each row, and a row of each group.

    Groups are numbered in the order in which they appear.
    """
    n_boxes, n_rows = member.shape
    group = np.zeros(n_rows, dtype=np.int32)
    n_groups = 1
    for k in range(n_boxes):
        number = np.full(2 * n_groups, -1, dtype=np.int32)
        n_groups = 0
        for i in range(n_rows):
            place = 2 * group[i] + member[k, i]
            if number[place] < 0:
                number[place] = n_groups
                n_groups += 1
            group[i] = number[place]
    first = np.zeros(n_groups, dtype=np.int64)
    for i in range(n_rows - 1, -1, -1):
        first[group[i]] = i
    return group, first


@kernel
def changes(is_class, answers, value, change):
    """Write what adding a value costs rows of share 1 whose target is 0, by group.

    The target of a row takes from it, times what is returned.
    """
    if is_class:
        change[:] = np.log1p(answers * np.expm1(value))
        return value
    change[:] = value * (value + 2.0 * answers)
    return 2.0 * value


@kernel
def best_term(is_class, answers, share, target, ridge, largest, start):
    """The value that costs least if it is added to the scores of some rows.

    Squares have it in one step. Else Newton's method on one convex function, with the
    interval halved where a step leaves it or crosses more than half of it.

    Parameters
    ----------
    is_class : bool
        Whether answers are probabilities of a class; else they are values.
    answers, share : ndarray of shape (n_groups,)
        What is said without the value, and the shares of the rows.
    target : float
        Sum of the targets times shares.
    ridge : float
        Penalty on half its square.
    largest : float
        Most that it may be.
    start : float
        Where to begin.

    Returns
    -------
    float
    """
    if not is_class:
        return 2.0 * (target - (share * answers).sum()) / (2.0 * share.sum() + ridge)
    low, high, value = -largest, largest, start
    for _ in range(MOST_NEWTON_STEPS):
        slope, curvature = ridge * value - target, ridge
        grown = np.exp(value)
        for g in range(len(share)):
            if share[g] > 0.0:
                odds = answers[g] * grown
                then = odds / (1.0 - answers[g] + odds)
                slope += share[g] * then
                curvature += share[g] * then * (1.0 - then)
        if slope < 0:
            low = value
        else:
            high = value
        step = value - slope / max(curvature, 1e-300)
        # Longer steps can lead from one side of the valley to the other for ever.
        if not (low <= step <= high and abs(step - value) <= 0.5 * (high - low)):
            step = 0.5 * (low + high)
        if abs(step - value) <= 1e-10 * max(1.0, abs(step)):
            return step
        value = step
    return value


@kernel
def improve_term(
    columns, start, n_bins, is_category, seen,
    group, answers, shares, targets, is_class,
    literal, ridge, largest, counts, min_rows,
    box, inside, n_literals, value,
):  # fmt: skip
    """Find better sides and a better value for one box of a sum; the others stay.

    Sides and value are improved in turns, while the cost falls.

    Parameters
    ----------
    columns, start, n_bins, is_category, seen : ndarray
        Grid, and the bins that hold rows.
    group : ndarray of int32 of shape (n_rows,)
        Rows of one group are said the same by the other boxes.
    answers : ndarray of shape (n_groups,)
        What is said without the box: a class probability, or a value.
    shares, targets : ndarray of shape (n_rows,)
        Shares of rows, and times them what they should be said.
    is_class : bool
    literal, ridge : float
        Penalties.
    largest : float
        Most that a value may be.
    counts, min_rows : ndarray, float
        As of ``improve_box``.
    box, inside : ndarray of bool
        The box and the rows in it; changed in place.
    n_literals : int
    value : float

    Returns
    -------
    tuple of float, float and bool
        The value, what the box costs, and whether either has changed.
    """
    n_rows = len(shares)
    cost, change = np.empty(n_rows), np.empty(len(answers))
    share = np.empty(len(answers))
    there = inside.copy()
    bounds = np.ones((2, len(start)), dtype=np.bool_)
    least, best, is_better = np.inf, value, False
    now, reached = box.copy(), np.inf
    for turn in range(MOST_TURNS):
        per_target = changes(is_class, answers, value, change)
        for i in range(n_rows):
            cost[i] = shares[i] * change[group[i]] - per_target * targets[i]
        of_value = 0.5 * ridge * value * value
        if turn == 0:
            least = of_value + literal * n_literals
            for i in range(n_rows):
                if inside[i]:
                    least += cost[i]
        moved = now.copy()
        found = of_value + improve_box(
            columns, start, n_bins, is_category, seen, cost, counts, moved, literal,
            min_rows, bounds, there,
        )  # fmt: skip
        if found > reached - SMALLEST_CHANGE:
            break
        now, reached = moved, found
        if found < least - ROUNDING:
            least, best, is_better = found, value, True
            box[:], inside[:] = now, there
        share[:] = 0.0
        target = 0.0
        for i in range(n_rows):
            if there[i]:
                share[group[i]] += shares[i]
                target += targets[i]
        better = best_term(is_class, answers, share, target, ridge, largest, value)
        if better == value:
            break
        value = better
    return best, least, is_better
