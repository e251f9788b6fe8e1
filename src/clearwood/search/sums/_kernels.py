"""The hot loops of sums: rows that are in the same boxes, and the best move of one."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood._numeric.cholesky import solve_positive
from clearwood.search._kernels import ROUNDING, improve_box, put

MOST_TURNS = 20
"""Most rounds over the sides and the value of one box."""

MOST_NEWTON_STEPS = 50
"""Most steps to the best value."""

SMALLEST_CHANGE = 1e-9
"""Nothing changes unless the cost falls by more than this."""

SMALLEST_STEP = 1e-6
"""Newton's steps are halved down to this."""

SMALLEST_SLOPE = 1e-9
"""Newton's method ends when no factor has a steeper slope."""

SMALLEST_GAIN = 1e-12
"""Newton's method ends when the objective falls by less."""


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
def sums_of_groups(group, n_groups, numbers, share):
    """Sums of numbers (n_lines, n_rows) times shares over the rows of each group."""
    sums = np.zeros((len(numbers), n_groups))
    for k in range(len(numbers)):
        line, into = numbers[k], sums[k]
        for i in range(len(group)):
            into[group[i]] += line[i] * share[i]
    return sums


@kernel
def changes(is_class, answers, value, change):
    """Write what adding a value costs rows of share 1 whose target is 0, by group.

    The target of a row takes from it, times what is returned.
    """
    factor = np.expm1(value)
    for g in range(len(answers)):
        if is_class:
            change[g] = np.log1p(answers[g] * factor)
        else:
            change[g] = value * (value + 2.0 * answers[g])
    return value if is_class else 2.0 * value


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
                least += cost[i] if inside[i] else 0.0
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
            share[group[i]] += shares[i] if there[i] else 0.0
            target += targets[i] if there[i] else 0.0
        better = best_term(is_class, answers, share, target, ridge, largest, value)
        if better == value:
            break
        value = better
    return best, least, is_better


@kernel
def scores_of(design, outputs, factors, scores):
    """Write the sums of all groups of rows."""
    scores[:] = 0.0
    for k in range(len(factors)):
        for g in range(scores.shape[1]):
            if design[k, g]:
                scores[outputs[k], g] += factors[k]


@kernel
def cost_of_scores(is_class, target, share, scores):
    """What scores cost; see ``SquaredSumLoss`` and ``ClassSumLoss``."""
    cost = 0.0
    for g in range(len(share)):
        if not is_class:
            cost += share[g] * (target[0, g] - scores[0, g]) ** 2
            continue
        highest, total, taught = scores[:, g].max(), 0.0, 0.0
        for c in range(len(scores)):
            total += np.exp(scores[c, g] - highest)
            taught += target[c, g] * scores[c, g]
        cost += share[g] * (highest + np.log(total) - taught)
    return cost


@kernel
def answer(is_class, scores):
    """Turn scores into what is said: values, or class probabilities."""
    if not is_class:
        return
    for g in range(scores.shape[1]):
        highest, total = scores[:, g].max(), 0.0
        for c in range(len(scores)):
            scores[c, g] = np.exp(scores[c, g] - highest)
            total += scores[c, g]
        for c in range(len(scores)):
            scores[c, g] /= total


@kernel
def slopes_of_sum(
    is_class, target, share, design, outputs, ridge, factors, answers, slope, curvature
):
    """Write both derivatives of the cost by the factors of the lines of ``design``."""
    n_lines, n_groups = design.shape
    curvature[:] = 0.0
    for k in range(n_lines):
        slope[k], curvature[k, k] = ridge[k] * factors[k], ridge[k]
        c = outputs[k]
        for g in range(n_groups):
            if design[k, g]:
                away = answers[c, g] - target[c, g]
                slope[k] += share[g] * (away if is_class else 2.0 * away)
        for m in range(k + 1):
            other, total = outputs[m], 0.0
            for g in range(n_groups):
                if design[k, g] and design[m, g]:
                    if not is_class:
                        total += 2.0 * share[g]
                        continue
                    p = answers[c, g]
                    same = p if other == c else 0.0
                    total += share[g] * (same - p * answers[other, g])
            curvature[k, m] += total
            if m < k:
                curvature[m, k] += total


@kernel
def best_factors(is_class, target, share, design, outputs, ridge, factors):
    """The factors of constants and boxes that cost least together.

    Newton's method, with steps halved until the cost falls; for squares one step.

    Parameters
    ----------
    is_class : bool
    target : ndarray of shape (n_outputs, n_groups)
    share : ndarray of shape (n_groups,)
    design : ndarray of bool of shape (n_lines, n_groups)
        Constants, which hold for all groups, and boxes.
    outputs : ndarray of int64 of shape (n_lines,)
        The output to which each adds.
    ridge : ndarray of shape (n_lines,)
        Penalty on half the square of each factor.
    factors : ndarray of shape (n_lines,)
        Where to begin; changed in place.
    """
    n_lines = len(factors)
    scores = np.empty(target.shape)
    slope, curvature = np.empty(n_lines), np.empty((n_lines, n_lines))
    scores_of(design, outputs, factors, scores)
    now = cost_of_scores(is_class, target, share, scores)
    now += 0.5 * (ridge * factors * factors).sum()
    for _ in range(MOST_NEWTON_STEPS):
        answer(is_class, scores)
        slopes_of_sum(
            is_class, target, share, design, outputs, ridge, factors, scores, slope,
            curvature,
        )  # fmt: skip
        if np.abs(slope).max() < SMALLEST_SLOPE:
            break
        step = solve_positive(curvature, slope.reshape(1, -1))[0]
        then = np.inf
        while True:
            tried = factors - step
            scores_of(design, outputs, tried, scores)
            then = cost_of_scores(is_class, target, share, scores)
            then += 0.5 * (ridge * tried * tried).sum()
            if not then > now or np.abs(step).max() <= SMALLEST_STEP:
                break
            step /= 2.0
        if then >= now:
            break
        gained, now = now - then, then
        put(tried, factors)
        if gained <= SMALLEST_GAIN:
            break
