"""Fitted meta-trees and meta-forests in files, and back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clearwood import _archive as archive
from clearwood._documents import Place, refuse_repeated
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.metatree.base import LearnsByStatistics
from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor
from clearwood.metatree.forest_estimators import (
    MetaForestClassifier,
    MetaForestRegressor,
)
from clearwood.metatree.posterior.forest import MetaForest
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.rules.serialise import read_features

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        MetaTreeClassifier,
        MetaTreeRegressor,
        MetaForestClassifier,
        MetaForestRegressor,
    )
}
ENSEMBLE_ARRAYS = {
    "feature": "i", "cut": "f", "left": "i", "right": "i", "missing_left": "b",
    "unseen_left": "b", "category_set": "i", "category_offsets": "i",
    "categories_left": "b", "roots": "i", "allows_missing": "b",
}  # fmt: skip


def to_archive(
    estimator: LearnsByStatistics,
) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a fitted estimator: structures, priors and statistics.

    Parameters that only matter to the next ``fit`` are not kept, but for the
    structure or forest, which becomes the parameter.

    Parameters
    ----------
    estimator : MetaTreeClassifier, MetaTreeRegressor, MetaForest...

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    from sklearn.utils.validation import check_is_fitted

    kind = type(estimator).__name__
    if KINDS.get(kind) is not type(estimator):
        raise InputError(f"Cannot save a {kind}; expected one of {list(KINDS)}.")
    check_is_fitted(estimator)
    names = getattr(estimator, "feature_names_in_", None)
    document: dict[str, Any] = {
        "leaf": archive.leaf_to_dict(estimator.leaf_),
        "classes": archive.labels_to_list(getattr(estimator, "classes_", None)),
        "column_names": None if names is None else [str(name) for name in names],
    }
    if isinstance(estimator, MetaTreeClassifier | MetaTreeRegressor):
        tree = estimator.meta_tree_
        features = tree.structure.coder.features
        arrays = archive.structure_to_arrays(tree.structure)
        arrays |= {"own": tree.own, "g": tree.g}
    else:
        forest = estimator._forest
        e, features = forest.ensemble, forest.ensemble.features
        arrays = {name: np.asarray(getattr(e, name)) for name in ENSEMBLE_ARRAYS}
        arrays["allows_missing"] = np.broadcast_to(e.allows_missing, e.n_features)
        arrays |= {"own": forest.own, "g": forest.g}
        document |= {
            "weights": estimator.weights,
            "allows_infinite": bool(e.allows_infinite),
            "input_dtype": e.input_dtype,
            "source": e.source,
        }
    document |= archive.features_to_dict(features)
    return document, arrays


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> Any:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError.

    Parameters
    ----------
    top : Place
        The document.
    array : callable
        From the name, kind and shape of an array to it.
    """
    kind = top["kind"].text()
    features = read_features(top)
    leaf = archive.read_leaf(top["leaf"])
    classes = None if top["classes"].value is None else top["classes"].labels()
    is_classifier = kind.endswith("Classifier")
    counts = leaf.n_stats if hasattr(leaf, "probabilities") else None
    if (classes is not None) != is_classifier or counts != (
        None if classes is None else len(classes)
    ):
        raise ModelFormatError("classes: do not fit the kind and the leaf.")
    own = archive.read_statistics(leaf, array("own", "f", -1, leaf.n_stats))
    g = array("g", "f", len(own))
    if not ((g >= 0) & (g <= 1)).all():
        raise ModelFormatError("g: expected probabilities.")
    if kind.startswith("MetaTree"):
        estimator = _load_tree(KINDS[kind], features, leaf, own, g, array)
    else:
        estimator = _load_forest(KINDS[kind], top, features, leaf, own, g, array)
    estimator.leaf_, estimator.n_features_in_ = leaf, features.n_features
    if top["column_names"].value is not None:
        names = [name.text() for name in top["column_names"].items()]
        refuse_repeated(names, top["column_names"], "the name")
        if len(names) != features.n_features:
            top["column_names"].fail(f"{len(names)} names", "one per feature")
        estimator.feature_names_in_ = np.array(names, dtype=object)
    if classes is not None:
        estimator.classes_ = np.array(classes)
        if not np.array_equal(np.unique(estimator.classes_), estimator.classes_):
            raise ModelFormatError("classes: expected labels of one type, in order.")
    if hasattr(estimator, "_forest"):
        estimator._refresh()
    return estimator


def _load_tree(
    kind: Any, features: Any, leaf: Any, own: Any, g: Any, array: Any
) -> Any:
    structure = archive.read_structure(features, array)
    if len(own) != structure.n_nodes or g[structure.is_leaf].any():
        raise ModelFormatError("own, g: do not fit the nodes.")
    estimator = kind(structure, leaf=leaf, g=g)
    estimator.meta_tree_ = MetaTree(structure, leaf, g)
    estimator.meta_tree_.own = own
    return estimator


def _load_forest(
    kind: Any, top: Place, features: Any, leaf: Any, own: Any, g: Any, array: Any
) -> Any:
    n = features.n_features
    roots = array("roots", "i", -1)
    arrays = {
        name: array(name, kind_, n if name == "allows_missing" else -1)
        for name, kind_ in ENSEMBLE_ARRAYS.items()
    }
    if len(arrays["feature"]) != len(own) or not len(roots) or leaf.reads_features:
        raise ModelFormatError("own: does not fit the nodes.")
    weights = top["weights"].text()
    input_dtype: Any = top["input_dtype"].text()
    if weights not in ("uniform", "evidence") or input_dtype not in (
        "float32", "float64"
    ):  # fmt: skip
        raise ModelFormatError("weights, input_dtype: not known.")
    ensemble = TreeEnsemble(
        features=features,
        task="regression",
        **arrays,
        value=np.zeros((len(own), 1)),
        output=np.zeros(len(roots)),
        base_score=np.zeros(1),
        divisor=float(len(roots)),
        link="identity",
        allows_infinite=top["allows_infinite"].flag(),
        input_dtype=input_dtype,
        source=top["source"].text(),
    )
    forest = MetaForest(ensemble, leaf, lambda s: np.zeros(s.n_nodes))
    if g[forest.first_child < 0].any():
        raise ModelFormatError("g: leaves do not ask.")
    forest.own, forest.g = own, g
    estimator = kind(ensemble, leaf=leaf, weights=weights)
    estimator._forest, estimator.estimator_ = forest, ensemble
    return estimator
