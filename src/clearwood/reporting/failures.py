"""Rows on which the rules differ most from the model."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._html.disclosure import single_rows
from clearwood._words.labels import prediction_text
from clearwood._words.numbers import short_text
from clearwood.columns.cells import UNSEEN
from clearwood.reporting.table import Table
from clearwood.rules import Rule, RuleSet

MOST_ROWS = 10
MOST_VALUES = 6


def summarize_failures(
    rules: RuleSet, table: Table, of_model: np.ndarray
) -> dict[str, Any]:
    """Find the rows of largest disagreement with the model, largest first.

    Parameters
    ----------
    rules : RuleSet
    table : Table
        Rows.
    of_model : ndarray of shape (n_rows,)
        The model's predictions for them.

    Returns
    -------
    dict
        ``n_rows``, ``n_different``, whether the order is ``by_certainty``,
        and at most ten ``disagreements``.
    """
    encoded = rules.encode(table.rows)
    predicted = rules.predict_encoded(encoded)
    difference = _disagreement(rules, table, of_model, predicted)
    different = np.flatnonzero(difference > 0)
    # A stable sort: equal disagreement keeps the order of the rows.
    worst = different[np.argsort(-difference[different], kind="stable")][:MOST_ROWS]
    # A list has an `index` too, but no row labels.
    label = table.X.index if _has_labels(table.X) else None
    return {
        "n_rows": len(difference),
        "n_different": len(different),
        "by_certainty": table.probabilities is not None,
        "labelled": label is not None,
        "has_truth": table.y is not None,
        "right": _right(rules, table, of_model, predicted),
        "disagreements": single_rows(
            [
                {
                    "row": str(row if label is None else label[row]),
                    **_reason(rules, encoded[row]),
                    "of_rules": _shown(predicted[row]),
                    "of_model": _shown(of_model[row]),
                    "truth": None if table.y is None else _shown(table.y[row]),
                    "difference": float(difference[row]),
                }
                for row in worst.tolist()
            ]
        ),
    }


def _right(
    rules: RuleSet, table: Table, of_model: np.ndarray, predicted: np.ndarray
) -> tuple[int, int] | None:
    """Numbers of rows where only rules, or only the model, are correct or nearer."""
    if table.y is None:
        return None
    ours, theirs = (rules.outcome.apart(table.y, p) for p in (predicted, of_model))
    return int((ours < theirs).sum()), int((theirs < ours).sum())


def _has_labels(X: Any) -> bool:
    return hasattr(X, "columns") and hasattr(X, "index")


def _disagreement(
    rules: RuleSet, table: Table, of_model: np.ndarray, predicted: np.ndarray
) -> np.ndarray:
    """Disagreement: zero if equal, else the model's certainty or the difference."""
    different = rules.outcome.apart(of_model, predicted)
    if table.probabilities is None:
        return different
    return different * table.probabilities.max(axis=1)


def _reason(rules: RuleSet, row: np.ndarray) -> dict[str, Any]:
    """The rules that contribute to a row's prediction, and the values they use."""
    contributes = rules.contributing(rules.matches_encoded(row[None]))[0, :-1]
    held = [rule for rule, holds in zip(rules.rules, contributes) if holds]
    if held:
        numbers = np.flatnonzero(contributes) + 1
        return {
            "rule": ", ".join(map(str, numbers)),
            "values": _values(rules, held, row),
        }
    # The constant of a sum has no number, and is no rule.
    number = next(n for n, rule in rules.lines() if rule is rules.otherwise)
    if number is None:
        return {"rule": "the constant", "values": ["no rule applies"]}
    return {"rule": str(number), "values": ["no other rule applies"]}


def _values(rules: RuleSet, held: list[Rule], row: np.ndarray) -> list[str]:
    every = [condition.feature for rule in held for condition in rule.conditions]
    used = list(dict.fromkeys(every))
    shown = [
        f"{rules.features.shown(d)} = {_value_text(rules, d, row[d])}"
        for d in used[:MOST_VALUES]
    ]
    further = len(used) - len(shown)
    return [*shown, f"and {further} more"] if further else shown


def _value_text(rules: RuleSet, feature: int, code: float) -> str:
    if np.isnan(code):
        return "missing"
    labels = rules.features.categories[feature]
    if labels is None:
        return short_text(code, 4)
    return "an unknown category" if code == UNSEEN else str(labels[int(code)])


def _shown(value: Any) -> str:
    if isinstance(value, np.floating):
        return short_text(float(value), 4)
    return prediction_text(value)
