"""Student's t, by which leaves with an unknown precision predict.

``m + t sqrt(b / alpha)`` where t has ``2 alpha`` degrees of freedom.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from clearwood._numeric import kernel
from clearwood.conjugate.leaf_model import LeafModel
from clearwood.conjugate.log_gamma import log_gamma_rise

LOG_2PI = math.log(2.0 * math.pi)


@kernel
def log_student(residual, a, b):
    """Log density of Student's t with 2a degrees of freedom and squared scale b/a."""
    return (
        log_gamma_rise(a, 0.5) - 0.5 * math.log(2.0 * math.pi * b)
        - (a + 0.5) * math.log1p(residual * residual / (2.0 * b))
    )  # fmt: skip


class StudentLeaf(LeafModel):
    """A model that predicts by Student's t; the rest is for the subclasses."""

    discrete = False

    def student(self, stats: np.ndarray, x: Any = None) -> tuple[np.ndarray, ...]:
        """Of ``m + t sqrt(b / a)``: m, half the degrees of freedom a, and b."""
        raise NotImplementedError

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        m, alpha, b = self.student(stats, x)
        return (
            special.gammaln(alpha + 0.5) - special.gammaln(alpha)
            - 0.5 * (LOG_2PI + np.log(b))
            - (alpha + 0.5) * np.log1p((np.asarray(y) - m) ** 2 / (2.0 * b))
        )  # fmt: skip

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return self.student(stats, x)[0]

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``; infinite with up to 2 degrees of freedom."""
        _, alpha, b = self.student(stats, x)
        safe = np.where(alpha > 1.0, alpha - 1.0, 1.0)
        return np.where(alpha > 1.0, b / safe, np.inf)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        m, alpha, b = self.student(stats, x)
        return special.stdtr(2.0 * alpha, (np.asarray(y) - m) / np.sqrt(b / alpha))

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        m, alpha, b = self.student(stats, x)
        return m + special.stdtrit(2.0 * alpha, p) * np.sqrt(b / alpha)
