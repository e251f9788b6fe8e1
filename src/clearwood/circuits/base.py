"""What estimators of densities share: reading tables, and asking the circuit."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, DensityMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import fit_context
from clearwood._features import FeatureSpace, warned_once
from clearwood._numeric import as_generator, spawn_generators
from clearwood._numeric.progress import progress
from clearwood._validation import check_table
from clearwood.circuits.circuit import Circuit, Heap, Node, Sum
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.units import Units
from clearwood.circuits.learning.variables import (
    library_of,
    positions_of,
    read_variables,
    row_of,
    table_of,
)
from clearwood.circuits.queries import (
    LevelShares,
    MostProbable,
    ValueShares,
    conditionals,
    most_probable,
    sample,
)
from clearwood.exceptions import InputError

HEAP, FEWEST = 0.05, 10
"""Share and number of a column's cells from which on one value is a heap."""


class LearnsCircuit(DensityMixin, BaseEstimator):
    """A density of the rows of tables; learners say how its circuit is found.

    A learner writes ``_learn``, and has the parameters ``discrete``,
    ``validation_fraction``, ``n_networks``, ``n_jobs``, ``verbose`` and
    ``random_state``.
    """

    circuit_: Circuit
    _library = "pandas"
    _units: Units
    _heaps: tuple[Heap, ...]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @abstractmethod
    def _learn(self, table: LearningTable, rng: np.random.Generator) -> Node:
        """The circuit of a table, continuous columns with mean 0 and variance 1."""

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
        self._library = library_of(X)
        features = read_variables(X, self.discrete)
        values = features.encode(X)
        valid = None if X_val is None else encoded(self, X_val, features)
        self.circuit_ = self.circuit_of(features, values, valid)
        return self

    def circuit_of(
        self,
        features: FeatureSpace,
        values: np.ndarray,
        valid: np.ndarray | None = None,
        learn: Callable[[LearningTable, np.random.Generator], Node] | None = None,
    ) -> Circuit:
        """The circuit that is learned from encoded rows.

        Parameters
        ----------
        features : FeatureSpace
        values : ndarray of shape (n_rows, n_features)
        valid : ndarray of shape (n_rows, n_features), optional
            Rows to choose by, in place of ``validation_fraction`` of ``values``.
        learn : callable, optional
            In place of ``_learn``.
        """
        self._units = units = Units.of(values, features)
        self._heaps = tuple(heaps_of(values, features))
        learn = learn or self._learn

        def network(rng: np.random.Generator) -> Node:
            train, chosen_by = values, valid
            if chosen_by is None:
                train, chosen_by = held_out(values, self.validation_fraction, rng)
            table = LearningTable(
                units.scaled(train), units.scaled(chosen_by), features
            )
            return units.restored(learn(table, rng))

        parallel = Parallel(self.n_jobs, prefer="threads", return_as="generator")
        found = parallel(
            delayed(network)(rng)
            for rng in spawn_generators(self.random_state, self.n_networks)
        )
        n = self.n_networks
        networks = tuple(progress(found, n, "networks", bool(self.verbose)))
        root = networks[0] if n == 1 else Sum(np.full(n, 1 / n), networks)
        return Circuit(root, features, self._heaps)

    @property
    def degrees_of_freedom_(self) -> int:
        """Number of parameters that the circuit has, of all networks together."""
        check_is_fitted(self)
        return self.circuit_.degrees_of_freedom

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
        return self.circuit_.compiled.log_likelihood(self._encoded(X))

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : None
            Not used.
        """
        return float(self.score_samples(X).mean())

    @warned_once()
    def conditional(
        self, X: Any, given: Collection[str | int] | None = None
    ) -> dict[str, LevelShares | ValueShares]:
        """Distributions of missing cells, given the others of their row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        given : collection of str and int, optional
            Names or positions of the only columns that count as known. By default all
            cells that are there do.

        Returns
        -------
        dict of str to LevelShares or ValueShares
            By name, for columns with missing cells. Both have ``rows``; one has
            ``probabilities`` of the levels, ``circuit_.features.categories``, the
            other ``mean``, ``sd``, ``quantile(share)``, ``cdf`` and ``log_density``.
        """
        cells, features = self._encoded(X), self.circuit_.features
        values = cells
        if given is not None:
            known = list(positions_of(given, features.names, "given"))
            values = np.full_like(cells, np.nan)
            values[:, known] = cells[:, known]
        found = conditionals(self.circuit_, values)
        return {features.names[j]: answer for j, answer in sorted(found.items())}

    @warned_once()
    def most_probable(self, X: Any) -> MostProbable:
        """Rows with all their missing cells together as they are most probable.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        MostProbable
            ``values`` is a table: where columns have names a frame of the library that
            ``X`` is of, else an array.
            ``proved`` says of which rows no completion is more probable.
        """
        found = most_probable(self.circuit_, self._encoded(X))
        table = table_of(found.values, self.circuit_.features, library_of(X))
        return found._replace(values=table)

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Mapping[str | int, Any] | None = None,
        random_state: Any = None,
    ) -> Any:
        """Draw rows.

        Parameters
        ----------
        n_samples : int, default=1
        given : dict, optional
            What some cells are, by name or position of their columns; the others are
            drawn given these.
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        frame or ndarray of shape (n_samples, n_features)
            Where columns have names a frame of the library whose frame ``fit`` got;
            of pandas after ``load``.
        """
        check_is_fitted(self)
        if n_samples < 0:
            raise InputError(f"n_samples is {n_samples}; give a number of rows.")
        features = self.circuit_.features
        row = row_of(features, given or {})
        drawn = sample(self.circuit_, n_samples, as_generator(random_state), row)
        return table_of(drawn, features, self._library)

    def _encoded(self, X: Any) -> np.ndarray:
        """Rows as the circuit reads them."""
        check_is_fitted(self)
        return encoded(self, X, self.circuit_.features)


def encoded(estimator: Any, X: Any, features: FeatureSpace) -> np.ndarray:
    """A table as circuits read it; infinite numbers are refused."""
    values = features.encode(check_table(estimator, X, reset=False))
    row, column = np.nonzero(np.isinf(values))
    if len(row):
        raise InputError(
            f"Column {features.names[column[0]]!r} holds infinity in row {row[0]}; "
            "correct the cell, or leave it empty."
        )
    return values


def heaps_of(values: np.ndarray, features: FeatureSpace) -> Iterator[Heap]:
    """Values of continuous columns that many cells have.

    Examples
    --------
    >>> values = np.array([[x] for x in [0.0] * 30 + [*range(5, 40)]])
    >>> list(heaps_of(values, FeatureSpace.numeric(1)))
    [Heap(column=0, value=0.0, reach=2.5)]
    """
    for j, labels in enumerate(features.categories):
        if labels is None:
            present = values[~np.isnan(values[:, j]), j]
            found, counts = np.unique(present, return_counts=True)
            gaps = np.diff(found, prepend=-np.inf, append=np.inf)
            reach = np.minimum(gaps[:-1], gaps[1:]) / 2
            least = max(HEAP * len(present), FEWEST)
            for i in np.flatnonzero(counts >= least):
                yield Heap(j, float(found[i]), float(reach[i]))


def held_out(
    values: np.ndarray, fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Rows to learn from and rows to choose by, drawn; both in the order they had."""
    n = len(values)
    chosen = np.zeros(n, dtype=bool)
    chosen[rng.permutation(n)[: int(fraction * n)]] = True
    return values[~chosen], values[chosen]
