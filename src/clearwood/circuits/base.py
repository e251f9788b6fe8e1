"""What estimators of densities share: reading tables, and asking the circuit."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import fit_context
from clearwood._features import FeatureSpace, warned_once
from clearwood._numeric import spawn_generators
from clearwood._numeric.progress import progress
from clearwood._validation import check_table
from clearwood.circuits.circuit import Circuit, Node, Sum
from clearwood.circuits.compiled import compile_circuit
from clearwood.circuits.learning.fitting import Table
from clearwood.circuits.learning.units import Units
from clearwood.circuits.learning.variables import read_variables
from clearwood.exceptions import InputError


class LearnsCircuit(DensityMixin, BaseEstimator):
    """A density of the rows of tables; learners say how its circuit is found.

    A learner writes ``_learn``, and has the parameters ``discrete``,
    ``validation_fraction``, ``n_networks``, ``n_jobs``, ``verbose`` and
    ``random_state``.
    """

    circuit_: Circuit

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _learn(self, table: Table, rng: np.random.Generator) -> Node:
        """The circuit of a table whose continuous columns have mean 0 and variance 1."""

    @fit_context
    @warned_once()
    def fit(self, X: Any, y: Any = None, *, X_val: Any = None) -> LearnsCircuit:
        """Learn the distribution of the rows of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            As it comes: texts, numbers and truth values, cells may be empty.
        y : None
            Not used.
        X_val : array-like or frame, optional
            Rows to choose by, in place of ``validation_fraction`` of ``X``.

        Returns
        -------
        self
        """
        X = check_table(self, X, reset=True)
        features = read_variables(X, self.discrete)
        values = features.encode(X)
        valid = None if X_val is None else _encoded(self, X_val, features)
        units = Units.of(values, features)

        def network(rng: np.random.Generator) -> Node:
            train, chosen_by = values, valid
            if chosen_by is None:
                train, chosen_by = held_out(values, self.validation_fraction, rng)
            table = Table(units.scaled(train), units.scaled(chosen_by), features)
            return units.restored(self._learn(table, rng))

        parallel = Parallel(self.n_jobs, prefer="threads", return_as="generator")
        found = parallel(
            delayed(network)(rng)
            for rng in spawn_generators(self.random_state, self.n_networks)
        )
        n = self.n_networks
        networks = tuple(progress(found, n, "networks", bool(self.verbose)))
        root = networks[0] if n == 1 else Sum(np.full(n, 1 / n), networks)
        self.circuit_ = Circuit(root, features)
        return self

    @property
    def degrees_of_freedom_(self) -> int:
        """Number of parameters that the circuit has, of all networks together."""
        check_is_fitted(self)
        return degrees_of_freedom(self.circuit_)

    @warned_once()
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of rows, missing cells summed out.

        Cells of levels that were not there in the fit count as missing.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return compile_circuit(self.circuit_).log_likelihood(self._encoded(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : None
            Not used.
        """
        return float(self.score_samples(X).mean())

    def _encoded(self, X: Any) -> np.ndarray:
        """Rows as the circuit reads them."""
        check_is_fitted(self)
        return _encoded(self, X, self.circuit_.features)


def _encoded(estimator: Any, X: Any, features: FeatureSpace) -> np.ndarray:
    values = features.encode(check_table(estimator, X, reset=False))
    row, column = np.nonzero(np.isinf(values))
    if len(row):
        raise InputError(
            f"Column {features.names[column[0]]!r} holds infinity in row {row[0]}; "
            "correct the cell, or leave it empty."
        )
    return values


def held_out(
    values: np.ndarray, fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to choose by, drawn; both in the order they had."""
    n = len(values)
    chosen = np.zeros(n, dtype=bool)
    chosen[rng.permutation(n)[: int(fraction * n)]] = True
    return values[~chosen], values[chosen]
