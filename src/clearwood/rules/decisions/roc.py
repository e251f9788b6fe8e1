"""ROC curves, with the area under them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._numeric import effective_number
from clearwood.outcomes.intervals import NORMAL, Rate

CLOSE = 1e-12
"""Replaces 0 and 1, where an area's interval would degenerate."""


class Roc(NamedTuple):
    """ROC curve over all thresholds, from high to low.

    Attributes
    ----------
    false_positives, sensitivity : ndarray of shape (n_thresholds + 1,)
        False positive rate and true positive rate.
    area : Rate
        Area under the curve: the probability that a row of the class has a higher
        predicted probability than one of the others; ties count half.
    """

    false_positives: np.ndarray
    sensitivity: np.ndarray
    area: Rate


def roc_of(p: np.ndarray, is_positive: np.ndarray, weight: np.ndarray) -> Roc | None:
    """Compute a ROC curve; None where all rows are of one class.

    Parameters
    ----------
    p : ndarray of shape (n_rows,)
        Predicted probability of the class.
    is_positive : ndarray of bool of shape (n_rows,)
        Whether a row belongs to the class.
    weight : ndarray of shape (n_rows,)

    Examples
    --------
    >>> truth = np.array([True, True, False, False])
    >>> roc = roc_of(np.array([0.9, 0.4, 0.4, 0.1]), truth, np.ones(4))
    >>> roc.area.value, roc.sensitivity.tolist()
    (0.875, [0.0, 0.5, 1.0, 1.0])
    """
    counted = weight > 0
    p, is_positive, weight = p[counted], is_positive[counted], weight[counted]
    if is_positive.all() or not is_positive.any():
        return None
    # Thresholds from high to low; rows of equal probability change together.
    _, place = np.unique(-p, return_inverse=True)
    found, false = (
        np.bincount(place, np.where(kind, weight, 0.0)) / weight[kind].sum()
        for kind in (is_positive, ~is_positive)
    )
    reached, wrongly = (np.append(0.0, part.cumsum()) for part in (found, false))
    area = float(np.clip((found * (1.0 - wrongly[1:] + false / 2)).sum(), 0.0, 1.0))
    numbers = (effective_number(weight[kind]) for kind in (is_positive, ~is_positive))
    return Roc(
        np.minimum(wrongly, 1.0),
        np.minimum(reached, 1.0),
        Rate(area, *area_interval(area, *numbers), len(p)),
    )


def area_interval(
    area: float, n_positive: float, n_others: float
) -> tuple[float, float]:
    """Newcombe's 95 % interval of an area under the curve (2006, method 5).

    For areas near 1 and few rows of a class, DeLong's interval is far too short.

    Examples
    --------
    >>> low, high = area_interval(1.0, 10, 50)
    >>> round(low, 2), round(high, 2)
    (0.88, 1.0)
    """
    from scipy.optimize import brentq

    n = (n_positive + n_others) / 2 - 1

    def beyond(a: float) -> float:
        spread = 1 + n * (1 - a) / (2 - a) + n * a / (1 + a)
        variance = a * (1 - a) * spread / (n_positive * n_others)
        return (area - a) ** 2 - NORMAL**2 * variance

    ends = []
    for end, inside in ((0.0, min(area, 1 - CLOSE)), (1.0, max(area, CLOSE))):
        crossed = beyond(end) > 0 > beyond(inside)
        ends.append(float(brentq(beyond, end, inside)) if crossed else end)
    return ends[0], ends[1]
