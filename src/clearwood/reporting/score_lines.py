"""Scores of rules and their model, as lines of a table."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.ensembles import TreeEnsemble
from clearwood.reporting.table import Table
from clearwood.reporting.verdict.of_values import order_where_far
from clearwood.rules import RuleAverage, RuleList, RuleScores, RuleSet, RuleSum

LAST_LINE: dict[type[RuleSet], str] = {
    RuleList: "“otherwise”",
    RuleSum: "the constant",
    RuleAverage: "the last rule",
}
"""Name of the default rule."""


def summarize_scores(
    rules: RuleSet,
    scores: RuleScores,
    table: Table,
    ensemble: TreeEnsemble | None,
    first: list[dict[str, Any]],
) -> dict[str, Any]:
    """Scores of rules and model; ``unit`` determines their format in templates.

    Parameters
    ----------
    rules : RuleSet
    scores : RuleScores
        On the rows of the table.
    table : Table
    ensemble : TreeEnsemble or None
        The model, for its size.
    first : list of dict
        Lines of scores of the outcome, two before the fidelity and the others after it.
    """
    lines = first[:2]
    if table.y is not None and not rules.outcome.estimates_truth:
        lines += _error_lines(rules, table)
    if table.of_model is not None:
        lines.append(_nearness(rules, scores.fidelity, table.rows, table.of_model))
    lines += first[2:]
    if table.y is not None and not rules.outcome.is_share:
        of_model = _model_error(rules, table)
        name = rules.outcome.error.capitalize()
        lines.append(score_line(name, "number", scores.error, of_model))
    lines += [
        score_line("Coverage: rows that satisfy a rule", "percent", scores.coverage)
        | {"note": _of_others(rules) if scores.coverage < 1 else ""},
        score_line("Overlap: mean rules per row", "number", scores.overlap),
        score_line(
            "Rules, or trees", "count", scores.n_rules, _size(ensemble, "n_trees")
        ),
        score_line(
            "Literals, or splits of the trees",
            "count",
            scores.n_literals,
            _size(ensemble, "n_splits"),
        ),
    ]
    return {
        "n_rows": len(table.rows),
        "lines": lines,
        "has_model": any(line["model"] is not None for line in lines),
        # Those that need no explanation.
        "tiles": lines[: min(3, len(lines) - 3)],
    }


def _of_others(rules: RuleSet) -> str:
    return f"{LAST_LINE[type(rules)]} predicts the others"


def _nearness(
    rules: RuleSet, fidelity: float, rows: Any, model: np.ndarray
) -> dict[str, Any]:
    outcome, n_rows = rules.outcome, len(model)
    if outcome.is_share:
        return score_line(outcome.agreement_words, outcome.unit, fidelity)
    # A single row has no variance to explain.
    r2 = None if n_rows < 2 else fidelity
    order = order_where_far(np.asarray(rules.predict(rows)), model)
    note = "" if order is None else f"rank correlation {short_text(order, 3)}"
    line = score_line(outcome.agreement_words, "r2", r2)
    return line | {"word": "r2", "note": note}


def _model_error(rules: RuleSet, table: Table) -> float | None:
    """The model's own error on the given rows."""
    if table.y is None or table.of_model is None:
        return None
    return rules.outcome.mean_loss(table.y, table.of_model)


def _error_lines(rules: RuleSet, table: Table) -> list[dict[str, Any]]:
    """Errors of rules and model, in words that need no statistics."""
    assert table.y is not None
    predicted = rules.predict(table.rows)
    error = rules.outcome.mean_loss(table.y, predicted)
    of_model = _model_error(rules, table)
    if rules.outcome.is_share:
        return [score_line("Error rate", "percent", error, of_model)]
    root = None if of_model is None else math.sqrt(of_model)
    half = None if table.of_model is None else _half_within(table.y, table.of_model)
    name = "Root mean squared error"
    return [
        score_line(name, "number", error**0.5, root) | {"word": "typical"},
        score_line(
            "Median absolute error", "number", _half_within(table.y, predicted), half
        ),
    ]


def _half_within(truth: Any, predicted: Any) -> float:
    return float(np.median(np.abs(np.asarray(truth) - np.asarray(predicted))))


def score_line(
    name: str, unit: str, of_rules: float | None, of_model: float | None = None
) -> dict[str, Any]:
    """One score of the rules, and of their model."""
    line = {"name": name, "unit": unit, "rules": of_rules, "model": of_model}
    return line | {"note": "", "word": ""}


def _size(ensemble: TreeEnsemble | None, name: str) -> int | None:
    return None if ensemble is None else getattr(ensemble, name)
