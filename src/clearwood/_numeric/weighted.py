"""Weighted means and their standard errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearwood._numeric.same_bits import product


def weighted_mean_and_error(
    losses: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Weighted means over the last axis, and their standard errors."""
    share = weight / weight.sum()
    mean = product(losses, share)
    error = np.sqrt(product((losses - mean[..., None]) ** 2, share**2))
    return mean, error


@dataclass(frozen=True)
class WeightedMoments:
    """Weight, mean and variance of values, additive over blocks of rows.

    Attributes
    ----------
    weight, mean, variance : float
        All 0 if the total weight is 0.
    low, high : float
        The smallest and the largest value: if equal, the variance is exactly 0.
    largest : float
        The largest weight.
    first, second : float
        Sums of the weights and of their squares, relative to the largest weight.

    Examples
    --------
    >>> one, two = np.array([1.0, 2.0]), np.array([6.0])
    >>> both = WeightedMoments.of(one, np.ones(2)) + WeightedMoments.of(two, np.ones(1))
    >>> both.mean, round(both.variance, 12), both.n_effective
    (3.0, 4.666666666667, 3.0)
    """

    weight: float = 0.0
    mean: float = 0.0
    variance: float = 0.0
    low: float = np.inf
    high: float = -np.inf
    largest: float = 0.0
    first: float = 0.0
    second: float = 0.0

    @classmethod
    def of(cls, values: np.ndarray, weight: np.ndarray) -> WeightedMoments:
        """Moments of the rows of one block."""
        total = float(weight.sum())
        if not total > 0:
            return cls()
        low, high = float(values.min()), float(values.max())
        mean = float(np.average(values, weights=weight))
        spread = 0.0
        if low < high:
            spread = float(np.average((values - mean) ** 2, weights=weight))
        largest = float(weight.max())
        relative = weight / largest
        first, second = float(relative.sum()), float((relative**2).sum())
        return cls(total, mean, spread, low, high, largest, first, second)

    @property
    def n_effective(self) -> float:
        """Kish's effective sample size."""
        return self.first**2 / self.second

    def __add__(self, other: WeightedMoments) -> WeightedMoments:
        if other.weight == 0:
            return self
        if self.weight == 0:
            return other
        weight = self.weight + other.weight
        mine, its = self.weight / weight, other.weight / weight
        apart = other.mean - self.mean
        low, high = min(self.low, other.low), max(self.high, other.high)
        spread = self.variance * mine + other.variance * its + apart**2 * mine * its
        largest = max(self.largest, other.largest)
        # Relative to one maximum, so that tiny weights do not underflow when squared.
        a, b = self.largest / largest, other.largest / largest
        return WeightedMoments(
            weight,
            self.mean + apart * its,
            spread if low < high else 0.0,
            low,
            high,
            largest,
            self.first * a + other.first * b,
            self.second * a**2 + other.second * b**2,
        )


def effective_number(weight: np.ndarray) -> float:
    """Kish's effective sample size."""
    return WeightedMoments.of(np.zeros(len(weight)), weight).n_effective


def variance(values: np.ndarray, weight: np.ndarray | None = None) -> float:
    """Mean squared deviation from the mean; exactly 0 if all values are equal."""
    if (values == values[0]).all():
        return 0.0
    centre = np.average(values, weights=weight)
    return float(np.average((values - centre) ** 2, weights=weight))
