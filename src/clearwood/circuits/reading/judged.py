"""How surprising rows are, and which of their entries make them so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.queries.conditioning import condition, marginal
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.passes import known
from clearwood.circuits.queries.surprise import surprises
from clearwood.circuits.reading.profiles import label_words, profile_of

N_DRAWS = 500
"""Rows drawn from a circuit to see what is usual."""

LEAST = 1.0
"""Nats from which an entry is surprising."""


class Judged(NamedTuple):
    """How probable rows and their entries are, in nats; NaN where one is missing.

    Attributes
    ----------
    log_density : ndarray of shape (n_rows,)
        Of what is present of a row.
    alone : ndarray of shape (n_rows, n_columns)
        Log density of an entry where nothing else is known of its row.
    surprise : ndarray of shape (n_rows, n_columns)
        Less the log density of an entry given the others of its row.
    usual_alone, usual_surprise : ndarray of shape (n_columns,)
        Means of both in rows that the circuit itself draws.
    """

    log_density: np.ndarray
    alone: np.ndarray
    surprise: np.ndarray
    usual_alone: np.ndarray
    usual_surprise: np.ndarray

    @property
    def of_rows(self) -> np.ndarray:
        """By how much a row falls short of what its columns add up to, as a rule.

        Only columns that are present count, so that rows can be compared that have
        other entries missing. Below 0 where a row is as it should be, for what goes
        together is more probable than its parts.
        """
        return ~np.isnan(self.alone) @ self.usual_alone - self.log_density

    @property
    def of_entries(self) -> np.ndarray:
        """By how much an entry, given its row, is more surprising than usual."""
        return self.surprise - self.usual_surprise


def judge(circuit: Circuit, values: np.ndarray) -> Judged:
    """How probable rows are, and every entry with and without the others of its row.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_columns)
        Encoded.

    Returns
    -------
    Judged
    """
    values = known(circuit, values)
    drawn = sample(circuit, N_DRAWS, np.random.default_rng(0))
    return Judged(
        compile_circuit(circuit).log_likelihood(values),
        _alone(circuit, values),
        surprises(circuit, values),
        _alone(circuit, drawn).mean(axis=0),
        surprises(circuit, drawn).mean(axis=0),
    )


def _alone(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """Log density of every entry by itself."""
    found = np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        rows = ~np.isnan(values[:, j])
        only = compile_circuit(marginal(circuit, [j]))
        found[rows, j] = only.log_likelihood(values[rows][:, [j]])
    return found


def why(
    circuit: Circuit, row: np.ndarray, of_entries: np.ndarray, most: int
) -> list[dict[str, Any]]:
    """The entries of a row that surprise most, and what was expected instead.

    Parameters
    ----------
    circuit : Circuit
    row : ndarray of shape (n_columns,)
        Encoded.
    of_entries : ndarray of shape (n_columns,)
        How surprising each is.
    most : int
        Entries that are told.

    Returns
    -------
    list of dict
        ``column``, ``found`` and ``expected`` in words, and ``surprise``.
    """
    order = np.argsort(-np.nan_to_num(of_entries, nan=-np.inf), kind="stable")
    return [
        _entry(circuit, row, j, of_entries[j])
        for j in order[:most].tolist()
        if not np.isnan(of_entries[j])
    ]


def _entry(
    circuit: Circuit, row: np.ndarray, j: int, surprise: float
) -> dict[str, Any]:
    features, without = circuit.features, row.copy()
    without[j] = np.nan
    rest = condition(circuit, without)
    at = rest.features.names.index(features.names[j])
    return {
        "column": features.names[j],
        "found": entry_text(features, j, row[j]),
        "expected": profile_of(rest.root)[at].words(features.categories[j] or ()),
        "surprise": float(surprise),
    }


def entry_text(features: FeatureSpace, j: int, value: float) -> str:
    """An entry as the table has it."""
    labels = features.categories[j]
    return f"{value:.6g}" if labels is None else label_words(labels[int(value)])
