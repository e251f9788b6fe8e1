"""Ensemble at the end of a pipeline, in the input columns of the pipeline.

Every column that reaches the ensemble is a function of one column of the data
(``handed_on``). A split on it is therefore a split on that column: where the function
increases, ``f(x) <= cut`` is ``x <= largest number with f(x) <= cut``, found by
bisection among the float64 numbers; where cells are looked up, it is a set of
categories.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clearwood.columns.cells import UNSEEN
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.ensembles.own_predictions import IN_A_PIPELINE
from clearwood.ensembles.sklearn.handed_on import (
    NEVER_SEEN,
    HandedOn,
    follow,
    gives_sparse,
)
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError


def carry_back(pipeline: Any, ensemble: TreeEnsemble) -> TreeEnsemble:
    """Express the splits of a pipeline's last step in the pipeline's input columns.

    Parameters
    ----------
    pipeline : sklearn.pipeline.Pipeline
        Fitted.
    ensemble : TreeEnsemble
        Its last step.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelError
        A column is made of several, or by an unsupported step.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from clearwood.ensembles import read_ensemble
    >>> model = make_pipeline(StandardScaler(), DecisionTreeRegressor())
    >>> model = model.fit([[0.0], [10.0]], [5.0, 7.0])
    >>> read_ensemble(model).splits().numeric.cut.round(3)
    array([5.])
    """
    steps = [
        step for _, step in pipeline.steps[:-1] if not hasattr(step, "fit_resample")
    ]
    n_columns, names = _columns_of(pipeline)
    columns = [HandedOn(d) for d in range(n_columns)]
    is_sparse = False
    for step in steps:
        columns = follow(step, columns)
        is_sparse = gives_sparse(step, is_sparse)
    if len(columns) != ensemble.n_features:
        raise ModelError(
            f"the steps hand on {len(columns)} columns, but the model reads "
            f"{ensemble.n_features}"
        )
    # In a sparse table XGBoost treats zeros as missing, the others do not.
    zero_is_missing = is_sparse and ensemble.source.startswith("xgboost")
    carried = [
        CarriedColumn(column, ensemble.features, j, zero_is_missing)
        for j, column in enumerate(columns)
    ]
    return _in_own_columns(ensemble, carried, n_columns, names)


def _columns_of(pipeline: Any) -> tuple[int, list[str] | None]:
    """Number and names of the columns that a pipeline was fitted to."""
    for _, step in pipeline.steps:
        if hasattr(step, "n_features_in_"):
            names = getattr(step, "feature_names_in_", None)
            return step.n_features_in_, None if names is None else names.tolist()
    raise ModelError(
        "no step has n_features_in_, the number of columns it was fitted to"
    )


@dataclass(frozen=True, eq=False)
class CarriedColumn:
    """Column as it reaches the ensemble, and how the ensemble reads it.

    Parameters
    ----------
    column : HandedOn
    features : FeatureSpace
        Feature space of the ensemble.
    place : int
        Position of the column in it.
    zero_is_missing : bool
        Whether the ensemble treats zeros in this table as missing.
    """

    column: HandedOn
    features: FeatureSpace
    place: int
    zero_is_missing: bool

    @property
    def source(self) -> int:
        """The column of the data."""
        return self.column.source

    @property
    def is_plain(self) -> bool:
        """Whether it is the unchanged column of the data."""
        return not self.column.steps

    def read(self, cells: Any) -> np.ndarray:
        """Codes of the ensemble for cells of the data after all steps."""
        values = self.column.values(cells)
        if self.zero_is_missing:
            values = np.where(values == 0, np.nan, values)
        return self.features.encode_column(values, self.place)

    def read_one(self, cell: Any) -> float | None:
        """Code of one cell; None if a step refuses it."""
        try:
            return float(self.read([cell])[0])
        except ValueError:
            return None

    @cached_property
    def missing(self) -> float | None:
        """Code of a missing cell."""
        found = self.read_one(np.nan)
        return self.read_one(None) if found is None else found

    @cached_property
    def unseen(self) -> float | None:
        """Code of a cell of no known category."""
        return self.read_one(NEVER_SEEN)

    def check_is_rising(self) -> None:
        """Raise an error if the column is read by more than the order of its values."""
        by_set = self.features.categories[self.place] is not None
        if by_set or self.features.missing_at[self.place] is not None:
            raise ModelError(
                f"the model reads {self.features.names[self.place]!r} by more than its "
                "order, after it was scaled or filled"
            )
        if self.zero_is_missing:
            raise ModelError("XGBoost takes zeros of a sparse table for missing")

    def cuts(self, cuts: np.ndarray) -> np.ndarray:
        """Per threshold the largest float64 that the steps do not map above it."""
        # As integers, which keep the order and neighbours of the floats.
        low = np.full(len(cuts), _place(-np.inf))
        high = np.full(len(cuts), _place(np.inf))
        with np.errstate(all="ignore"):
            while (low < high).any():
                # The mean, rounded up, without overflow.
                middle = (low | high) - ((low ^ high) >> 1)
                below = self.column.values(_float_at(middle)) <= cuts
                low = np.where(below, middle, low)
                high = np.where(below, high, middle - 1)
        return _float_at(low)


def _place(value: float) -> int:
    """Position of a float64 among all of them; neighbours have adjacent integers."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits + 2**63)


def _float_at(places: np.ndarray) -> np.ndarray:
    negative = np.iinfo(np.int64).min - places
    return np.where(places >= 0, places, negative).view(np.float64)


