"""The mean of a value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearwood._numeric import variance
from clearwood.outcomes.outcome import Outcome


@dataclass(frozen=True)
class Mean(Outcome):
    """Regression: the mean of a value, with the squared error loss.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 6.0])
    >>> Mean().losses(values, 3.0), Mean().fidelity(values, 3.0)
    (array([4., 1., 9.]), 0.0)
    """

    task: ClassVar[str] = "regression"
    shown_name: ClassVar[str] = "mean"
    constant: ClassVar[str] = "mean"
    error: ClassVar[str] = "mean squared error"
    error_unit: ClassVar[str] = "mean squared"
    agreement_unit: ClassVar[str] = "R²"
    agreement_words: ClassVar[str] = "Fidelity to the model (R²)"
    lost: ClassVar[str] = "R² lost"

    def losses(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Squared differences."""
        return (truth - predicted) ** 2

    def constant_error(self, truth: np.ndarray, weight: np.ndarray | None) -> float:
        """The variance."""
        return variance(truth, weight)
