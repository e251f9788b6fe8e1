"""Fidelity against the number of rules as a chart and a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from clearwood.charts.chart import svg
from clearwood.reporting.table import Table
from clearwood.rules import RuleScores, RuleSet
from clearwood.rules.displays import PathDisplay
from clearwood.rules.displays.held_out import HeldOutPath, held_out_of

MOST_LINES = 60
"""Maximum number of sizes in the table; the chart shows all."""


def summarize_path(result: Any, table: Table | None) -> dict[str, Any] | None:
    """Scores of every rule set on the path of a fit, with a chart of fidelity.

    Parameters
    ----------
    result : fitted estimator
        With ``path_``, the rule sets of all sizes.
    table : Table or None
        Rows on which to score them.

    Returns
    -------
    dict or None
        None if there is no path, or its fidelity is unknown.
    """
    path = getattr(result, "path_", None)
    if not path:
        return None
    held_out = held_out_of(result)
    of_model = None if table is None else table.of_model
    if of_model is None and held_out is None:
        return None
    chosen = result.rules_.n_rules
    scores = [_scores(rules, table) for rules in path]
    lines = [_line(score, held_out, chosen) for score in scores]
    outcome = result.rules_.outcome
    words = _words(lines, chosen, outcome.agreement_words, outcome.figure)
    display = PathDisplay(scores, task=outcome.task, chosen=chosen, held_out=held_out)
    chart = display.chart()
    fidelity = replace(chart, panels=chart.panels[:1])
    return {
        "chart": svg(fidelity, "path", words),
        "words": words,
        "unit": outcome.unit,
        "name": outcome.agreement_words,
        "lines": lines[:MOST_LINES],
        "has_rows": of_model is not None,
        "has_error": lines[0]["error"] is not None,
        "has_held_out": held_out is not None,
        "held_out_rows": "" if held_out is None else held_out.rows,
    }


def _scores(rules: RuleSet, table: Table | None) -> RuleScores:
    if table is None or table.of_model is None:
        nan = math.nan
        return RuleScores(nan, nan, nan, nan, rules.n_rules, rules.n_literals)
    return rules.evaluate(table.rows, table.y, model=table.of_model)


def _line(
    scores: RuleScores, held_out: HeldOutPath | None, chosen: int
) -> dict[str, Any]:
    n = scores.n_rules
    line: dict[str, Any] = {
        "n_rules": n,
        "n_literals": scores.n_literals,
        "is_chosen": n == chosen,
        "fidelity": None if math.isnan(scores.fidelity) else _shown(scores.fidelity),
        "error": None if math.isnan(scores.error) else scores.error,
        "held_out": None,
        "standard_error": None,
    }
    if held_out is not None and n <= len(held_out.fidelity):
        line["held_out"] = _shown(held_out.fidelity[n - 1])
        line["standard_error"] = float(held_out.standard_error[n - 1])
    return line


def _shown(fidelity: float) -> float:
    # An R2 of -0.00006 is displayed as 0; adding 0.0 turns -0.0 into 0.
    return round(float(fidelity), 4) + 0.0


def _words(
    lines: Sequence[dict[str, Any]],
    chosen: int,
    name: str,
    shown: Callable[[float], str],
) -> str:
    """Text alternative to the chart."""
    parts = []
    for key, where in (("fidelity", "On the rows passed"), ("held_out", "Held out")):
        known = [(line["n_rules"], line[key]) for line in lines]
        known = [(n, value) for n, value in known if value is not None]
        if known:
            (few, low), (many, high) = known[0], known[-1]
            parts.append(
                f"{where}, {name[0].lower()}{name[1:]} changes from {shown(low)} with "
                f"{few} rule{'s' * (few != 1)} to {shown(high)} with {many}."
            )
    parts.append(f"Selected: {chosen} rule{'s' * (chosen != 1)}.")
    return " ".join(parts)
