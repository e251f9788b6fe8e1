"""Categorical targets: counts with a beta or Dirichlet prior."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._kernels.distributions import COUNTS, add_counts, count_log_marginals
from clearwood._numeric import product
from clearwood.distributions.categorical import shares
from clearwood.distributions.leaf_model import (
    LeafModel,
    check_lent,
    check_positive,
    refuse,
)
from clearwood.exceptions import InputError


class Counts(LeafModel):
    """Classes 0, 1, ... with a Dirichlet prior; statistics are weighted counts."""

    discrete = True
    kind = COUNTS
    _adds = staticmethod(add_counts)
    _log_marginals = staticmethod(count_log_marginals)

    @property
    def _worth(self) -> np.ndarray:
        return self.prior

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
        """Statistics of every single row, of shape (n_rows, n_stats)."""
        rows = np.zeros((len(y), self.n_stats))
        rows[np.arange(len(y)), y.astype(np.intp)] = weight
        return rows

    def _added(self, y: np.ndarray, x: np.ndarray | None) -> np.ndarray:
        return y

    def weight_of(self, stats: np.ndarray) -> np.ndarray:
        """Sum of the weights of the rows; see ``LeafModel``."""
        return stats.sum(axis=-1)

    def probabilities(self, stats: np.ndarray) -> np.ndarray:
        """Predictive probability of every class, along the last axis."""
        return shares(self.prior + stats)

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive log density; see ``LeafModel``."""
        p = self.probabilities(stats)
        y = np.broadcast_to(y, p.shape[:-1])
        inside = (y >= 0) & (y < self.n_stats) & (y == np.floor(y))
        label = np.where(inside, y, 0).astype(np.intp)
        found = np.take_along_axis(p, label[..., None], axis=-1)[..., 0]
        with np.errstate(divide="ignore"):
            return np.where(inside, np.log(found), -np.inf)

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive mean; see ``LeafModel``."""
        return product(self.probabilities(stats), np.arange(self.n_stats))

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive variance; infinite if undefined; see ``LeafModel``."""
        p = self.probabilities(stats)
        gap = np.arange(self.n_stats) - self.mean(stats)[..., None]
        return (p * gap**2).sum(axis=-1)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive distribution function; see ``LeafModel``."""
        p = self.probabilities(stats)
        below = np.cumsum(p, axis=-1)
        below[..., -1] = 1.0
        y = np.broadcast_to(y, p.shape[:-1])
        last = np.clip(np.floor(y), 0, self.n_stats - 1).astype(np.intp)
        found = np.take_along_axis(below, last[..., None], axis=-1)[..., 0]
        return np.where(y < 0, 0.0, found)

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive quantile: smallest value of cdf at least ``p``."""
        below = np.cumsum(self.probabilities(stats), axis=-1)[..., :-1]
        return (below < np.asarray(p)[..., None]).sum(axis=-1).astype(np.float64)


@dataclass(frozen=True)
class BernoulliBeta(Counts):
    """Binary targets with a beta prior of the probability of 1.

    Parameters
    ----------
    a, b : float, default=0.5
        Pseudo-counts of 1 and of 0.
    lent : float, default=0.0
        Pseudo-rows that a node of a meta-tree lends its children, in proportion to
        their rows.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = BernoulliBeta(1.0, 1.0)
    >>> float(leaf.mean(np.array([1.0, 4.0])))  # one 0 and four 1
    0.7142857142857143
    """

    a: float = 0.5
    b: float = 0.5
    lent: float = 0.0

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        check_positive(self, a=self.a, b=self.b)
        check_lent(self)

    @cached_property
    def prior(self) -> np.ndarray:
        """Pseudo-counts of 0 and of 1."""
        return np.array([self.b, self.a], dtype=np.float64)


@dataclass(frozen=True)
class CategoricalDirichlet(Counts):
    """Targets 0 to n_classes - 1 with a Dirichlet prior of their probabilities.

    Mean, variance, distribution function and quantiles are those of the class number,
    which is meaningful for ordered classes.

    Parameters
    ----------
    alpha : tuple of float
        One pseudo-count per class.
    lent : float, default=0.0
        Pseudo-rows that a node of a meta-tree lends its children, in proportion to
        their rows.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = CategoricalDirichlet.symmetric(3, 1.0)
    >>> leaf.probabilities(np.array([0.0, 1.0, 4.0]))
    array([0.125, 0.25 , 0.625])
    """

    alpha: tuple[float, ...]
    lent: float = 0.0

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        object.__setattr__(self, "alpha", tuple(float(a) for a in self.alpha))
        check_positive(self, **{f"alpha[{i}]": a for i, a in enumerate(self.alpha)})
        if not self.alpha:
            raise InputError("alpha is empty, expected one pseudo-count per class.")
        check_lent(self)

    @classmethod
    def symmetric(
        cls, n_classes: int, alpha: float = 0.5, lent: float = 0.0
    ) -> CategoricalDirichlet:
        """Symmetric prior: the same pseudo-count for every class."""
        return cls((alpha,) * n_classes, lent)

    @cached_property
    def prior(self) -> np.ndarray:
        """Pseudo-counts."""
        return np.array(self.alpha)
