"""Real targets about a mean, both it and the precision unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._kernels.conjugate import normal_log_marginals
from clearwood.conjugate.leaf_model import check_borrowed, check_positive
from clearwood.conjugate.moments import MomentsLeaf
from clearwood.exceptions import InputError


@dataclass(frozen=True)
class NormalNormalGamma(MomentsLeaf):
    """Real targets; mean and precision have a normal-gamma prior.

    Statistics are the weight, the mean, and the sum of squares about the mean.

    A value rounded to a multiple of h may have been any in an interval of this width,
    and its density grows without bound where many are equal. ``rounding=h`` takes the
    mean of the log density over the interval instead: by Jensen's inequality a lower
    bound of the log probability of the rounded value (over h), and still conjugate, as
    all it does is to add ``h**2 / 12`` to the squares of every row.

    Parameters
    ----------
    m : float, default=0.0
        Mean of the mean.
    kappa : float, default=1.0
        What that is worth in rows.
    alpha, beta : float, default=1.0
        Shape and rate of the precision's gamma distribution.
    rounding : float, default=0.0
        Of what the values are multiples.
    borrowed : float, default=0.0
        Rows that a leaf of a meta-tree borrows from the node above it.

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
    borrowed: float = 0.0

    n_stats = 3
    n_columns = 1
    _log_marginals = staticmethod(normal_log_marginals)

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        if not math.isfinite(self.m):
            raise InputError(f"m of NormalNormalGamma is {self.m}, expected a number.")
        check_positive(self, kappa=self.kappa, alpha=self.alpha, beta=self.beta)
        check_borrowed(self)
        if not (math.isfinite(self.rounding) and self.rounding >= 0):
            raise InputError(
                f"rounding of NormalNormalGamma is {self.rounding}, expected the step "
                "between values, 0 where there is none."
            )

    @cached_property
    def prior(self) -> np.ndarray:
        """Four hyperparameters, and the variance that rounding leaves open."""
        numbers = [self.m, self.kappa, self.alpha, self.beta, self._hidden]
        return np.array(numbers, dtype=np.float64)

    @property
    def _hidden(self) -> float:
        return self.rounding**2 / 12.0

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        return np.stack([weight, y, weight * self._hidden], axis=-1)

    def add_rows(
        self,
        own: np.ndarray,
        ends: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        x: np.ndarray | None = None,
    ) -> None:
        """See ``LeafModel``."""
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
        """See ``MomentsLeaf``."""
        m, kappa, alpha, beta = self._posterior(stats)
        return m, alpha, beta + beta / kappa
