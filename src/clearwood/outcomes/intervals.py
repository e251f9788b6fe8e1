"""Shares and means of rows, with 95 % intervals."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from clearwood._numeric import WeightedMoments
from clearwood._words.numbers import measured_text, share_text

UNKNOWN = math.nan

LEVEL = 0.95
NORMAL = 1.959963984540054
"""Normal quantile of an interval of that level."""


def share_interval(share: float, n: float) -> tuple[float, float]:
    """Wilson's 95 % interval of a share among ``n`` rows.

    Weighted rows count as their effective number, ``sum(w)**2 / sum(w**2)`` (Kish), so
    that equal weights give the number of rows, whatever their size.

    Examples
    --------
    >>> low, high = share_interval(0.9, 10)
    >>> round(low, 3), round(high, 3)
    (0.596, 0.982)
    """
    if n < 1e-100:  # No information, and the square of 1 / n overflows.
        return 0.0, 1.0
    z = NORMAL
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    # Without misses, or hits, one end is exact; rounding would perturb it.
    low = 0.0 if share == 0 else max(0.0, centre - half)
    return low, 1.0 if share == 1 else min(1.0, centre + half)


def mean_interval(mean: float, variance: float, n: float) -> tuple[float, float]:
    """Student's 95 % interval of a mean of ``n`` rows; NaN for a single row.

    Weighted rows count as in :func:`share_interval`.

    Examples
    --------
    >>> low, high = mean_interval(2.0, 2 / 3, 3)
    >>> round(low, 3), round(high, 3)
    (-0.484, 4.484)
    """
    # Two rows, one of them with zero weight up to rounding, are one.
    if n < 1.0 + 1e-9:
        return math.nan, math.nan
    error = math.sqrt(variance / (n - 1))
    half = float(stdtrit(n - 1, (1 + LEVEL) / 2)) * error
    low, high = mean - half, mean + half
    return (low, high) if math.isfinite(high - low) else (math.nan, math.nan)


class Rate(NamedTuple):
    """Estimate from some rows, with its interval.

    Attributes
    ----------
    value : float
        NaN if no row determines it.
    low, high : float
        95 % interval; NaN if there is none.
    rows : int
        Number of rows behind it; for an area under a curve, all rows.

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
        return self.as_share()

    def as_share(self, decimals: int = 0) -> str:
        """Text of a share, in percent with at least these decimals."""
        return share_text(self.value, self.low, self.high, decimals)

    def as_number(self) -> str:
        """Text of a mean or an area, which is not a share.

        Examples
        --------
        >>> Rate(12.3456, 10.951, 13.74, 30).as_number()
        '12.3 [11.0, 13.7]'
        """
        return measured_text(self.value, self.low, self.high)


NOT_KNOWN = Rate(UNKNOWN, UNKNOWN, UNKNOWN, 0)


def rate_of(hits: np.ndarray, weight: np.ndarray) -> Rate:
    """The share of rows that are hits, with Wilson's interval.

    Parameters
    ----------
    hits : ndarray of bool of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
        Rows with zero weight are ignored.

    Examples
    --------
    >>> rate_of(np.array([True, True, True, False]), np.ones(4)).value
    0.75
    """
    found = WeightedMoments.of(hits, weight)
    if not found.weight > 0:
        return NOT_KNOWN
    # Sums of weights may round to a share above 1.
    share = min(found.mean, 1.0)
    ends = share_interval(share, found.n_effective)
    return Rate(share, *ends, int((weight > 0).sum()))


def mean_of(values: np.ndarray, weight: np.ndarray) -> Rate:
    """The mean of some values, with Student's interval.

    Examples
    --------
    >>> mean_of(np.array([1.0, 2.0, 3.0]), np.ones(3)).value
    2.0
    """
    found = WeightedMoments.of(values, weight)
    if not found.weight > 0:
        return NOT_KNOWN
    ends = mean_interval(found.mean, found.variance, found.n_effective)
    return Rate(found.mean, *ends, int((weight > 0).sum()))
