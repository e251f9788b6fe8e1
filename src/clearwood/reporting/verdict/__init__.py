"""Sentences on how well rules approximate their model.

There are no thresholds for "good", but R2 below 0.5 is called insufficient. Claims that
one is better rest on comparisons on the same rows, at the level of a 95 % interval; the
weakest baseline is a constant prediction.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.sentences import sentences
from clearwood.reporting.table import Table
from clearwood.reporting.verdict import of_classes, of_values
from clearwood.reporting.verdict.rivals import Predictions, best_stump
from clearwood.rules import RuleSet
from clearwood.rules.evaluation.statistics import FEW_ROWS, count_text
from clearwood.rules.scores import orders_only

FACTS: dict[bool, Any] = {True: of_classes, False: of_values}
"""For outcomes whose errors are shares of rows, and for others."""


def summarize_verdict(
    rules: RuleSet,
    shown: RuleSet,
    table: Table | None,
    held_out_from: str | None,
    survival: dict[str, Any] | None = None,
    least: int = 1,
) -> list[str]:
    """State how well rules approximate their model, and how accurate they are.

    Parameters
    ----------
    rules : RuleSet
        With their stored statistics.
    shown : RuleSet
        The same with the statistics that the page shows.
    table : Table or None
        Given rows.
    held_out_from : {"rules", "model"}, optional
        For which these rows are held out.
    survival : dict, optional
        Content of the section on survival.
    least : int, default=1
        Smallest number of rows of a rule that is stated.

    Returns
    -------
    list of str
        Sentences. The first states whether the rules approximate the model.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList((Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     Rule((), "well", (0.8, 0.2)), FeatureSpace.numeric(1), ("well", "ill"))
    >>> X, predicted = np.array([[36.0], [39.0]] * 8), ["well", "ill"] * 8
    >>> table = Table(X, X, X, None, np.array(predicted), None)
    >>> print(*summarize_verdict(rules, rules, table, "model"), sep=chr(10))
    These rules approximate the model: they agree with the model on all 16 new rows \
    (100 %, 95 % interval 81 to 100 %).
    Accuracy is unknown: the true classes were not passed.
    """
    facts: dict[str, Any] = {
        "is_share": rules.outcome.is_share,
        "has_warning": "warning" in rules.about,
        "held_out_from": held_out_from,
        **dict.fromkeys(("n", "stored", "model", "truth", "loss", "stump", "never")),
        "orders_only": orders_only(rules),
        "order": None,
        "few": _uncertain(shown, least),
        "survival": survival,
    }
    facts |= _stored(rules) if table is None else _on_rows(rules, table)
    return sentences("reporting/verdict/verdict.txt", **facts)


def _on_rows(rules: RuleSet, table: Table) -> dict[str, Any]:
    """Comparison of rules with the model and the truth, on given rows."""
    encoded = rules.encode(table.rows)
    predicted = np.asarray(rules.predict_encoded(encoded))
    answers = Predictions(predicted, table.of_model, table.y)
    of, model, truth = FACTS[rules.outcome.is_share], answers.model, answers.truth
    loss = order = None
    if truth is not None and rules.outcome.estimates_truth:
        loss, truth = _losses(rules, answers), None
    elif truth is not None and orders_only(rules):
        order, truth = of.order_of(predicted, truth), None
    return {
        "n": len(predicted),
        "loss": loss,
        "order": order,
        "model": None if model is None else of.against_model(predicted, model),
        "truth": None if truth is None else of.against_truth(predicted, model, truth),
        "stump": _stump(rules, encoded, answers),
        "never": of.never_predicted(rules, answers),
    }


def _losses(rules: RuleSet, answers: Predictions) -> dict[str, Any]:
    """Mean losses of rules, model and best constant, where these are no means."""
    outcome, truth, model = rules.outcome, answers.truth, answers.model
    assert truth is not None
    return {
        "name": outcome.error,
        "rules": outcome.mean_loss(truth, answers.rules),
        "model": None if model is None else outcome.mean_loss(truth, model),
        "constant": outcome.constant_error(truth, None),
    }


def _stump(
    rules: RuleSet, encoded: np.ndarray, answers: Predictions
) -> dict[str, Any] | None:
    """Whether a decision stump is as faithful to the model as all of the rules.

    The stump is the best for these very rows, among the features that rules use.
    """
    predicted, model = answers.rules, answers.model
    if model is None or "warning" in rules.about or rules.n_literals < 2:
        return None
    if (model == model[0]).all():
        return None
    used, of = sorted(rules.used_features), FACTS[rules.outcome.is_share]
    predicted, model = (of.numbers_of(rules, points) for points in (predicted, model))
    feature, alone = best_stump(encoded[:, used], model, rules.outcome)
    found = of.against_stump(predicted, alone, model)
    if found["beaten"] > 0 or (alone == alone[0]).all():
        return None
    return found | {"name": printable(rules.features.shown(used[feature]))}


# Without rows, and for single rules


def _stored(rules: RuleSet) -> dict[str, Any]:
    """Statistics stored with the rules, if no rows were given; None if unknown."""
    agreement = _on_average(rules, "agreement_assigned")
    if agreement is None:
        return {"stored": {"agreement": None, "expected": None}, "few": None}
    expected = _on_average(rules, "expected") if rules.outcome.is_share else None
    stored = {"agreement": agreement, "expected": expected, "rows": int(rules.n_rows)}
    return {"stored": stored}


def _on_average(rules: RuleSet, name: str) -> float | None:
    """Mean of a statistic, weighted by the rows that each rule predicts."""
    known = [rule.statistics for rule in rules]
    lines = [
        (own.assigned, getattr(own, name)) for own in known if not own.assigned == 0
    ]
    total = max(sum(assigned for assigned, _ in lines), 1e-300)
    mean = sum(assigned * value for assigned, value in lines) / total
    return None if math.isnan(mean) or not rules.one_rule_predicts else mean


def _uncertain(rules: RuleSet, least: int) -> dict[str, Any] | None:
    """Rules of so few rows that their statistics are hardly informative."""
    rows = {str(k): rule.statistics.rows_assigned for k, rule in rules.lines()}
    few = {line: n for line, n in rows.items() if n <= FEW_ROWS}
    if not few or not rules.one_rule_predicts:
        return None
    most = max(few.values())
    words = count_text(most) if most >= least else f"fewer than {least}"
    return {
        "lines": list(few),
        "most": words if most else None,
        "is_withheld": most < least,
    }
