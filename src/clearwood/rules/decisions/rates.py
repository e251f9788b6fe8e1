"""Shares of rows with their intervals, and how they are written."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from clearwood.rules.statistics import mean_interval, share_interval

UNKNOWN = math.nan


class Rate(NamedTuple):
    """A number that some rows tell, and how far they tell it.

    Attributes
    ----------
    value : float
        NaN where no row tells it.
    low, high : float
        95 % interval; NaN where there is none.
    rows : int
        Rows that it is of; of an area under a curve, all rows.

    Examples
    --------
    >>> print(Rate(0.9, 0.596, 0.982, rows=10))
    90 % [60, 98]
    """

    value: float
    low: float
    high: float
    rows: int

    def __str__(self) -> str:
        return share_text(self)


NOT_KNOWN = Rate(UNKNOWN, UNKNOWN, UNKNOWN, 0)


def rate_of(hits: np.ndarray, weight: np.ndarray) -> Rate:
    """The share of rows that are hits.

    Parameters
    ----------
    hits : ndarray of bool of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
        A row without weight is none.

    Examples
    --------
    >>> rate_of(np.array([True, True, True, False]), np.ones(4)).value
    0.75
    """
    n_rows = int((weight > 0).sum())
    if n_rows == 0:
        return NOT_KNOWN
    value = min(float(np.average(hits, weights=weight)), 1.0)
    return Rate(value, *share_interval(hits, weight), n_rows)


def mean_of(values: np.ndarray, weight: np.ndarray) -> Rate:
    """The mean of some values, with Student's interval.

    Examples
    --------
    >>> mean_of(np.array([1.0, 2.0, 3.0]), np.ones(3)).value
    2.0
    """
    n_rows = int((weight > 0).sum())
    if n_rows == 0:
        return NOT_KNOWN
    mean = float(np.average(values, weights=weight))
    return Rate(mean, *mean_interval(values, weight), n_rows)


def share_text(rate: Rate) -> str:
    """A share in percent, with as many digits as its interval lets it have.

    Examples
    --------
    >>> share_text(Rate(0.0643, 0.031, 0.1149, 140)), share_text(NOT_KNOWN)
    ('6 % [3, 11]', 'not known')
    >>> share_text(Rate(0.0643, 0.0593, 0.0697, 10_000))
    '6.4 % [5.9, 7.0]'
    """
    if math.isnan(rate.value):
        return "not known"
    digits = _digits(rate, 0.02)
    low, value, high = (
        f"{100 * part:.{digits}f}" for part in (rate.low, rate.value, rate.high)
    )
    return f"{value} %" if math.isnan(rate.low) else f"{value} % [{low}, {high}]"


def area_text(rate: Rate) -> str:
    """An area under a curve, with as many digits as its interval lets it have.

    Examples
    --------
    >>> area_text(Rate(0.9123, 0.8641, 0.9479, 140))
    '0.91 [0.86, 0.95]'
    """
    if math.isnan(rate.value):
        return "not known"
    digits = 2 + _digits(rate, 0.02)
    low, value, high = (
        f"{part:.{digits}f}" for part in (rate.low, rate.value, rate.high)
    )
    return f"{value} [{low}, {high}]"


def _digits(rate: Rate, width: float) -> int:
    """More where the interval is narrow, and none of it certain."""
    gap = rate.high - rate.low
    return 1 if gap < width and not gap == 0 else 0


def number_text(rate: Rate) -> str:
    """A mean, with digits by the width of its interval.

    Examples
    --------
    >>> number_text(Rate(12.3456, 10.951, 13.74, 30))
    '12.3 [11.0, 13.7]'
    >>> number_text(Rate(48213.7, 47102.0, 49325.0, 30))
    '48,200 [47,100, 49,300]'
    """
    if math.isnan(rate.value):
        return "not known"
    gap = rate.high - rate.low
    if not 0 < gap < math.inf:
        return f"{rate.value:,.4g}"
    return "{} [{}, {}]".format(
        *(rounded_text(part, gap) for part in (rate.value, rate.low, rate.high))
    )


def rounded_text(value: float, unit: float) -> str:
    """A number with as many digits as some width lets it have.

    Examples
    --------
    >>> rounded_text(12.3456, 0.8), rounded_text(48213.7, 2200), rounded_text(-0.01, 3)
    ('12.35', '48,200', '0.0')
    """
    if not 0 < unit < math.inf or abs(value) > 1e15 * unit:
        return f"{value:,.4g}"
    digits = 1 - math.floor(math.log10(unit))
    if digits > 9:
        return f"{value:.4g}"
    # Adding nought makes nought of a nought below it.
    return f"{round(value, digits) + 0.0:,.{max(digits, 0)}f}"
