"""The two output models p(y|k) of eq. 8."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from clearwood._kernels import fab as _kernels
from clearwood._numeric import clipped_log, product

VARIANCE_FLOOR = 1e-4
"""Minimum variance of a component, as a share of the target's variance."""


class Normal(NamedTuple):
    """Parameters of the Gaussian output: mean mu_k and precision lambda_k."""

    mean: np.ndarray
    precision: np.ndarray


class Multinomial(NamedTuple):
    """Parameters of the multinomial output: gamma_kc, components by classes."""

    probability: np.ndarray


class Output(Protocol):
    """Interface of an output model."""

    @property
    def n_parameters(self) -> int:
        """``dim phi / K`` in omega."""

    def log_density(self, y: np.ndarray, parameters: Any) -> np.ndarray:
        """``log p(y|k)``, rows by components."""

    def statistics(
        self, y: np.ndarray, mass: np.ndarray, parameters: Any
    ) -> np.ndarray:
        """Sums over rows that the M-step needs; components are columns."""

    def m_step(self, counts: np.ndarray, sums: np.ndarray, parameters: Any) -> Any:
        """New parameters (eq. 14) from the sums around the current ones."""

    def expected_log_density(
        self, counts: np.ndarray, sums: np.ndarray, before: Any, parameters: Any
    ) -> float:
        """Sum over rows and components of responsibility times ``log p(y|k)``."""

    def around(self, y: np.ndarray) -> Any:
        """Initial parameters, one component per row of ``y``."""

    def values(self, parameters: Any) -> np.ndarray:
        """Prediction of each component (eq. 11)."""


@dataclass(frozen=True)
class GaussianOutput:
    """``y`` is normal around each component's mean (regression).

    Parameters
    ----------
    variance_floor : float
        Lower bound of variances. A component whose rows all have one value would
        otherwise have infinite precision and likelihood.
    centre, unit : float
        The target in its own units is ``centre + unit * y``.
    """

    variance_floor: float = np.finfo(np.float64).tiny
    centre: float = 0.0
    unit: float = 1.0
    n_parameters: ClassVar[int] = 2

    def log_density(self, y: np.ndarray, normal: Normal) -> np.ndarray:
        """``log p(y|k)``, rows by components."""
        squared = (y[:, None] - normal.mean) ** 2
        scale = 0.5 * np.log(normal.precision / (2.0 * np.pi))
        return scale - 0.5 * normal.precision * squared

    def statistics(self, y: np.ndarray, mass: np.ndarray, normal: Normal) -> np.ndarray:
        """Sums of ``y - mean`` and its square under the current means.

        Taken around the current means, which the new ones are close to, so that
        the variance does not cancel away.
        """
        away = y[:, None] - normal.mean
        return np.stack([(mass * away).sum(axis=0), (mass * away**2).sum(axis=0)])

    def m_step(self, counts: np.ndarray, sums: np.ndarray, normal: Normal) -> Normal:
        """Eq. 14: weighted mean and inverse weighted variance."""
        shift = sums[0] / counts
        variance = np.maximum(sums[1] / counts - shift**2, self.variance_floor)
        return Normal(normal.mean + shift, 1.0 / variance)

    def expected_log_density(
        self, counts: np.ndarray, sums: np.ndarray, before: Normal, normal: Normal
    ) -> float:
        """Sum over rows and components of responsibility times ``log p(y|k)``."""
        shift = normal.mean - before.mean
        squares = sums[1] - 2.0 * shift * sums[0] + counts * shift**2
        scale = 0.5 * counts * np.log(normal.precision / (2.0 * np.pi))
        return float(np.sum(scale - 0.5 * normal.precision * squares))

    def around(self, y: np.ndarray) -> Normal:
        """Initial components, each around one value, with the variance of all (1)."""
        return Normal(y.astype(np.float64), np.ones(len(y)))

    def values(self, normal: Normal) -> np.ndarray:
        """The means, in the target's own units."""
        return self.centre + self.unit * normal.mean


@dataclass(frozen=True)
class MultinomialOutput:
    """``y`` is a class, or a distribution over classes (classification)."""

    n_classes: int

    @property
    def n_parameters(self) -> int:
        """``dim phi / K``: the paper counts all C probabilities (appendix B)."""
        return self.n_classes

    def log_density(self, y: np.ndarray, classes: Multinomial) -> np.ndarray:
        """``log p(y|k)``, rows by components; soft ``y`` weights the classes."""
        return product(y, clipped_log(classes.probability).T)

    def statistics(
        self, y: np.ndarray, mass: np.ndarray, classes: Multinomial
    ) -> np.ndarray:
        """Mass of each class, classes by components."""
        return _kernels.weighted_sums(mass, y).T

    def m_step(
        self, counts: np.ndarray, sums: np.ndarray, classes: Multinomial
    ) -> Multinomial:
        """Eq. 14: shares of the classes."""
        return Multinomial((sums / counts).T)

    def expected_log_density(
        self,
        counts: np.ndarray,
        sums: np.ndarray,
        before: Multinomial,
        classes: Multinomial,
    ) -> float:
        """Sum over rows and components of responsibility times ``log p(y|k)``."""
        return float(np.sum(sums.T * clipped_log(classes.probability)))

    def around(self, y: np.ndarray) -> Multinomial:
        """Initial components: halfway between one row's classes and the average."""
        return Multinomial(0.5 * y + 0.5 * y.mean(axis=0))

    def values(self, classes: Multinomial) -> np.ndarray:
        """The probabilities themselves."""
        return classes.probability
