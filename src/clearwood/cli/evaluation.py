"""Evaluation of rules on new rows, as text and plain data."""

from __future__ import annotations

import math
from typing import Any, NamedTuple


class EvaluatedRules(NamedTuple):
    """Rules evaluated on some rows.

    Attributes
    ----------
    rules : RuleSet
        With the statistics of these rows.
    scores : RuleScores
    decisions : Decisions, Residuals or None
        None without labels.
    model : TreeEnsemble or None
        The model that the rules approximate.
    model_error : float
        NaN without a model, or labels.
    all_rows : RuleScores or None
        Scores on all rows of a large file, which then give the statistics of the rules.
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

    predicted = None if model is None else model.predict(X)
    error, decided = math.nan, None
    if y is not None:
        decided = decisions(
            rules, X, y, model=model,
            pos_label=args.pos_label, threshold=args.threshold,
        )  # fmt: skip
        error = math.nan if predicted is None else rules.outcome.mean_loss(y, predicted)
    return EvaluatedRules(
        rules.described_on(X, y, model=predicted),
        rules.evaluate(X, y, model=predicted),
        decided,
        model,
        error,
    )


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


def evaluation_lines(evaluated: EvaluatedRules, rows: str, seen: str = "") -> list[str]:
    """Rules with their statistics, overall scores, and the decisions.

    ``rows`` describes the rows, ``seen`` qualifies the model's score on them.
    """
    from clearwood._words.numbers import short_text

    scores, model = evaluated.scores, evaluated.model
    lines = [str(evaluated.rules)]
    if evaluated.decisions is None and model is None:
        return lines
    kind = evaluated.rules.outcome.error
    known = evaluated.decisions is not None
    error, model_error = (
        f"{kind} {short_text(value, 4)}, " if known else ""
        for value in (scores.error, evaluated.model_error)
    )
    lines += [
        "",
        f"On {rows}:",
        f"  rules     {error}{_counted(scores, 'rule')}, {_counted(scores, 'literal')}",
    ]
    if model is not None:
        lines += [
            f"  ensemble  {model_error}{_counted(model, 'tree')}, "
            f"{_counted(model, 'split')}{seen}",
            f"  fidelity of the rules to the ensemble {short_text(scores.fidelity, 4)}",
        ]
    return [*lines, "", str(evaluated.decisions)] if known else lines


def _counted(counts: Any, name: str) -> str:
    n = getattr(counts, f"n_{name}s")
    return f"{n:,} {name}{'s' * (n != 1)}"


def score_text(scores: dict[str, float]) -> str:
    """Error of a model on observed rows, as text."""
    from clearwood._words.numbers import percent_text, short_text

    if "error" in scores:
        return f"log loss {scores['log_loss']:.4g}, error {scores['error']:.4g}"
    text = f"root mean squared error {short_text(scores['rmse'], 4)}"
    if "coverage" in scores:
        text += f", coverage of 90 % intervals {percent_text(scores['coverage'])}"
    return text
