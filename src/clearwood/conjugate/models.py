"""What a leaf says of the rows that reach it: conjugate models, in closed form.

Every model is a small frozen dataclass. Its functions work on **statistics**, arrays
whose last axis holds what the model has to know of a set of rows: sums (of weights,
values ...), or moments (weight, mean, sums of squares about the mean), which stay
exact where values are large. Weights are fractional counts. Everything else
broadcasts: ``stats`` of shape (..., n_stats) with ``y`` of shape (...).

The linear regression, in ``leaf_linear``, reads features ``x`` as well; the others
ignore that argument.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import special

from clearwood.conjugate import _kernels
from clearwood.exceptions import InputError

LOG_2PI = math.log(2.0 * math.pi)


class LeafModel:
    """What all leaf models have; make one of those below."""

    kind: ClassVar[int]
    """Number by which the kernels know the model."""
    discrete: ClassVar[bool]
    """Whether targets are whole numbers."""
    reads_features: ClassVar[bool] = False
    """Whether the leaf looks at features of the row."""
    n_columns: int | None = None
    """Length of the mean where statistics are moments, None where they are sums."""
    n_stats: int
    """Length of the statistics."""

    @property
    def prior(self) -> np.ndarray:
        """Hyperparameters as one row, for the kernels."""
        raise NotImplementedError

    def check_target(self, y: Any) -> np.ndarray:
        """The target, refused where the model gives it no probability."""
        values = np.ascontiguousarray(y)
        if values.ndim != 1:
            raise InputError(f"y has {values.ndim} dimensions, expected 1.")
        if values.dtype.kind not in "fiub":
            raise InputError(
                f"{type(self).__name__} reads numbers, found {values.dtype} targets; "
                "turn labels into numbers."
            )
        if values.dtype.kind != "f" and not self.discrete or values.dtype.itemsize < 8:
            values = values.astype(np.float64)
        self._check_support(values)
        return values

    def _check_support(self, values: np.ndarray) -> None:
        refuse(self, values, ~np.isfinite(values), "finite numbers")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics of every single row, of shape (n_rows, n_stats)."""
        raise NotImplementedError

    def columns(self, y: np.ndarray, x: Any = None) -> np.ndarray:
        """What moments are taken of, of shape (n_rows, n_columns): y, behind x."""
        return y[:, None]

    def weight_of(self, stats: np.ndarray) -> np.ndarray:
        """Sum of the weights of the rows."""
        return stats[..., 0]

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Log probability of the rows, the leaf's parameters integrated out."""
        flat = np.ascontiguousarray(stats, dtype=np.float64).reshape(-1, self.n_stats)
        found = _kernels.log_marginals(self.kind, flat, self.prior)
        return found.reshape(np.shape(stats)[:-1])

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Log density of one more row, given the rows there."""
        raise NotImplementedError

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Mean of one more row."""
        raise NotImplementedError

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Variance of one more row; infinite where there is none."""
        raise NotImplementedError

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Probability that one more row is at most ``y``."""
        raise NotImplementedError

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """The smallest value that one more row is at most with probability ``p``."""
        raise NotImplementedError


def refuse(model: LeafModel, values: np.ndarray, bad: np.ndarray, what: str) -> None:
    """Raise where targets are not what the model reads."""
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"y is {values[row]} in row {row}; {type(model).__name__} reads {what}."
        )


def check_positive(model: LeafModel, **numbers: float) -> None:
    """Raise where a hyperparameter is not a positive number."""
    for name, number in numbers.items():
        if not (math.isfinite(number) and number > 0):
            raise InputError(
                f"{name} of {type(model).__name__} is {number}, expected a positive "
                "number."
            )


# Counts


