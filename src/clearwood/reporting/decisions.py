"""What comes of deciding by the rules, as plain data for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._html.chart import round_ticks
from clearwood._words.numbers import percent_text
from clearwood.reporting.table import Table
from clearwood.rules import RuleSet
from clearwood.rules.decisions import (
    CalibrationPoint,
    Decisions,
    Errors,
    Judgement,
    Residuals,
    judge,
)
from clearwood.rules.decisions.in_words import (
    MEANING,
    means_held_text,
    quantile_texts,
    rate_text,
    when_called,
)
from clearwood.rules.decisions.of_values import line_name
from clearwood.rules.decisions.rates import Rate
from clearwood.rules.rule import few_text, prediction_text

SIDE, EDGE, TOP = 300.0, 52.0, 24.0
"""Of a square plot, and what is free left and above."""
AXIS = 20
"""Letters of a label beside an axis; the words of a chart have all of it."""
MOST_POINTS = 200
"""Of a curve: more would not be seen."""
SMALLEST, LARGEST = 3.0, 8.0
"""Radius of a point, by its share of the rows."""
BAR, LABELS, ACROSS = 34.0, 130.0, 480.0
"""Height of a line of errors, the room left of it, and the width of their chart."""


def summarize_decisions(
    rules: RuleSet, table: Table | None, positive: Any, threshold: float | None
) -> dict[str, Any] | None:
    """Tables and charts of decisions; None where no truth is known.

    Parameters
    ----------
    rules : RuleSet
    table : Table or None
        Rows with labels or values.
    positive, threshold
        As in :func:`clearwood.decisions`.

    Returns
    -------
    dict or None
        With ``kind``: ``"one"`` class that is looked for, ``"each"`` of several, or
        ``"values"``.
    """
    if table is None or table.y is None:
        return None
    encoded = rules.encode(table.rows)
    found = judge(
        rules, encoded, table.y, table.taught, table.probabilities,
        np.ones(len(encoded)), positive, threshold,
    )  # fmt: skip
    if isinstance(found, Residuals):
        return _of_values(found)
    return _of_one(found) if found.positive is not None else _of_each(found)


# Classes


def _of_one(found: Decisions) -> dict[str, Any]:
    label = prediction_text(found.positive)
    both = list(found.judged.values())
    rates = [
        {
            "word": key,
            "name": name,
            "meaning": meaning.format(label),
            "told": [_rate(key, getattr(judged.rates[0], key)) for judged in both],
        }
        for key, (name, meaning) in MEANING.items()
    ]
    wrong = [_rate("error", judged.error) for judged in both]
    of_all = "of all rows are called wrongly" + " so" * (found.threshold is not None)
    return {
        "kind": "one",
        "when": when_called(found),
        "confusion": _confusion(found),
        "has_model": found.model is not None,
        "rates": [
            *rates,
            {"word": "", "name": "error", "meaning": of_all, "told": wrong},
        ],
        "words": list(MEANING),
        "calibration": _calibration(found.calibration, label),
        "roc": None if found.rules.roc is None else _roc(found, label),
    }


def _of_each(found: Decisions) -> dict[str, Any]:
    """Every class against the others; for curves there are too many."""
    return {
        "kind": "each",
        "confusion": _confusion(found),
        "names": [name for name, _ in MEANING.values()],
        "words": list(MEANING),
        "has_model": found.model is not None,
        "classes": [
            {
                "label": prediction_text(rates.label),
                "told": [_rate(key, rate) for key, rate in rates.items()],
            }
            for rates in found.rules.rates
        ],
        "errors": [(who, str(j.error)) for who, j in found.judged.items()],
    }


def _rate(key: str, rate: Rate) -> tuple[str, str]:
    """A rate in words, and a warning where next to no rows tell it."""
    return rate_text(key, rate), few_text(rate.rows)


def _confusion(found: Decisions) -> dict[str, Any]:
    table = found.rules.rows.astype(int)
    return {
        "calls": found.calls,
        "lines": [
            {
                "label": label,
                # Where the same is said as is true.
                "cells": [(n, k == i) for i, n in enumerate(row)],
                "total": sum(row),
            }
            for k, (label, row) in enumerate(zip(found.labels, table.tolist()))
        ],
        "totals": table.sum(axis=0).tolist(),
        "total": int(table.sum()),
    }


# Charts of classes


def _square(title: str, words: str, across: str, up: str) -> dict[str, Any]:
    """A plot of two shares, with what both charts have in common."""
    ticks = [(percent_text(t), t) for t in (0.0, 0.25, 0.5, 0.75, 1.0)]
    return {
        "title": title,
        "words": words,
        "across": across,
        "up": up,
        "width": EDGE + SIDE + 24,
        "height": TOP + SIDE + 48,
        "left": EDGE,
        "right": EDGE + SIDE,
        "top": TOP,
        "bottom": TOP + SIDE,
        "x_ticks": [(text, x_at(t)) for text, t in ticks],
        "y_ticks": [(text, y_at(t)) for text, t in ticks],
    }


def x_at(share: float) -> float:
    """Where a share stands on a square plot, from the left."""
    return EDGE + SIDE * share


def y_at(share: float) -> float:
    """Where a share stands on a square plot, from the top."""
    return TOP + SIDE * (1 - share)


def _beside_axis(label: str) -> str:
    """A label with as much of it as a small chart has room for.

    Examples
    --------
    >>> _beside_axis("ill"), _beside_axis("a class with a very long name")
    ('ill', 'a class with a very…')
    """
    return label if len(label) <= AXIS else f"{label[: AXIS - 1]}…"


def _calibration(points: Sequence[CalibrationPoint], label: str) -> dict[str, Any]:
    """What is promised against what is found, a point for each line."""
    most = max(point.found.rows for point in points)
    shown: list[dict[str, Any]] = []
    for point in sorted(points, key=lambda p: (p.said, p.found.value)):
        x, y = x_at(point.said), y_at(point.found.value)
        size = SMALLEST + (LARGEST - SMALLEST) * math.sqrt(point.found.rows / most)
        near = any(abs(x - o["x"]) < 18 and abs(y - o["y"]) < 12 for o in shown[-1:])
        left = x > EDGE + SIDE - 20 or (near and shown[-1]["anchor"] == "start")
        shown.append(
            {
                "x": x,
                "y": y,
                "size": size,
                "ends": (y_at(point.found.low), y_at(point.found.high)),
                "name": "" if point.line is None else str(point.line),
                "anchor": "end" if left else "start",
                "label_x": x - size - 3 if left else x + size + 3,
            }
        )
    words = " ".join(_promise(point, label) for point in points)
    chart = _square(
        f"What the rules promise, and how many are {label}",
        words,
        f"said: probability of {_beside_axis(label)}",
        f"found: share of {_beside_axis(label)}",
    )
    return {**chart, "points": shown, "by_line": points[0].line is not None}


def _promise(point: CalibrationPoint, label: str) -> str:
    who = "" if point.line is None else f"Rule {point.line}: "
    return (
        f"{who}{label} is said with {percent_text(point.said)}, and found in "
        f"{point.found} of {point.found.rows:,}."
    )


def _roc(found: Decisions, label: str) -> dict[str, Any]:
    """Curves of rules and model, and where their decisions are."""
    curves, words = [], []
    for who, judged in found.judged.items():
        told = rate_text("area", judged.rates[0].area)
        if judged.roc is not None:
            words.append(f"The area under the curve of the {who} is {told}.")
        curves.append({"who": who, "area": told, **_curve(judged)})
    chart = _square(
        f"How many {label} are found, for how many false alarms",
        " ".join(words),
        f"false alarms: others called {_beside_axis(label)}",
        f"found: share of {_beside_axis(label)}",
    )
    return {**chart, "curves": [curve for curve in curves if curve["points"]]}


def _curve(judged: Judgement) -> dict[str, Any]:
    rates = judged.rates[0]
    at = (1 - rates.specificity.value, rates.sensitivity.value)
    known = not any(map(math.isnan, at))
    points = ""
    if judged.roc is not None:
        n = len(judged.roc.sensitivity)
        kept = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
        points = " ".join(
            f"{x_at(judged.roc.false_positives[k]):.1f},"
            f"{y_at(judged.roc.sensitivity[k]):.1f}"
            for k in kept
        )
    return {"points": points, "mark": (x_at(at[0]), y_at(at[1])) if known else None}


# Values


def _of_values(found: Residuals) -> dict[str, Any]:
    has_spread = not math.isnan(found.inside.value)
    rows = [(line_name(line), "first", line.errors) for line in found.lines] + [
        (f"all rows, {who}", style, errors)
        for (who, errors), style in zip(found.judged.items(), ("first", "second"))
    ]
    return {
        "kind": "values",
        "words": ["typical"],
        "has_model": found.model is not None,
        "has_spread": has_spread,
        "by_line": found.lines[0].line is not None,
        "inside": str(found.inside),
        "means_held": means_held_text(found) if found.means_held[1] else "",
        "all": [
            {
                "who": who,
                "rmse": errors.rmse.as_number(),
                "bias": errors.bias.as_number(),
                "half": quantile_texts(errors.quantiles)[1],
            }
            for who, errors in found.judged.items()
        ],
        "lines": [
            {
                "name": "" if line.line is None else line_name(line),
                "n_rows": line.mean.rows,
                "few": few_text(line.mean.rows),
                "said": prediction_text(line.said) if line.line else f"{line.said:.4g}",
                "mean": line.mean.as_number(),
                "half": quantile_texts(line.errors.quantiles)[1],
                "inside": str(line.inside),
            }
            for line in found.lines
        ],
        "chart": _error_chart(rows),
    }


def _error_chart(rows: Sequence[tuple[str, str, Errors]]) -> dict[str, Any]:
    """Nine in ten errors as a thin line, half of them as a bar, the middle as a dot."""
    ends = [q for _, _, errors in rows for q in errors.quantiles] + [0.0]
    low, high = min(ends), max(ends)
    if not low < high:
        low, high = low - 0.5, high + 0.5

    def at(value: float) -> float:
        return LABELS + (ACROSS - LABELS - 20) * (value - low) / (high - low)

    words = " ".join(
        f"{label}: half of the errors from {quantile_texts(errors.quantiles)[1]}."
        for label, _, errors in rows
    )
    return {
        "words": words,
        "width": ACROSS,
        "height": TOP + BAR * len(rows) + 44,
        "left": LABELS,
        "right": ACROSS - 20,
        "top": TOP,
        "bottom": TOP + BAR * len(rows),
        "zero": at(0.0),
        "ticks": [(f"{t:,.10g}", at(t)) for t in round_ticks(low, high, 5)],
        "rows": [
            {
                "label": label,
                "style": style,
                "y": TOP + BAR * (k + 0.5),
                "at": [at(q) for q in errors.quantiles],
            }
            for k, (label, style, errors) in enumerate(rows)
        ],
    }
