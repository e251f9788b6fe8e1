"""How surprising rows are, and which of their entries make them so."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._features import UNSEEN
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import compile_circuit


class Surprises(NamedTuple):
    """Of rows and of their entries, in nats; NaN for entries that are missing.

    Attributes
    ----------
    log_density : ndarray of shape (n_rows,)
        Of what is present of a row.
    alone : ndarray of shape (n_rows, n_columns)
        Log density of an entry where nothing else is known of its row.
    given_others : ndarray of shape (n_rows, n_columns)
        Log density of an entry given the others of its row.
    """

    log_density: np.ndarray
    alone: np.ndarray
    given_others: np.ndarray

    @property
    def of_rows(self) -> np.ndarray:
        """How surprising a row is beside others with the same entries.

        What the columns that are present add up to as a rule, one by one, less the log
        density of the row. So rows can be compared that have other entries missing.
        """
        present = ~np.isnan(self.alone)
        n_present = np.maximum(present.sum(axis=0), 1)
        usual = np.where(present, self.alone, 0.0).sum(axis=0) / n_present
        return present @ usual - self.log_density

    @property
    def of_entries(self) -> np.ndarray:
        """How much less probable an entry is, given its row, than its column's are."""
        present = ~np.isnan(self.given_others)
        n_present = np.maximum(present.sum(axis=0), 1)
        usual = np.where(present, self.given_others, 0.0).sum(axis=0) / n_present
        return usual - self.given_others


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
    """
    log_likelihood = compile_circuit(circuit).log_likelihood
    values = np.where(values == UNSEEN, np.nan, values)
    whole = log_likelihood(values)
    alone, given_others = np.full(values.shape, np.nan), np.full(values.shape, np.nan)
    for j in range(values.shape[1]):
        rows = np.flatnonzero(~np.isnan(values[:, j]))
        without, only = values[rows].copy(), np.full((len(rows), len(values.T)), np.nan)
        without[:, j], only[:, j] = np.nan, values[rows, j]
        alone[rows, j] = log_likelihood(only)
        given_others[rows, j] = whole[rows] - log_likelihood(without)
    return Surprises(whole, alone, given_others)