def _in_own_columns(
    ensemble: TreeEnsemble,
    carried: Sequence[CarriedColumn],
    n_columns: int,
    names: list[str] | None,
) -> TreeEnsemble:
    sources = list(range(n_columns))
    # Dropped columns may hold cells that no rule could read.
    if names is not None:
        sources = sorted({one.source for one in carried})
    features = _features(ensemble.features, carried, sources, n_columns, names)
    place = {source: d for d, source in enumerate(sources)}
    takes_missing = np.ones(len(sources), dtype=bool)
    own = np.broadcast_to(ensemble.allows_missing, ensemble.n_features)
    for one, accepts in zip(carried, own):
        passes = one.missing is not None and (accepts or not np.isnan(one.missing))
        takes_missing[place[one.source]] &= passes
    questions = _Questions(ensemble, carried, features, place)
    plain = all(one.is_plain for one in carried)
    return replace(
        ensemble,
        features=features,
        **join_trees([questions.tree(t) for t in range(ensemble.n_trees)]),
        allows_missing=takes_missing,
        allows_infinite=ensemble.allows_infinite and plain,
        input_dtype=ensemble.input_dtype if plain else "float64",
        source=ensemble.source + IN_A_PIPELINE,
    )


def _features(
    inner: FeatureSpace,
    carried: Sequence[CarriedColumn],
    sources: Sequence[int],
    n_columns: int,
    names: list[str] | None,
) -> FeatureSpace:
    """Columns of the data, with the categories of the steps or the model."""
    labels: list[Any] = [None] * n_columns
    lookup: list[Any] = ["exact"] * n_columns
    missing_at: list[Any] = [None] * n_columns
    for d in sources:
        mine = [one for one in carried if one.source == d]
        known = [one.column.labels for one in mine if one.column.labels is not None]
        if known and len(known) < len(mine):
            raise ModelError("a column goes on both as a number and as a category")
        if known:
            labels[d] = tuple(dict.fromkeys(label for part in known for label in part))
            continue
        plain = {
            (
                inner.categories[one.place],
                inner.lookup[one.place],
                0.0 if one.zero_is_missing else inner.missing_at[one.place],
            )
            for one in mine
            if one.is_plain
        }
        for one in mine:
            if not one.is_plain:
                one.check_is_rising()
        if len(plain) > 1 or (len(mine) > 1 and plain - {(None, "exact", None)}):
            raise ModelError("a column goes on twice, and is read in two ways")
        if plain:
            labels[d], lookup[d], missing_at[d] = plain.pop()
    every = FeatureSpace.numeric(n_columns, names)
    return FeatureSpace(
        tuple(every.names[d] for d in sources),
        tuple(labels[d] for d in sources),
        every.named,
        tuple(lookup[d] for d in sources),
        tuple(missing_at[d] for d in sources),
        inner.float32,
    )


class _Questions:
    """Splits of an ensemble, tree by tree, on columns of the data."""

    def __init__(
        self,
        ensemble: TreeEnsemble,
        carried: Sequence[CarriedColumn],
        features: FeatureSpace,
        place: dict[int, int],
    ) -> None:
        self.ensemble, self.carried = ensemble, carried
        e = ensemble
        self.feature = e.feature.copy()
        self.cut, self.missing_left = e.cut.copy(), e.missing_left.copy()
        self.unseen_left = e.unseen_left.copy()
        self.sets: dict[int, np.ndarray] = {}
        for j, one in enumerate(carried):
            nodes = np.flatnonzero(e.feature == j)
            d = place[one.source]
            self.feature[nodes] = d
            if one.column.labels is not None:
                self._by_label(one, nodes, features.categories[d] or ())
            elif one.is_plain:
                for node in nodes[e.category_set[nodes] >= 0].tolist():
                    self.sets[node] = e.goes_left(node)
            else:
                self.cut[nodes] = one.cuts(e.cut[nodes])
                for node in nodes.tolist():
                    self.missing_left[node] = self._left(node, one.missing)

    def _by_label(
        self, one: CarriedColumn, nodes: np.ndarray, labels: tuple[Hashable, ...]
    ) -> None:
        """Convert splits on looked-up codes into sets of cells."""
        # Where an encoder refuses a cell, its side does not matter.
        known = [one.read_one(label) for label in labels]
        for node in nodes.tolist():
            left = [self._left(node, code) for code in known]
            self.sets[node] = np.array(left, dtype=bool)
            self.missing_left[node] = self._left(node, one.missing)
            self.unseen_left[node] = self._left(node, one.unseen)

    def _left(self, node: int, code: float | None) -> bool:
        """Whether a cell with a given code goes left."""
        e = self.ensemble
        if code is None or np.isnan(code):
            return bool(e.missing_left[node])
        if e.category_set[node] < 0:
            return bool(code <= e.cut[node])
        if code == UNSEEN:
            return bool(e.unseen_left[node])
        return bool(e.goes_left(node)[int(code)])

    def tree(self, t: int) -> TreeNodes:
        """One tree, numbered from its root."""
        e = self.ensemble
        start, end = np.append(e.roots, e.n_nodes)[t : t + 2].tolist()
        nodes = slice(start, end)
        return TreeNodes(
            feature=self.feature[nodes],
            cut=self.cut[nodes],
            left=e.left[nodes] - start,
            right=e.right[nodes] - start,
            missing_left=self.missing_left[nodes],
            value=e.value[nodes],
            output=int(e.output[t]),
            categories_left={
                node - start: goes_left
                for node, goes_left in self.sets.items()
                if start <= node < end
            },
            unseen_left=self.unseen_left[nodes],
        )