class _Counts(LeafModel):
    """Classes 0, 1, ... with a Dirichlet prior; statistics are weighted counts."""

    kind = _kernels.COUNTS
    discrete = True

    @property
    def n_stats(self) -> int:  # type: ignore[override]
        """Number of classes."""
        return len(self.prior)

    def _check_support(self, values: np.ndarray) -> None:
        whole = values.dtype.kind in "iu" or np.array_equal(values, np.floor(values))
        if whole and values.size and 0 <= values.min() <= values.max() < self.n_stats:
            return
        bad = (values < 0) | (values >= self.n_stats) | (values != np.floor(values))
        refuse(self, values, bad, f"classes 0 to {self.n_stats - 1}")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        rows = np.zeros((len(y), self.n_stats))
        rows[np.arange(len(y)), y.astype(np.intp)] = weight
        return rows

    def weight_of(self, stats: np.ndarray) -> np.ndarray:
        """See ``LeafModel``."""
        return stats.sum(axis=-1)

    def probabilities(self, stats: np.ndarray) -> np.ndarray:
        """Probability of every class for one more row, along the last axis."""
        count = self.prior + stats
        return count / count.sum(axis=-1, keepdims=True)

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        p = self.probabilities(stats)
        y = np.broadcast_to(y, p.shape[:-1])
        inside = (y >= 0) & (y < self.n_stats) & (y == np.floor(y))
        label = np.where(inside, y, 0).astype(np.intp)
        found = np.take_along_axis(p, label[..., None], axis=-1)[..., 0]
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(found), -np.inf)

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return self.probabilities(stats) @ np.arange(self.n_stats)

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        p = self.probabilities(stats)
        gap = np.arange(self.n_stats) - self.mean(stats)[..., None]
        return (p * gap**2).sum(axis=-1)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        p = self.probabilities(stats)
        below = np.cumsum(p, axis=-1)
        below[..., -1] = 1.0
        y = np.broadcast_to(y, p.shape[:-1])
        last = np.clip(np.floor(y), 0, self.n_stats - 1).astype(np.intp)
        found = np.take_along_axis(below, last[..., None], axis=-1)[..., 0]
        return np.where(y < 0, 0.0, found)

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        below = np.cumsum(self.probabilities(stats), axis=-1)[..., :-1]
        return (below < np.asarray(p)[..., None]).sum(axis=-1).astype(np.float64)


@dataclass(frozen=True)
class BernoulliBeta(_Counts):
    """Targets 0 and 1; the probability of 1 has a beta prior.

    Parameters
    ----------
    a, b : float, default=0.5
        Pseudo-counts of 1 and of 0.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = BernoulliBeta(1.0, 1.0)
    >>> float(leaf.mean(np.array([1.0, 4.0])))  # one 0 and four 1
    0.7142857142857143
    """

    a: float = 0.5
    b: float = 0.5

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        check_positive(self, a=self.a, b=self.b)

    @cached_property
    def prior(self) -> np.ndarray:
        """Pseudo-counts of 0 and of 1."""
        return np.array([self.b, self.a], dtype=np.float64)


@dataclass(frozen=True)
class CategoricalDirichlet(_Counts):
    """Targets 0 to n_classes - 1; their probabilities have a Dirichlet prior.

    Mean, variance, distribution function and quantiles are those of the class
    number, which says something where classes are ordered.

    Parameters
    ----------
    alpha : tuple of float
        One pseudo-count per class.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = CategoricalDirichlet.symmetric(3, 1.0)
    >>> leaf.probabilities(np.array([0.0, 1.0, 4.0]))
    array([0.125, 0.25 , 0.625])
    """

    alpha: tuple[float, ...]

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        object.__setattr__(self, "alpha", tuple(float(a) for a in self.alpha))
        check_positive(self, **{f"alpha[{i}]": a for i, a in enumerate(self.alpha)})
        if not self.alpha:
            raise InputError("alpha is empty, expected one pseudo-count per class.")

    @classmethod
    def symmetric(cls, n_classes: int, alpha: float = 0.5) -> CategoricalDirichlet:
        """The same pseudo-count for every class."""
        return cls((alpha,) * n_classes)

    @cached_property
    def prior(self) -> np.ndarray:
        """Pseudo-counts."""
        return np.array(self.alpha)


