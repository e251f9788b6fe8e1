"""The ordered list of inTrees, and its loss at every length."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from clearwood._kernels import in_trees as _kernels
from clearwood.rules import Training
from clearwood.simplifiers.in_trees.pruning import (
    Evaluated,
    as_evaluation_rows,
    packed,
    unpacked,
)

DIGITS = 9
"""Decimals to which errors and frequencies are compared: they come from rounded
sums."""


def order_rules(
    evaluated: Evaluated,
    rows: Training,
    min_frequency: float,
    max_rules: int | None = None,
    min_samples_leaf: float = 1,
) -> Ordered:
    """The simplified ordered list (STEL).

    Repeatedly the rule of least error on the rows not yet covered comes next (ties go
    to the largest coverage, then to the shortest, then to the first). The list ends
    once a constant for all remaining rows has no larger error than the best rule.

    Parameters
    ----------
    evaluated : Evaluated
    rows : Training
        Rows to evaluate on.
    min_frequency : float
        Minimum share of all rows that a rule must still cover.
    max_rules : int, optional
        Maximum number of rules.
    min_samples_leaf : float, default=1
        Minimum number of rows that a rule must still cover.

    Returns
    -------
    Ordered
    """
    rows_by = as_evaluation_rows(rows)
    (target, weight, n_classes), bits = rows_by, evaluated.bits
    all_weight, free = weight.sum(), np.ones(len(rows), dtype=bool)
    # Per rule, sums over the free rows that it covers; and their number, which is the
    # weight if that is 1 or more.
    sums = numbers = np.zeros((len(bits), 3))
    tables = [(sums, rows_by)]
    if not np.array_equal(rows.counts, weight):
        numbers = np.zeros_like(sums)
        tables.append((numbers, rows_by._replace(weight=rows.counts)))

    def add(covered: np.ndarray, sign: float) -> None:
        for table, by in tables:
            _kernels.add_rows(
                table, bits, packed(covered), sign, by, evaluated.predicted
            )

    add(free, 1.0)
    found: list[int] = []
    won = 0.0
    losses = [_rest_loss(target, weight, free, n_classes) / all_weight]
    while len(bits) and (max_rules is None or len(found) < max_rules):
        total, loss = sums[:, 0], _loss(sums, n_classes)
        frequency = np.round(total / all_weight, DIGITS)
        usable = (frequency >= min_frequency) & (frequency > 0)
        usable &= np.round(numbers[:, 0], DIGITS) >= min_samples_leaf
        error = np.where(usable, loss / np.where(usable, total, 1.0), np.inf)
        error = np.round(error, DIGITS)
        best = int(np.lexsort((evaluated.paths.lengths, -frequency, error))[0])
        rest_loss = _rest_loss(target, weight, free, n_classes)
        rest_error = rest_loss / max(weight[free].sum(), 1e-300)
        if error[best] >= np.round(rest_error, DIGITS):
            break
        assigned = free & unpacked(bits[best], len(free))
        free &= ~assigned
        won += loss[best]
        found.append(best)
        losses.append((won + _rest_loss(target, weight, free, n_classes)) / all_weight)
        add(assigned, -1.0)
    return Ordered(found, losses)


class Ordered(NamedTuple):
    """An ordered list and its loss at every length.

    Attributes
    ----------
    rules : list of int
        Indices, in order.
    losses : list of float
        Share of wrong rows, or mean squared error, of the first 0, 1, ... rules with
        the best constant for all other rows.
    """

    rules: list[int]
    losses: list[float]


def _loss(sums: np.ndarray, n_classes: int) -> np.ndarray:
    total, first, second = sums.T
    if n_classes:
        return np.maximum(second, 0.0)
    mean = first / np.where(total > 0, total, 1.0)
    return np.maximum(second - first * mean, 0.0)


def _rest_loss(
    target: np.ndarray, weight: np.ndarray, free: np.ndarray, n_classes: int
) -> float:
    """Loss of the best constant for the rows that no rule covers."""
    target, weight = target[free], weight[free]
    if weight.sum() == 0:
        return 0.0
    if n_classes:
        mass = np.bincount(target.astype(np.int64), weight, n_classes)
        return float(weight.sum() - mass.max())
    return float((weight * (target - np.average(target, weights=weight)) ** 2).sum())


def best_prefixes(lists: Sequence[Ordered], max_rules: int | None) -> list[list[int]]:
    """Per number of rules 0, 1, ... the list of least loss with at most that many.

    Examples
    --------
    >>> few, many = Ordered([7], [0.5, 0.2]), Ordered([3, 4, 5], [0.5, 0.4, 0.3, 0.1])
    >>> best_prefixes([few, many], None)
    [[], [7], [7], [3, 4, 5]]
    """
    longest = max(len(found.rules) for found in lists)
    if max_rules is not None:
        longest = min(longest, max_rules)
    prefixes = []
    for size in range(longest + 1):
        tried = [(found, min(size, len(found.rules))) for found in lists]
        best, used = min(tried, key=lambda t: (round(t[0].losses[t[1]], DIGITS), t[1]))
        prefixes.append(best.rules[:used])
    return prefixes
