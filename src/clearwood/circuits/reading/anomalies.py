"""Improbability of rows, and the entries responsible."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.shares import LevelShares
from clearwood.circuits.queries.table_cells import (
    CellShares,
    cell_conditionals,
    cell_surprisals,
    cells_of,
    marginal_log_density,
    per_cell,
)
from clearwood.circuits.reading.profiles import (
    Facts,
    LogMixture,
    Moments,
    Shares,
    label_words,
)
from clearwood.circuits.reading.strengths import N_DRAWS
from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import DATES, date_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.table_variables import encoded

THOUSAND = 1000.0
"""From here on numbers have separators of thousands."""

NEW = "a level that did not occur in training"

LEAST = 1.0
"""Minimum improbability of a row or an entry that counts, in nats."""


def rows_of(estimator: Any, X: Any, y: Any = None) -> np.ndarray:
    """Encode a table for the circuit of an estimator.

    Parameters
    ----------
    estimator : fitted estimator
        With ``circuit_``.
    X : array-like or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,), optional
        For a classifier: the class, which is the last column of its circuit; otherwise
        ignored.

    Returns
    -------
    ndarray of shape (n_samples, n_columns)
    """
    circuit = estimator.circuit_
    values = encoded(estimator, X, circuit.table)
    last = circuit.features.n_features - 1
    if values.shape[1] > last:
        return values
    label = np.full(len(values), np.nan)
    if y is not None:
        label = circuit.features.encode_column(np.asarray(y, dtype=object), last)
    return np.column_stack([values, label])


class AnomalyScores(NamedTuple):
    """Log densities of rows and their entries, in nats; NaN where one is missing.

    Attributes
    ----------
    log_density : ndarray of shape (n_rows,)
        Of the present entries of a row.
    alone : ndarray of shape (n_rows, n_columns)
        Marginal log density of an entry.
    surprisal : ndarray of shape (n_rows, n_columns)
        Minus the log density of an entry given the others of its row.
    of_rows : ndarray of shape (n_rows,)
        Shortfall of a row's log density from the sum of its columns' usual ones. Only
        present columns count, so that rows with different missing entries can be
        compared. Usually below 0, as entries that go together are more probable than
        their marginals.
    of_entries : ndarray of shape (n_rows, n_columns)
        Surprisal of an entry, given its row, less the usual one.

    Notes
    -----
    What is usual is a mean over rows sampled from the circuit. Cells at a point mass
    have a probability, others a density: whether a cell is at one, and its number
    otherwise, are each compared with what is usual of them.
    """

    log_density: np.ndarray
    alone: np.ndarray
    surprisal: np.ndarray
    of_rows: np.ndarray
    of_entries: np.ndarray


def anomaly_scores(circuit: Circuit, values: np.ndarray) -> AnomalyScores:
    """Log densities of rows, and of every entry with and without its row's others."""
    drawn = sample(circuit, N_DRAWS, np.random.default_rng(0))
    log_density = circuit.log_density(values)
    alone = marginal_log_density(circuit, values)
    surprisal = cell_surprisals(circuit, values)
    usual = _mean(marginal_log_density(circuit, drawn))
    return AnomalyScores(
        log_density,
        per_cell(circuit, alone),
        per_cell(circuit, surprisal),
        ~np.isnan(alone) @ usual - log_density,
        per_cell(circuit, surprisal - _mean(cell_surprisals(circuit, drawn))),
    )


def _mean(values: np.ndarray) -> np.ndarray:
    """Mean of the cells of each column, 0 without any."""
    n = np.maximum(np.count_nonzero(~np.isnan(values), axis=0), 1)
    mean: np.ndarray = np.nansum(values, axis=0) / n
    return mean


def columns_of(circuit: Circuit) -> FeatureSpace:
    """Variables of a circuit, those of the table's columns by the names of these."""
    info = circuit.table.columns.info
    return replace(
        circuit.features, info=(*info, *circuit.features.info[len(info):])
    )  # fmt: skip


def top_entries(
    circuit: Circuit, values: np.ndarray, of_entries: np.ndarray, most: int
) -> list[list[dict[str, Any]]]:
    """Least probable entries of rows, and the expected values.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_columns)
        Encoded.
    of_entries : ndarray of shape (n_rows, n_columns)
        Improbability of each entry.
    most : int
        Maximum number of entries per row.

    Returns
    -------
    list of list of dict
        For each row, and for each of these entries, ``column``, ``found`` and
        ``expected`` as text, and ``surprise``.
    """
    order = np.argsort(-np.nan_to_num(of_entries, nan=-np.inf), axis=1, kind="stable")
    entries = [
        (i, j) for i, row in enumerate(order[:, :most].tolist()) for j in row
        if not np.isnan(of_entries[i, j])
    ]  # fmt: skip
    # One row per cell, in which it is additionally missing.
    without = values[[i for i, _ in entries]]
    table = circuit.table
    without[np.arange(len(entries)), [j for _, j in entries]] = np.nan
    for at, (_, j) in enumerate(entries):
        without[at, table.place_of.get(j, j)] = np.nan
    expected = cell_conditionals(circuit, without) if entries else {}
    facts = {j: facts_by_row(expected[j]) for j in {j for _, j in entries}}
    columns, cells = columns_of(circuit), cells_of(circuit, values)
    found: list[list[dict[str, Any]]] = [[] for _ in values]
    for at, (i, j) in enumerate(entries):
        labels, kind = columns.categories[j] or (), columns.info[j].kind
        found[i].append({
            "column": columns.shown(j),
            "found": entry_text(columns, j, cells[i, j]),
            "expected": facts[j][at].expected(labels, kind),
            "surprise": float(of_entries[i, j]),
        })  # fmt: skip
    return found


def facts_by_row(found: LevelShares | CellShares) -> dict[int, Facts]:
    """Distribution of the column in each row in which its cell is missing."""
    rows = found.rows.tolist()
    if isinstance(found, LevelShares):
        return dict(zip(rows, map(Shares, found.probabilities)))
    facts = [
        Moments(*pair) for pair in zip(found.mean.tolist(), (found.sd**2).tolist())
    ]
    if found.column.scale is not None and not found.column.point_masses:
        own = found.number
        normals = zip(own.weight, own.mean_of, own.sd_of**2)
        facts = [
            moments._replace(skewed=LogMixture(found.column, *normal))
            for moments, normal in zip(facts, normals)
        ]
    for value, shares in zip(found.column.point_masses, found.at.T.tolist()):
        facts = [own.with_point_mass(value, share) for own, share in zip(facts, shares)]
    return dict(zip(rows, facts))


def entry_text(features: FeatureSpace, j: int, value: float) -> str:
    """Text of an entry in the table's values."""
    labels, kind = features.categories[j], features.info[j].kind
    if labels is not None:
        return NEW if value == UNSEEN else label_words(labels[int(value)])
    if kind in DATES:
        return date_text(value)
    text = short_text(value, 6)
    is_plain = THOUSAND <= abs(value) and "e" not in text
    return f"{Decimal(text):,}" if is_plain else text
