"""Readers of scikit-learn's fitted trees, forests, bagging and boosting.

Each reader converts one family of estimators into a ``TreeEnsemble``. They use public
attributes where there are any; comments mark private ones.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.ensembles.read import read_trees
from clearwood.ensembles.sklearn import hist as sklearn_hist
from clearwood.ensembles.sklearn.pipeline import carry_back
from clearwood.ensembles.sklearn.which_class import is_a, kind_of, public_name
from clearwood.ensembles.statistics import objective_of
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError


def read(model: Any) -> TreeEnsemble:
    """Read a fitted scikit-learn estimator.

    Parameters
    ----------
    model : estimator
        One of ``READERS``, or a subclass of one; also in a ``FrozenEstimator``, a
        search or a ``Pipeline``.

    Returns
    -------
    TreeEnsemble

    Examples
    --------
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> read(DecisionTreeClassifier().fit([[0], [1]], ["no", "yes"]))
    <TreeEnsemble: classification into 2 classes, trees: 1, splits: 1, features: 1, \
from sklearn.tree.DecisionTreeClassifier>
    """
    if is_a(model, "FrozenEstimator"):
        # A frozen model may be of another library.
        return read_trees(model.estimator)
    if is_a(model, "BaseSearchCV"):
        _require_fitted(model)
        return read_trees(model.best_estimator_)
    if is_a(model, "Pipeline"):
        return _read_pipeline(model)
    kind = kind_of(model, READERS)
    if kind is None:
        raise ModelError(
            f"Cannot read {public_name(model)}; from scikit-learn these can be read: "
            f"{', '.join(READERS)}; alone, in a search, or behind steps of a Pipeline."
        )
    _require_fitted(model)
    return READERS[kind](model)


def _read_pipeline(model: Any) -> TreeEnsemble:
    """The ensemble of the last step, in the input columns of the pipeline."""
    _require_fitted(model)
    ensemble = read_trees(model.steps[-1][1])
    try:
        return carry_back(model, ensemble)
    except ModelError as error:
        raise ModelError(
            f"Cannot read {ensemble.source} behind the steps of this "
            f"{public_name(model)} in the data's own columns: {error}."
        ) from None


# Single trees and forests


def _read_tree(model: Any) -> TreeEnsemble:
    """A decision tree or extra tree."""
    _refuse_many_outputs(model, model)
    return _float32_ensemble(
        model, [_tree_nodes(model.tree_)], model, **_mean_of_leaves(model)
    )


def _read_forest(model: Any) -> TreeEnsemble:
    """A random forest or extra trees: the mean over the trees."""
    _refuse_many_outputs(model, model)
    trees = [_tree_nodes(tree.tree_) for tree in model.estimators_]
    return _float32_ensemble(
        model, trees, model.estimators_[0], **_mean_of_leaves(model), divisor=len(trees)
    )


def _read_bagging(model: Any) -> TreeEnsemble:
    """Bagging over decision trees: the mean over trees on subsets of the columns."""
    base = model.estimators_[0]
    _refuse_other_bases(model, model.estimators_)
    _refuse_many_outputs(model, base)
    trees = []
    for tree, columns in zip(model.estimators_, model.estimators_features_):
        nodes = _tree_nodes(tree.tree_)
        nodes.feature = np.where(
            nodes.feature < 0, -1, np.asarray(columns)[nodes.feature]
        )
        if hasattr(model, "classes_"):
            # A tree fitted without some classes has only the others; its labels are
            # their positions among all classes.
            value = np.zeros((len(nodes.feature), len(model.classes_)))
            value[:, tree.classes_.astype(int)] = nodes.value
            nodes.value = value
        trees.append(nodes)
    return _float32_ensemble(
        model, trees, base, **_mean_of_leaves(model), divisor=len(trees)
    )


def _mean_of_leaves(model: Any) -> dict[str, Any]:
    if hasattr(model, "classes_"):
        zero = np.zeros(len(model.classes_))
        return {"link": "probability", "base_score": zero}
    return {"link": "identity", "base_score": np.zeros(1)}


# Boosting


def _read_gradient_boosting(model: Any) -> TreeEnsemble:
    """Gradient boosting: a constant and shrunken trees, one per class and round."""
    trees = []
    for stage in model.estimators_:
        for output, tree in enumerate(stage):
            nodes = _tree_nodes(tree.tree_)
            nodes.value = model.learning_rate * nodes.value
            nodes.output = output
            trees.append(nodes)
    return _float32_ensemble(
        model,
        trees,
        None,
        base_score=_constant_start(model),
        decision="raw_or_zero",
        **_link_of_loss(model),
    )


def _constant_start(model: Any) -> np.ndarray:
    init = model.init_
    constant = isinstance(init, str) or (
        is_a(init, "DummyClassifier", "DummyRegressor")
        and init.strategy not in ("stratified", "uniform")
    )
    if not constant:
        raise ModelError(
            f"Cannot read {public_name(model)} with init={init!r}: its predictions "
            "start from another model. Expected a constant start; fit it with "
            "init=None or init='zero'."
        )
    # Private, as there is no public way to the initial value without rounding.
    return model._raw_predict_init(np.zeros((1, model.n_features_in_)))[0]


def _link_of_loss(model: Any) -> dict[str, Any]:
    """Link of a boosting model, and its scale.

    ``_loss`` is private, but the same in both boosting families, and exact where the
    public parameter ``loss`` may be an object.
    """
    links = {
        "IdentityLink": ("identity", 1.0),
        "LogLink": ("exp", 1.0),
        "LogitLink": ("logistic", 1.0),
        "HalfLogitLink": ("logistic", 2.0),
        "MultinomialLogit": ("softmax", 1.0),
    }
    name = type(model._loss.link).__name__
    if name not in links:
        raise ModelError(
            f"Cannot read {public_name(model)} with the link {name} "
            f"(loss={model.loss!r}); expected one of {', '.join(links)}. Fit it with a "
            "built-in loss."
        )
    link, scale = links[name]
    return {"link": link, "link_scale": scale}


def _read_adaboost_classifier(model: Any) -> TreeEnsemble:
    """AdaBoost (SAMME): every tree votes for one class with its weight."""
    _refuse_other_bases(model, model.estimators_)
    n_classes = len(model.classes_)
    trees = []
    for tree, weight in zip(model.estimators_, model.estimator_weights_):
        nodes = _tree_nodes(tree.tree_)
        vote = np.searchsorted(model.classes_, tree.classes_)[
            np.argmax(nodes.value, axis=1)
        ]
        nodes.value = _samme_votes(vote, weight, n_classes)
        trees.append(nodes)
    link = {"link": "logistic", "link_scale": 1.0}
    if n_classes != 2:
        link = {"link": "softmax", "link_scale": 1 / max(n_classes - 1, 1)}
    return _float32_ensemble(
        model,
        trees,
        None,
        base_score=np.zeros(1 if n_classes == 2 else n_classes),
        divisor=float(model.estimator_weights_.sum()),
        **link,
    )


def _samme_votes(vote: np.ndarray, weight: float, n_classes: int) -> np.ndarray:
    """Contribution of the vote of every node to the scores of the classes."""
    if n_classes == 1:
        return np.zeros((vote.size, 1))
    if n_classes == 2:
        # scikit-learn takes the difference of both scores, twice the second one.
        return np.where(vote == 1, 2 * weight, -2 * weight)[:, None]
    chosen = vote[:, None] == np.arange(n_classes)
    return np.where(chosen, weight, -1 / (n_classes - 1) * weight)


def _read_adaboost_regressor(model: Any) -> TreeEnsemble:
    """AdaBoost.R2: the weighted median over the trees."""
    _refuse_other_bases(model, model.estimators_)
    trees = [_tree_nodes(tree.tree_) for tree in model.estimators_]
    return _float32_ensemble(
        model,
        trees,
        None,
        link="identity",
        base_score=np.zeros(1),
        aggregation="weighted_median",
        tree_weight=np.asarray(model.estimator_weights_[: len(trees)], dtype=float),
    )


def _read_hist_gradient_boosting(model: Any) -> TreeEnsemble:
    """Histogram gradient boosting; see ``hist``."""
    if len(getattr(model, "classes_", "ab")) == 1:
        raise ModelError(
            f"Cannot read {public_name(model)} fitted on one class only, "
            f"{model.classes_.tolist()}: it has two probabilities for one class. Fit "
            "it on two classes or more."
        )
    return TreeEnsemble(
        **sklearn_hist.trees_and_columns(model),
        **_link_of_loss(model),
        **_described(model),
    )


READERS = {
    "DecisionTreeClassifier": _read_tree,
    "DecisionTreeRegressor": _read_tree,
    "ExtraTreeClassifier": _read_tree,
    "ExtraTreeRegressor": _read_tree,
    "RandomForestClassifier": _read_forest,
    "RandomForestRegressor": _read_forest,
    "ExtraTreesClassifier": _read_forest,
    "ExtraTreesRegressor": _read_forest,
    "GradientBoostingClassifier": _read_gradient_boosting,
    "GradientBoostingRegressor": _read_gradient_boosting,
    "HistGradientBoostingClassifier": _read_hist_gradient_boosting,
    "HistGradientBoostingRegressor": _read_hist_gradient_boosting,
    "BaggingClassifier": _read_bagging,
    "BaggingRegressor": _read_bagging,
    "AdaBoostClassifier": _read_adaboost_classifier,
    "AdaBoostRegressor": _read_adaboost_regressor,
}


# Shared helpers


def _tree_nodes(tree: Any) -> TreeNodes:
    """Public arrays of ``estimator.tree_``, with thresholds as they are."""
    return TreeNodes(
        feature=np.where(tree.children_left < 0, -1, tree.feature),
        cut=tree.threshold,
        left=tree.children_left,
        right=tree.children_right,
        missing_left=tree.missing_go_to_left,
        value=tree.value[:, 0, :],
    )


def _float32_ensemble(
    model: Any, trees: list[TreeNodes], missing_as: Any, **how: Any
) -> TreeEnsemble:
    """An ensemble of ``sklearn.tree`` trees, which cast the data to float32.

    ``missing_as`` is the tree whose tag defines whether NaN is accepted; None for the
    families that refuse NaN in any case.
    """
    from sklearn.utils import get_tags

    allows_missing = (
        missing_as is not None and get_tags(missing_as).input_tags.allow_nan
    )
    names = getattr(model, "feature_names_in_", None)
    features = FeatureSpace.numeric(model.n_features_in_, names)
    nodes = join_trees(trees)
    nodes["cut"] = float64_cut_of_float32_test(nodes["cut"])
    return TreeEnsemble(
        features=replace(features, float32=True),
        **nodes,
        allows_missing=bool(allows_missing),
        allows_infinite=False,
        input_dtype="float32",
        **how,
        **_described(model),
    )


def _described(model: Any) -> dict[str, Any]:
    """Task, classes and source of a model."""
    classes = getattr(model, "classes_", None)
    return {
        "task": "regression" if classes is None else "classification",
        "classes": classes,
        "source": public_name(model),
        "details": {"library": "scikit-learn", "objective": objective_of(model)},
    }


def _require_fitted(model: Any) -> None:
    from sklearn.exceptions import NotFittedError
    from sklearn.utils.validation import check_is_fitted

    try:
        check_is_fitted(model)
    except NotFittedError:
        raise ModelError(
            f"This {public_name(model)} is not fitted; call fit(X, y) on it first."
        ) from None


def _refuse_many_outputs(model: Any, tree: Any) -> None:
    if tree.n_outputs_ > 1:
        raise ModelError(
            f"Cannot read {public_name(model)} with {tree.n_outputs_} outputs; "
            "expected one. Fit one model per column of y."
        )


def _refuse_other_bases(model: Any, estimators: Any) -> None:
    wanted = "Classifier" if hasattr(model, "classes_") else "Regressor"
    for tree in estimators:
        if not is_a(tree, f"DecisionTree{wanted}"):
            raise ModelError(
                f"Cannot read {public_name(model)} over {public_name(tree)}; expected "
                f"DecisionTree{wanted} or ExtraTree{wanted} as its estimator."
            )
