"""What some rows say about every rule of a rule set: counts, shares and intervals."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np
from scipy.special import stdtrit

from clearwood.rules.rule import Rule
from clearwood.rules.rule_set import RuleSet
from clearwood.rules.scores import fidelity, variance

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
    matches = rule_set.matches_encoded(encoded)
    caught = rule_set.takes_part(encoded)
    # The last line has no conditions of its own.
    held = np.hstack([matches, caught[:, -1:]])
    # A row without weight is none.
    counts = weight > 0
    lines = []
    for i, rule in enumerate(rule_set):
        told = {
            "support": float(weight[held[:, i]].sum()),
            "caught": float(weight[caught[:, i]].sum()),
            "rows": int(counts[held[:, i]].sum()),
            "rows_caught": int(counts[caught[:, i]].sum()),
            **UNKNOWN,
        }
        if rule_set.lines_predict:
            told |= _quality(
                rule, rule_set.classes, held[:, i], caught[:, i], weight, teacher, truth
            )
        lines.append(replace(rule, **told))
    return replace(rule_set, rules=tuple(lines[:-1]), otherwise=lines[-1])


UNKNOWN: dict[str, Any] = dict.fromkeys(
    (
        "agreement", "agreement_caught", "precision", "precision_caught", "spread",
        "low", "high", "disagreement", "expected",
    ),
    math.nan,
) | {"instead": None}  # fmt: skip


def _quality(
    rule: Rule,
    classes: tuple[Any, ...],
    held: np.ndarray,
    caught: np.ndarray,
    weight: np.ndarray,
    teacher: np.ndarray | None,
    truth: np.ndarray | None,
) -> dict[str, Any]:
    """How good a line is where it holds and where it decides."""
    is_class = bool(classes)
    task = "classification" if is_class else "regression"
    said = classes.index(rule.prediction) if is_class else rule.prediction
    told: dict[str, Any] = {}
    if teacher is not None:
        told["agreement"] = fidelity(teacher, said, task, weight, held)
        told["agreement_caught"] = fidelity(teacher, said, task, weight, caught)
    if truth is not None and is_class:
        told["precision"] = fidelity(truth, said, task, weight, held)
        told["precision_caught"] = fidelity(truth, said, task, weight, caught)
    shown = teacher if truth is None else truth
    if weight[caught].sum() == 0:
        return told
    if shown is not None and not is_class:
        told["spread"] = math.sqrt(variance(shown[caught], weight[caught]))
    if shown is not None:
        interval = share_interval if is_class else mean_interval
        values = shown[caught] == said if is_class else shown[caught]
        told["low"], told["high"] = interval(values, weight[caught])
    if teacher is not None:
        told |= _disagreement(said, classes, teacher[caught], weight[caught])
    return told


def _disagreement(
    said: Any, classes: tuple[Any, ...], teacher: np.ndarray, weight: np.ndarray
) -> dict[str, Any]:
    """How far, and in favour of what, the model says otherwise."""
    if not classes:
        mse = np.average((teacher - said) ** 2, weights=weight)
        return {"disagreement": math.sqrt(mse)}
    # Labels of a teacher that the rules do not know are at -1.
    mass = np.bincount(teacher + 1, weights=weight, minlength=len(classes) + 1)
    mass[said + 1] = 0.0
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


def effective_number(weight: np.ndarray) -> float:
    """How many rows of one weight say as much as these (Kish)."""
    # Relative to the largest, so that tiny weights do not vanish when squared.
    weight = weight / weight.max()
    return float(weight.sum() ** 2 / (weight**2).sum())
