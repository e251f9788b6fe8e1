"""The one form in which all rooms see a tree ensemble: flat, exact, immutable."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.ensembles import _kernels
from clearwood.ensembles.links import Link, response
from clearwood.ensembles.rows import check_rows
from clearwood.ensembles.soundness import (
    NODE_FIELDS,
    OTHER_FIELDS,
    TREE_FIELDS,
    check_structure,
    exact_array,
)
from clearwood.ensembles.splits import Splits, splits_of
from clearwood.exceptions import InputError

BLOCK_LEAVES = 2**20
"""Leaves found at a time, of some rows in all trees: as many as stay in the cache.

With fewer rows at a time, large trees would be fetched from memory too often.
"""

SPARE_LEVELS = 2
"""A tree with so many levels more than its leaves need still counts as full."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreeEnsemble:
    """A fitted tree ensemble, read from any library, that predicts as the original.

    Use :func:`read_ensemble` to get one. All nodes of all trees lie in flat arrays, one
    tree after the other, parents before children; every comparison is in float64.

    Parameters
    ----------
    features : FeatureSpace
        Names and categories of the columns.
    task : {"regression", "classification"}
        What the ensemble predicts.
    classes : ndarray or None
        Class labels, in the order of the probabilities.
    feature : ndarray of int32 of shape (n_nodes,)
        Feature that the node asks about, -1 at leaves.
    cut : ndarray of float64 of shape (n_nodes,)
        Rows with ``x <= cut`` go left; NaN at leaves and categorical nodes.
    left, right : ndarray of int32 of shape (n_nodes,)
        Positions of the children, -1 at leaves.
    missing_left, unseen_left : ndarray of bool of shape (n_nodes,)
        Whether missing values, and categories never seen, go left.
    category_set : ndarray of int32 of shape (n_nodes,)
        Number of the category set that a categorical node asks about, else -1.
    category_offsets : ndarray of int64 of shape (n_sets + 1,)
        Set ``s`` is ``categories_left[category_offsets[s]:category_offsets[s + 1]]``.
    categories_left : ndarray of bool
        For every set, category code by category code: does it go left?
    value : ndarray of float64 of shape (n_nodes, width)
        What a leaf adds to the outputs; 0 at inner nodes.
    roots : ndarray of int32 of shape (n_trees,)
        Position of the root of every tree.
    output : ndarray of int32 of shape (n_trees,)
        First output that the tree adds to.
    base_score : ndarray of float64 of shape (n_outputs,)
        What the outputs start from.
    aggregation : {"sum", "weighted_median"}, default="sum"
        How the values of the trees become one raw score.
    divisor : float, default=1.0
        Divides the sum: the number of trees where an ensemble takes the mean.
    scale : float, default=1.0
        Multiplies the sum.
    offset : ndarray of float64 of shape (n_outputs,)
        Added when the sum is done; empty stands for zeros.
    sum_dtype : {"float64", "float32"}
        The type in which the original adds and computes its link.
    tree_weight : ndarray of float64 of shape (n_trees,)
        Weights for the median; empty with a sum, where the leaf values carry them.
    link : str
        From raw scores to predictions, see ``links.response``.
    link_scale : float, default=1.0
        Factor on the raw scores inside the logistic function or softmax.
    decision : {"raw", "raw_or_zero", "probability"}
        How the original chooses a class: by the largest raw score or probability; of
        two classes with one output the second where the score is above 0, is at least
        0, or has the larger probability (which tiny scores above 0 have not).
    allows_missing : bool or ndarray of bool of shape (n_features,)
        Whether the original accepts NaN when it predicts.
    allows_infinite : bool
        Whether it accepts infinite values.
    input_dtype : {"float32", "float64"}
        What the original casts its data to. The cuts already account for it.
    source : str
        The class, or the kind of file, that the ensemble was read from.
    details : mapping of str to (str or number)
        What else the model says of itself (library, objective ...), for people.
    notes : tuple of str
        What is unusual about the model, a sentence each.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from clearwood.ensembles import read_ensemble
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    >>> ensemble = read_ensemble(forest)
    >>> ensemble.n_trees, ensemble.n_features, ensemble.task
    (3, 4, 'classification')
    >>> bool((ensemble.predict(X) == forest.predict(X)).all())
    True
    """

    features: FeatureSpace
    task: Literal["regression", "classification"]
    classes: np.ndarray | None = None
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
    base_score: np.ndarray
    aggregation: Literal["sum", "weighted_median"] = "sum"
    divisor: float = 1.0
    scale: float = 1.0
    offset: np.ndarray = field(default_factory=lambda: np.zeros(0))
    sum_dtype: Literal["float64", "float32"] = "float64"
    tree_weight: np.ndarray = field(default_factory=lambda: np.zeros(0))
    link: Link
    link_scale: float = 1.0
    decision: Literal["raw", "raw_or_zero", "probability"] = "raw"
    allows_missing: bool | np.ndarray
    allows_infinite: bool
    input_dtype: Literal["float32", "float64"]
    source: str
    details: Mapping[str, str | float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Bring the arrays into their types and check that they form trees."""
        if not np.size(self.offset):
            object.__setattr__(self, "offset", np.zeros(np.shape(self.base_score)))
        for name, dtype in {**NODE_FIELDS, **TREE_FIELDS, **OTHER_FIELDS}.items():
            array = exact_array(name, getattr(self, name), dtype)
            object.__setattr__(self, name, array)
        check_structure(self)

    # What it is

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

    @property
    def n_outputs(self) -> int:
        """Number of raw scores per row."""
        return self.base_score.size

    @cached_property
    def max_depth(self) -> int:
        """Most questions that a row is asked in one tree."""
        depths = _kernels.node_depths(self.feature, self.left, self.right)
        return int(depths.max(initial=0))

    def splits(self) -> Splits:
        """All questions that the trees ask, each as often as it is asked.

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

        Not 0.5: the tree casts to float32, which takes slightly larger values to 0.5.
        """
        return splits_of(self)

    def with_feature_names(self, names: Sequence[str]) -> TreeEnsemble:
        """The same ensemble under the column names of the user's data.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from clearwood.ensembles import read_ensemble
        >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [5.0, 7.0])
        >>> read_ensemble(tree).with_feature_names(["age"]).features.names
        ('age',)
        """
        return replace(self, features=self.features.renamed(names))

    def with_classes(self, classes: Sequence[Any]) -> TreeEnsemble:
        """The same ensemble with the labels of the user's data.

        Many model files know their classes only as 0, 1, ...

        Parameters
        ----------
        classes : sequence
            Labels in the order of the probabilities.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from clearwood.ensembles import read_ensemble
        >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
        >>> read_ensemble(tree).with_classes(["no", "yes"]).predict([[0.7]])
        array(['yes'], dtype='<U3')
        """
        known = () if self.classes is None else self.classes
        if len(set(classes)) != len(known) or len(classes) != len(known):
            raise InputError(
                f"Found the classes {list(classes)}, expected {len(known)} different "
                f"labels, in the order of the model's {list(known)}."
            )
        return replace(self, classes=np.array(classes))

    def as_in(self, X: Any) -> TreeEnsemble:
        """The same ensemble, features and categories called as in a table.

        A model may know no names, names in which underscores stand for blanks
        (LightGBM), or categories only by the hash of their text (CatBoost).

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)

        Returns
        -------
        TreeEnsemble
        """
        return replace(self, features=self.features.as_in(X))

    def __repr__(self) -> str:
        """What it is in one line."""
        classes = "" if self.classes is None else f" into {len(self.classes)} classes"
        return (
            f"<TreeEnsemble: {self.task}{classes}, trees: {self.n_trees}, "
            f"splits: {self.n_splits}, features: {self.n_features}, "
            f"from {self.source}>"
        )

    # What it predicts

    def predict(self, X: Any) -> np.ndarray:
        """Predicted values or class labels, as the original predicts them.

        As in all methods that take data, rows are read by :meth:`encode`.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)
            Frames are read by column name where the model knows names.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        raw = self.raw_scores(X)
        if self.classes is None:
            return self._response(raw)[:, 0]
        if self.decision == "probability":
            return self.classes[np.argmax(self._response(raw), axis=1)]
        if self.link == "logistic":
            zero = self.decision == "raw_or_zero"
            positive = raw[:, 0] >= 0 if zero else raw[:, 0] > 0
            return self.classes[positive.astype(int)]
        return self.classes[np.argmax(raw, axis=1)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class, columns in the order of ``classes``.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes)

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeClassifier
        >>> from clearwood.ensembles import read_ensemble
        >>> tree = DecisionTreeClassifier().fit([[0.0], [1.0]], ["no", "yes"])
        >>> read_ensemble(tree).predict_proba([[0.2], [0.7]])
        array([[1., 0.],
               [0., 1.]])
        """
        if self.classes is None:
            raise InputError(
                f"{self.source} is a regression model and has no class probabilities; "
                "use predict."
            )
        return self._response(self.raw_scores(X))

    def answers_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """Class probabilities, or values, for rows that :meth:`encode` made."""
        answers = self._response(self.raw_scores_encoded(encoded))
        return answers[:, 0] if self.classes is None else answers

    def decision_function(self, X: Any) -> np.ndarray:
        """Scores before the link, where the original has a decision function.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_classes), or (n_rows,) with two classes
        """
        if self.classes is None or self.link == "probability":
            raise InputError(
                f"{self.source} has no decision function; use "
                f"{'predict' if self.classes is None else 'predict_proba'}."
            )
        raw = self.raw_scores(X)
        return raw[:, 0] if self.link == "logistic" else raw

    def raw_scores(self, X: Any) -> np.ndarray:
        """What the trees say together, before the link.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
        """
        return self.raw_scores_encoded(self.encode(X))

    def raw_scores_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`raw_scores`, for rows that :meth:`encode` made."""
        combine = self._sum if self.aggregation == "sum" else self._weighted_median
        raw = np.empty((len(encoded), self.n_outputs))
        n_rows = max(1, BLOCK_LEAVES // max(1, self.n_trees))
        for start in range(0, len(encoded), n_rows):
            rows = slice(start, start + n_rows)
            raw[rows] = combine(self._find_leaves(encoded[rows]))
        return raw

    def _response(self, raw: np.ndarray) -> np.ndarray:
        # Exact: scores that were added in float32 are float32 numbers.
        return response(raw.astype(self.sum_dtype), self.link, self.link_scale)

    def leaves(self, X: Any) -> np.ndarray:
        """Node position of the leaf that every row reaches in every tree.

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
        return self._find_leaves(self.encode(X)).T

    def encode(self, X: Any) -> np.ndarray:
        """The rows as float64 codes, refused where the original would refuse them.

        Raises
        ------
        InputError
            The columns do not fit, or hold NaN or infinity and the model takes none.
        """
        X = self.features.encode(X)
        check_rows(X, self)
        return X

    def _find_leaves(self, X: np.ndarray) -> np.ndarray:
        if not self.n_trees:
            return np.empty((0, len(X)), dtype=np.int32)
        children, levels = self._ways_down
        return _kernels.find_leaves(
            X,
            self.feature,
            self.cut,
            children,
            self.missing_left,
            self.unseen_left,
            self.category_set,
            self.category_offsets,
            self.categories_left,
            self.roots,
            levels,
        )

    @cached_property
    def _ways_down(self) -> tuple[np.ndarray, np.ndarray]:
        """Children and levels, as ``find_leaves`` wants them."""
        leaf = self.feature < 0
        children = np.stack([self.left, self.right], axis=1)
        children[leaf] = np.flatnonzero(leaf)[:, None]
        depths = _kernels.node_depths(self.feature, self.left, self.right)
        depth = np.maximum.reduceat(depths, self.roots)
        n_leaves = np.add.reduceat(leaf, self.roots, dtype=np.int32)
        nearly_full = depth <= np.log2(n_leaves) + SPARE_LEVELS
        return children, np.where(nearly_full, depth, 0).astype(np.int32)

    def _sum(self, leaves: np.ndarray) -> np.ndarray:
        # One tree after the other, as the libraries add: the same rounding.
        base, value = self._summands
        raw = np.tile(base, (leaves.shape[1], 1))
        _kernels.add_leaves(leaves, value, self.output, raw)
        return raw / self.divisor * self.scale + self.offset.astype(raw.dtype)

    @cached_property
    def _summands(self) -> tuple[np.ndarray, np.ndarray]:
        """Base score and values in the type in which they are added."""
        with np.errstate(over="ignore"):
            return (
                self.base_score.astype(self.sum_dtype, copy=False),
                self.value.astype(self.sum_dtype, copy=False),
            )

    def _weighted_median(self, leaves: np.ndarray) -> np.ndarray:
        predicted = self.value[leaves, 0].T
        order = np.argsort(predicted, axis=1)
        weight = np.cumsum(self.tree_weight[order], axis=1)
        middle = np.argmax(weight >= 0.5 * weight[:, -1:], axis=1)[:, None]
        return np.take_along_axis(
            predicted, np.take_along_axis(order, middle, axis=1), axis=1
        )
