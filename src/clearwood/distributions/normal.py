"""Univariate normal distributions: fixed, and with a normal-gamma prior."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from clearwood._kernels.distributions import NORMAL, normal_log_marginals
from clearwood.distributions.leaf_model import check_lent, check_positive
from clearwood.distributions.moments import MomentsLeaf
from clearwood.distributions.of_columns import (
    LEAST_SHARE,
    NOT_CONTINUOUS,
    OfNumbers,
    Plain,
    Point,
)
from clearwood.exceptions import InputError


def log_density(gap: Any, variance: Any) -> np.ndarray:
    """Log density at a distance from the mean, whose square may overflow.

    Examples
    --------
    >>> float(log_density(0.0, 1.0).round(3))
    -0.919
    """
    with np.errstate(over="ignore"):
        return -0.5 * (gap * gap / variance + np.log(2.0 * np.pi * variance))


def estimated(
    mean: np.ndarray,
    variance: np.ndarray,
    moments: np.ndarray,
    alpha: float,
    spread: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Maximum-likelihood means and variances of many distributions.

    Parameters
    ----------
    mean, variance : ndarray of shape (n,)
        Current values, which are kept without rows.
    moments : ndarray of shape (n, 3)
        Weight of the rows, and sums of distances from ``mean`` and of their squares.
    alpha : float
        Pseudo-rows, with the variance ``spread``.
    spread : ndarray of shape (n,)
        Variances of the columns; `LEAST_SHARE` of these is the minimum variance.

    Examples
    --------
    >>> moments = np.array([[2.0, 4.0, 10.0]])
    >>> estimated(np.zeros(1), np.ones(1), moments, 0.0, np.ones(1))
    (array([2.]), array([1.]))
    """
    weight, sums, squares = moments.T
    any_row = weight > 0.0
    weight = np.where(any_row, weight, 1.0)
    shift = sums / weight
    scatter = squares - weight * shift**2 + alpha * spread
    found = np.maximum(scatter / (weight + alpha), LEAST_SHARE * spread)
    return mean + shift, np.where(any_row, found, variance)


@dataclass(frozen=True, eq=False)
class Gaussian(OfNumbers):
    """Gaussian leaf: one continuous column.

    Attributes
    ----------
    variable : int
    mean, variance : float
    """

    mean: float
    variance: float

    degrees_of_freedom = 2

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of present entries; see ``of_columns``."""
        found = log_density(values[:, self.variable] - self.mean, self.variance)
        found[np.isnan(found)] = 0.0
        return found

    def _draws(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return rng.normal(self.mean, np.sqrt(self.variance), shape)

    def modes(self) -> list[Point]:
        """Its mean; see ``of_columns``."""
        return [(float(log_density(0.0, self.variance)), {self.variable: self.mean})]

    def scaled(self, zero: np.ndarray, one: np.ndarray) -> Gaussian:
        """Leaf in the units of a table, whose 0 and 1 are given; see ``of_columns``."""
        mean, variance = self.mean * one[0] + zero[0], self.variance * one[0] ** 2
        return Gaussian(self.variable, float(mean), float(variance))

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """Its defect, if any, in a table whose columns have so many levels."""
        if any(n_levels):
            return NOT_CONTINUOUS
        if not (np.isfinite(self.mean) and 0.0 < self.variance < np.inf):
            return f"has mean {self.mean} and variance {self.variance}"
        return None

    def to_plain(self) -> Plain:
        """Its integers and floats, as they are saved; see ``of_columns``."""
        return [self.variable], [self.mean, self.variance]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Gaussian:
        """Leaf from its saved integers and floats; see ``of_columns``."""
        return cls(int(whole.item()), *numbers.tolist())


class ColumnMoments(NamedTuple):
    """Moments of the present values of a continuous column, to build a leaf."""

    variable: int
    n: int
    mean: float
    scatter: float

    @classmethod
    def of(cls, variable: int, values: np.ndarray) -> ColumnMoments:
        """Moments of values, some of which may be missing."""
        values = values[~np.isnan(values)]
        mean = float(values.mean()) if len(values) else 0.0
        return cls(variable, len(values), mean, float(((values - mean) ** 2).sum()))

    def gaussian(self, alpha: float) -> Gaussian:
        """Leaf with ``alpha`` pseudo-rows of the table's mean 0 and variance 1."""
        n = self.n + alpha
        mean = self.n * self.mean / n if n else 0.0
        squares = self.scatter + self.n * (self.mean - mean) ** 2
        variance = (squares + alpha * (1.0 + mean**2)) / n if n else 1.0
        return Gaussian(self.variable, mean, max(variance, LEAST_SHARE))


