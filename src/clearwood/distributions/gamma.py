"""Rates with a gamma prior: counts (Poisson), and durations (exponential).

With the prior (alpha, beta) the posterior of the rate is again a gamma distribution:
alpha increases by the number of events, beta by the exposure time. For counts the rows
are the exposure and the targets the events; for durations the reverse.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import special

from clearwood._kernels.distributions import (
    EXPONENTIAL,
    POISSON,
    exponential_log_marginals,
    poisson_log_marginals,
)
from clearwood._numeric import bisect_whole
from clearwood.distributions.leaf_model import LeafModel, check_positive, refuse


@dataclass(frozen=True)
class _GammaRate(LeafModel):
    """Base class of rates with a gamma prior."""

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
    """Counts 0, 1, 2, ... with a gamma prior of the Poisson rate.

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

    discrete = True
    n_stats = 3
    kind = POISSON
    _log_marginals = staticmethod(poisson_log_marginals)

    @property
    def _worth(self) -> np.ndarray:
        return np.array([self.beta, self.alpha, np.inf])

    def _check_support(self, values: np.ndarray) -> None:
        bad = ~np.isfinite(values) | (values < 0) | (values != np.floor(values))
        refuse(self, values, bad, "whole numbers from 0 on")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics of every single row, of shape (n_rows, n_stats)."""
        sums = (weight, weight * y, weight * special.gammaln(y + 1.0))
        return np.stack(sums, axis=-1)

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.alpha + stats[..., 1], self.beta + stats[..., 0]

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive log density; see ``LeafModel``."""
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
        """Posterior predictive mean; see ``LeafModel``."""
        a, b = self._posterior(stats)
        return a / b

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive variance; infinite if undefined; see ``LeafModel``."""
        a, b = self._posterior(stats)
        return a / b * (1.0 + 1.0 / b)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive distribution function; see ``LeafModel``."""
        a, b = self._posterior(stats)
        k = np.floor(np.asarray(y, dtype=np.float64))
        found = special.betainc(a, np.maximum(k, 0.0) + 1.0, b / (b + 1.0))
        return np.where(k < 0, 0.0, found)

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive quantile: smallest value of cdf at least ``p``."""
        p = np.broadcast_to(p, stats.shape[:-1])
        high = np.ceil(self.mean(stats)) + 1.0
        while (self.cdf(stats, high) < p).any():
            high = np.where(self.cdf(stats, high) < p, 2.0 * high, high)
        return bisect_whole(lambda y: self.cdf(stats, y) >= p, np.zeros(p.shape), high)


@dataclass(frozen=True)
class ExponentialGamma(_GammaRate):
    """Nonnegative durations with a gamma prior of the exponential rate.

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

    discrete = False
    n_stats = 2
    kind = EXPONENTIAL
    _log_marginals = staticmethod(exponential_log_marginals)

    @property
    def unit(self) -> float:  # type: ignore[override]
        """Exposure time of the prior."""
        return self.beta

    @property
    def _worth(self) -> np.ndarray:
        return self.prior

    def _check_support(self, values: np.ndarray) -> None:
        bad = ~np.isfinite(values) | (values < 0)
        refuse(self, values, bad, "finite numbers from 0 on")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics of every single row, of shape (n_rows, n_stats)."""
        return np.stack([weight, weight * y], axis=-1)

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return self.alpha + stats[..., 0], self.beta + stats[..., 1]

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive log density; see ``LeafModel``."""
        a, b = self._posterior(stats)
        y = np.asarray(y, dtype=np.float64)
        found = np.log(a / b) - (a + 1.0) * np.log1p(np.maximum(y, 0.0) / b)
        return np.where(y < 0, -np.inf, found)

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive mean; see ``LeafModel``."""
        a, b = self._posterior(stats)
        return np.where(a > 1.0, b / np.where(a > 1.0, a - 1.0, 1.0), np.inf)

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive variance; infinite if undefined; see ``LeafModel``."""
        a, b = self._posterior(stats)
        safe = np.where(a > 2.0, a, 3.0)
        found = safe * (b / (safe - 1.0)) ** 2 / (safe - 2.0)
        return np.where(a > 2.0, found, np.inf)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive distribution function; see ``LeafModel``."""
        a, b = self._posterior(stats)
        y = np.maximum(np.asarray(y, dtype=np.float64), 0.0)
        return -np.expm1(-a * np.log1p(y / b))

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive quantile: smallest value of cdf at least ``p``."""
        a, b = self._posterior(stats)
        return b * np.expm1(-np.log1p(-np.asarray(p)) / a)
