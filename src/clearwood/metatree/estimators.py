"""Scikit-learn estimators of a single meta-tree."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions
from clearwood._numeric import as_generator
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.schema import features_of
from clearwood.columns.some_rows import map_rows
from clearwood.distributions import LeafModel
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError
from clearwood.metatree.base import (
    BaseMetaTreeEstimator,
    CodedRows,
    MetaTreeClassifierMixin,
    MetaTreeRegressorMixin,
    check_mergeable,
    columns_of_leaf,
    encoded_for,
    rows_for,
    warn_of_far_columns,
)
from clearwood.metatree.conversion.ensembles import (
    as_ensemble,
    binary_splits,
    node_values,
)
from clearwood.metatree.conversion.sklearn_trees import ensemble_to_sklearn
from clearwood.metatree.defaults import LENT, make_leaf
from clearwood.metatree.exact.sum import exact_sum
from clearwood.metatree.exact.trees import map_tree, structure_of
from clearwood.metatree.growing.from_ensemble import from_sklearn_tree
from clearwood.metatree.growing.grown import (
    POWERS,
    GrowingRows,
    Grown,
    Setting,
    choose_setting,
    folds_of,
    grow_tree,
)
from clearwood.metatree.posterior.coder import count_values
from clearwood.metatree.posterior.meta_tree import MetaTree, SufficientStatistics
from clearwood.metatree.posterior.predictive import Predictive
from clearwood.metatree.posterior.prior import (
    check_prior,
    effective_questions,
    make_prior,
)
from clearwood.metatree.posterior.structure import (
    Structure,
    with_features,
    with_more_rows,
)
from clearwood.metatree.reading.read_tree import MapTreeMixin

EXACT_DEPTH = 4
"""Depth of ``structure="exact"`` where ``max_depth`` is None."""


class _MetaTree(MapTreeMixin, BaseMetaTreeEstimator):
    _parameter_constraints: dict[str, Any] = {
        "structure": "no_validation",
        "prior": "no_validation",
        "split_prior": "no_validation",
        "leaf_model": "no_validation",
        "missing": [StrOptions({"evidence", "branch"})],
        "max_depth": [None, Interval(Integral, 1, None, closed="left")],
        "min_samples_leaf": [Interval(Real, 0, None, closed="neither")],
        "max_leaf_nodes": [None, Interval(Integral, 2, None, closed="left")],
        "max_features": "no_validation",
        "random_state": "no_validation",
    }

    def __init__(
        self,
        structure: Any = "cart",
        *,
        prior: Any = "auto",
        split_prior: Any = 0.5,
        leaf_model: Any = "auto",
        missing: str = "evidence",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.prior = prior
        self.split_prior = split_prior
        self.leaf_model = leaf_model
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.random_state = random_state

    _tree_class: Any
    meta_tree_: MetaTree
    leaf_model_: LeafModel

    # Fitting

    def _start(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        # The sum over all trees, and a given tree, keep to the paper's prior; how many
        # rows are lent in a tree that is grown here is chosen in `_grow`.
        fitted = not isinstance(self.structure, Structure | str)
        leaf = make_leaf(
            self.leaf_model, getattr(self, "classes_", None), target, weight,
            lent=LENT if fitted else 0.0,
        )  # fmt: skip
        if isinstance(self.structure, str):
            make = {"cart": self._grow, "exact": self._find_best}.get(self.structure)
            if make is None:
                raise InputError(
                    f"structure is {self.structure!r}; expected 'cart', 'exact', a "
                    "Structure or a fitted tree."
                )
            features = features_of(X, weight > 0)
            encoded = features.encode(X)
            features = features.with_kinds(encoded, X)
            tree, rows = make(features, encoded, target, weight, leaf)
        else:
            tree, rows = self._take(X, leaf)
        if rows.x is not None:
            warn_of_far_columns(rows.x, tree.structure.coder.features.names)
        tree.update(rows.codes, target, weight, rows.x)
        self.meta_tree_, self.leaf_model_ = tree, tree.model

    def _grow(
        self,
        features: FeatureSpace,
        encoded: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray,
        leaf: LeafModel,
    ) -> tuple[MetaTree, CodedRows]:
        """Grow a CART; its priors are chosen by cross-validation if not given."""
        check_prior(self.prior)
        generator = as_generator(self.random_state)
        seed = int(generator.integers(2**31))
        powers = {"constant": (0,), "search-corrected": (1,)}.get(self.prior, POWERS)
        x = columns_of_leaf(leaf, features, encoded)
        rows = GrowingRows(encoded, target, weight, x)
        # The least weight, so that a row of weight 2 equals two rows.
        least = self.min_samples_leaf * (1 - 1e-9)

        def grow(leaf: LeafModel, power: int, some: GrowingRows) -> Grown:
            model = self._tree_class(
                max_depth=self.max_depth,
                max_leaf_nodes=self.max_leaf_nodes,
                max_features=self.max_features,
                min_weight_fraction_leaf=min(0.5, least / some.weight.sum()),
                random_state=seed,
            )
            return grow_tree(
                some, features, getattr(self, "classes_", None), model,
                self.missing, self.split_prior, leaf, power,
            )  # fmt: skip

        setting = Setting(powers[0], leaf.lent)
        if isinstance(self.leaf_model, str):
            fold = folds_of(encoded, target, generator)
            setting = choose_setting(
                partial(grow, leaf, powers[0]), leaf, powers, rows, fold
            )
            leaf = replace(leaf, lent=setting.lent)  # type: ignore[type-var]
        structure, prior = grow(leaf, setting.power, rows)
        tree = MetaTree(structure, leaf, prior(setting.power))
        return tree, rows_for(structure, leaf, encoded)

    def _find_best(
        self,
        features: FeatureSpace,
        encoded: np.ndarray,
        target: np.ndarray,
        weight: np.ndarray,
        leaf: LeafModel,
    ) -> tuple[MetaTree, CodedRows]:
        """Most probable of all trees on features with few values."""
        n_values = count_values(encoded, features)
        result = exact_sum(
            encoded.astype(np.int64),
            target,
            leaf,
            max_depth=EXACT_DEPTH if self.max_depth is None else self.max_depth,
            g=self.split_prior,
            n_values=n_values,
            sample_weight=weight,
            x=columns_of_leaf(leaf, features, encoded),
        )
        structure = structure_of(
            map_tree(result).questions, n_values, features=features
        )
        # A path chooses among the features that it has not split on.
        left = np.maximum(features.n_features - structure.depth, 1)
        g = make_prior(self.prior, self.split_prior, structure, True, lambda: left)
        return MetaTree(structure, leaf, g), rows_for(structure, leaf, encoded)

    def _take(self, X: Any, leaf: LeafModel) -> tuple[MetaTree, CodedRows]:
        """Use an existing structure."""
        structure, searched, tried = self.structure, False, None
        if not isinstance(structure, Structure):
            searched, tried = True, getattr(structure, "max_features_", None)
            structure = from_sklearn_tree(structure)
        structure = with_features(structure, structure.coder.features.as_in(X))
        encoded = encoded_for(structure, leaf, X)
        rows = rows_for(structure, leaf, encoded)

        def count() -> np.ndarray:
            ends = structure.route(rows.codes)
            return effective_questions(structure, encoded, ends, tried)

        g = make_prior(self.prior, self.split_prior, structure, searched, count)
        return MetaTree(structure, leaf, g), rows

    def _rows(self, X: Any) -> CodedRows:
        tree = self.meta_tree_
        encoded = encoded_for(tree.structure, tree.model, X)
        return rows_for(tree.structure, tree.model, encoded)

    def _learn(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        self._learn_rows(self.meta_tree_, X, target, weight)

    def _statistics(
        self, X: Any, target: np.ndarray, weight: np.ndarray
    ) -> SufficientStatistics:
        tree = self.meta_tree_.without_rows()
        self._learn_rows(tree, X, target, weight)
        return SufficientStatistics(tree.own, tree.rows, tree.structure.coder.features)

    def _add(self, parts: Iterable[SufficientStatistics], anew: bool) -> None:
        tree = self.meta_tree_.without_rows() if anew else copy(self.meta_tree_)
        for part in parts:
            tree.add(part)
        self.meta_tree_ = tree

    def __copy__(self) -> Any:
        """Copy that learns independently."""
        found: Any = object.__new__(type(self))
        found.__dict__.update(self.__dict__)
        if self._is_fitted():
            found.meta_tree_ = copy(self.meta_tree_)
        return found

    @staticmethod
    def _learn_rows(
        tree: MetaTree, X: Any, target: np.ndarray, weight: np.ndarray
    ) -> None:
        encoded = encoded_for(tree.structure, tree.model, X, whole=True)
        codes, x = rows_for(tree.structure, tree.model, encoded)
        # The kinds of numeric columns (whole, binary) reflect these rows too.
        structure = with_more_rows(tree.structure, encoded)
        ends = tree.structure.route(codes)
        tree.update_at(ends, target, weight, x, structure=structure)

    def _forget(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        rows = self._rows(X)
        self.meta_tree_.unlearn(rows.codes, target, weight, rows.x)

    def merge(self, other: Any) -> Any:
        """Add what another estimator has learned from other rows.

        Parameters
        ----------
        other : estimator of the same class
            Fitted to other rows with the same structure, leaf and prior, that is with
            this estimator's ``structure_`` and ``leaf_model_``, and
            ``prior="constant"`` with ``split_prior=meta_tree_.g``.

        Returns
        -------
        self
        """
        check_mergeable(self, other)
        self.meta_tree_.merge(other.meta_tree_)
        return self

    # Inspection and prediction

    @property
    def structure_(self) -> Structure:
        """The tree whose prunings are averaged."""
        return self._fitted_tree().structure

    @property
    def log_evidence_(self) -> float:
        """Log probability of all learned targets, given their rows."""
        return self._fitted_tree().log_evidence

    @property
    def inclusion_probability_(self) -> np.ndarray:
        """Posterior probability that the tree splits on each feature."""
        return self._fitted_tree().posterior().feature_used

    def _fitted_tree(self) -> MetaTree:
        # As for an attribute that is missing before the fit.
        if "meta_tree_" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return self.meta_tree_

    def _map_rows(
        self, X: Any, function: Callable[[CodedRows], np.ndarray]
    ) -> np.ndarray:
        """Predictions of the rows, in blocks."""
        X = self._check_queries(X)
        tree = self.meta_tree_
        if tree.model.reads_features:
            return function(self._rows(X))
        return map_rows(
            tree.structure.coder.features,
            X,
            lambda encoded: function(rows_for(tree.structure, tree.model, encoded)),
            tree.structure.used_features,
        )

    def _distributions(self, X: Any) -> Iterator[tuple[slice, Predictive]]:
        rows = self._rows(self._check_queries(X))
        yield slice(None), self.meta_tree_.predictive(rows.codes, rows.x)

    def to_ensemble(self) -> TreeEnsemble:
        """Write the averaged predictions into the leaves of one tree.

        Returns
        -------
        TreeEnsemble
            Predicts as this estimator does, at the cost of one pass down the tree, and
            is small: it holds no posterior.
        """
        check_is_fitted(self)
        tree = self.meta_tree_
        questions = binary_splits(tree.structure, node_values(tree.posterior()))
        return as_ensemble(
            questions,
            features=tree.structure.coder.features,
            classes=getattr(self, "classes_", None),
            source=f"clearwood.{type(self).__name__}",
        )

    def to_sklearn(self) -> Any:
        """Convert to a decision tree of scikit-learn, with averaged predictions.

        Its predictions are the same for all finite numbers, and for missing values.

        Returns
        -------
        DecisionTreeClassifier or DecisionTreeRegressor

        Raises
        ------
        InputError
            No tree of scikit-learn predicts the same: it has no categorical splits, and
            casts numbers to float32 before it compares them.
        """
        return ensemble_to_sklearn(self.to_ensemble(), forest=False)


class MetaTreeClassifier(MetaTreeClassifierMixin, _MetaTree):
    """Decision tree that averages over all its prunings by posterior probability.

    Parameters
    ----------
    structure : "cart", "exact", Structure, fitted tree or TreeEnsemble, default="cart"
        The splits. ``"cart"`` is grown by scikit-learn on the same rows, and does not
        depend on units. ``"exact"`` is, for features of few values (labels, or integers
        from 0 on), the most probable of all trees up to ``max_depth`` (4 if None); to
        average over all of them, see ``metatree.exact_sum``. A fitted tree, or an
        ensemble of one tree, is used as it is.
    prior : {"auto", "constant", "search-corrected"}, default="auto"
        Prior of the prunings. ``"constant"``: a tree splits with probability
        ``split_prior`` at every node. ``"search-corrected"``: as this, but the weight
        of a split is divided by the effective number of candidates among which a search
        on the same rows chose it: the number of features that vary at the node (at most
        ``max_features``), times the square root of the number of possible splits on the
        feature in the rows of the first fit: its distinct values less one, or ``2 ** (k
        - 1) - 1`` sets of its ``k`` categories. ``"auto"`` corrects where the structure
        comes with a fitted model, which is assumed to have seen the same rows; in a
        tree that is grown here five-fold cross-validation chooses between both priors
        (unless a ``leaf_model`` is given: then it corrects).
    split_prior : float, callable or array-like, default=0.5
        Prior probability of a split: one number; a function of the depth of a node (0
        at the root), such as ``lambda depth: 0.9 / (1 + depth)``; or one per node, for
        a structure of your own.
    leaf_model : "auto" or LeafModel, default="auto"
        Predictive model of a leaf, with its prior. ``"auto"`` means, for classes, a
        Dirichlet prior with pseudo-counts of one over the number of classes; for
        numbers, a normal distribution with a prior mean at the mean of the target,
        worth a fifth of a row, and a prior mode of the variance at a tenth of the
        target's, with three degrees of freedom; where values repeat and all are
        multiples of a step, this rounding bounds the precision of leaves. The settings
        are derived from the rows of the first fit; see ``leaf_model_``. In a tree that
        is grown here a node also lends its children pseudo-rows, towards which leaves
        shrink; cross-validation chooses their number among 1, 4, 16 and 64, by the log
        density of held-out rows, and none, with few splits, where no number is better
        than that by more than a standard error. A fitted tree lends eight rows to
        classes, none to numbers. The prior of the paper is ``prior="constant"`` with
        ``leaf_model=CategoricalDirichlet.symmetric(n, 1 / n)`` for ``n`` classes.
    missing : {"evidence", "branch"}, default="evidence"
        Where missing values go in a tree that is grown here. ``"evidence"``: at every
        split to the side with which the rows are more probable; where no row was
        missing, to the side with more weight. ``"branch"``: to a leaf of their own
        wherever rows were missing; elsewhere they stop at the node, which predicts
        them. Unseen categories always stop.
    max_depth : int or None, default=None
        Maximum depth of a grown tree.
    min_samples_leaf : float, default=1
        Minimum weight of the rows in a leaf.
    max_leaf_nodes : int or None, default=None
        Maximum number of leaves.
    max_features : int, float, {"sqrt", "log2"} or None, default=None
        Features tried per split, all by default.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the search, for ties between equally good splits.

    Attributes
    ----------
    meta_tree_ : MetaTree
        Statistics of the learned rows, and the posterior.
    structure_ : Structure
        The tree whose prunings are averaged.
    leaf_model_ : LeafModel
        The leaf model with its hyperparameters.
    log_evidence_ : float
        Log probability of all learned targets, given their rows.
    inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability that the tree splits on each feature.
    map_tree_ : AnnotatedTree
        The most probable pruning, with the posterior probabilities of its nodes.
    rules_ : RuleSet
        The rules of ``map_tree_``; they predict by that tree, not by the average.
    classes_ : ndarray
        Class labels.

    References
    ----------
    Nakahara and Matsushima: Batch updating of a posterior tree distribution over a
    meta-tree (2023).

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = MetaTreeClassifier(random_state=0).fit(X, y)
    >>> tree.score(X, y) > 0.95
    True
    """

    _tree_class = DecisionTreeClassifier

    def _probabilities(self, X: Any) -> np.ndarray:
        return self._map_rows(X, self._shares)

    def _labels(self, X: Any) -> np.ndarray:
        return self._map_rows(
            X, lambda rows: self.classes_[self._shares(rows).argmax(axis=1)]
        )

    def _shares(self, rows: CodedRows) -> np.ndarray:
        return self.meta_tree_.probabilities(rows.codes)


class MetaTreeRegressor(MetaTreeRegressorMixin, _MetaTree):
    """Decision tree that averages over all its prunings, for regression.

    Parameters and attributes are those of :class:`MetaTreeClassifier`, without
    ``classes_``; ``leaf_model="auto"`` is a normal distribution. Besides means there
    are quantiles, intervals and densities.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> tree = MetaTreeRegressor(random_state=0).fit(X, y)
    >>> low, high = tree.predict_interval(X[:1], coverage=0.8)[0]
    >>> bool(low < tree.predict(X[:1])[0] < high)
    True
    """

    _tree_class = DecisionTreeRegressor

    def _means(self, X: Any) -> np.ndarray:
        return self._map_rows(
            X, lambda rows: self.meta_tree_.predictive(rows.codes, rows.x).mean()
        )
