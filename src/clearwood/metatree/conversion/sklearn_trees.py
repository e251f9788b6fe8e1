"""Conversion of baked meta-trees to trees and forests of scikit-learn."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.exceptions import InputError
from clearwood.rules.exports.sklearn_tree import (
    LEAF,
    NO_FEATURE,
    blank_table,
    tree_like,
)


def ensemble_to_sklearn(ensemble: TreeEnsemble, *, forest: bool) -> Any:
    """Tree or random forest with the same predictions; raises if there is none.

    Parameters
    ----------
    ensemble : TreeEnsemble
        With averaged predictions at its leaves.
    forest : bool
        Whether to return a forest, rather than its single tree.

    Returns
    -------
    DecisionTreeClassifier, DecisionTreeRegressor or a random forest of these
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    threshold = _thresholds(ensemble)
    classes = ensemble.classes
    kinds: tuple[Any, Any] = (DecisionTreeRegressor, RandomForestRegressor)
    if classes is not None:
        kinds = (DecisionTreeClassifier, RandomForestClassifier)
    # Fitted by scikit-learn itself, so that no attribute is missing.
    n = 1 if classes is None else len(classes)
    rows, labels = blank_table(ensemble.features, n), np.arange(n)
    if not forest:
        return _filled(kinds[0]().fit(rows, labels), ensemble, threshold, 0)
    blank = kinds[1](n_estimators=1, bootstrap=False).fit(rows, labels)
    tree = blank.estimators_[0]
    blank.estimators_ = [
        _filled(copy(tree), ensemble, threshold, t, own_labels=False)
        for t in range(ensemble.n_trees)
    ]
    blank.n_estimators = ensemble.n_trees
    if classes is not None:
        blank.classes_ = np.array(classes)
    return blank


def _thresholds(ensemble: TreeEnsemble) -> np.ndarray:
    """Thresholds of the cuts, for numbers that are cast to float32 first."""
    by_set = np.flatnonzero(ensemble.category_set >= 0)
    if by_set.size:
        name = ensemble.features.names[ensemble.feature[by_set[0]]]
        raise InputError(
            f"The trees split on categories of {name!r}, but trees of scikit-learn "
            "compare numbers only; use to_ensemble(), which predicts as fast."
        )
    if any(at is not None for at in ensemble.features.missing_at):
        raise InputError(
            "Some numbers count as missing in this model, which trees of scikit-learn "
            "cannot represent; use to_ensemble()."
        )
    with np.errstate(over="ignore"):
        threshold = ensemble.cut.astype(np.float32).astype(np.float64)
    inner = ensemble.feature >= 0
    cut = ensemble.cut[inner]
    same = float64_cut_of_float32_test(threshold[inner]) == cut
    if not same.all():
        node = np.flatnonzero(inner)[int(np.argmin(same))]
        raise InputError(
            f"A threshold of the trees is {ensemble.cut[node]!r} in float64, but "
            "trees of scikit-learn cast to float32 first; use to_ensemble(), which is "
            "exact."
        )
    return threshold


def _filled(
    model: Any,
    ensemble: TreeEnsemble,
    threshold: np.ndarray,
    t: int,
    own_labels: bool = True,
) -> Any:
    """Fitted tree whose nodes are replaced by those of one of the trees."""
    root, end = np.append(ensemble.roots, ensemble.n_nodes)[t : t + 2]
    leaf = ensemble.feature[root:end] < 0
    model.tree_ = tree_like(
        model.tree_,
        left_child=np.where(leaf, LEAF, ensemble.left[root:end] - root),
        right_child=np.where(leaf, LEAF, ensemble.right[root:end] - root),
        feature=np.where(leaf, NO_FEATURE, ensemble.feature[root:end]),
        threshold=np.where(leaf, NO_FEATURE, threshold[root:end]),
        missing_go_to_left=ensemble.missing_left[root:end],
        value=ensemble.value[root:end],
    )
    if own_labels and ensemble.classes is not None:
        model.classes_ = np.array(ensemble.classes)
    return model