# Sums


@dataclass(frozen=True)
class _GammaRate(LeafModel):
    """A rate with a gamma prior."""

    alpha: float = 1.0
    beta: float = 1.0

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        check_positive(self, alpha=self.alpha, beta=self.beta)

    @cached_property
    def prior(self) -> np.ndarray:
        """Shape and rate."""
        return np.array([self.alpha, self.beta], dtype=np.float64)


@dataclass(frozen=True)
class PoissonGamma(_GammaRate):
    """Counts 0, 1, 2, ...; their rate has a gamma prior.

    Statistics are the sums of weights, of targets and of log factorials.

    Parameters
    ----------
    alpha, beta : float, default=1.0
        Shape and rate of the gamma distribution.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = PoissonGamma(1.0, 1.0)
    >>> rows = leaf.statistics(np.array([2.0, 3.0]), np.ones(2))
    >>> float(leaf.mean(rows.sum(axis=0)))
    2.0
    """

    kind = _kernels.POISSON
    discrete = True
    n_stats = 3

    def _check_support(self, values: np.ndarray) -> None:
        bad = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
        refuse(self, values, bad, "whole numbers from 0 on")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        sums = (weight, weight * y, weight * special.gammaln(y + 1.0))
        return np.stack(sums, axis=-1)

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.alpha + stats[..., 1], self.beta + stats[..., 0]

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        y = np.asarray(y, dtype=np.float64)
        inside = (y >= 0) & (y == np.floor(y))
        k = np.where(inside, y, 0.0)
        found = (
            special.gammaln(a + k) - special.gammaln(a) - special.gammaln(k + 1.0)
            - a * np.log1p(1.0 / b) - k * np.log1p(b)
        )  # fmt: skip
        return np.where(inside, found, -np.inf)

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        return a / b

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        return a / b * (1.0 + 1.0 / b)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        k = np.floor(np.asarray(y, dtype=np.float64))
        found = special.betainc(a, np.maximum(k, 0.0) + 1.0, b / (b + 1.0))
        return np.where(k < 0, 0.0, found)

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        p = np.broadcast_to(p, stats.shape[:-1])
        high = np.ceil(self.mean(stats)) + 1.0
        while (self.cdf(stats, high) < p).any():
            high = np.where(self.cdf(stats, high) < p, 2.0 * high, high)
        return bisect_whole(lambda y: self.cdf(stats, y) >= p, np.zeros(p.shape), high)


@dataclass(frozen=True)
class ExponentialGamma(_GammaRate):
    """Durations from 0 on; their rate has a gamma prior.

    Statistics are the sums of weights and of targets.

    Parameters
    ----------
    alpha, beta : float, default=1.0
        Shape and rate of the gamma distribution.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = ExponentialGamma(2.0, 1.0)
    >>> float(leaf.mean(np.array([3.0, 7.0])))  # three rows, together 7
    2.0
    """

    kind = _kernels.EXPONENTIAL
    discrete = False
    n_stats = 2

    def _check_support(self, values: np.ndarray) -> None:
        bad = ~np.isfinite(values) | (values < 0)
        refuse(self, values, bad, "finite numbers from 0 on")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        return np.stack([weight, weight * y], axis=-1)

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.alpha + stats[..., 0], self.beta + stats[..., 1]

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        y = np.asarray(y, dtype=np.float64)
        found = np.log(a / b) - (a + 1.0) * np.log1p(np.maximum(y, 0.0) / b)
        return np.where(y < 0, -np.inf, found)

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        return np.where(a > 1.0, b / np.where(a > 1.0, a - 1.0, 1.0), np.inf)

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        safe = np.where(a > 2.0, a, 3.0)
        found = safe * (b / (safe - 1.0)) ** 2 / (safe - 2.0)
        return np.where(a > 2.0, found, np.inf)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        y = np.maximum(np.asarray(y, dtype=np.float64), 0.0)
        return -np.expm1(-a * np.log1p(y / b))

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        a, b = self._posterior(stats)
        return b * np.expm1(-np.log1p(-np.asarray(p)) / a)


