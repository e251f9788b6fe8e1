"""Report section of a circuit, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._html.disclosure import MIN_ROWS, OfRows, single_rows
from clearwood._words.labels import printable
from clearwood._words.numbers import share_text
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.queries.table_cells import cells_of
from clearwood.circuits.reading.anomalies import (
    LEAST,
    AnomalyScores,
    anomaly_scores,
    columns_of,
    rows_of,
    top_entries,
)
from clearwood.circuits.reading.display import (
    FARTHEST,
    circuit_from,
    dependence_order,
    strip_name,
)
from clearwood.circuits.reading.outline import (
    CircuitPart,
    class_model_of,
    divergences,
    is_independent,
    outline,
)
from clearwood.circuits.reading.profiles import NOTHING, Numbers, column_words
from clearwood.circuits.reading.strengths import WEAK, is_weak_gain, strengths
from clearwood.circuits.reading.words import (
    counts,
    hidden_states,
    marks_texts,
    names_in_pairs,
    names_text,
    strongest_pairs,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import shown_names

RARE = "a rare level"
"""In place of the name of a level of few rows."""

DEPTH = 2
"""Depth of nested components on a page."""

MOST_SCORED = 2000
"""Maximum number of rows whose entries are scored."""

MOST_COLUMNS, MOST_PAIRS, MOST_ROWS, MOST_ENTRIES, MOST_TABLES = 40, 20, 10, 3, 6
"""Maximum numbers of table rows, entries of a row, and tables of components."""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Components, dependent columns, and anomalies.

    ``X`` are the rows to evaluate the density on, and to find anomalies in; ``y`` their
    classes, for a classifier.
    """
    circuit = circuit_from(result)
    values = None if X is None else rows_of(result, X, y)
    part = outline(circuit.root, DEPTH, circuit.table.numbers)
    strength = strengths(circuit)
    pairs = strongest_pairs(strength)
    order = dependence_order(strength)
    rows = None
    tables: Any = _tables(part, circuit.features, order, circuit.table.numbers)
    alone: Any = _alone(part, circuit.features)
    if values is not None:
        rows = summarize_rows(circuit, values, X)
        rows["surprising"] = single_rows(rows["surprising"])
        enough = _without_few(part, circuit.features, values)
        instead = _tables(*enough, order, circuit.table.numbers)
        tables = OfRows(tables, 1, instead=instead)
        alone = OfRows(alone, 1, instead=_alone(*enough))
    return {
        "tiles": _tiles(circuit, part, _n_pairs(circuit, pairs)),
        "groups": len(part.groups),
        "found": FOUND[class_model_of(circuit)],
        "tables": tables,
        "alone": alone,
        "joint": [
            names_text(circuit.features, group.columns)
            + (f" ({how})" if (how := hidden_states(group.node)) else "")
            for group in part.groups if len(group.columns) > 1 and not group.clusters
        ],
        "pairs": _pairs(pairs, circuit.features),
        "independent": is_independent(circuit.root, circuit.table.numbers),
        "farthest": FARTHEST,
        "of_fit": False,
        "rows": rows,
    }  # fmt: skip


# Components


def _n_pairs(circuit: Circuit, pairs: list[tuple[int, int, float]]) -> int:
    """Number of pairs of columns of which variables depend."""
    of = circuit.table.column_of
    return len({frozenset((of(j), of(k))) for j, k, _ in pairs})


def _tiles(
    circuit: Circuit, part: CircuitPart, n_pairs: int
) -> list[tuple[str, str, str]]:
    n_sums, n_leaves = counts(circuit.root)
    d = circuit.n_columns
    first = f", the first into {len(part.clusters)}" if part.clusters else ""
    kinds = f"into two or more clusters each{first}" if n_sums else "a single cluster"
    tiles = [
        ("Columns", f"{d:,}", f"in {n_leaves:,} leaves of the network"),
        ("Splits of rows", f"{n_sums:,}", kinds),
        ("Dependent pairs", f"{n_pairs:,}", f"of {d * (d - 1) // 2:,}"),
    ]
    model = class_model_of(circuit)
    return tiles + ([("Model of the class", model, "")] if model else [])


FOUND = {
    "": "found without labels",
    "one network": "found with the class as one of the columns",
    "naive Bayes": "one for each class",
    "one network per class": "found in each class separately",
}
"""How clusters were found, by model of the class."""


