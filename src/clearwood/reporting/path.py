"""Fidelity against the number of lines as a chart: numbers here, drawing in SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from clearwood._html.chart import LEFT, RIGHT, WIDTH, round_ticks, whole_ticks
from clearwood._words.numbers import percent_text, short_text
from clearwood.reporting.table import Table
from clearwood.rules import RuleSet
from clearwood.rules.displays.held_out import HeldOutPath, held_out_of

TOP, HEIGHT = 58.0, 190.0
MOST_LINES = 60
"""Sizes in the table, at most; the chart shows all."""


def summarize_path(result: Any, table: Table | None) -> dict[str, Any] | None:
    """Scores of every rule set on the path of a fit, and a chart of its fidelity.

    Parameters
    ----------
    result : fitted estimator
        With ``path_``, the rule sets of all sizes.
    table : Table or None
        Rows on which to score them.

    Returns
    -------
    dict or None
        None where there is no path, or nothing is known of its fidelity.
    """
    path = getattr(result, "path_", None)
    if not path:
        return None
    held_out = held_out_of(result)
    taught = None if table is None else table.taught
    if taught is None and held_out is None:
        return None
    chosen = result.rules_.n_rules
    lines = [_line(rules, table, held_out, chosen) for rules in path]
    measured = [line["fidelity"] for line in lines]
    is_class = result.rules_.task == "classification"
    chart = _chart([rules.n_rules for rules in path], measured, held_out, chosen)
    if is_class:
        chart["ticks"] = [(percent_text(value), y) for value, y in chart["ticks"]]
    else:
        chart["ticks"] = [(f"{value:,.10g}", y) for value, y in chart["ticks"]]
    return {
        "words": _words(lines, chosen, is_class),
        "unit": "percent" if is_class else "number",
        "name": (
            "Same class as the model" if is_class else "Fidelity to the model (R²)"
        ),
        "chosen": chosen,
        "lines": lines[:MOST_LINES],
        "has_rows": taught is not None,
        "has_error": lines[0]["error"] is not None,
        "has_held_out": held_out is not None,
        "held_out_rows": "" if held_out is None else held_out.rows,
        **chart,
    }


def _line(
    rules: RuleSet, table: Table | None, held_out: HeldOutPath | None, chosen: int
) -> dict[str, Any]:
    n = rules.n_rules
    line: dict[str, Any] = {
        "n_rules": n,
        "n_literals": rules.n_literals,
        "is_chosen": n == chosen,
        "fidelity": None,
        "error": None,
        "held_out": None,
        "standard_error": None,
    }
    if table is not None and table.taught is not None:
        scores = rules.evaluate(table.rows, table.y, teacher=table.taught)
        line["fidelity"] = _shown(scores.fidelity)
        line["error"] = None if math.isnan(scores.error) else scores.error
    if held_out is not None and n <= len(held_out.fidelity):
        line["held_out"] = _shown(held_out.fidelity[n - 1])
        line["standard_error"] = float(held_out.standard_error[n - 1])
    return line


def _shown(fidelity: float) -> float:
    # An R2 of -0.00006 is nought to a reader; adding 0.0 makes -0.0 one too.
    return round(float(fidelity), 4) + 0.0


def _words(lines: Sequence[dict[str, Any]], chosen: int, is_class: bool) -> str:
    """The chart for those who do not see it."""
    shown = percent_text if is_class else short_text
    parts = []
    for key, where in (("fidelity", "On the rows handed in"), ("held_out", "Held out")):
        known = [(line["n_rules"], line[key]) for line in lines]
        known = [(n, value) for n, value in known if value is not None]
        if known:
            (few, low), (many, high) = known[0], known[-1]
            parts.append(
                f"{where}, the fidelity goes from {shown(low)} with "
                f"{few} line{'s' * (few != 1)} to {shown(high)} with {many}."
            )
    parts.append(f"The rules above are those of {chosen} line{'s' * (chosen != 1)}.")
    return " ".join(parts)


def _chart(
    sizes: list[int],
    measured: list[float | None],
    held_out: HeldOutPath | None,
    chosen: int,
) -> dict[str, Any]:
    """Points on the canvas, as text for SVG."""
    n = max(sizes)
    ends, values = [], [value for value in measured if value is not None]
    seen = list(values)
    if held_out is not None:
        n = max(n, len(held_out.fidelity))
        middle, error = held_out.fidelity, held_out.standard_error
        ends = [(middle - error).tolist(), (middle + error).tolist()]
        values += [*ends[0], *ends[1]]
    low, high = min(values), max(values)
    if not low < high:
        low, high = low - 0.5, high + 0.5

    def x_at(size: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (size - 1) / max(n - 1, 1)

    def y_at(value: float) -> float:
        return TOP + HEIGHT * (high - value) / (high - low)

    def points(some: Sequence[float], part: Sequence[float]) -> str:
        return " ".join(f"{x_at(k):.1f},{y_at(v):.1f}" for k, v in zip(some, part))

    every = list(range(1, n + 1))
    chart: dict[str, Any] = {
        "width": WIDTH,
        "height": TOP + HEIGHT + 52.0,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "top": TOP,
        "bottom": TOP + HEIGHT,
        "mark": x_at(chosen),
        "sizes": whole_ticks(n),
        "ticks": [(t, y_at(t)) for t in round_ticks(low, high)],
        "dots": [],
        "points": "",
        "held_out_points": "",
        "band": "",
    }
    if seen:
        chart["points"] = points(sizes, seen)
        chart["dots"] = [(x_at(k), y_at(v)) for k, v in zip(sizes, seen)]
    if held_out is not None:
        chart["held_out_points"] = points(every, held_out.fidelity.tolist())
        there, back = points(every, ends[0]), points(every[::-1], ends[1][::-1])
        chart["band"] = f"{there} {back}"
    return chart
