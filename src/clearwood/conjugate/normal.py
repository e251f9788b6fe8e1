"""Real targets about a mean, both it and the precision unknown."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.leaf_model import check_positive, log_gamma_part
from clearwood.conjugate.moments import MomentsLeaf, log_student
from clearwood.exceptions import InputError


@kernel
def normal_update(stats, prior):
    """Posterior m, kappa, alpha and beta of a normal leaf."""
    kappa = prior[1] + stats[0]
    gap = stats[1] - prior[0]
    share = stats[0] / kappa
    beta = prior[3] + 0.5 * (stats[2] + prior[1] * share * gap * gap)
    return prior[0] + share * gap, kappa, prior[2] + 0.5 * stats[0], beta


@kernel
def normal_log_marginals(stats, prior):
    """Evidence of the rows behind every row of moments, in units of sqrt(beta)."""
    found = np.zeros(stats.shape[0])
    without = log_gamma_part(prior[2], 1.0)
    for node in range(found.size):
        if stats[node, 0] > 0.0:
            _, kappa, alpha, beta = normal_update(stats[node], prior)
            found[node] = (
                log_gamma_part(alpha, beta / prior[3]) - without
                + 0.5 * math.log(prior[1] / kappa)
                - 0.5 * stats[node, 0] * math.log(2.0 * math.pi)
            )  # fmt: skip
    return found


@kernel
def normal_log_predictive(stats, prior, z):
    """Log density of one more row, in units of sqrt(beta): Student's t."""
    m, kappa, a, b = normal_update(stats, prior)
    return log_student(z[0] - m, a, b + b / kappa, prior[3])


@dataclass(frozen=True)
class NormalNormalGamma(MomentsLeaf):
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

    n_stats = 3
    n_columns = 1
    _log_marginals = staticmethod(normal_log_marginals)

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
        """See ``MomentsLeaf``."""
        m, kappa, alpha, beta = self._posterior(stats)
        return m, alpha, beta + beta / kappa
