"""How rules that say values stand beside the model and the truth."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood.reporting.verdict.rivals import Predictions, nearer
from clearwood.rules import RuleSet

TENTH = 10
"""Of fewer rows nine in ten are no number of rows."""


def beside_model(said: np.ndarray, model: np.ndarray) -> dict[str, Any]:
    """How far rules are off the model, and whether one number comes as near."""
    apart, is_one = np.abs(said - model), (model == model[0]).all()
    few = len(apart) < TENTH
    return {
        "all_same": not apart.any(),
        "half": float(np.median(apart)),
        "most_of_all": few,
        "most": float(apart.max() if few else np.quantile(apart, 0.9)),
        "beaten": 1 if is_one else nearer(said, model.mean(), model),
    }


def beside_truth(
    said: np.ndarray, model: np.ndarray | None, truth: np.ndarray
) -> dict[str, Any]:
    """How far off the truth rules are, beside the model and beside one number."""
    return {
        "rules": _typical(said - truth),
        "model": None if model is None else _typical(model - truth),
        "beside_model": 0 if model is None else nearer(said, model, truth),
        "one": _typical(truth - truth.mean()),
        "is_one": bool((truth == truth[0]).all()),
        "beside_one": nearer(said, truth.mean(), truth),
    }


def _typical(errors: np.ndarray) -> float:
    return math.sqrt(float(np.mean(errors**2)))


def numbers_of(rules: RuleSet, values: np.ndarray) -> np.ndarray:
    """The values as they are."""
    return values


def beside_question(
    said: np.ndarray, alone: np.ndarray, model: np.ndarray
) -> dict[str, Any]:
    """Whether rules come nearer to the model than one question does."""
    return {"beaten": nearer(said, alone, model)}


def never_said(rules: RuleSet, answers: Predictions) -> None:
    """Nothing: any value may be said."""
    return None
