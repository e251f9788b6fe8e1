"""Survival curves of rules, and their scores on given rows."""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from clearwood._words.labels import printable
from clearwood._words.numbers import share_text, short_text
from clearwood.charts.chart import svg
from clearwood.exceptions import InputError
from clearwood.outcomes.kaplan_meier import SurvivalCurve
from clearwood.outcomes.survival import Survival, check_survival
from clearwood.reporting.score_lines import score_line
from clearwood.rules import RuleSet
from clearwood.rules.displays.survival_curves import survival_chart
from clearwood.rules.evaluation.survival_scores import (
    ObservedCurve,
    concordance,
    last_time,
    observed_curves,
    scores_of,
)

BEYOND = 1.25
"""End of time axes, relative to the last horizon."""


def summarize_survival(
    rules: RuleSet, X: Any, y: Any, of_model: np.ndarray | None, least: int
) -> dict[str, Any] | None:
    """A chart and a table of each rule; None if rules are not for survival.

    Parameters
    ----------
    rules : RuleSet
    X : array-like or frame of shape (n_samples, n_features), or None
    y : structured array or frame, or None
        Survival times of these rows.
    of_model : ndarray of shape (n_samples,) or None
        Mean survival that the model predicts.
    least : int
        Minimum number of rows that are followed where an estimate is shown.
    """
    if not rules.outcome.horizons or any(rule.curve is None for rule in rules):
        return None
    outcome = cast(Survival, rules.outcome)
    observed: list[ObservedCurve | None] = [None] * rules.n_rules
    if y is not None:
        y = check_survival(y, len(rules.apply(X)), n_causes=outcome.n_causes)
        observed = list(observed_curves(rules, X, y, least))
    lines = [
        _line(j, k, predicted, found, outcome, least)
        for j, (rule, found) in enumerate(zip(rules, observed), start=1)
        for k, predicted in enumerate(cast(SurvivalCurve, rule.curve).causes)
    ]
    return {
        "lines": lines,
        "unit": printable(outcome.time_unit),
        "has_causes": outcome.n_causes > 1,
        "of_draws": any(cast(SurvivalCurve, rule.curve).low for rule in rules),
        "has_rows": y is not None,
        "least": least,
        "scores": [] if y is None else _scores(rules, X, y, of_model),
    }


def _line(
    number: int,
    place: int,
    predicted: SurvivalCurve,
    observed: ObservedCurve | None,
    outcome: Survival,
    least: int,
) -> dict[str, Any]:
    of_rows = None
    if observed is not None and observed.curve is not None:
        of_rows = observed.curve.causes[place]
    cause = f"-{predicted.cause}" if predicted.cause else ""
    words = f"Rule {number}: {predicted.text(outcome.horizons, outcome.time_unit)}."
    if of_rows is not None:
        words += f" Observed: {of_rows.text(outcome.horizons, outcome.time_unit)}."
    chart = survival_chart(predicted, of_rows, outcome, BEYOND * outcome.horizons[-1])
    return {
        "number": number,
        "cause": predicted.cause,
        "svg": svg(chart, f"survival-{number}{cause}", words, look="half"),
        "median": short_text(predicted.median)
        if predicted.median <= predicted.until
        else "",
        "rows": observed and _count(observed.n_rows, least),
        "events": of_rows and _count(of_rows.events or 0, least),
        "times": [
            {
                "time": short_text(horizon),
                "predicted": _share(predicted, horizon),
                "observed": "" if of_rows is None else _share(of_rows, horizon),
                "at_risk": None
                if observed is None
                else _count(observed.at_risk[k], least),
            }
            for k, horizon in enumerate(outcome.horizons)
        ],
    }


def _count(n: int, least: int) -> str:
    return f"< {least}" if 0 < n < least else f"{n:,}"


def _share(curve: SurvivalCurve, horizon: float) -> str:
    if horizon > curve.until:
        return f"unknown after {short_text(curve.until)}"
    return share_text(*curve.shown(horizon))


def _scores(
    rules: RuleSet, X: Any, y: np.ndarray, of_model: np.ndarray | None
) -> list[dict[str, Any]]:
    """Lines of scores of the rules, and of the concordance of their model."""
    model: tuple[float | None, float | None] = None, None
    try:
        found = scores_of(rules, X, y)
        if of_model is not None:
            model = concordance(of_model, y, y, last_time(y, y, rules.outcome.horizons))
    except InputError:  # Without scikit-survival, or with too few events.
        return []
    return [
        score_line("Integrated Brier score", "number", found.integrated_brier),
        score_line("Concordance, Harrell's", "number", found.harrell, model[0]),
        score_line("Concordance, Uno's", "number", found.uno, model[1]),
    ]
