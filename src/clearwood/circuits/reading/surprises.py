"""How surprising rows are, and which of their entries make them so."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.queries.conditioning import condition
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.passes import known
from clearwood.circuits.reading.profiles import label_words, profile_of

N_DRAWS = 500
"""Rows drawn from a circuit to see what is usual."""

LEAST = 1.0
"""Nats from which an entry is surprising."""


class Surprises(NamedTuple):
    """Log densities of rows and their entries, in nats; NaN where one is missing.

    Attributes
    ----------
    log_density : ndarray of shape (n_rows,)
        Of what is present of a row.
    alone : ndarray of shape (n_rows, n_columns)
        Of an entry where nothing else is known of its row.
    given_others : ndarray of shape (n_rows, n_columns)
        Of an entry given the others of its row; NaN too where these are impossible.
    usual : ndarray of shape (2, n_columns)
        Means of both in rows that the circuit itself draws.
    """

    log_density: np.ndarray
    alone: np.ndarray
    given_others: np.ndarray
    usual: np.ndarray

    @property
    def of_rows(self) -> np.ndarray:
        """By how much a row falls short of what its columns add up to, as a rule.

        Only columns that are present count, so that rows can be compared that have
        other entries missing. Below 0 where a row is as it should be, for what goes
        together is more probable than its parts.
        """
        return ~np.isnan(self.alone) @ self.usual[0] - self.log_density

    @property
    def of_entries(self) -> np.ndarray:
        """By how much an entry, given its row, falls short of what is usual."""
        return self.usual[1] - self.given_others


def surprises(circuit: Circuit, values: np.ndarray) -> Surprises:
    """How probable rows are, and every entry with and without the others of its row.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_columns)
        Encoded.

    Returns
    -------
    Surprises

    Examples
    --------
    >>> from clearwood.circuits.circuit import Product, Sum
    >>> from clearwood.circuits.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    >>> features = FeatureSpace(("a", "b"), ((0, 1), (0, 1)))
    >>> circuit = Circuit(Sum(np.array([0.5, 0.5]), tuple(kinds)), features)
    >>> found = surprises(circuit, np.array([[1.0, 1.0], [1.0, 0.0]]))
    >>> np.exp(found.alone).round(2).tolist()
    [[0.5, 0.5], [0.5, 0.5]]
    >>> np.exp(found.given_others).round(2).tolist()
    [[0.82, 0.82], [0.18, 0.18]]
    """
    drawn = sample(circuit, N_DRAWS, np.random.default_rng(0))
    _, alone, given_others = _log_densities(circuit, drawn)
    usual = np.array([alone.mean(axis=0), given_others.mean(axis=0)])
    whole, alone, given_others = _log_densities(circuit, known(circuit, values))
    return Surprises(whole, alone, given_others, usual)


def _log_densities(circuit: Circuit, values: np.ndarray) -> tuple[np.ndarray, ...]:
    log_likelihood = compile_circuit(circuit).log_likelihood
    whole = log_likelihood(values)
    alone, given_others = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        rows = np.flatnonzero(~np.isnan(values[:, j]))
        only, without = np.full((len(rows), values.shape[1]), np.nan), values[rows]
        only[:, j], without[:, j] = values[rows, j], np.nan
        alone[rows, j] = log_likelihood(only)
        rest = log_likelihood(without)
        possible = rest > -np.inf
        rows = rows[possible]
        given_others[rows, j] = whole[rows] - rest[possible]
    return whole, alone, given_others


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
