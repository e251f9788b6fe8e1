"""Scikit-learn estimators of forests of meta-trees."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from copy import deepcopy
from functools import cache
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import StrOptions
from clearwood._numeric import as_generator, map_blocks, product
from clearwood._warned_once import users_level
from clearwood.columns.feature_space import is_frame
from clearwood.columns.schema import features_of
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.read import needs_fit, read_trees
from clearwood.exceptions import CollapsedWeightsWarning
from clearwood.metatree.base import (
    BaseMetaTreeEstimator,
    MetaTreeClassifierMixin,
    MetaTreeRegressorMixin,
    check_mergeable,
)
from clearwood.metatree.conversion.ensembles import forest_to_ensemble
from clearwood.metatree.conversion.sklearn_trees import ensemble_to_sklearn
from clearwood.metatree.defaults import make_leaf
from clearwood.metatree.growing.cart import grow_ensemble, splits_by_order
from clearwood.metatree.posterior.forest import MetaForest
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.posterior import tree_weights
from clearwood.metatree.posterior.predictive import Predictive
from clearwood.metatree.posterior.prior import make_prior, n_searchable

COLLAPSED = 0.5
"""Least ratio of effective to actual number of trees; below, weights have collapsed."""


class _MetaForest(BaseMetaTreeEstimator):
    _parameter_constraints: dict[str, Any] = {
        "estimator": "no_validation",
        "weights": [StrOptions({"uniform", "evidence"})],
        "prior": "no_validation",
        "split_prior": "no_validation",
        "leaf_model": "no_validation",
        "n_jobs": [None, Integral],
        "random_state": "no_validation",
    }

    def __init__(
        self,
        estimator: Any = None,
        *,
        weights: str = "uniform",
        prior: str = "auto",
        split_prior: Any = 0.5,
        leaf_model: Any = "auto",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.weights = weights
        self.prior = prior
        self.split_prior = split_prior
        self.leaf_model = leaf_model
        self.n_jobs = n_jobs
        self.random_state = random_state

    _default: Any
    _forest: MetaForest

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if hasattr(self.estimator, "__sklearn_tags__"):
            inner = get_tags(self.estimator)
            tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags

    # Fitting

    def _start(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        classes = getattr(self, "classes_", None)
        leaf = make_leaf(self.leaf_model, classes, target, weight, forest=True)
        if needs_fit(self.estimator):
            model, ensemble = self._fit_estimator(X, target, weight)
        else:
            model, ensemble = self.estimator, _read(self.estimator, X)

        @cache
        def count() -> int:
            return n_searchable(ensemble.encode(X), _max_features(model))

        forest = MetaForest(
            ensemble,
            leaf,
            # "auto" is the constant prior here: averaging trees smooths already, and
            # trees pruned by the corrected prior predict worse on real data.
            lambda structure: make_prior(
                self.prior, self.split_prior, structure, False, count
            ),
            self.n_jobs,
        )
        self.estimator_, self.leaf_model_ = model, leaf
        self._put(forest.with_rows(X, target, weight, self.n_jobs))

    def _fit_estimator(
        self, X: Any, target: np.ndarray, weight: np.ndarray
    ) -> tuple[Any, TreeEnsemble]:
        model = deepcopy(self.estimator)
        if model is None:
            seed = int(as_generator(self.random_state).integers(2**31))
            model = self._default(n_jobs=self.n_jobs, random_state=seed)
        classes = getattr(self, "classes_", None)
        by_sklearn = type(model).__module__.startswith("sklearn.")
        features = features_of(X, weight > 0)
        with_labels = any(labels is not None for labels in features.categories)
        if splits_by_order(model) or (by_sklearn and with_labels):
            encoded = features.encode(X)
            return model, grow_ensemble(
                encoded, features, target, weight, model, classes
            )
        y = target if classes is None else classes[target]
        plain = bool((weight == 1).all())
        model.fit(X, y, **({} if plain else {"sample_weight": weight}))
        return model, _read(model, X)

    def _learn(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        self._put(self._forest.with_rows(X, target, weight, self.n_jobs))

    def _statistics(self, X: Any, target: np.ndarray, weight: np.ndarray) -> np.ndarray:
        return self._forest.statistics(X, target, weight, self.n_jobs)

    def _add(self, parts: Iterable[np.ndarray], anew: bool) -> None:
        self._put(self._forest.with_statistics(parts, anew))

    def _forget(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        self._put(self._forest.without_rows(X, target, weight))

    def _put(self, forest: MetaForest) -> None:
        """Replace the forest, with everything derived from it."""
        posteriors = forest.posteriors(self.n_jobs)
        weight = np.full(len(posteriors), 1.0 / len(posteriors))
        if self.weights == "evidence":
            weight = tree_weights([posterior.log_q[0] for posterior in posteriors])
            _warn_of_collapse(weight)
        forest.tree_weight = weight
        # In one step, so that an interrupt leaves the old or the new.
        self._forest = forest

    def merge(self, other: Any) -> Any:
        """Add what another estimator has learned from other rows.

        Parameters
        ----------
        other : estimator of the same class
            For example a copy of this one that was updated with other rows.

        Returns
        -------
        self
        """
        check_mergeable(self, other)
        self._put(self._forest.with_shard(other._forest))
        return self

    # Inspection and prediction

    def _distributions(self, X: Any) -> Iterator[tuple[slice, Predictive]]:
        return self._forest.mixtures(self._check_queries(X), self.tree_weights_)

    def _predict_ensemble(self, X: Any) -> np.ndarray:
        """Class probabilities or means, from the columns that the forest splits on."""
        X, baked = self._check_queries(X), self.to_ensemble()
        rows = baked.encode(X, whole=False)
        return map_blocks(lambda at: baked.answers_encoded(rows[at]), len(rows))

    @property
    def meta_trees_(self) -> list[MetaTree]:
        """One meta-tree per tree of the forest, as independent copies."""
        return self._fitted_forest().trees

    @property
    def ensemble_(self) -> TreeEnsemble:
        """The forest whose trees are averaged over their prunings."""
        return self._fitted_forest().ensemble

    @property
    def tree_weights_(self) -> np.ndarray:
        """Weight of each tree in predictions."""
        return self._fitted_forest().tree_weight

    @property
    def log_evidence_(self) -> np.ndarray:
        """Log probability of all learned targets under each tree, given their rows."""
        return np.array([p.log_evidence for p in self._fitted_forest().posteriors()])

    @property
    def inclusion_probability_(self) -> np.ndarray:
        """Mean posterior probability over trees of a split on each feature."""
        posteriors = self._fitted_forest().posteriors()
        return product(
            self.tree_weights_, np.array([p.feature_used for p in posteriors])
        )

    def _fitted_forest(self) -> MetaForest:
        # As for an attribute that is missing before the fit.
        if "_forest" not in vars(self):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return self._forest

    def to_ensemble(self) -> TreeEnsemble:
        """Write the averaged predictions into the leaves of the forest.

        Returns
        -------
        TreeEnsemble
            Predicts as this estimator does, and holds no posterior.
        """
        check_is_fitted(self)
        forest = self._forest
        if forest.baked is None:
            forest.baked = forest_to_ensemble(
                forest,
                None if self.weights == "uniform" else self.tree_weights_,
                self.n_jobs,
                classes=getattr(self, "classes_", None),
                source=f"clearwood.{type(self).__name__}",
            )
        return forest.baked

    def to_sklearn(self) -> Any:
        """Convert to a random forest of scikit-learn, with averaged predictions.

        Its predictions are the same for all finite numbers. With ``weights="evidence"``
        the values of its trees include the weights, so that only their mean is a
        prediction.

        Returns
        -------
        RandomForestClassifier or RandomForestRegressor

        Raises
        ------
        InputError
            No forest of scikit-learn predicts the same: it has no categorical splits,
            and casts numbers to float32 before it compares them.
        """
        return ensemble_to_sklearn(self.to_ensemble(), forest=True)


def _read(model: Any, X: Any) -> TreeEnsemble:
    """Trees of the model, with the column names of the table."""
    ensemble = read_trees(model)
    # An array has no names; and replacing anything validates all nodes.
    return ensemble.as_in(X) if is_frame(X) else ensemble


def _max_features(model: Any) -> int | None:
    """Features tried per split, if the trees record it."""
    trees = np.ravel(np.asarray(getattr(model, "estimators_", []), dtype=object))
    return getattr(trees[0], "max_features_", None) if trees.size else None


def _warn_of_collapse(weight: np.ndarray) -> None:
    in_effect = 1.0 / (weight**2).sum()
    if in_effect < COLLAPSED * len(weight):
        warnings.warn(
            f"Weights by evidence give an effective number of {in_effect:.1f} of "
            f"{len(weight)} trees. Evidence on the training rows of the trees favours "
            "those that overfit, which usually predict worse than the average of all; "
            "set weights='uniform'.",
            CollapsedWeightsWarning,
            stacklevel=users_level(),
        )


class MetaForestClassifier(MetaTreeClassifierMixin, _MetaForest):
    """Forest each of whose trees averages over all its prunings.

    Parameters
    ----------
    estimator : estimator, TreeEnsemble, path or None, default=None
        The model whose trees are averaged over their prunings; its own leaf values are
        not used. A fitted one is used as it is and never refitted (wrap it in
        ``sklearn.frozen.FrozenEstimator`` where it must survive ``clone``); an unfitted
        one is fitted on ``X, y``, a random forest independently of units; None means a
        random forest of scikit-learn. Every tree learns all rows of ``fit``.
    weights : {"uniform", "evidence"}, default="uniform"
        Weights of the trees: equal, or by posterior probability. On the rows that grew
        the trees the latter usually leaves one to three trees and predicts worse; a
        warning is issued then.
    prior : {"auto", "constant", "search-corrected"}, default="auto"
        Prior of the prunings. ``"constant"``: a tree splits with probability
        ``split_prior`` at every node. ``"search-corrected"``: as this, but the weight
        of a split is divided by the number of features among which a search on the same
        rows chose: the columns that vary (at most ``max_features``). ``"auto"`` is
        constant: averaging over trees smooths already, and on real data trees pruned by
        the other prior predict worse together.
    split_prior : float or callable, default=0.5
        Prior probability of a split: one number, or a function of the depth of a node
        (0 at the root).
    leaf_model : "auto" or LeafModel, default="auto"
        Predictive model of a leaf, with its prior. ``"auto"`` means, for classes, a
        Dirichlet prior with pseudo-counts of one over the number of classes; for
        numbers, a normal distribution with a prior mean at the mean of the target,
        worth a fifth of a row, and a prior mode of the variance at a hundredth of the
        target's, with three degrees of freedom. The settings are derived from the rows
        of the first fit; see ``leaf_model_``.
    n_jobs : int or None, default=None
        Number of threads; results do not depend on it.
    random_state : int, Generator, RandomState or None, default=None
        Seed of the default forest.

    Attributes
    ----------
    meta_trees_ : list of MetaTree
        One per tree.
    ensemble_ : TreeEnsemble
        The forest.
    estimator_ : estimator
        The model that was fitted or passed. Where there are categorical columns, one
        fitted here was trained on ranks in place of categories.
    leaf_model_ : LeafModel
        The leaf model with its hyperparameters.
    log_evidence_ : ndarray of shape (n_trees,)
        Log probability of all learned targets under each tree.
    tree_weights_ : ndarray of shape (n_trees,)
        Weight of each tree in predictions.
    inclusion_probability_ : ndarray of shape (n_features,)
        Posterior probability of a split on each feature, weighted mean over trees.
    classes_ : ndarray
        Class labels.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> averaged = MetaForestClassifier(forest).fit(X, y)
    >>> averaged.score(X, y) > 0.95
    True
    """

    _default = RandomForestClassifier

    def _find_classes(self, y: np.ndarray, classes: Any) -> None:
        # A fitted forest may have classes that are absent from these rows.
        known = None if classes is not None else getattr(self.estimator, "classes_", [])
        if known is not None and len(known) and np.isin(y, known).all():
            classes = known
        super()._find_classes(y, classes)

    def _probabilities(self, X: Any) -> np.ndarray:
        return self._predict_ensemble(X)


class MetaForestRegressor(MetaTreeRegressorMixin, _MetaForest):
    """Forest each of whose trees averages over all its prunings, for regression.

    Parameters and attributes are those of :class:`MetaForestClassifier`, without
    ``classes_``. ``leaf_model="auto"`` is a normal distribution; besides means there
    are quantiles, intervals and densities of the whole predictive distribution.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import RandomForestRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> forest = RandomForestRegressor(n_estimators=20, random_state=0).fit(X, y)
    >>> averaged = MetaForestRegressor(forest).fit(X, y)
    >>> low, high = averaged.predict_interval(X[:1], coverage=0.8)[0]
    >>> bool(low < averaged.predict(X[:1])[0] < high)
    True
    """

    _default = RandomForestRegressor

    def _means(self, X: Any) -> np.ndarray:
        return self._predict_ensemble(X)
