"""The scikit-learn face of one meta-tree."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import Interval, StrOptions
from clearwood._numeric import as_generator
from clearwood.conjugate.models import LeafModel
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError
from clearwood.metatree._documentation import ATTRIBUTES, PARAMETERS, REFERENCES
from clearwood.metatree.baking.baking import (
    as_ensemble,
    node_values,
    questions_with_values,
)
from clearwood.metatree.baking.sklearn_trees import ensemble_to_sklearn
from clearwood.metatree.base import (
    LearnsClasses,
    LearnsValues,
    OneMetaTree,
    check_finite,
    columns_of_leaf,
    make_prior,
    with_names,
)
from clearwood.metatree.defaults import make_leaf
from clearwood.metatree.exact.sum import exact_sum
from clearwood.metatree.exact.trees import map_tree, structure_of
from clearwood.metatree.growing.cart import (
    count_values,
    features_of,
    grow_ensemble,
    stop_unseen,
)
from clearwood.metatree.growing.from_ensemble import (
    from_ensemble_tree,
    from_sklearn_tree,
)
from clearwood.metatree.growing.missing import (
    branch_for_missing,
    send_missing_by_evidence,
)
from clearwood.metatree.growing.searched import effective_questions
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.structure import Structure

EXACT_DEPTH = 4
"""Most questions in a row of ``structure="exact"`` where ``max_depth`` is None."""


class _MetaTree(OneMetaTree):
    """What classifier and regressor share."""

    _parameter_constraints: dict[str, Any] = {
        "structure": "no_validation",
        "prior": "no_validation",
        "g": "no_validation",
        "leaf": "no_validation",
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
        g: Any = 0.5,
        leaf: Any = "auto",
        missing: str = "evidence",
        max_depth: int | None = None,
        min_samples_leaf: float = 1,
        max_leaf_nodes: int | None = None,
        max_features: Any = None,
        random_state: Any = None,
    ) -> None:
        self.structure = structure
        self.prior = prior
        self.g = g
        self.leaf = leaf
        self.missing = missing
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.max_leaf_nodes = max_leaf_nodes
        self.max_features = max_features
        self.random_state = random_state

    _tree_class: Any

    def _start(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        leaf = make_leaf(self.leaf, getattr(self, "classes_", None), target, weight)
        if isinstance(self.structure, str) and self.structure == "cart":
            self.meta_tree_ = self._grow(X, target, weight, leaf)
        elif isinstance(self.structure, str) and self.structure == "exact":
            self.meta_tree_ = self._find_best(X, target, weight, leaf)
        else:
            self.meta_tree_ = self._take(X, leaf)
        self.leaf_ = leaf

    def _grow(
        self, X: Any, target: np.ndarray, weight: np.ndarray, leaf: LeafModel
    ) -> MetaTree:
        """A CART; where missing values go is learned from the rows as well."""
        features = features_of(X, weight > 0)
        encoded = features.encode(X)
        check_finite(encoded, features.names)
        model = self._tree_class(
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            max_features=self.max_features,
            # The least weight, so that a row of weight 2 is as good as two rows.
            min_weight_fraction_leaf=min(
                0.5, self.min_samples_leaf * (1 - 1e-9) / weight.sum()
            ),
            random_state=int(as_generator(self.random_state).integers(2**31)),
        )
        ensemble = grow_ensemble(encoded, features, target, weight, model)
        structure = stop_unseen(from_ensemble_tree(ensemble))
        codes = structure.encode(X)
        if self.missing == "branch":
            structure = branch_for_missing(structure, codes)

        def count() -> np.ndarray:
            ends = structure.route(codes)
            return effective_questions(structure, encoded, ends, model.max_features_)

        g = make_prior(self.prior, self.g, structure, True, count)
        if self.missing == "evidence":
            structure = send_missing_by_evidence(
                structure, leaf, g, codes, target, weight,
                columns_of_leaf(leaf, features, X),
            )  # fmt: skip
        return MetaTree(structure, leaf, g)

    def _find_best(
        self, X: Any, target: np.ndarray, weight: np.ndarray, leaf: LeafModel
    ) -> MetaTree:
        """The most probable of all trees on features with few values."""
        features = features_of(X, weight > 0)
        encoded = features.encode(X)
        n_values = count_values(encoded, features)
        result = exact_sum(
            encoded.astype(np.int64),
            target,
            leaf,
            max_depth=EXACT_DEPTH if self.max_depth is None else self.max_depth,
            g=self.g,
            n_values=n_values,
            sample_weight=weight,
            x=columns_of_leaf(leaf, features, X),
        )
        structure = structure_of(
            map_tree(result).questions, n_values, features=features
        )
        # A path chooses among the features that it has not asked about.
        left = np.maximum(features.n_features - structure.depth, 1)
        g = make_prior(self.prior, self.g, structure, True, lambda: left)
        return MetaTree(structure, leaf, g)

    def _take(self, X: Any, leaf: LeafModel) -> MetaTree:
        """A structure that is there already."""
        structure, searched, tried = self.structure, False, None
        if isinstance(structure, str):
            raise InputError(
                f"structure is {structure!r}; expected 'cart', 'exact', a Structure or "
                "a fitted tree."
            )
        if not isinstance(structure, Structure):
            searched, tried = True, getattr(structure, "max_features_", None)
            structure = from_sklearn_tree(structure)
        structure = with_names(structure, X)

        def count() -> np.ndarray:
            encoded = structure.coder.features.encode(X)
            ends = structure.route(structure.encode(X))
            return effective_questions(structure, encoded, ends, tried)

        g = make_prior(self.prior, self.g, structure, searched, count)
        return MetaTree(structure, leaf, g)

    def bake(self) -> TreeEnsemble:
        """The averaged prediction written into the leaves of one tree.

        Returns
        -------
        TreeEnsemble
            Predicts as this estimator does, at the cost of one way down the tree, and
            is small: it knows nothing of the posterior.
        """
        check_is_fitted(self)
        tree = self.meta_tree_
        questions = questions_with_values(tree.structure, node_values(tree))
        return as_ensemble(
            questions,
            features=tree.structure.coder.features,
            classes=getattr(self, "classes_", None),
            source=f"clearwood.{type(self).__name__}",
        )

    def to_sklearn(self) -> Any:
        """The baked tree as a decision tree of scikit-learn.

        It predicts the same for all finite numbers, and for missing values.

        Returns
        -------
        DecisionTreeClassifier or DecisionTreeRegressor

        Raises
        ------
        InputError
            Where no tree of scikit-learn says the same: it has no categories, and
            casts numbers to float32 before it compares them.
        """
        return ensemble_to_sklearn(self.bake(), forest=False)


class MetaTreeClassifier(LearnsClasses, _MetaTree):  # noqa: D101
    __doc__ = f"""A tree that averages all its prunings by their posterior probability.

    {PARAMETERS}{ATTRIBUTES}
    classes_ : ndarray
        Class labels.
    {REFERENCES}
    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = MetaTreeClassifier(random_state=0).fit(X, y)
    >>> tree.score(X, y) > 0.95
    True
    """

    _tree_class = DecisionTreeClassifier

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probability of every class, averaged over all prunings.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
        """
        return self._predictive(X).probabilities()


class MetaTreeRegressor(LearnsValues, _MetaTree):  # noqa: D101
    __doc__ = f"""A tree that averages all its prunings by their posterior probability.

    {PARAMETERS}{ATTRIBUTES}{REFERENCES}
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

    def predict(self, X: Any) -> np.ndarray:
        """Mean of the predictive distribution.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return self._predictive(X).mean()
