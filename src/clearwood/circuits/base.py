"""Base class of density estimators: table encoding and queries of the circuit."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping
from functools import partial
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import DensityMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import fit_context
from clearwood._numeric import as_generator, spawn_generators
from clearwood._numeric.progress import progress
from clearwood._tables import RowsOfTable
from clearwood._tables.learning import accepts_tables, sample_of, select_used_columns
from clearwood._warned_once import is_new, users_level, warned_once
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.learning.all_rows import AllRows, check_far
from clearwood.circuits.learning.fitting import LearningTable
from clearwood.circuits.learning.units import Units
from clearwood.circuits.nodes import Node, Sum
from clearwood.circuits.queries.completion import MostProbable, most_probable
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.table_cells import cell_conditionals
from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import DATES, date_text
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.table_variables import (
    TableVariables,
    encoded,
    encoded_cells,
)
from clearwood.columns.validation import check_range, check_table
from clearwood.columns.variables import (
    library_of,
    positions_of,
    read_variables,
    row_of,
    table_of,
)
from clearwood.distributions.of_columns import LEAST_SHARE
from clearwood.exceptions import (
    ExtrapolationWarning,
    InputError,
    LostDigitsWarning,
    UnknownCategoriesWarning,
)

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.circuits.reading.conditionals import Conditionals

FAR = 2 * 2.56 * LEAST_SHARE**0.5
"""Minimum range of eight rows of ten, in standard deviations of the column: a normal
distribution spreads them over half as much if it is as narrow as leaves may be."""


MOST_REDRAWS = 20
"""Maximum number of repeated draws; then cells are moved to the end of the range."""

FAR_OUTSIDE = 0.25
"""Minimum distance of a condition from the range of the training cells, as a share of
its width, for a warning."""


class BaseSPN(DensityMixin, Estimator):
    """Base class of densities of the rows of tables; subclasses learn the circuit.

    A subclass implements ``_learn``, and has the parameters ``discrete``,
    ``validation_fraction``, ``n_networks``, ``n_jobs``, ``verbose`` and
    ``random_state``.
    """

    _allows_missing = True
    circuit_: Circuit
    _library = "pandas"
    _units: Units
    _table: TableVariables

    @abstractmethod
    def _learn(self, table: LearningTable, rng: np.random.Generator) -> Node:
        """Learn a circuit; continuous columns have mean 0 and variance 1."""

    @fit_context
    @warned_once()
    def fit(self, X: Any, y: Any = None, *, X_val: Any = None) -> BaseSPN:
        """Learn the distribution of the rows of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Strings, numbers and Booleans; cells may be missing. Or a table read in
            blocks: the path of Parquet files, a function that returns pandas frames, or
            a Dask collection. Of more than 200,000 rows a random sample of that size
            determines the structure and the column types; then EM continues on all
            rows, if it is part of the learner.
        y : None
            Ignored.
        X_val : array-like or frame, optional
            Validation rows, in place of ``validation_fraction`` of ``X``.

        Returns
        -------
        self
        """
        sample, table = sample_of(X)
        X = check_table(self, sample.X, reset=True)
        if X_val is not None and not len(X_val):
            raise InputError(
                "X_val has no rows; pass at least one, or leave it out: then "
                "validation_fraction of X is held out."
            )
        self._library = library_of(X)
        columns = read_variables(X, self.discrete)
        values = columns.encode(X)
        variables = self.variables_of(columns, values)
        valid = None if X_val is None else encoded(self, X_val, variables)
        rows = None
        if table is not None:
            read = partial(encoded_block, variables, self)
            rows = AllRows(select_used_columns(self, table), [read])
        self.circuit_ = self.learn_circuit(
            variables.variables, variables.to_variables(values), variables, valid,
            all_rows=rows,
        )  # fmt: skip
        return self

    def variables_of(self, columns: FeatureSpace, values: np.ndarray) -> TableVariables:
        """Variables of the columns of a table, of which encoded rows are given.

        In the thesis every column is one.
        """
        for name, levels, cells in zip(columns.names, columns.categories, values.T):
            if levels is None:
                check_range(cells[~np.isnan(cells)], f"Column {name!r}")
        if self.preset == "paper":
            return TableVariables.plain(columns)
        return TableVariables.from_values(values, columns)

    def learn_circuit(
        self,
        features: FeatureSpace,
        values: np.ndarray,
        table: TableVariables,
        valid: np.ndarray | None = None,
        learn: Callable[[LearningTable, np.random.Generator], Node] | None = None,
        all_rows: AllRows | None = None,
    ) -> Circuit:
        """Learn a circuit from rows of variables.

        Parameters
        ----------
        features : FeatureSpace
            The variables.
        values : ndarray of shape (n_rows, n_features)
        table : TableVariables
            Of which they are variables; of a classifier all but the last.
        valid : ndarray of shape (n_rows, n_features), optional
            Validation rows, in place of ``validation_fraction`` of ``values``.
        learn : callable, optional
            In place of ``_learn``.
        all_rows : AllRows, optional
            Encoded, where ``values`` are a sample of them.
        """
        self._units = units = Units.from_values(values, features)
        self._table = table
        warn_of_far_cells(values, features)
        learn = learn or self._learn
        if all_rows is not None:
            all_rows = all_rows.then(units.scaled)

        def learn_network(rng: np.random.Generator) -> Node:
            train, chosen_by = values, valid
            if chosen_by is None:
                train, chosen_by = held_out(values, self.validation_fraction, rng)
            rows = LearningTable(
                units.scaled(train), units.scaled(chosen_by), features, all_rows
            )
            return units.restored(learn(rows, rng))

        parallel = Parallel(self.n_jobs, prefer="threads", return_as="generator")
        found = parallel(
            delayed(learn_network)(rng)
            for rng in spawn_generators(self.random_state, self.n_networks)
        )
        n = self.n_networks
        networks = tuple(progress(found, n, "networks", bool(self.verbose)))
        root = networks[0] if n == 1 else Sum(np.full(n, 1 / n), networks)
        return Circuit(root, features, table)

    @property
    def degrees_of_freedom_(self) -> int:
        """Number of parameters of the circuit, summed over all networks."""
        check_is_fitted(self)
        return self.circuit_.degrees_of_freedom

    @warned_once()
    @accepts_tables()
    def score_samples(self, X: Any) -> np.ndarray:
        """Log density of rows, with missing cells marginalized.

        A cell of a level that was not seen in ``fit`` has the probability of a new
        level, the share of levels that occur once, so that such rows are improbable.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask input a lazy collection.
        """
        variables = self._encoded(X)
        warn_of_new_levels(variables, self.circuit_.table)
        return self.circuit_.log_density(variables)

    def score(self, X: Any, y: Any = None) -> float:
        """Mean log density of rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``.
        y : None
            Ignored.
        """
        return float(np.asarray(self.score_samples(X)).mean())

    @warned_once()
    def conditional(
        self, X: Any, given: Collection[str | int] | str | int | None = None
    ) -> Conditionals:
        """Conditional distributions of missing cells, given the others of their row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features), or dict
            A dict has the known cells of one row, by name or position of the column.
        given : collection of str and int, str or int, optional
            Names or positions of the only columns that are conditioned on. By default
            all cells that are present.

        Returns
        -------
        Conditionals
            A dict by name of column with missing cells, which prints as text. Its
            values have ``rows``; ``LevelShares`` also ``probabilities`` of the levels,
            ``circuit_.features.categories``, and ``CellShares`` ``mean``, ``sd``,
            ``quantile(share)``, ``cdf`` and ``log_density``.
        """
        from clearwood.circuits.reading.conditionals import Conditionals

        cells, table = self._encoded(X), self.circuit_.table
        values = cells
        if given is not None:
            columns = positions_of(given, table.columns.names, "given")
            known = [v for v in range(cells.shape[1]) if table.column_of(v) in columns]
            values = np.full_like(cells, np.nan)
            values[:, known] = cells[:, known]
        warn_of_extrapolation(values, table)
        return Conditionals(self.circuit_, cell_conditionals(self.circuit_, values))

    @warned_once()
    def anomalies(self, X: Any, n_rows: int = 10) -> pd.DataFrame:
        """The least probable rows, and the cells responsible.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        n_rows : int, default=10
            Maximum number of rows returned.

        Returns
        -------
        DataFrame
            Most anomalous first, by the row of ``X`` (its label, if ``X`` has any):
            ``log_density``; ``surprise``, by how many nats it is below what is usual of
            these columns; and ``because``, improbable cells and what was expected given
            the others. Rows as probable as usual are left out.

        Examples
        --------
        >>> import pandas as pd
        >>> from clearwood import MiniSPN
        >>> table = pd.DataFrame({"height": [170.0, 172, 174, 176, 178, 180] * 20})
        >>> network = MiniSPN(random_state=0).fit(table)
        >>> found = network.anomalies(pd.DataFrame({"height": [175.0, 1.75]}))
        >>> found["because"].to_dict()
        {1: 'height is 1.75, expected 174.9 ± 3.4'}
        """
        import pandas as pd

        from clearwood.circuits.reading.anomalies import anomaly_scores
        from clearwood.circuits.reading.section import anomalous_rows

        values, index = self._encoded(X), pd.RangeIndex(len(X))
        scores = anomaly_scores(self.circuit_, values)
        found = anomalous_rows(self.circuit_, values, scores, most=n_rows)
        if is_frame(X):
            index = getattr(X, "index", index)
        rows = index[[int(one["row"]) for one in found]]
        table = [
            (
                one["log_density"],
                one["surprise"],
                "; ".join(
                    f"{cell['column']} is {cell['found']}, expected {cell['expected']}"
                    for cell in one["because"]
                ),
            )
            for one in found
        ]
        columns = ["log_density", "surprise", "because"]
        return pd.DataFrame(table, index=rows, columns=columns)

    @warned_once()
    def most_probable(self, X: Any) -> MostProbable:
        """Most probable joint completion of each row's missing cells.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        MostProbable
            ``values`` is a table: if columns have names a frame of the library of
            ``X``, else an array. ``proved`` marks the rows of which no completion is
            more probable.
        """
        check_is_fitted(self)
        table, library = self.circuit_.table, library_of(X)
        rows = encoded_cells(self, X, table.columns)
        variables = table.to_variables(rows)
        warn_of_extrapolation(variables, table)
        found = most_probable(self.circuit_, variables)
        complete = table.without_masked(found.values)
        plus = self.circuit_.log_density(complete) - found.log_density
        rows = table.completed(rows, found.values)
        return MostProbable(
            table_of(rows, table.columns, library),
            found.log_density + plus,
            found.bound + plus,
        )

    def sample(
        self,
        n_samples: int = 1,
        *,
        given: Mapping[str | int, Any] | None = None,
        random_state: Any = None,
    ) -> Any:
        """Draw random rows.

        Parameters
        ----------
        n_samples : int, default=1
        given : dict, optional
            Known cells, by name or position of their columns; the others are drawn
            conditionally on these.
        random_state : int, Generator, RandomState or None, default=None

        Returns
        -------
        frame or ndarray of shape (n_samples, n_features)
            If columns have names, a frame of the library of the frame passed to
            ``fit``; of pandas after ``load``.
        """
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or n_samples < 0:
            raise InputError(f"n_samples is {n_samples!r}; expected an integer >= 0.")
        table, rng = self.circuit_.table, as_generator(random_state)
        row = row_of(table.columns, {} if given is None else given)
        known = table.to_variables(row[None])[0]
        warn_of_extrapolation(known[None], table)
        drawn = drawn_inside(
            table, row, np.zeros(int(n_samples), dtype=np.intp),
            lambda rows: sample(self.circuit_, len(rows), rng, known),
        )  # fmt: skip
        return table_of(table.completed(row, drawn), table.columns, self._library)

    def _encoded(self, X: Any) -> np.ndarray:
        """Encode rows for the circuit."""
        check_is_fitted(self)
        return encoded(self, X, self.circuit_.table)


def drawn_inside(
    table: TableVariables,
    rows: np.ndarray,
    which: np.ndarray,
    draw: Callable[[np.ndarray], np.ndarray],
) -> np.ndarray:
    """Draw rows anew while a missing cell lies outside of the training cells' range.

    Parameters
    ----------
    table : TableVariables
    rows : ndarray of shape (n_rows, n_columns) or (n_columns,)
        Encoded, with missing cells.
    which : ndarray of int of shape (n_rows,)
        Argument of ``draw`` for each row.
    draw : callable
        Variables of some rows, drawn.
    """
    found = draw(which)
    for _ in range(MOST_REDRAWS):
        outside = np.flatnonzero(table.is_outside(rows, found))
        if not len(outside):
            break
        found[outside] = draw(which[outside])
    return found


def encoded_block(
    table: TableVariables, estimator: Any, rows: RowsOfTable
) -> np.ndarray:
    """Variables of a block of the training table."""
    cells = encoded_cells(estimator, rows.X, table.columns)
    return table.to_variables(check_far(cells, table.columns))


def warn_of_extrapolation(variables: np.ndarray, table: TableVariables) -> None:
    """Warn of conditions on numbers outside of the range of the training cells."""
    cells = table.to_rows(variables)
    for j, own in enumerate(table.numbers):
        if own is not None and own.range is not None:
            low, high = own.range
            far = FAR_OUTSIDE * (high - low)
            n = np.count_nonzero(own.beyond(cells[:, j]) > far)
            if n:
                kind = table.columns.info[j].kind
                warnings.warn(
                    f"{n:,} of {len(cells):,} rows of {table.columns.names[j]!r} lie "
                    "far outside of the range of the training cells "
                    f"({_cell_text(low, kind)} to {_cell_text(high, kind)}): what "
                    "follows from them is extrapolated.",
                    ExtrapolationWarning,
                    stacklevel=users_level(),
                )


def warn_of_new_levels(variables: np.ndarray, table: TableVariables) -> None:
    """Warn of cells whose level did not occur in fit."""
    for j, (name, unseen) in enumerate(zip(table.columns.names, table.unseen)):
        n = np.count_nonzero(variables[:, j] == UNSEEN)
        if unseen and n and is_new(name):
            warnings.warn(
                f"{n:,} of {len(variables):,} rows of {name!r} hold levels that did "
                "not occur in fit. Their log density is that of a new level, of "
                f"probability {unseen:.2g}.",
                UnknownCategoriesWarning,
                stacklevel=users_level(),
            )


def warn_of_far_cells(values: np.ndarray, features: FeatureSpace) -> None:
    """Warn of outliers so extreme that all other cells have nearly one value."""
    for j, (name, labels) in enumerate(zip(features.names, features.categories)):
        if labels is None:
            column = values[:, j]
            low, middle, high = np.nanquantile(column, (0.1, 0.5, 0.9))
            if 0 < high - low < FAR * np.nanstd(column):
                row = int(np.nanargmax(np.abs(column - middle)))
                cell, low, high = (
                    _cell_text(x, features.info[j].kind)
                    for x in (column[row], low, high)
                )
                warnings.warn(
                    f"Column {name!r} holds {cell} in row {row}, so far from most "
                    f"others ({low} to {high}) that these hardly differ. Correct such "
                    "cells, leave them empty, or take logarithms.",
                    LostDigitsWarning,
                    stacklevel=users_level(),
                )


def _cell_text(value: float, kind: str) -> str:
    return date_text(value) if kind in DATES else f"{value:.6g}"


def held_out(
    values: np.ndarray, fraction: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Random split into training and validation rows, each in the original order."""
    n = len(values)
    chosen = np.zeros(n, dtype=bool)
    chosen[rng.permutation(n)[: int(fraction * n)]] = True
    return values[~chosen], values[chosen]
