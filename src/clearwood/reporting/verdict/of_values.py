"""Comparison of regression rules with the model and the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood.outcomes import Mean
from clearwood.reporting.verdict.rivals import Predictions, nearer
from clearwood.rules import RuleSet
from clearwood.rules.scores import rank_correlation

HALF = 0.5
"""R2 below which most of the variance of the model's predictions is lost."""
TENTH = 10
"""Minimum number of rows for a statement on nine in ten of them."""
FAR = -1.0
"""R2 below which values in nearly the same order are biased or on another scale."""


def order_where_far(predicted: np.ndarray, target: np.ndarray) -> float | None:
    """Rank correlation, where it is high but R2 is far below 0; otherwise None.

    Examples
    --------
    >>> values = np.arange(12.0)
    >>> order_where_far(values, values + 99), order_where_far(values, values + 1)
    (1.0, None)
    """
    correlation = order_of(predicted, target)
    if len(target) < TENTH or correlation is None or correlation <= HALF:
        return None
    return correlation if Mean().fidelity(target, predicted) <= FAR else None


def order_of(predicted: np.ndarray, target: np.ndarray) -> float | None:
    """Rank correlation; None if all targets are equal."""
    found = rank_correlation(predicted, target, np.zeros(len(target), dtype=int))
    return None if math.isnan(found) else found


def against_model(predicted: np.ndarray, model: np.ndarray) -> dict[str, Any]:
    """Difference of rules from the model, beside that of a constant."""
    apart, is_one = np.abs(predicted - model), (model == model[0]).all()
    few, r2 = len(apart) < TENTH, None if is_one else Mean().fidelity(model, predicted)
    return {
        "all_same": not apart.any(),
        "r2": r2,
        "order": order_where_far(predicted, model),
        "is_coarse": r2 is not None and r2 < HALF,
        "half": float(np.median(apart)),
        "most_of_all": few,
        "most": float(apart.max() if few else np.quantile(apart, 0.9)),
        "beaten": 1 if is_one else nearer(predicted, model.mean(), model),
    }


def against_truth(
    predicted: np.ndarray, model: np.ndarray | None, truth: np.ndarray
) -> dict[str, Any]:
    """Error of rules, beside that of the model and of a constant."""
    return {
        "rules": _typical(predicted - truth),
        "order": order_where_far(predicted, truth),
        "bias": float(np.mean(truth - predicted)),
        "model": None if model is None else _typical(model - truth),
        "against_model": 0 if model is None else nearer(predicted, model, truth),
        "one": _typical(truth - truth.mean()),
        "is_one": bool((truth == truth[0]).all()),
        "against_constant": nearer(predicted, truth.mean(), truth),
    }


def _typical(errors: np.ndarray) -> float:
    return math.sqrt(float(np.mean(errors**2)))


def numbers_of(rules: RuleSet, values: np.ndarray) -> np.ndarray:
    """The values unchanged."""
    return values


def against_stump(
    predicted: np.ndarray, alone: np.ndarray, model: np.ndarray
) -> dict[str, Any]:
    """Whether rules are nearer to the model than a decision stump."""
    return {"beaten": nearer(predicted, alone, model)}


def never_predicted(rules: RuleSet, answers: Predictions) -> None:
    """Nothing to report: any value may be predicted."""
    return None
