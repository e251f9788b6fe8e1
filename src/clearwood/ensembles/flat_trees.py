"""All trees of an ensemble in flat arrays: their splits, and the leaves of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from clearwood._kernels import ensembles as _kernels
from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.casts import FLOAT32_LIMIT
from clearwood.exceptions import InputError

FEW_CELLS = 2**20
"""Most cells that are checked together."""

SPARE_LEVELS = 2
"""Levels beyond the fewest for its leaves with which a tree still counts as full."""


class NumericSplits(NamedTuple):
    """Inner nodes with the split ``x <= cut``, in node order."""

    node: np.ndarray
    feature: np.ndarray
    cut: np.ndarray
    missing_left: np.ndarray


class CategoricalSplit(NamedTuple):
    """Inner node that splits on whether a category code is in a set."""

    node: int
    feature: int
    codes_left: frozenset[int]
    missing_left: bool
    unseen_left: bool


class Splits(NamedTuple):
    """All splits of an ensemble; see :meth:`FlatTrees.splits`."""

    numeric: NumericSplits
    categorical: tuple[CategoricalSplit, ...]


class _Nodes(NamedTuple):
    """Nodes in the form used for traversal: both children of a leaf are itself."""

    feature: np.ndarray
    cut: np.ndarray
    children: np.ndarray
    missing_left: np.ndarray
    unseen_left: np.ndarray
    category_set: np.ndarray
    category_offsets: np.ndarray
    categories_left: np.ndarray


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class FlatTrees:
    """Flat arrays of trees, one tree after the other, parents before children.

    The fields are described at :class:`TreeEnsemble`, which adds the aggregation of
    the trees.
    """

    features: FeatureSpace
    feature: np.ndarray
    cut: np.ndarray
    left: np.ndarray
    right: np.ndarray
    missing_left: np.ndarray
    unseen_left: np.ndarray
    category_set: np.ndarray
    category_offsets: np.ndarray = field(default_factory=lambda: np.zeros(1, int))
    categories_left: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    value: np.ndarray
    roots: np.ndarray
    output: np.ndarray
    allows_missing: bool | np.ndarray
    allows_infinite: bool
    input_dtype: Literal["float32", "float64"]
    source: str

    def __getstate__(self) -> dict[str, Any]:
        """Fields alone: arrays cached for scoring are computed anew."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    # Structure

    @property
    def n_nodes(self) -> int:
        """Number of nodes in all trees."""
        return self.feature.size

    @property
    def n_trees(self) -> int:
        """Number of trees; boosting with k classes has k trees per round."""
        return self.roots.size

    @property
    def n_leaves(self) -> int:
        """Number of leaves in all trees."""
        return int(np.count_nonzero(self.feature < 0))

    @property
    def n_splits(self) -> int:
        """Number of inner nodes in all trees."""
        return self.n_nodes - self.n_leaves

    @property
    def n_features(self) -> int:
        """Number of features that the model was fitted on."""
        return self.features.n_features

    @cached_property
    def max_depth(self) -> int:
        """Depth of the deepest tree: most splits on the path of a row."""
        depths = _kernels.node_depths(self.feature, self.left, self.right)
        return int(depths.max(initial=0))

    def splits(self) -> Splits:
        """All splits of the trees, each as often as it occurs.

        Returns
        -------
        Splits
            ``numeric``: arrays ``node``, ``feature``, ``cut``, ``missing_left``;
            ``categorical``: one ``CategoricalSplit`` per node.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from clearwood.ensembles import read_ensemble
        >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [5.0, 7.0])
        >>> read_ensemble(tree).splits().numeric.cut
        array([0.50000003])

        Not 0.5: the tree casts to float32, which rounds slightly larger values to 0.5.
        A categorical split lists category codes; here code 1 is the category 9.

        >>> from sklearn.ensemble import HistGradientBoostingRegressor
        >>> X = np.repeat([[7.0], [9.0]], 40, axis=0)
        >>> model = HistGradientBoostingRegressor(max_iter=1, categorical_features=[0])
        >>> (split,) = read_ensemble(model.fit(X, X[:, 0])).splits().categorical
        >>> split.feature, split.codes_left
        (0, frozenset({1}))
        """
        by_set = self.category_set >= 0
        numeric = np.flatnonzero((self.feature >= 0) & ~by_set)
        return Splits(
            NumericSplits(
                numeric,
                self.feature[numeric],
                self.cut[numeric],
                self.missing_left[numeric],
            ),
            tuple(map(self._categorical_split, np.flatnonzero(by_set).tolist())),
        )

    def _categorical_split(self, node: int) -> CategoricalSplit:
        return CategoricalSplit(
            node,
            int(self.feature[node]),
            frozenset(np.flatnonzero(self.goes_left(node)).tolist()),
            bool(self.missing_left[node]),
            bool(self.unseen_left[node]),
        )

    def taken(self, columns: np.ndarray) -> Self:
        """Copy of the trees that reads a subset of the features.

        Parameters
        ----------
        columns : ndarray of int
            Positions, ascending; they include the features of all splits.
        """
        takes_missing = np.broadcast_to(self.allows_missing, self.n_features)
        at = np.searchsorted(columns, self.feature)
        return replace(
            self,
            features=self.features.taken(columns.tolist()),
            feature=np.where(self.feature < 0, -1, at),
            allows_missing=takes_missing[columns],
        )

    @property
    def used_features(self) -> np.ndarray:
        """Features that occur in splits, ascending."""
        return np.unique(self.feature[self.feature >= 0])

    def goes_left(self, node: int) -> np.ndarray:
        """Per category code, whether it goes left at a categorical node."""
        start, stop = self.category_offsets[self.category_set[node] :][:2]
        return self.categories_left[start:stop]

    # Traversal

    def encode(self, X: Any, *, whole: bool = True) -> np.ndarray:
        """Encode rows as float64 codes, with the input checks of the original.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)
        whole : bool, default=True
            Whether to read, and check, columns in no split, too, as the original does.

        Raises
        ------
        InputError
            The columns do not match, or hold NaN or infinity that the model refuses.
        """
        used = self.used_features.tolist()
        encoded = self.features.encode(X, used, whole=whole)
        read = np.arange(self.n_features) if whole else np.array(used, dtype=int)
        takes_missing = np.broadcast_to(self.allows_missing, self.n_features)
        self._refuse(
            encoded,
            read[~takes_missing[read]],
            np.isnan,
            "is missing (NaN)",
            "Fill the missing values as it was done before the model was fitted",
        )
        if not self.allows_infinite:
            self._refuse(
                encoded,
                read,
                _is_above_float32 if self.input_dtype == "float32" else np.isinf,
                f"is infinite or too large for {self.input_dtype}",
                "Replace it by a finite number",
            )
        return encoded

    def _refuse(
        self,
        encoded: np.ndarray,
        columns: Iterable[int],
        is_bad: Callable[[np.ndarray], np.ndarray],
        found: str,
        remedy: str,
    ) -> None:
        # By column, unless cells are few, to avoid a mask as large as the table.
        if encoded.size <= FEW_CELLS and not is_bad(encoded).any():
            return
        for d in columns:
            bad = np.flatnonzero(is_bad(encoded[:, d]))
            if bad.size:
                raise InputError(
                    f"Feature {self.features.names[d]!r} {found} in row {bad[0]}, "
                    f"which {self.source} does not accept. {remedy}."
                )

    def leaves(self, X: Any) -> np.ndarray:
        """Node position of the leaf of every row in every tree.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of int32 of shape (n_rows, n_trees)

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from clearwood.ensembles import read_ensemble
        >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [5.0, 7.0])
        >>> read_ensemble(tree).leaves([[0.2], [0.7]])
        array([[1],
               [2]], dtype=int32)
        """
        return self.find_leaves(self.encode(X)).T

    def find_leaves(self, encoded: np.ndarray) -> np.ndarray:
        """Node position of the leaf of every encoded row in every tree.

        Parameters
        ----------
        encoded : ndarray of float64 of shape (n_rows, n_features)

        Returns
        -------
        ndarray of int32 of shape (n_trees, n_rows)
        """
        if not self.n_trees:
            return np.empty((0, len(encoded)), dtype=np.int32)
        nodes, levels = self._ways_down
        return _kernels.find_leaves(encoded, nodes, self.roots, levels)

    @cached_property
    def _ways_down(self) -> tuple[_Nodes, np.ndarray]:
        """Nodes and levels in the form that the kernel ``find_leaves`` takes."""
        leaf = self.feature < 0
        children = np.stack([self.left, self.right], axis=1)
        children[leaf] = np.flatnonzero(leaf)[:, None]
        depths = _kernels.node_depths(self.feature, self.left, self.right)
        depth = np.maximum.reduceat(depths, self.roots)
        n_leaves = np.add.reduceat(leaf, self.roots, dtype=np.int32)
        nearly_full = depth <= np.log2(n_leaves) + SPARE_LEVELS
        nodes = _Nodes(
            self.feature,
            self.cut,
            children,
            self.missing_left,
            self.unseen_left,
            self.category_set,
            self.category_offsets,
            self.categories_left,
        )
        return nodes, np.where(nearly_full, depth, 0).astype(np.int32)


def _is_above_float32(column: np.ndarray) -> np.ndarray:
    return np.abs(column) > FLOAT32_LIMIT
