"""Classification and regression metrics as plain data for the page."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._html.disclosure import of_parts
from clearwood._words.labels import prediction_text
from clearwood._words.numbers import percent_text, short_text
from clearwood.charts.chart import svg
from clearwood.outcomes.intervals import Rate
from clearwood.reporting.table import Table
from clearwood.rules import RuleSet
from clearwood.rules.decisions import (
    CalibrationPoint,
    Decisions,
    Residuals,
    evaluate_encoded,
)
from clearwood.rules.decisions.display import (
    ResidualsDisplay,
    calibration_chart,
    roc_chart,
)
from clearwood.rules.decisions.in_words import (
    ERROR,
    MEANING,
    decimals_of,
    means_held_text,
    quantile_texts,
    rate_text,
    when_called,
)
from clearwood.rules.evaluation.statistics import few_text


def summarize_decisions(
    rules: RuleSet,
    table: Table | None,
    pos_label: Any,
    threshold: float | None,
) -> dict[str, Any] | None:
    """Tables and charts of metrics; None if no truth is known.

    Parameters
    ----------
    rules : RuleSet
    table : Table or None
        Rows with labels or values.
    pos_label, threshold
        As in :func:`clearwood.decisions`.

    Returns
    -------
    dict or None
        With ``kind``: ``"one"`` positive class, ``"each"`` of several, or ``"values"``.
    """
    if table is None or table.y is None:
        return None
    encoded = rules.encode(table.rows)
    found = evaluate_encoded(
        rules, encoded, table.y, table.of_model, table.probabilities,
        np.ones(len(encoded)), pos_label, threshold,
    )  # fmt: skip
    if isinstance(found, Residuals):
        return _of_values(found)
    return _of_one(found) if found.pos_label is not None else _of_each(found)


# Classes


def _of_one(found: Decisions) -> dict[str, Any]:
    label = prediction_text(found.pos_label)
    sides, decimals = list(found.metrics.values()), decimals_of(found)
    rates = [
        {
            "word": key,
            "name": name,
            "meaning": meaning.format(label),
            "texts": [
                _rate(key, getattr(side.rates[0], key), decimals) for side in sides
            ],
        }
        for key, (name, meaning) in MEANING.items()
    ]
    wrong = [_rate("error", side.error, decimals) for side in sides]
    return {
        "kind": "one",
        "title": "Confusion matrix and calibration",
        "when": when_called(found),
        "confusion": _confusion(found),
        "has_model": found.model is not None,
        "rates": [
            *rates,
            {"word": "", "name": "error", "meaning": ERROR, "texts": wrong},
        ],
        "words": list(MEANING),
        "calibration": of_parts(
            found.calibration,
            lambda point: point.found.rows,
            lambda points: _calibration(points, label),
        ),
        "roc": None if found.first.roc is None else _roc(found),
    }


def _of_each(found: Decisions) -> dict[str, Any]:
    """Every class against the others; too many for curves."""
    decimals = decimals_of(found)
    return {
        "kind": "each",
        "title": "Confusion matrix",
        "confusion": _confusion(found),
        "names": [name for name, _ in MEANING.values()],
        "words": list(MEANING),
        "has_model": found.model is not None,
        "classes": [
            {
                "label": prediction_text(rates.label),
                "texts": [_rate(key, rate, decimals) for key, rate in rates.items()],
            }
            for rates in found.first.rates
        ],
        "errors": [
            (who, j.error.as_share(decimals)) for who, j in found.metrics.items()
        ],
    }


def _rate(key: str, rate: Rate, decimals: int) -> tuple[str, str]:
    """Text of a rate, with a warning if it is based on very few rows."""
    return rate_text(key, rate, decimals), few_text(rate.rows)


def _confusion(found: Decisions) -> dict[str, Any]:
    table = found.first.rows.astype(int)
    return {
        "calls": found.calls,
        "lines": [
            {
                "label": label,
                # Correct predictions: the diagonal.
                "cells": [(n, k == i) for i, n in enumerate(row)],
                "total": sum(row),
            }
            for k, (label, row) in enumerate(zip(found.labels, table.tolist()))
        ],
        "totals": table.sum(axis=0).tolist(),
        "total": int(table.sum()),
    }


# Charts of classes


def _calibration(
    points: Sequence[CalibrationPoint], label: str
) -> dict[str, Any] | None:
    """Predicted probability against observed share; None without points."""
    if not points:
        return None
    words = " ".join(_point_text(point, label) for point in points)
    chart = calibration_chart(points, label)
    return {
        "svg": svg(chart, "calibration", words, look="half"),
        "by_line": points[0].line is not None,
    }


def _point_text(point: CalibrationPoint, label: str) -> str:
    who = "" if point.line is None else f"Rule {point.line}: "
    return (
        f"{who}predicted probability of {label} {percent_text(point.predicted)}, "
        f"observed {point.found} of {point.found.rows:,} rows."
    )


def _roc(found: Decisions) -> dict[str, Any]:
    """ROC curves of rules and model, with dots at their predictions."""
    areas = {
        who: rate_text("area", side.rates[0].area)
        for who, side in found.metrics.items()
        if side.roc is not None
    }
    words = [f"The area under the curve of the {w} is {a}." for w, a in areas.items()]
    return {
        "svg": svg(roc_chart(found), "roc", " ".join(words), look="half"),
        "areas": areas,
    }


# Values


def _of_values(found: Residuals) -> dict[str, Any]:
    has_spread = not math.isnan(found.inside.value)
    return {
        "kind": "values",
        "title": "Residuals",
        "words": ["typical"],
        "has_model": found.model is not None,
        "has_spread": has_spread,
        "by_line": any(line.line is not None for line in found.lines),
        "inside": str(found.inside),
        "means_held": means_held_text(found) if found.means_held[1] else "",
        "all": [
            {
                "who": who,
                "rmse": errors.rmse.as_number(),
                "bias": errors.bias.as_number(),
                "half": quantile_texts(errors.quantiles)[1],
            }
            for who, errors in found.metrics.items()
        ],
        "each": of_parts(
            found.lines,
            lambda line: line.mean.rows,
            lambda lines: _of_lines(replace(found, lines=tuple(lines))),
        ),
    }


def _of_lines(found: Residuals) -> dict[str, Any]:
    """Chart and table of the residuals of each rule."""
    rows = [(line.name, line.errors) for line in found.lines] + [
        (f"all rows, {who}", errors) for who, errors in found.metrics.items()
    ]
    words = " ".join(
        f"{label}: half of the errors lie from {quantile_texts(errors.quantiles)[1]}."
        for label, errors in rows
    )
    chart = ResidualsDisplay(found).chart()
    return {
        "chart": svg(chart, "errors", words, look="errors"),
        "lines": [
            {
                "name": "" if line.line is None else line.name,
                "n_rows": line.mean.rows,
                "few": few_text(line.mean.rows),
                "prediction": short_text(line.predicted, 4)
                if line.line is None
                else prediction_text(line.predicted),
                "mean": line.mean.as_number(),
                "half": quantile_texts(line.errors.quantiles)[1],
                "inside": str(line.inside),
            }
            for line in found.lines
        ],
    }
