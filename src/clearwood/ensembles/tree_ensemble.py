"""Common representation of tree ensembles of all libraries: flat, exact, immutable."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np

from clearwood._kernels import ensembles as _kernels
from clearwood._tables import RowBlocks, is_read_in_blocks
from clearwood._tables.predicting import predict_rows
from clearwood.codec.documents import refuse_damaged
from clearwood.columns.sparse_tables import blocks_of, is_sparse
from clearwood.ensembles.flat_trees import FlatTrees
from clearwood.ensembles.links import LINKS, REGRESSION_LINKS, Link, response
from clearwood.ensembles.ranks import RankedTrees, Ranking, ranked
from clearwood.ensembles.soundness import ARRAYS, check_trees, exact_array
from clearwood.ensembles.statistics import statistic_of
from clearwood.exceptions import InputError

BLOCK_LEAVES = 2**20
"""Leaves computed at a time, of some rows in all trees: as many as fit in the cache.

With fewer rows at a time, large trees would be fetched from memory too often.
"""
BLOCK_ROWS = 2**15
"""Rows scored at a time by their ranks, where no leaves are stored."""

Ranked = tuple[Ranking, RankedTrees, np.ndarray]
"""Ranking, trees that compare ranks, and the values of their nodes."""


@dataclass(frozen=True, kw_only=True, repr=False, eq=False)
class TreeEnsemble(FlatTrees):
    """A fitted tree ensemble of any library, with the predictions of the original.

    Use :func:`read_ensemble` to get one. All nodes of all trees lie in flat arrays, one
    tree after the other, parents before children; every comparison is in float64.

    Parameters
    ----------
    features : FeatureSpace
        Names and categories of the columns.
    task : {"regression", "classification"}
        Task of the ensemble.
    classes : ndarray or None
        Class labels, in the order of the probabilities.
    feature : ndarray of int32 of shape (n_nodes,)
        Feature that the node splits on, -1 at leaves.
    cut : ndarray of float64 of shape (n_nodes,)
        Rows with ``x <= cut`` go left; NaN at leaves and categorical nodes.
    left, right : ndarray of int32 of shape (n_nodes,)
        Positions of the children, -1 at leaves.
    missing_left, unseen_left : ndarray of bool of shape (n_nodes,)
        Whether missing values, and categories never seen, go left.
    category_set : ndarray of int32 of shape (n_nodes,)
        Number of the category set of a categorical node, else -1.
    category_offsets : ndarray of int64 of shape (n_sets + 1,)
        Set ``s`` is ``categories_left[category_offsets[s]:category_offsets[s + 1]]``.
    categories_left : ndarray of bool
        For every set, whether each category code goes left.
    value : ndarray of float64 of shape (n_nodes, width)
        Contribution of a leaf to the outputs; 0 at inner nodes.
    roots : ndarray of int32 of shape (n_trees,)
        Position of the root of every tree.
    output : ndarray of int32 of shape (n_trees,)
        First output that the tree adds to.
    base_score : ndarray of float64 of shape (n_outputs,)
        Initial values of the outputs.
    aggregation : {"sum", "weighted_median"}, default="sum"
        How the values of the trees are combined into a raw score.
    divisor : float, default=1.0
        Divides the sum: the number of trees if an ensemble takes the mean.
    scale : float, default=1.0
        Multiplies the sum.
    offset : ndarray of float64 of shape (n_outputs,)
        Added to the final sum; empty stands for zeros.
    sum_dtype : {"float64", "float32"}
        The type in which the original computes the sum and its link.
    tree_weight : ndarray of float64 of shape (n_trees,)
        Weights for the median; empty with a sum, where the leaf values include them.
    link : str
        Link from raw scores to predictions, see ``links.response``.
    link_scale : float, default=1.0
        Factor on the raw scores inside the logistic function or softmax.
    decision : {"raw", "raw_or_zero", "probability"}
        How the original chooses a class: by the largest raw score or probability; for
        two classes with one output the second if the score is above 0, is at least 0,
        or has the larger probability (which tiny scores above 0 do not have).
    allows_missing : bool or ndarray of bool of shape (n_features,)
        Whether the original accepts NaN when it predicts.
    allows_infinite : bool
        Whether it accepts infinite values.
    input_dtype : {"float32", "float64"}
        Type to which the original casts its data. The cuts already account for it.
    source : str
        The class, or the kind of file, that the ensemble was read from.
    details : mapping of str to (str or number)
        Further properties of the model (library, objective ...), for display.
    notes : tuple of str
        Anything unusual about the model, one sentence each.

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

    task: Literal["regression", "classification"]
    classes: np.ndarray | None = None
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
    details: Mapping[str, str | float] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    split_source = ""  # Its splits are its own; a BlackBox names their origin.

    def __post_init__(self) -> None:
        """Convert the arrays to their types and check that they form trees."""
        if not np.size(self.offset):
            object.__setattr__(self, "offset", np.zeros(np.shape(self.base_score)))
        for name, dtype in ARRAYS.items():
            array = exact_array(name, getattr(self, name), dtype)
            object.__setattr__(self, name, array)
        check_trees(self)
        _check_outputs(self)

    # Properties

    @property
    def n_outputs(self) -> int:
        """Number of raw scores per row."""
        return self.base_score.size

    @property
    def statistic(self) -> str:
        """Statistic of the target that it predicts; empty for the mean or classes."""
        objective = str(self.details.get("objective", ""))
        return "" if self.classes is not None else statistic_of(objective)

    def with_classes(self, classes: Sequence[Any]) -> TreeEnsemble:
        """Copy of the ensemble with the class labels of the user's data.

        Many model files store classes only as 0, 1, ...

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
        known = [] if self.classes is None else self.classes.tolist()
        if self.classes is None:
            raise InputError(
                f"Found the classes {list(classes)}, but the model predicts values; "
                "omit them."
            )
        if len(set(classes)) != len(known) or len(classes) != len(known):
            raise InputError(
                f"Found the classes {list(classes)}, expected {len(known)} different "
                f"labels, in the order of the model's {known}."
            )
        return replace(self, classes=np.array(classes))

    def as_in(self, X: Any) -> TreeEnsemble:
        """Copy of the ensemble with the feature names and categories of a table.

        A model may store no names, names with underscores in place of blanks
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
        """Summary in one line."""
        classes = "" if self.classes is None else f" into {len(self.classes)} classes"
        return (
            f"<TreeEnsemble: {self.task}{classes}, trees: {self.n_trees}, "
            f"splits: {self.n_splits}, features: {self.n_features}, "
            f"from {self.source}>"
        )

    # Predictions

    def predict(self, X: Any) -> np.ndarray:
        """Predicted values or class labels, equal to those of the original.

        As in all methods that take data, rows are read by :meth:`encode`.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)
            Frames are read by column name if the model has names. Or a table that is
            read in blocks: the path of a Parquet file, a function that returns an
            iterator of pandas frames, a collection of Dask.

        Returns
        -------
        ndarray of shape (n_rows,)
            For Dask a lazy collection.
        """
        if is_read_in_blocks(X):
            kind = float if self.classes is None else np.asarray(self.classes).dtype
            return predict_rows(self.predict, X, kind, columns_of=self._columns_of)
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
            Or a table that is read in blocks, as in :meth:`predict`.

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
        if is_read_in_blocks(X):
            classes = list(self.classes)
            return predict_rows(self.predict_proba, X, float, classes, self._columns_of)
        return self._response(self.raw_scores(X))

    def _columns_of(self, table: RowBlocks) -> list[str] | None:
        """Columns of a table that are read; None for all."""
        names = [str(name) for name in self.features.names]
        there = set(names) <= set(table.columns or ())
        return names if self.features.named and there else None

    def answers_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """Class probabilities, or values, for rows from :meth:`encode`."""
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
        """Raw scores: the aggregated values of the trees, before the link.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_rows, n_features)

        Returns
        -------
        ndarray of shape (n_rows, n_outputs)
        """
        if not is_sparse(X):
            return self.raw_scores_encoded(self.encode(X))
        # Columns that occur in splits, in blocks of rows that are small when dense.
        n_rows = max(1, BLOCK_LEAVES // max(1, self.used_features.size))
        few = self.taken(self.used_features)
        blocks = blocks_of(self.features, X, self.used_features.tolist(), n_rows)
        return np.concatenate([few.raw_scores(block) for block in blocks])

    def raw_scores_encoded(self, encoded: np.ndarray) -> np.ndarray:
        """As :meth:`raw_scores`, for rows from :meth:`encode`."""
        combine: Callable[[np.ndarray], np.ndarray] = self._sum
        n_rows = max(1, BLOCK_LEAVES // max(1, self.n_trees))
        if self.aggregation == "weighted_median":
            combine = self._weighted_median
        # With fewer rows than nodes per tree, preparing ranks does not pay.
        elif (
            "_ranked" in vars(self) or len(encoded) * self.n_trees >= self.n_nodes
        ) and self._ranked is not None:
            combine, n_rows = partial(self._sum, ranked=self._ranked), BLOCK_ROWS
        raw = np.empty((len(encoded), self.n_outputs))
        for start in range(0, len(encoded), n_rows):
            rows = slice(start, start + n_rows)
            raw[rows] = combine(encoded[rows])
        return raw

    def _response(self, raw: np.ndarray) -> np.ndarray:
        # Exact: scores that were summed in float32 are float32 numbers.
        return response(raw.astype(self.sum_dtype), self.link, self.link_scale)

    def _sum(self, encoded: np.ndarray, ranked: Ranked | None = None) -> np.ndarray:
        # Tree by tree, as the libraries sum: the same rounding.
        base, value = self._summands
        raw = np.tile(base, (len(encoded), 1))
        if ranked is None:
            leaves = self.find_leaves(encoded)
            _kernels.add_leaves(leaves, value, self.output, raw)
        else:
            nodes, _ = self._ways_down
            _kernels.add_scores(encoded, nodes, *ranked, self.output, raw)
        return raw / self.divisor * self.scale + self.offset.astype(raw.dtype)

    @cached_property
    def _summands(self) -> tuple[np.ndarray, np.ndarray]:
        """Base score and values in the type of the sum."""
        with np.errstate(over="ignore"):
            return (
                self.base_score.astype(self.sum_dtype, copy=False),
                self.value.astype(self.sum_dtype, copy=False),
            )

    @cached_property
    def _ranked(self) -> Ranked | None:
        found = ranked(self, self._ways_down[1]) if self.n_trees else None
        if found is None:
            return None
        ranking, trees, order = found
        return ranking, trees, self._summands[1][order]

    def _weighted_median(self, encoded: np.ndarray) -> np.ndarray:
        predicted = self.value[self.find_leaves(encoded), 0].T
        order = np.argsort(predicted, axis=1)
        weight = np.cumsum(self.tree_weight[order], axis=1)
        middle = np.argmax(weight >= 0.5 * weight[:, -1:], axis=1)[:, None]
        return np.take_along_axis(
            predicted, np.take_along_axis(order, middle, axis=1), axis=1
        )


def _check_outputs(e: TreeEnsemble) -> None:
    last = e.output.astype(np.int64) + e.value.shape[1]
    wrong = np.flatnonzero((e.output < 0) | (last > e.n_outputs))
    if wrong.size:
        t = wrong[0]
        expected = f"a first output that leaves room in {e.n_outputs} output(s)"
        refuse_damaged(f"output of tree {t}", str(e.output[t]), expected)
    for name in ("base_score", "offset"):
        found = getattr(e, name)
        if found.shape != (e.n_outputs,) or not np.isfinite(found).all():
            refuse_damaged(name, str(found), "one finite number per output")
    if not (np.isfinite(e.divisor) and e.divisor > 0):
        refuse_damaged("divisor", str(e.divisor), "a positive number")
    for name in ("scale", "link_scale"):
        if not np.isfinite(getattr(e, name)):
            refuse_damaged(name, str(getattr(e, name)), "a finite number")
    if e.aggregation not in ("sum", "weighted_median"):
        refuse_damaged("aggregation", repr(e.aggregation), "'sum' or 'weighted_median'")
    if e.tree_weight.size != (e.n_trees if e.aggregation == "weighted_median" else 0):
        refuse_damaged(
            "tree_weight", f"{e.tree_weight.size} weights", "one per tree for a median"
        )
    _check_link(e)


def _check_link(e: TreeEnsemble) -> None:
    if e.link not in LINKS:
        refuse_damaged("link", repr(e.link), f"one of {LINKS}")
    if e.task == "regression":
        if e.classes is not None or e.n_outputs != 1 or e.link not in REGRESSION_LINKS:
            found = f"{e.n_outputs} output(s), link {e.link!r}, classes {e.classes}"
            refuse_damaged(
                "task", found, "one output, no classes and a regression link"
            )
    elif e.task == "classification":
        n = 2 if e.link == "logistic" else e.n_outputs
        if e.classes is None or len(e.classes) != n or e.link in REGRESSION_LINKS:
            found = f"classes {e.classes}, link {e.link!r}"
            refuse_damaged("task", found, f"{n} classes and a classification link")
    else:
        refuse_damaged("task", repr(e.task), "'regression' or 'classification'")
