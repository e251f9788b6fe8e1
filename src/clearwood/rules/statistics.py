"""What some rows say about every rule of a rule set: counts, shares and intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy.special import stdtrit

from clearwood._numeric import WeightedMoments, effective_number, variance
from clearwood.outcomes import Mean
from clearwood.rules.counting.line_sums import (
    EncodedRows,
    LinesSums,
    LineSums,
    sums_of_lines,
)
from clearwood.rules.rule_set import RuleSet

Kind = TypeVar("Kind", bound=RuleSet)

LEVEL = 0.95
NORMAL = 1.959963984540054
"""Quantile of the normal distribution for an interval of that level."""


def described(
    rule_set: Kind,
    encoded: np.ndarray,
    weight: np.ndarray,
    teacher: np.ndarray | None = None,
    truth: np.ndarray | None = None,
) -> Kind:
    """The same rules with the statistics that :class:`Rule` lists, on some rows.

    Parameters
    ----------
    rule_set : RuleSet
    encoded : ndarray of shape (n_samples, n_features)
        The rows.
    weight : ndarray of shape (n_samples,)
        Row weights.
    teacher : ndarray of shape (n_samples,), optional
        What the model says: values, or positions in ``classes``.
    truth : ndarray of shape (n_samples,), optional
        True values, or true positions in ``classes``, -1 for a class that the rules
        do not know.

    Returns
    -------
    RuleSet
    """
    rows = EncodedRows(encoded, weight, teacher, truth)
    lines, taught = rows.cut().map_sum(sums_of_lines, rule_set)
    return told(rule_set, lines, taught, rows.known)


def told(
    rule_set: Kind, lines: LinesSums, taught: WeightedMoments, known: tuple[bool, bool]
) -> Kind:
    """The same rules with the statistics that come of sums over rows.

    Parameters
    ----------
    rule_set : RuleSet
    lines : LinesSums
        Of every line.
    taught : WeightedMoments
        Of what the model says of all rows.
    known : tuple of bool
        Whether it is known what the model says, and what is true.
    """
    found = []
    for rule, line in zip(rule_set, lines):
        counted = {
            "support": line.support,
            "caught": line.caught,
            "rows": line.rows,
            "rows_caught": line.rows_caught,
            **UNKNOWN,
        }
        if rule_set.lines_predict:
            counted |= _quality(rule_set.classes, line, taught, known)
        found.append(replace(rule, **counted))
    return replace(rule_set, rules=tuple(found[:-1]), otherwise=found[-1])


UNKNOWN: dict[str, Any] = dict.fromkeys(
    (
        "agreement", "agreement_caught", "precision", "precision_caught", "spread",
        "low", "high", "disagreement", "expected",
    ),
    math.nan,
) | {"instead": None}  # fmt: skip


def _quality(
    classes: tuple[Any, ...],
    line: LineSums,
    taught: WeightedMoments,
    known: tuple[bool, bool],
) -> dict[str, Any]:
    """How good a line is where it holds and where it decides."""
    is_class = bool(classes)
    has_teacher, has_truth = known
    found: dict[str, Any] = {}
    if has_teacher:
        found["agreement"] = _share(line.agrees, line.support, is_class, taught)
        found["agreement_caught"] = _share(
            line.agrees_caught, line.caught, is_class, taught
        )
    if has_truth and is_class:
        found["precision"] = _share(line.right, line.support, True, taught)
        found["precision_caught"] = _share(line.right_caught, line.caught, True, taught)
    if line.caught == 0:
        return found
    if has_teacher or has_truth:
        shown = line.shown
        if is_class:
            ends = share_interval_of(shown.mean, shown.n_effective)
            found["low"], found["high"] = ends
        else:
            found["spread"] = math.sqrt(shown.variance)
            found["low"], found["high"] = mean_interval_of(
                shown.mean, shown.variance, shown.n_effective
            )
    if has_teacher and is_class:
        found |= _instead(classes, line.otherwise)
    elif has_teacher:
        found["disagreement"] = math.sqrt(line.agrees_caught / line.caught)
    return found


def _share(
    total: float, weight: float, is_class: bool, taught: WeightedMoments
) -> float:
    """Share of equal classes, or R2, from weighted hits or squared errors."""
    if not weight > 0:
        return math.nan
    if is_class:
        return total / weight
    return Mean().agreement(total / weight, taught.variance)


def _instead(classes: tuple[Any, ...], mass: np.ndarray) -> dict[str, Any]:
    """How far, and in favour of what, the model says otherwise."""
    # Labels of a teacher that the rules do not know are the first.
    largest = int(mass[1:].argmax())
    instead = classes[largest] if mass[largest + 1] > 0 else None
    return {"disagreement": float(mass.sum()), "instead": instead}


def share_interval(hits: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of rows.

    Weighted rows count as their effective number, ``sum(w)**2 / sum(w**2)`` (Kish):
    equal weights as so many rows, whatever their size.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = share_interval(np.array([1] * 9 + [0]), np.ones(10))
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    # Sums of weights may round to a share beyond 1.
    share = min(float(np.average(hits, weights=weight)), 1.0)
    return share_interval_of(share, effective_number(weight))


def share_interval_of(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share among ``n`` rows."""
    if n < 1e-100:  # Next to no row says nothing, and its inverse has no square.
        return 0.0, 1.0
    z = NORMAL
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    # Without misses, or hits, one end is exact; rounding would blur it.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    return low, 1.0 if share == 1 else min(1.0, centre + half)


def mean_interval(values: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
    """Student's 95 % interval of a mean; NaN where one row is all there is.

    Weighted rows count as in :func:`share_interval`.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = mean_interval(np.array([1.0, 2.0, 3.0]), np.ones(3))
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    n = effective_number(weight)
    mean = float(np.average(values, weights=weight))
    return mean_interval_of(mean, variance(values, weight), n)


def mean_interval_of(mean: float, spread: float, n: float) -> tuple[float, float]:
    """Student's 95 % interval of a mean, from the variance of ``n`` rows.

    NaN where one row is all there is.
    """
    # Two rows, one of them weightless but for rounding, are one.
    if n < 1.0 + 1e-9:
        return math.nan, math.nan
    error = math.sqrt(spread / (n - 1))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    low, high = mean - half, mean + half
    return (low, high) if math.isfinite(high - low) else (math.nan, math.nan)
