"""Imputation of missing cells by a circuit."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import OneToOneFeatureMixin, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import Interval, fit_context
from clearwood._numeric import spawn_generators
from clearwood._tables import SAMPLE_ROWS, is_read_in_blocks, open_rows
from clearwood._tables.learning import transform_table
from clearwood._warned_once import warned_once
from clearwood.circuits.base import BaseSPN, drawn_inside
from clearwood.circuits.circuit import Circuit
from clearwood.circuits.estimators import MiniSPN
from clearwood.circuits.queries.completion import most_probable
from clearwood.circuits.queries.draws import draw_missing
from clearwood.circuits.queries.shares import LevelShares
from clearwood.circuits.queries.table_cells import cell_conditionals
from clearwood.columns.dates import column_of_times
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.table_variables import encoded_cells
from clearwood.columns.validation import check_table
from clearwood.columns.variables import NOTHING
from clearwood.exceptions import InputError

N_NETWORKS = 5
"""Number of networks of the default density."""


class SPNImputer(OneToOneFeatureMixin, TransformerMixin, Estimator):
    """Imputer of missing cells by a sum-product network.

    The network is a density of whole rows, learned from the incomplete table. A missing
    number becomes its conditional mean given the present cells of its row, a missing
    label the most probable one; or all missing cells of a row become their jointly most
    probable completion; or draws from their joint distribution, for multiple
    imputation. Names, strings and types of the table are kept.

    Parameters
    ----------
    network : MiniSPN, LearnSPN, LatentTreeSPN, ParetoSPN or HybridSPN, default=None
        Learner of the density; it is cloned. By default a `MiniSPN` of five networks,
        which imputes numbers better than one.
    joint : bool, default=False
        Whether the cells of a row are imputed by their jointly most probable values,
        see `MiniSPN.most_probable`. By default each is imputed by its own:
        closer cell by cell, but together they may be a row that hardly occurs.
    n_draws : int, default=0
        0: point estimates. Otherwise ``transform`` returns one draw, and `draws` this
        many: fit a model to each, and their variation is the uncertainty due to missing
        cells.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default network and of the draws.

    Attributes
    ----------
    circuit_ : Circuit
        The density.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        Set if ``fit`` received a frame.

    Notes
    -----
    A column without any value in ``fit`` is not imputed. An integer column is imputed
    by integers.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame(
    ...     {"height": [150.0, 180.0] * 50, "shoe": ["small", "large"] * 50}
    ... )
    >>> table.loc[0, "shoe"] = None
    >>> SPNImputer(random_state=0).fit_transform(table).loc[0, "shoe"]
    'small'
    """

    _parameter_constraints: dict[str, Any] = {
        "network": [None, BaseSPN],
        "joint": ["boolean"],
        "n_draws": [Interval(Integral, 0, None, closed="left")],
        "random_state": "no_validation",
    }

    _allows_missing = True
    circuit_: Circuit

    def __init__(
        self,
        network: Any = None,
        *,
        joint: bool = False,
        n_draws: int = 0,
        random_state: Any = None,
    ) -> None:
        self.network = network
        self.joint = joint
        self.n_draws = n_draws
        self.random_state = random_state

    @fit_context
    def fit(self, X: Any, y: Any = None) -> SPNImputer:
        """Learn the distribution of the rows of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Strings, numbers and Booleans; cells may be missing. Or a table read in
            blocks, see `MiniSPN.fit`.
        y : None
            Ignored.

        Returns
        -------
        self
        """
        in_blocks = is_read_in_blocks(X)
        # The network warns of a sample.
        rows = open_rows(X).sample(SAMPLE_ROWS).X if in_blocks else X
        checked = check_table(self, rows, reset=True)
        default = MiniSPN(n_networks=N_NETWORKS, random_state=self.random_state)
        network = clone(default if self.network is None else self.network)
        self.circuit_ = network.fit(X if in_blocks else checked).circuit_
        return self

    @warned_once()
    def transform(self, X: Any) -> Any:
        """Impute the missing cells of a table.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table that is read in blocks, as in ``fit``; then there are no draws.

        Returns
        -------
        ndarray or frame of shape (n_samples, n_features)
            Of the type of the input, a frame of pandas or polars or an array, unless
            ``set_output`` determines it. For a file or a function a frame in memory,
            for Dask a lazy collection. Cells of levels that were not seen in ``fit``
            are not imputed.
        """
        if is_read_in_blocks(X):
            if self.n_draws:
                raise InputError(
                    f"n_draws is {self.n_draws}, but a table that is read in blocks "
                    "has point estimates only: set n_draws=0, or draw for some rows "
                    "at a time."
                )
            return transform_table(self, self.transform, X, _as_it_is)
        X, rows, variables = self._read(X)
        if self.n_draws:
            return self._drawn(X, rows, variables, 1)[0]
        table = self.circuit_.table
        if self.joint:
            best = most_probable(self.circuit_, variables).values
            return filled(X, table.columns, rows, table.completed(rows, best))
        values = rows.copy()
        for j, own in cell_conditionals(self.circuit_, variables).items():
            values[own.rows, j] = own.mode if isinstance(own, LevelShares) else own.mean
        return filled(X, table.columns, rows, values)

    @warned_once()
    def draws(self, X: Any) -> list[Any]:
        """Draw the missing cells of a table ``n_draws`` times, for multiple imputation.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        list of ndarray or frame
            The first is that of ``transform``.
        """
        return self._drawn(*self._read(X), self.n_draws)

    def _drawn(
        self, X: Any, rows: np.ndarray, variables: np.ndarray, n: int
    ) -> list[Any]:
        table = self.circuit_.table
        found = []
        for rng in spawn_generators(self.random_state, n):

            def draw(which: np.ndarray, rng: np.random.Generator = rng) -> np.ndarray:
                return draw_missing(self.circuit_, variables[which], rng)

            drawn = drawn_inside(table, rows, np.arange(len(rows)), draw)
            whole = table.completed(rows, drawn)
            found.append(filled(X, table.columns, rows, whole))
        return found

    def _read(self, X: Any) -> tuple[Any, np.ndarray, np.ndarray]:
        """A table, its encoded rows, and their variables."""
        check_is_fitted(self)
        X = check_table(self, X, reset=False)
        table = self.circuit_.table
        rows = encoded_cells(self, X, table.columns)
        return X, rows, table.to_variables(rows)


def _as_it_is(nothing: Any) -> Any:
    return nothing


def filled(
    X: Any, features: FeatureSpace, values: np.ndarray, complete: np.ndarray
) -> Any:
    """Replace cells that are missing in ``values`` by those of ``complete``.

    Examples
    --------
    >>> import pandas as pd
    >>> features = FeatureSpace(("hue", "size"), (("blue", "red"), None))
    >>> table = pd.DataFrame({"hue": ["red", None], "size": [None, 1.5]})
    >>> complete = np.array([[1.0, 2.5], [0.0, 1.5]])
    >>> filled(table, features, features.encode(table), complete).to_numpy().tolist()
    [['red', 2.5], ['blue', 1.5]]
    """
    missing = np.isnan(values)
    columns = [
        (j, np.flatnonzero(missing[:, j]), complete[missing[:, j], j])
        for j, labels in enumerate(features.categories)
        if missing[:, j].any() and labels != NOTHING
    ]
    if not is_frame(X):
        table = np.array(X, dtype=object if X.dtype == object else np.float64)
        for j, rows, own in columns:
            table[rows, j] = _cells(own, features.categories[j])
        return table
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    series = []
    for j, rows, own in columns:
        column = frame.get_column(X.columns[j])
        cells = _cells(own, features.categories[j])
        if column.dtype == nw.Boolean:
            cells = list(map(bool, cells))
        if column.dtype.is_integer():
            # A draw may be invalid for the type: below 0, for example.
            type_ = np.iinfo(str(column.dtype).lower())
            cells = np.round(cells).clip(type_.min, type_.max).astype(np.int64)
        info = features.info[j]
        if info.is_time:
            kind = column.dtype
            cells = column_of_times(column.name, cells, kind, info, column)
        if column.dtype.is_numeric():
            backend = frame.implementation
            cells = nw.new_series(column.name, cells, column.dtype, backend=backend)
        series.append(column.scatter(rows, cells))
    return frame.with_columns(*series).to_native()


def _cells(values: np.ndarray, labels: Sequence[Hashable] | None) -> Any:
    """Decode values."""
    if labels is None:
        return values
    return [labels[int(code)] for code in values]
