"""How good a few rules are, and how faithful to the model they speak for."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class RuleScores:
    """Scores of a rule set on one table of data.

    Attributes
    ----------
    error : float
        Share of wrongly classified rows, or mean squared error; NaN without ``y``.
    fidelity : float
        Agreement with the teacher's predictions: share of equal classes, or R2;
        NaN without a teacher.
    coverage : float
        Share of rows that satisfy at least one rule other than ``otherwise``.
    overlap : float
        Mean number of such rules that a row satisfies.
    n_rules : int
        Lines printed, ``otherwise`` included.
    n_literals : int
        Bounds and category sets in all rules; a two-sided interval is two.

    Examples
    --------
    >>> print(RuleScores(0.08, 0.95, 1.0, 1.2, n_rules=4, n_literals=5))
    error 0.08, fidelity 0.95, coverage 1, overlap 1.2, 4 rules, 5 literals
    """

    error: float
    fidelity: float
    coverage: float
    overlap: float
    n_rules: int
    n_literals: int

    def __str__(self) -> str:
        shares = ("error", "fidelity", "coverage", "overlap")
        lines = f"{self.n_rules} rule{'s' * (self.n_rules != 1)}"
        literals = f"{self.n_literals} literal{'s' * (self.n_literals != 1)}"
        parts = [
            f"{name} {getattr(self, name):.4g}"
            for name in shares
            if not math.isnan(getattr(self, name))
        ]
        return ", ".join([*parts, lines, literals])

    def as_dict(self) -> dict[str, Any]:
        """The scores by name."""
        return asdict(self)


def prediction_error(y: np.ndarray, predicted: np.ndarray, task: str) -> float:
    """Share of wrong classes, or mean squared error."""
    loss = y != predicted if task == "classification" else (y - predicted) ** 2
    return float(np.mean(loss))


def fidelity(
    taught: np.ndarray,
    predicted: np.ndarray,
    task: str,
    weight: np.ndarray | None = None,
) -> float:
    """Share of equal classes, or R2, against the teacher's predictions.

    R2 of a teacher that says the same everywhere is 1 where the rules say so too
    and 0 otherwise.
    """
    if task == "classification":
        return float(np.average(taught == predicted, weights=weight))
    residual = np.average((taught - predicted) ** 2, weights=weight)
    centre = np.average(taught, weights=weight)
    total = np.average((taught - centre) ** 2, weights=weight)
    if total == 0.0:
        return float(residual == 0.0)
    return float(1.0 - residual / total)