def _without_few(
    part: CircuitPart, features: FeatureSpace, values: np.ndarray
) -> tuple[CircuitPart, FeatureSpace]:
    """Both without columns that few rows have, and without the names of rare levels."""
    known = np.count_nonzero(~np.isnan(values), axis=0)
    # Of a column without any entry in these rows, such as a class, nothing is counted.
    categories = tuple(
        tuple(
            label if np.count_nonzero(column == level) >= MIN_ROWS else RARE
            for level, label in enumerate(labels)
        )
        if labels and n
        else labels
        for labels, column, n in zip(features.categories, values.T, known)
    )
    shown = ~((known > 0) & (known < MIN_ROWS))
    return _of_columns(part, shown), replace(features, categories=categories)


def _of_columns(part: CircuitPart, shown: np.ndarray) -> CircuitPart:
    """The part with some of its columns."""
    groups = [_of_columns(one, shown) for one in part.groups]
    return part._replace(
        profile={j: facts for j, facts in part.profile.items() if shown[j]},
        marks=tuple(j for j in part.marks if shown[j]),
        clusters=tuple(_of_columns(one, shown) for one in part.clusters),
        groups=tuple(one for one in groups if one.columns),
    )


def _alone(part: CircuitPart, features: FeatureSpace) -> list[str]:
    """Columns that are independent of all others, with their distributions."""
    return [
        column_words(features, j, group.profile[j])
        for group in part.groups
        if len(group.node.variables) == 1
        for j in group.columns
    ]


def _tables(
    part: CircuitPart, features: FeatureSpace, order: list[int], numbers: Numbers
) -> list[dict[str, Any]]:
    """Tables of the parts that have components."""
    entries = [group for group in (part, *part.groups) if group.clusters]
    return [_table(group, features, order, numbers) for group in entries]


def _table(
    part: CircuitPart, features: FeatureSpace, order: list[int], numbers: Numbers
) -> dict[str, Any]:
    """Table of every column in every component."""
    gain = dict.fromkeys(part.columns, 0.0)
    for cluster in part.clusters:
        for j, own in divergences(cluster.profile, part.profile, numbers).items():
            gain[j] += cluster.share * own
    ranked = sorted(gain, key=lambda j: (-gain[j], j))[:MOST_COLUMNS]
    shown = [j for j in order if j in set(ranked)]
    return {
        "columns": names_text(features, part.columns),
        "n_hidden": len(part.columns) - len(shown),
        "clusters": [_cluster(one, part, features) for one in part.clusters],
        "lines": [
            {
                "name": strip_name(features, j),
                "all": _brief(part, part, features, j)[0],
                "cells": [
                    _brief(cluster, part, features, j) for cluster in part.clusters
                ],
            }
            for j in shown
        ],
    }


def _brief(
    cluster: CircuitPart, among: CircuitPart, features: FeatureSpace, j: int
) -> tuple[str, float, str]:
    """Text of a cell, its darkness, and whether it is above or below all rows."""
    own, of_all = cluster.profile[j], among.profile[j]
    far = own.deviation(of_all)  # type: ignore[arg-type]
    labels, numbers = features.categories[j] or (), features.info[j].kind
    text = own.brief(of_all, labels, numbers)  # type: ignore[arg-type]
    side = "above" if far > 0 else "below"
    return text, min(abs(far) / FARTHEST, 1.0), side


def _cluster(
    cluster: CircuitPart, among: CircuitPart, features: FeatureSpace
) -> dict[str, Any]:
    """Description of a component."""
    groups = [group for group in cluster.groups if len(group.columns) > 1]
    return {
        "share": share_text(cluster.share),
        "marks": marks_texts(cluster, among, features),
        "groups": [
            {"names": names_text(features, group.columns),
             "clusters": [(share_text(one.share), marks_texts(one, group, features))
                       for one in group.clusters]}
            for group in groups[:MOST_TABLES]
        ],
        "n_more": max(len(groups) - MOST_TABLES, 0),
        "n_clusters": cluster.n_hidden_clusters or len(cluster.clusters),
    }  # fmt: skip


def _pairs(
    found: list[tuple[int, int, float]], features: FeatureSpace
) -> dict[str, Any]:
    names = [printable(name) for name in names_in_pairs(features)]
    return {
        "lines": [
            {"names": [names[j], names[k]], "strength": strength}
            for j, k, strength in found[:MOST_PAIRS]
        ],
        "n_hidden": max(len(found) - MOST_PAIRS, 0),
    }


