"""Metrics and residuals as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import (
    rounded_text,
    share_decimals,
    share_text,
    short_text,
)
from clearwood._words.sentences import rows_in_words
from clearwood.outcomes.intervals import Rate
from clearwood.rules.evaluation.statistics import count_text
from clearwood.rules.rule import wrapped

if TYPE_CHECKING:
    from clearwood.rules.decisions.of_classes import ClassRates, Decisions
    from clearwood.rules.decisions.of_values import Residuals

MEANING = {
    "base_rate": ("base rate", "of all rows are {}"),
    "sensitivity": ("sensitivity", "of true {} rows are predicted so"),
    "specificity": ("specificity", "of other rows are not predicted so"),
    "positive_value": ("PPV", "of rows predicted {} are so"),
    "negative_value": ("NPV", "of other predictions are not {}"),
    "area": ("AUC", "of pairs are ranked correctly"),
}
"""Abbreviations of rates, and their denominators."""
ERROR = "of all rows are misclassified"


def rate_text(name: str, rate: Rate, decimals: int = 0) -> str:
    """A rate with its interval, as a share or as an area."""
    return rate.as_number() if name == "area" else rate.as_share(decimals)


def decimals_of(found: Decisions) -> int:
    """Decimals of all percentages of the tables: those of the most precise one."""
    shares = [side.error for side in found.metrics.values()]
    for side in found.metrics.values():
        shares += [
            r for rates in side.rates for name, r in rates.items() if name != "area"
        ]
    return max(share_decimals(rate.low, rate.high) for rate in shares)


def when_called(found: Decisions) -> str:
    """Criterion for a positive prediction, in words.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> when_called(SimpleNamespace(pos_label="ill", threshold=0.3))
    'ill is predicted where its probability is at least 0.3'
    """
    label = prediction_text(found.pos_label)
    if found.threshold is None:
        return f"positive class {label}"
    return f"{label} is predicted where its probability is at least {found.threshold:g}"


def decisions_text(found: Decisions) -> str:
    """Confusion matrix, and rates of rules and model."""
    title = f"Predictions of {printable(found.target)} on {rows_in_words(found.n_rows)}"
    if found.pos_label is not None:
        title += f": {when_called(found)}"
    lines = [wrapped(title), "", *_confusion(found), ""]
    if found.pos_label is None:
        lines += _rates_by_class(found)
    else:
        lines += _rates_of_one(found)
        lines += ["", *_calibration(found)] if found.calibration else []
    return "\n".join(lines)


def _confusion(found: Decisions) -> list[str]:
    """Confusion matrix: truth in rows, predictions in columns."""
    unit = "rows (their weight)" if found.is_weighted else "rows"
    head = [f"{unit}: true", *(f"predicted {call}" for call in found.calls), "total"]
    tables = [_with_totals(found.first.rows), _with_totals(found.first.confusion)]
    lines = [
        [
            label,
            *(
                f"{count_text(n)} ({count_text(weight)})"
                if found.is_weighted
                else count_text(n)
                for n, weight in zip(*rows)
            ),
        ]
        for label, *rows in zip([*found.labels, "total"], *tables)
    ]
    return aligned([head, *lines])


def _with_totals(table: np.ndarray) -> list[list[float]]:
    table = np.column_stack([table, table.sum(axis=1)])
    return np.vstack([table, table.sum(axis=0)]).tolist()


def _rates_of_one(found: Decisions) -> list[str]:
    label = prediction_text(found.pos_label)
    decimals = decimals_of(found)
    columns = {who: side.rates[0] for who, side in found.metrics.items()}
    rows = [["", *columns, ""]]
    for name, (short, meaning) in MEANING.items():
        texts = [rate_text(name, getattr(r, name), decimals) for r in columns.values()]
        rows.append([short, *texts, meaning.format(label)])
    errors = [side.error.as_share(decimals) for side in found.metrics.values()]
    rows.append(["error", *errors, ERROR])
    return aligned(rows, len(columns) + 1)


def _rates_by_class(found: Decisions) -> list[str]:
    decimals = decimals_of(found)

    def row(rates: ClassRates) -> list[str]:
        texts = (rate_text(name, getattr(rates, name), decimals) for name in MEANING)
        return [prediction_text(rates.label), *texts]

    head = [
        f"each class, {next(iter(found.metrics))}",
        *(short for short, _ in MEANING.values()),
    ]
    errors = [f"{who} {j.error.as_share(decimals)}" for who, j in found.metrics.items()]
    return [
        *aligned([head, *map(row, found.first.rates)]),
        f"error: {', '.join(errors)}",
    ]


def _calibration(found: Decisions) -> list[str]:
    """Predicted probability and observed share, per rule."""
    label = prediction_text(found.pos_label)
    rows = [["", f"predicted {label}", "observed", ""]]
    for point in found.calibration:
        name = "" if point.line is None else f"rule {point.line}"
        n_rows, found_text = rows_in_words(point.found.rows), point.found.as_share(1)
        rows.append(
            [name, share_text(point.predicted, decimals=1), found_text, f"of {n_rows}"]
        )
    return aligned(rows)


def residuals_text(found: Residuals) -> str:
    """Residuals of the rules, in all and per rule."""
    lines = [
        f"Errors of {printable(found.target)} on {rows_in_words(found.n_rows)}: "
        "true value minus prediction",
        "",
    ]
    rows = [["", "root mean square", "mean", "5 %", "25 to 75 %", "95 %"]]
    for who, errors in found.metrics.items():
        rows.append(
            [
                who,
                errors.rmse.as_number(),
                errors.bias.as_number(),
                *quantile_texts(errors.quantiles),
            ]
        )
    lines += [*aligned(rows), ""]
    head = ["", "rows", "predicted", "mean true value", "5 %", "25 to 75 %", "95 %"]
    has_spread = not math.isnan(found.inside.value)
    rows = [head + ["within 2 SD"] * has_spread]
    for line in found.lines:
        cells = [
            "" if line.line is None else line.name,
            f"{line.mean.rows:,}",
            short_text(line.predicted, 4)
            if line.line is None
            else prediction_text(line.predicted),
            line.mean.as_number(),
            *quantile_texts(line.errors.quantiles),
        ]
        rows.append(cells + [str(line.inside)] * has_spread)
    lines += aligned(rows)
    if has_spread:
        lines += [
            "",
            f"{found.inside} of all rows lie within 2 printed standard deviations of",
            "the prediction; expected: 95 %, if errors are normal and these correct.",
        ]
    if found.means_held[1]:
        lines.append(wrapped(means_held_text(found)))
    return "\n".join(lines)


def means_held_text(found: Residuals) -> str:
    """How many printed confidence intervals of means hold."""
    held, known = found.means_held
    return (
        f"Of {known} printed interval{'s' * (known != 1)} of a rule's mean, {held} "
        f"contain{'s' * (held == 1)} the mean of these rows, which is an estimate, too."
    )


def quantile_texts(quantiles: Sequence[float]) -> tuple[str, str, str]:
    """Outer quantiles, and between them the interquartile range.

    Examples
    --------
    >>> quantile_texts((-10.04, -9.98, 0.5, 3.0, 8.7))
    ('-10.0', '-10.0 to 3.0', '8.7')
    """
    unit = quantiles[-1] - quantiles[0]
    low, first, _, last, high = (rounded_text(q, unit / 10) for q in quantiles)
    return low, f"{first} to {last}", high


def aligned(rows: list[list[str]], *left: int) -> list[str]:
    """Table of texts; right-aligned, apart from columns 0 and ``left``."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    return [
        "  ".join(
            cell.ljust(width) if k in (0, *left) else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths))
        ).rstrip()
        for row in rows
    ]
