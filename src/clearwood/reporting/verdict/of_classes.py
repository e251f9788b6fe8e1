"""Comparison of classifying rules with the model and the truth."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood.outcomes.intervals import rate_of
from clearwood.reporting.verdict.rivals import Predictions, better
from clearwood.rules import RuleSet


def against_model(predicted: np.ndarray, model: np.ndarray) -> dict[str, Any]:
    """Agreement of rules with the model, beside that of a constant class."""
    same, n = predicted == model, len(model)
    rate = rate_of(same, np.ones(n))
    # For readers who do not know brackets.
    share, _, ends = str(rate).partition(" [")
    low, high = ends.rstrip("]").split(", ")
    usual, n_usual = _commonest(model)
    return {
        "all_same": bool(same.all()),
        "is_coarse": False,
        "same": int(same.sum()),
        "share": share,
        "low": low,
        "high": high,
        "usual": usual,
        "n_usual": n_usual,
        # If the model's prediction is constant, so may be that of the rules.
        "beaten": 1 if n_usual == n else better(same, model == usual),
    }


def against_truth(
    predicted: np.ndarray, model: np.ndarray | None, truth: np.ndarray
) -> dict[str, Any]:
    """Accuracy of rules, beside that of the model and of a constant class."""
    right, (usual, n_usual) = predicted == truth, _commonest(truth)
    model_right = right if model is None else model == truth
    return {
        "rules": float(right.mean()),
        "model": None if model is None else float(model_right.mean()),
        "same_ones": bool((right == model_right).all()),
        "against_model": better(right, model_right),
        "usual": usual,
        "one": n_usual / len(truth),
        "is_one": n_usual == len(truth),
        "against_constant": better(right, truth == usual),
    }


def _commonest(labels: np.ndarray) -> tuple[Any, int]:
    return Counter(labels.tolist()).most_common(1)[0]


def numbers_of(rules: RuleSet, labels: np.ndarray) -> np.ndarray:
    """Labels as numbers; a class that is not among the rules' is the first."""
    return rules.outcome.codes(labels) + 1


def against_stump(
    predicted: np.ndarray, alone: np.ndarray, model: np.ndarray
) -> dict[str, Any]:
    """Whether rules agree with the model more often than a decision stump does."""
    same, same_alone = predicted == model, alone == model
    return {"beaten": better(same, same_alone), "same": int(same_alone.sum())}


def never_predicted(rules: RuleSet, answers: Predictions) -> dict[str, Any] | None:
    """Classes that the rules never predict, and their number of rows."""
    warning = rules.about.get("warning", "")
    known = answers.model if answers.truth is None else answers.truth
    counts = Counter([] if known is None else known.tolist())
    predicted = set(answers.rules.tolist())
    if rules.one_rule_predicts:
        predicted |= set(rules.predictions.tolist())
    else:
        # Combined predictions of several rules are known for these rows only.
        predicted |= {label for label in rules.classes if not counts[label]}
    absent = [label for label in (*rules.classes, *counts) if label not in predicted]
    names = {label: prediction_text(label) for label in absent}
    left_out = {label: name for label, name in names.items() if name not in warning}
    if not left_out:
        return None
    n = sum(counts[label] for label in left_out)
    of_rules = rules.one_rule_predicts
    return {"names": list(left_out.values()), "n": n, "of_rules": of_rules}
