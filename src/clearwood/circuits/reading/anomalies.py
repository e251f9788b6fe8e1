"""Improbability of rows, and the entries responsible."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.circuits.base import encoded
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.classifier import without_last
from clearwood.circuits.nodes import PointMass
from clearwood.circuits.queries.conditioning import known
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.shares import LevelShares, ValueShares, conditionals
from clearwood.circuits.queries.surprisal import surprisals
from clearwood.circuits.reading.profiles import (
    Facts,
    Moments,
    Shares,
    label_words,
)
from clearwood.columns.dates import DATES, date_text
from clearwood.columns.feature_space import FeatureSpace

N_DRAWS = 500
"""Number of rows sampled from a circuit to estimate the usual surprisal."""

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
    features = estimator.circuit_.features
    if estimator.n_features_in_ == features.n_features:
        return encoded(estimator, X, features)
    values = encoded(estimator, X, without_last(features))
    last = features.n_features - 1
    label = np.full(len(values), np.nan)
    if y is not None:
        label = features.encode_column(np.asarray(y, dtype=object), last)
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
    usual_alone, usual_surprisal : ndarray of shape (n_columns,)
        Means of both in rows sampled from the circuit.
    """

    log_density: np.ndarray
    alone: np.ndarray
    surprisal: np.ndarray
    usual_alone: np.ndarray
    usual_surprisal: np.ndarray

    @property
    def of_rows(self) -> np.ndarray:
        """Shortfall of a row's log density from the sum of its columns' usual ones.

        Only present columns count, so that rows with different missing entries can be
        compared. Usually below 0, as entries that go together are more probable than
        their marginals.
        """
        return ~np.isnan(self.alone) @ self.usual_alone - self.log_density

    @property
    def of_entries(self) -> np.ndarray:
        """Surprisal of an entry, given its row, less the usual one."""
        return self.surprisal - self.usual_surprisal


def anomaly_scores(circuit: Circuit, values: np.ndarray) -> AnomalyScores:
    """Log densities of rows, and of every entry with and without the others of its row.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_columns)
        Encoded.

    Returns
    -------
    AnomalyScores
    """
    values = known(circuit, values)
    drawn = sample(circuit, N_DRAWS, np.random.default_rng(0))
    return AnomalyScores(
        circuit.compiled.log_likelihood(values),
        marginal_log_density(circuit, values),
        surprisals(circuit, values),
        marginal_log_density(circuit, drawn).mean(axis=0),
        surprisals(circuit, drawn).mean(axis=0),
    )


def marginal_log_density(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """Marginal log density of every entry of rows; NaN where it is missing."""
    found = np.full(values.shape, np.nan)
    nothing = np.full((1, values.shape[1]), np.nan)
    for j, own in conditionals(circuit, nothing).items():
        rows = ~np.isnan(values[:, j])
        found[rows, j] = own.log_density(values[rows, j])
    return found


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
    # One row per entry, in which it is additionally missing.
    without = values[[i for i, _ in entries]]
    without[np.arange(len(entries)), [j for _, j in entries]] = np.nan
    expected = conditionals(circuit, without) if entries else {}
    facts = {
        j: _facts(expected[j], j, circuit.point_masses) for j in {j for _, j in entries}
    }
    features = circuit.features
    found: list[list[dict[str, Any]]] = [[] for _ in values]
    for at, (i, j) in enumerate(entries):
        labels, kind = features.categories[j] or (), features.info[j].kind
        found[i].append({
            "column": features.shown(j),
            "found": entry_text(features, j, values[i, j]),
            "expected": facts[j][at].expected(labels, kind),
            "surprise": float(of_entries[i, j]),
        })  # fmt: skip
    return found


def _facts(
    found: LevelShares | ValueShares, column: int, point_masses: Sequence[PointMass]
) -> dict[int, Facts]:
    """Distribution of the column in each row in which its cell is missing."""
    rows = found.rows.tolist()
    if isinstance(found, LevelShares):
        return dict(zip(rows, map(Shares, found.probabilities)))
    moments = zip(found.mean.tolist(), (found.sd**2).tolist())
    facts = [Moments(mean, variance) for mean, variance in moments]
    for _, value, reach in (mass for mass in point_masses if mass.column == column):
        ends = (np.full(len(rows), value + side) for side in (reach, -reach))
        upper, lower = map(found.cdf, ends)
        facts = [
            own.with_point_mass(value, share)
            for own, share in zip(facts, (upper - lower).tolist())
        ]
    return dict(zip(rows, facts))


def entry_text(features: FeatureSpace, j: int, value: float) -> str:
    """Text of an entry in the table's values."""
    labels, kind = features.categories[j], features.info[j].kind
    if labels is not None:
        return label_words(labels[int(value)])
    return date_text(value) if kind in DATES else short_text(value, 6)