@dataclass(frozen=True)
class NormalNormalGamma(MomentsLeaf):
    """Real targets with a normal-gamma prior of mean and precision.

    Statistics are the weight, the mean, and the sum of squares about the mean.

    A value rounded to a multiple of h may have been any in an interval of this width,
    and its density is unbounded if many are equal. ``rounding=h`` uses the mean of the
    log density over the interval instead: by Jensen's inequality a lower bound of the
    log probability of the rounded value (over h), and still conjugate, as it only adds
    ``h**2 / 12`` to the squares of every row.

    Parameters
    ----------
    m : float, default=0.0
        Prior mean of the mean.
    kappa : float, default=1.0
        Number of pseudo-rows of the prior mean.
    alpha, beta : float, default=1.0
        Shape and rate of the precision's gamma distribution.
    rounding : float, default=0.0
        Unit to whose multiples the values are rounded.
    lent : float, default=0.0
        Pseudo-rows that a node of a meta-tree lends its children, in proportion to
        their rows.
    estimated_from : float, default=0.0
        Effective number of rows that ``m`` and ``beta`` are estimated from, for which
        intervals of meta-trees are wider; 0 if they are given.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = NormalNormalGamma(kappa=1.0)
    >>> float(leaf.mean(np.array([3.0, 4.0, 2.0])))  # three rows with mean 4
    3.0
    """

    m: float = 0.0
    kappa: float = 1.0
    alpha: float = 1.0
    beta: float = 1.0
    rounding: float = 0.0
    lent: float = 0.0
    estimated_from: float = 0.0

    n_stats = 3
    n_columns = 1
    kind = NORMAL
    _log_marginals = staticmethod(normal_log_marginals)

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        if not math.isfinite(self.m):
            raise InputError(f"m of NormalNormalGamma is {self.m}, expected a number.")
        check_positive(self, kappa=self.kappa, alpha=self.alpha, beta=self.beta)
        check_lent(self)
        if not (math.isfinite(self.rounding) and self.rounding >= 0):
            raise InputError(
                f"rounding of NormalNormalGamma is {self.rounding}, expected the step "
                "between values, or 0."
            )

    @cached_property
    def prior(self) -> np.ndarray:
        """Four hyperparameters, and the variance due to rounding."""
        numbers = [self.m, self.kappa, self.alpha, self.beta, self._hidden]
        return np.array(numbers, dtype=np.float64)

    @property
    def _hidden(self) -> float:
        return self.rounding**2 / 12.0

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics of every single row, of shape (n_rows, n_stats)."""
        return np.stack([weight, y, weight * self._hidden], axis=-1)

    def add_rows(
        self,
        own: np.ndarray,
        ends: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        x: np.ndarray | None = None,
    ) -> None:
        """Add rows to the statistics of their leaves, in place, in their order."""
        super().add_rows(own, ends, y, weight, x)
        if self.rounding:
            weight = np.broadcast_to(weight, y.shape)
            own[:, 2] += self._hidden * np.bincount(ends, weight, len(own))

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, ...]:
        weight, mean, squares = stats[..., 0], stats[..., 1], stats[..., 2]
        kappa = self.kappa + weight
        gap = mean - self.m
        beta = self.beta + 0.5 * (squares + self.kappa * weight / kappa * gap**2)
        return self.m + weight / kappa * gap, kappa, self.alpha + 0.5 * weight, beta

    def student(self, stats: np.ndarray, x: Any = None) -> tuple[np.ndarray, ...]:
        """Location m, half the degrees of freedom a, and b: ``m + t sqrt(b / a)``."""
        m, kappa, alpha, beta = self._posterior(stats)
        return m, alpha, beta + beta / kappa

    def mean_interval(self, stats: np.ndarray, level: float) -> tuple[float, float]:
        """Central credible interval of the mean of a node.

        Examples
        --------
        >>> NormalNormalGamma().mean_interval(np.array([0.0, 0.0, 0.0]), 0.5)
        (-0.816..., 0.816...)
        """
        m, kappa, alpha, beta = map(float, self._posterior(stats))
        half = stdtrit(2 * alpha, 0.5 * (1 + level)) * math.sqrt(beta / (alpha * kappa))
        return m - float(half), m + float(half)
