"""Evaluation of rules on new rows, as text and plain data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from clearwood.cli.templates import fill


class EvaluatedRules(NamedTuple):
    """Rules evaluated on some rows, and their model, if given.

    The rules have the statistics of these rows; or of all rows of a large file, whose
    scores are then ``all_rows``. Without labels there are no decisions.
    """

    rules: Any
    scores: Any
    decisions: Any
    model: Any
    model_error: float
    all_rows: Any = None


def evaluate_rules(rules: Any, X: Any, y: Any, model: Any, args: Any) -> EvaluatedRules:
    """Evaluate rules, and their model, if labels and a model are given."""
    from clearwood.rules.decisions import decisions
    from clearwood.rules.evaluation.tables import survey
    from clearwood.rules.scores import orders_only

    predicted = None if model is None else model.predict(X)
    error, decided = math.nan, None
    if y is not None and not orders_only(rules):
        if not rules.outcome.estimates_truth:
            decided = decisions(
                rules, X, y, model=model,
                pos_label=args.pos_label, threshold=args.threshold,
            )  # fmt: skip
        error = math.nan if predicted is None else rules.outcome.mean_loss(y, predicted)
    return EvaluatedRules(*survey(rules, X, y, predicted), decided, model, error)


def scores_as_dict(evaluated: EvaluatedRules) -> dict[str, Any]:
    """Scores of the rules and of their model; null if unknown."""
    model = evaluated.model
    scores = {"rules": evaluated.scores.as_dict()}
    if model is not None:
        scores["ensemble"] = {
            "error": evaluated.model_error,
            "n_trees": model.n_trees,
            "n_splits": model.n_splits,
        }
    return {
        who: {name: None if math.isnan(x) else x for name, x in numbers.items()}
        for who, numbers in scores.items()
    }


def decisions_as_list(evaluated: EvaluatedRules) -> list[dict[str, Any]] | None:
    """Records of the decision statistics; null if unknown."""
    import json

    if evaluated.decisions is None:
        return None
    records: list[dict[str, Any]] = json.loads(
        evaluated.decisions.to_frame().to_json(orient="records")
    )
    return records


def evaluation_text(evaluated: EvaluatedRules, rows: str, seen: str = "") -> str:
    """Rules with their statistics, overall scores, and the decisions.

    ``rows`` describes the rows, ``seen`` qualifies the model's score on them.
    """
    return fill("evaluation.txt", **evaluated._asdict(), rows=rows, seen=seen)
