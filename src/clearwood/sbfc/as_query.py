"""Predictions of a forest classifier as a SQL query.

The average over graphs is no sum of contributions of levels: it is computed graph by
graph, in nested queries whose columns are the parts of the prediction in their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from clearwood.discretize import LevelCoder
from clearwood.exceptions import InputError
from clearwood.rules.conditions import CategorySet, Condition, Interval
from clearwood.rules.exports.questions import question_of
from clearwood.rules.exports.sql import (
    LARGEST_EXPONENT,
    SqlWriter,
    largest,
    query,
    softmax,
)
from clearwood.sbfc.prediction import GraphAverage
from clearwood.sbfc.reading.feature_graph import check_classifier

Columns = list[tuple[str, str]]
"""Names and expressions."""


def to_sql(
    estimator: Any, table: str, dialect: str = "standard", *, keep: Sequence[str] = ()
) -> str:
    """Query that predicts inside a database, with the results of ``predict_proba``.

    It has a column per class for each graph and each conditional distribution, so that
    it is long: use few graphs (``n_graphs``) for it. Where a signal feature has a level
    that did not occur in the fit, the prediction is NULL; ``predict_proba`` sums it
    out.

    Parameters
    ----------
    estimator : SelectiveBayesianForestClassifier
        Fitted.
    table : str
    dialect : str, default="standard"
        As in :meth:`~clearwood.RuleSet.to_sql`.
    keep : sequence of str, default=()
        Columns of the table that the result has besides prediction and probabilities,
        such as an identifier.

    Returns
    -------
    str

    Examples
    --------
    >>> import pandas as pd
    >>> from clearwood import SelectiveBayesianForestClassifier
    >>> X, y = pd.DataFrame({"ward": ["a", "b"] * 30}), [0, 1] * 30
    >>> forest = SelectiveBayesianForestClassifier(n_graphs=5, random_state=0).fit(X, y)
    >>> text = to_sql(forest, "patients", "sqlite", keep=["id"])
    >>> text.splitlines()[:2]
    ['SELECT `id`,', '  CASE WHEN `total 0` IS NOT NULL THEN']
    """
    estimator = check_classifier(estimator)
    average, calibration = estimator._average, estimator.calibration_
    writer = SqlWriter(dialect, estimator.levels_.features)
    labels = estimator.classes_.tolist()
    names = [f"total {label}" for label in labels]
    stages = [
        list(_levels(average, estimator.levels_, writer)),
        list(_terms(average, writer)),
        list(_graphs(average, writer)),
        _averages(average, writer),
        list(zip(names, _totals(average, calibration, writer))),
    ]
    source = writer.name(table)
    for k, columns in enumerate(stages):
        inner = query(columns, source, writer).replace("\n", "\n  ")
        source = f"(\n  {inner}\n) AS stage_{k + 1}"
    totals = [writer.name(name) for name in names]
    best = largest(labels, totals, writer).replace("\n", "\n    ")
    known = f"CASE WHEN {totals[0]} IS NOT NULL THEN\n    {best}\n  END"
    columns = [("prediction", known)]
    columns += [(f"probability {c}", p) for c, p in zip(labels, softmax(totals))]
    found = [*map(writer.name, keep)]
    found += [f"{text} AS {writer.name(name)}" for name, text in columns]
    chosen = ",\n  ".join(found)
    return writer.finished(f"SELECT {chosen}\nFROM {source}")


def _levels(
    average: GraphAverage, coder: LevelCoder, writer: SqlWriter
) -> Iterator[tuple[str, str]]:
    """The level of each signal feature, by number; NULL for an unknown one."""
    first = np.cumsum(average.levels) - average.levels
    for i, j in enumerate(average.feature.tolist()):
        known = average.known[first[i] : first[i] + average.levels[i]]
        numbers = [str(k) if is_known else "" for k, is_known in enumerate(known)]
        yield f"level {i}", _by_level(coder, j, numbers, "NULL", writer)


def _by_level(
    coder: LevelCoder, j: int, values: list[str], otherwise: str, writer: SqlWriter
) -> str:
    """A value for each level of a column, the empty ones left out."""
    tests = [
        f"WHEN {writer.test(question_of(condition, coder.features))} THEN {value}"
        for condition, value in zip(_conditions(coder, j), values)
        if value
    ]
    return "\n    ".join(["CASE", *tests, f"ELSE {otherwise}"]) + "\n  END"


def _conditions(coder: LevelCoder, j: int) -> Iterator[Condition]:
    cuts, labels = coder.cuts[j], coder.features.categories[j]
    if coder.has_values[j] and cuts is not None:
        ends = [-math.inf, *cuts.tolist(), math.inf]
        yield from (Interval(j, *pair) for pair in zip(ends, ends[1:]))
    elif coder.has_values[j]:
        yield from (CategorySet(j, (k,)) for k in range(len(labels or ())))
    if cuts is None:
        yield CategorySet(j, (), missing=True)
    else:
        yield Interval(j, math.inf, math.inf, missing=True)


def _terms(average: GraphAverage, writer: SqlWriter) -> Iterator[tuple[str, str]]:
    """Log ratio of each conditional probability, of a class to the first one."""
    ratio = average.log_table[:, 1:] - average.log_table[:, :1]
    width = np.append(average.levels, 1)[average.parent]
    for i, (child, parent) in enumerate(zip(average.child, average.parent)):
        cells = ratio[average.start[i] : average.start[i + 1]].reshape(
            average.levels[child], width[i], -1
        )
        own, above = (writer.name(f"level {k}") for k in (child, parent))
        for c in range(cells.shape[2]):
            lines = ["CASE"]
            for v, w in np.ndindex(cells.shape[:2]):
                if np.isfinite(value := cells[v, w, c]):
                    both = f" AND {above} = {w}" if parent >= 0 else ""
                    lines.append(f"WHEN {own} = {v}{both} THEN {writer.number(value)}")
            yield f"term {i} {c}", "\n    ".join(lines) + "\n  END"


def _graphs(average: GraphAverage, writer: SqlWriter) -> Iterator[tuple[str, str]]:
    """Log odds of each class and the first, by graph."""
    size = np.abs(average.log_table[:, 1:] - average.log_table[:, :1])
    largest = [
        size[a:b][np.isfinite(size[a:b])].max(initial=0.0)
        for a, b in zip(average.start, average.start[1:])
    ]
    prior = average.log_class[1:] - average.log_class[0]
    for g, (a, b) in enumerate(zip(average.graph_start, average.graph_start[1:])):
        entries = average.entry[a:b].tolist()
        if 2 * sum(largest[i] for i in entries) > LARGEST_EXPONENT:
            raise InputError(
                "Log odds may exceed those of which EXP can be taken safely, because "
                f"of {len(entries)} signal features; there is no query for so many."
            )
        for c, start in enumerate(prior):
            added = [writer.name(f"term {i} {c}") for i in entries]
            total = " + ".join([writer.as_double(writer.number(start)), *added])
            yield f"graph {g} {c}", total


def _averages(average: GraphAverage, writer: SqlWriter) -> Columns:
    """Average of the class probabilities over graphs, by their numbers of draws."""
    n_classes = len(average.log_class)
    weight = np.bincount(average.draws) / len(average.draws)
    sums: list[list[str]] = [[] for _ in range(n_classes)]
    for g, share in enumerate(weight.tolist()):
        odds = ["0e0", *(writer.name(f"graph {g} {c}") for c in range(n_classes - 1))]
        for own, p in zip(sums, softmax(odds)):
            own.append(f"{writer.number(share)} * ({p})")
    return [(f"average {c}", "\n    + ".join(own)) for c, own in enumerate(sums)]


def _totals(
    average: GraphAverage, calibration: Any, writer: SqlWriter
) -> Iterator[str]:
    """Calibrated log probabilities, up to a constant."""
    log, t = "LOG" if writer.kind == "mssql" else "LN", 1.0
    if calibration is not None:
        t = calibration.temperature
    for c, prior in enumerate(average.log_class):
        total = f"{writer.number(t)} * {log}({writer.name(f'average {c}')})"
        parts = [writer.as_double(writer.number((1 - t) * prior)), total]
        if calibration is not None and len(calibration.effect):
            parts += list(_effects(calibration, c, writer))
        yield "\n    + ".join(parts)


def _effects(calibration: Any, c: int, writer: SqlWriter) -> Iterator[str]:
    """Steps of the calibration, of every feature."""
    parts, place = calibration.parts, 0
    for j, n in enumerate(parts.n_levels.tolist()):
        values = [writer.number(x) for x in calibration.effect[place : place + n, c]]
        place += n
        if n > 1:
            yield _by_level(parts, j, values, "0e0", writer)
