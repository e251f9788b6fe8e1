"""Tests of whether new rows differ from those that rules come from.

Each returns the p value of the hypothesis that both are samples of one distribution;
exact tests where the counts may be small.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from clearwood.outcomes.intervals import NORMAL

LEAST_EXPECTED = 5.0
"""Rows that every cell of a chi-squared test is expected to have; smaller ones are
merged."""


def share_shift(hits: float, n: float, new_hits: int, n_new: int) -> float:
    """Fisher's exact test of equal shares in two samples.

    Examples
    --------
    >>> round(share_shift(5, 100, 20, 100), 4)
    0.0022
    """
    from scipy.stats import fisher_exact

    # Of weighted statistics the numbers of rows may be fractions.
    hits, n = round(hits), round(n)
    if n == 0 or n_new == 0:
        return math.nan
    return float(fisher_exact([[hits, n - hits], [new_hits, n_new - new_hits]]).pvalue)


def rate_shift(
    expected: float, low: float, high: float, hits: int, n_new: int
) -> float:
    """Test of a share against an estimate with a 95 % interval.

    The estimate is a beta distribution with its mean and, from the interval, its
    standard deviation; the hits of new rows are then beta-binomial.

    Examples
    --------
    >>> round(rate_shift(0.69, 0.25, 0.94, 50, 100), 2)
    0.34
    """
    from scipy.stats import betabinom

    if n_new == 0 or math.isnan(expected + low + high):
        return math.nan
    # The mean of no beta distribution is 0 or 1.
    mean = min(max(expected, 1e-6), 1 - 1e-6)
    deviation = max((high - low) / (2 * NORMAL), 1e-6)
    size = max(mean * (1 - mean) / deviation**2 - 1, 1e-3)
    found = betabinom(n_new, size * mean, size * (1 - mean))
    tail = min(found.cdf(hits), found.sf(hits - 1))
    return float(min(1.0, 2 * tail))


def mean_shift(expected: float, low: float, high: float, values: np.ndarray) -> float:
    """Student's test of the mean of some values against an estimate with an interval.

    Examples
    --------
    >>> round(mean_shift(2.0, 1.0, 3.0, np.array([2.0, 4.0, 3.0, 5.0])), 3)
    0.106
    """
    from scipy.special import stdtr

    n = len(values)
    if n < 2 or math.isnan(expected + low + high):
        return math.nan
    own = float(np.var(values, ddof=1)) / n
    given = ((high - low) / (2 * NORMAL)) ** 2
    gap = abs(float(np.mean(values)) - expected)
    if gap == 0 or own + given == 0:
        return 1.0 if gap == 0 else 0.0
    # Welch's degrees of freedom; those of the estimate are unknown, and taken as many.
    freedom = (n - 1) * ((own + given) / own) ** 2 if own > 0 else math.inf
    return float(2 * stdtr(freedom, -gap / math.sqrt(own + given)))


def range_shift(n: int, n_outside: int, n_new: int) -> float:
    """Test of the number of new values beyond the extremes of ``n`` values.

    Of exchangeable values this number is beta-binomial; ties make it smaller.

    Examples
    --------
    >>> range_shift(100, 2, 100) > 0.5 > 0.01 > range_shift(100, 12, 100)
    True
    """
    from scipy.stats import betabinom

    if n < 2 or n_new == 0:
        return math.nan
    return float(betabinom.sf(n_outside - 1, n_new, 2, n - 1))


def values_shift(values: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """Kolmogorov and Smirnov's distance of two samples, and its p value.

    Examples
    --------
    >>> distance, p = values_shift(np.arange(50.0), np.arange(25.0, 75.0))
    >>> distance, p < 1e-5
    (0.5, True)
    """
    from scipy.stats import ks_2samp

    if not len(values) or not len(new):
        return math.nan, math.nan
    found = ks_2samp(values, new)
    return float(found.statistic), float(found.pvalue)


def levels_shift(counts: np.ndarray, new: np.ndarray) -> tuple[float, float]:
    """Total variation distance of the levels of two samples, and a chi-squared p value.

    Examples
    --------
    >>> distance, p = levels_shift(np.array([50, 50, 0]), np.array([80, 19, 1]))
    >>> round(distance, 2), p < 1e-4
    (0.31, True)
    """
    from scipy.stats import chi2_contingency

    if not counts.sum() or not new.sum():
        return math.nan, math.nan
    shares = counts / counts.sum(), new / new.sum()
    distance = float(np.abs(shares[0] - shares[1]).sum() / 2)
    both = counts + new
    least = both * min(counts.sum(), new.sum()) / both.sum()
    small = least < LEAST_EXPECTED
    table = np.array([[*one[~small], one[small].sum()] for one in (counts, new)])
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return distance, 1.0
    return distance, float(chi2_contingency(table, correction=False).pvalue)


def stability_index(counts: Sequence[float], new: Sequence[float]) -> float:
    """Population stability index: the symmetric Kullback-Leibler divergence of shares.

    Half a row is added to each count, so that none is zero.

    Examples
    --------
    >>> round(stability_index([50, 50], [80, 20]), 2)
    0.41
    """
    one, two = (np.asarray(c, dtype=float) + 0.5 for c in (counts, new))
    one, two = one / one.sum(), two / two.sum()
    return float(((two - one) * np.log(two / one)).sum())


def holm(p: np.ndarray, error_rate: float) -> np.ndarray:
    """Which hypotheses Holm's procedure rejects; NaN is not tested.

    Examples
    --------
    >>> holm(np.array([0.02, 0.001, np.nan, 0.03]), 0.05).tolist()
    [True, True, False, True]
    """
    rejected = np.zeros(len(p), dtype=bool)
    tested = np.flatnonzero(~np.isnan(p))
    for k, i in enumerate(tested[np.argsort(p[tested], kind="stable")]):
        if p[i] > error_rate / (len(tested) - k):
            break
        rejected[i] = True
    return rejected