# Rows


def summarize_rows(circuit: Circuit, values: np.ndarray, X: Any) -> dict[str, Any]:
    """Density of rows, predictability of columns, and anomalies."""
    scored = values[:MOST_SCORED]
    found, labels = anomaly_scores(circuit, scored), row_labels(X)
    possible = found.log_density > -np.inf
    alone = np.nansum(found.alone, axis=1)
    density, independent = _mean(found.log_density[possible]), _mean(alone[possible])
    gain = WEAK
    if density is not None and independent is not None:
        gain = _difference(density, independent)
    # A network of independent columns is its own reference.
    is_weak = is_weak_gain(circuit, gain)
    missing = np.isnan(cells_of(circuit, values)).mean(axis=0)
    is_cell = ~np.isin(np.arange(len(missing)), list(circuit.table.place_of.values()))
    surprising = anomalous_rows(circuit, scored, found, labels)
    return {
        "n_rows": len(values),
        "n_scored": len(scored),
        "n_impossible": int(np.count_nonzero(~possible)),
        "log_density": density,
        "independent": independent,
        "no_better": is_weak and gain < 0,
        "is_weak": is_weak and gain > 0,
        "missing": float(missing[is_cell].mean()),
        "columns": _predictability(found, possible, columns_of(circuit), missing),
        "n_hidden": max(circuit.n_columns - MOST_COLUMNS, 0),
        "surprising": surprising,
        "improbable_columns": improbable_columns(surprising),
        "labelled": labels is not None,
    }


def _difference(one: float, other: float) -> float:
    """Difference of log densities, 0 if it is no more than rounding."""
    difference = one - other
    return difference if abs(difference) > NOTHING * max(1.0, abs(other)) else 0.0


def _mean(of: np.ndarray) -> float | None:
    return float(of.mean()) if len(of) else None


def _predictability(
    found: AnomalyScores,
    possible: np.ndarray,
    features: FeatureSpace,
    missing: np.ndarray,
) -> list[dict[str, Any]]:
    """Predictability of each column from the others, the best first."""
    lines: list[dict[str, Any]] = []
    for j, name in enumerate(shown_names(features)):
        rows = possible & ~np.isnan(found.alone[:, j])
        alone, others = _mean(found.alone[rows, j]), _mean(-found.surprisal[rows, j])
        if alone is not None and others is not None:
            lines.append({
                "name": printable(name),
                "alone": alone,
                "others": others,
                "gain": _difference(others, alone),
                "missing": float(missing[j]),
            })  # fmt: skip
    return sorted(lines, key=lambda line: -line["gain"])[:MOST_COLUMNS]


def anomalous_rows(
    circuit: Circuit,
    values: np.ndarray,
    found: AnomalyScores,
    labels: Sequence[str] | None = None,
    most: int = MOST_ROWS,
) -> list[dict[str, Any]]:
    """Most anomalies, and the expected entries.

    Returns
    -------
    list of dict
        ``row``, ``log_density``, ``surprise``, and ``because``: entries with
        ``column``, ``found``, ``expected`` and ``surprise``. Numbers are None for
        impossible rows and entries.
    """
    order = np.argsort(-found.of_rows, kind="stable")[:most]
    order = order[found.of_rows[order] > LEAST]
    reasons = top_entries(circuit, values[order], found.of_entries[order], MOST_ENTRIES)
    return [
        {
            "row": str(i) if labels is None else labels[i],
            "log_density": _finite(found.log_density[i]),
            "surprise": _finite(found.of_rows[i]),
            "because": [
                {**one, "surprise": _finite(one["surprise"])}
                for one in because
                if one["surprise"] > LEAST
            ],
        }
        for i, because in zip(order.tolist(), reasons)
    ]


def improbable_columns(anomalies: list[dict[str, Any]]) -> list[str]:
    """Columns of the improbable entries of anomalies, each once."""
    return list(dict.fromkeys(e["column"] for one in anomalies for e in one["because"]))


def _finite(value: float) -> float | None:
    """A number that a file can hold, or None."""
    return float(value) if np.isfinite(value) else None


def row_labels(X: Any) -> list[str] | None:
    """Index labels of rows in a frame, if any."""
    index = getattr(X, "index", None)
    # A list has an ``index`` too.
    if index is None or callable(index):
        return None
    return [printable(str(label)) for label in index]