# Moments


@dataclass(frozen=True)
class NormalNormalGamma(LeafModel):
    """Real targets; mean and precision have a normal-gamma prior.

    Statistics are the weight, the mean, and the sum of squares about the mean.

    Parameters
    ----------
    m : float, default=0.0
        Mean of the mean.
    kappa : float, default=1.0
        What that is worth in rows.
    alpha, beta : float, default=1.0
        Shape and rate of the precision's gamma distribution.

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

    kind = _kernels.NORMAL
    discrete = False
    n_stats = 3
    n_columns = 1

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        if not math.isfinite(self.m):
            raise InputError(f"m of NormalNormalGamma is {self.m}, expected a number.")
        check_positive(self, kappa=self.kappa, alpha=self.alpha, beta=self.beta)

    @cached_property
    def prior(self) -> np.ndarray:
        """The four hyperparameters."""
        return np.array([self.m, self.kappa, self.alpha, self.beta], dtype=np.float64)

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        return np.stack([weight, y, np.zeros_like(y)], axis=-1)

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, ...]:
        weight, mean, squares = stats[..., 0], stats[..., 1], stats[..., 2]
        kappa = self.kappa + weight
        gap = mean - self.m
        beta = self.beta + 0.5 * (squares + self.kappa * weight / kappa * gap**2)
        return self.m + weight / kappa * gap, kappa, self.alpha + 0.5 * weight, beta

    def student(self, stats: np.ndarray, x: Any = None) -> tuple[np.ndarray, ...]:
        """Of ``m + t sqrt(b / a)``: m, half the degrees of freedom a, and b."""
        m, kappa, alpha, beta = self._posterior(stats)
        return m, alpha, beta * (kappa + 1.0) / kappa

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return student_log_density(y, *self.student(stats))

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return self._posterior(stats)[0]

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return student_variance(*self.student(stats))

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return student_cdf(y, *self.student(stats))

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return student_quantile(p, *self.student(stats))


def student_log_density(
    y: Any, m: np.ndarray, alpha: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Log density of ``m + t sqrt(b / alpha)``, t with 2 alpha degrees of freedom."""
    return (
        special.gammaln(alpha + 0.5) - special.gammaln(alpha)
        - 0.5 * (LOG_2PI + np.log(b))
        - (alpha + 0.5) * np.log1p((np.asarray(y) - m) ** 2 / (2.0 * b))
    )  # fmt: skip


def student_variance(m: np.ndarray, alpha: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Variance of the same; infinite with up to 2 degrees of freedom."""
    return np.where(alpha > 1.0, b / np.where(alpha > 1.0, alpha - 1.0, 1.0), np.inf)


def student_cdf(y: Any, m: np.ndarray, alpha: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Distribution function of the same."""
    return special.stdtr(2.0 * alpha, (np.asarray(y) - m) / np.sqrt(b / alpha))


def student_quantile(
    p: Any, m: np.ndarray, alpha: np.ndarray, b: np.ndarray
) -> np.ndarray:
    """Quantiles of the same."""
    return m + special.stdtrit(2.0 * alpha, p) * np.sqrt(b / alpha)


def bisect_whole(reached: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The smallest whole numbers at which something is reached that then stays so.

    Parameters
    ----------
    reached : callable
        From an array of whole numbers to booleans; true at ``high``.
    low, high : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> bisect_whole(lambda y: y * y >= 50, np.zeros(1), np.full(1, 64.0))
    array([8.])
    """
    while (low < high).any():
        middle = np.floor(low + 0.5 * (high - low))
        there = reached(middle)
        open_ = low < high
        high = np.where(open_ & there, middle, high)
        low = np.where(open_ & ~there, middle + 1.0, low)
    return high
