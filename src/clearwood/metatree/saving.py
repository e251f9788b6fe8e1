"""Fitted meta-trees and meta-forests in files, and back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

import numpy as np

from clearwood._documents import Place, shown
from clearwood.columns.feature_space import FeatureSpace
from clearwood.conjugate import LeafModel
from clearwood.conjugate.counts import Counts
from clearwood.conjugate.dispatch import KINDS as LEAF_KINDS
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.metatree.base import LearnsByStatistics
from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor
from clearwood.metatree.forest_estimators import (
    MetaForestClassifier,
    MetaForestRegressor,
)
from clearwood.metatree.posterior.coder import BinCoder, ValueCoder
from clearwood.metatree.posterior.forest import QUESTIONS, MetaForest
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.structure import Structure, check_children
from clearwood.rules.bins import FeatureBins
from clearwood.rules.serialise import (
    columns_to_dict,
    features_to_dict,
    read_columns,
    read_features,
)

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        MetaTreeClassifier,
        MetaTreeRegressor,
        MetaForestClassifier,
        MetaForestRegressor,
    )
}
LEAVES: dict[str, Any] = {kind.__name__: kind for kind in LEAF_KINDS}
NODES = ("first_child", "n_children", "feature", "cut_code", "missing_child")

MOST_MEAN = 1e140
"""Of moments, so that their squares are numbers."""


# Writing


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
    document: dict[str, Any] = {
        "leaf": leaf_to_dict(estimator.leaf_),
        **columns_to_dict(estimator),
    }
    if isinstance(estimator, MetaTreeClassifier | MetaTreeRegressor):
        tree = estimator.meta_tree_
        features = tree.structure.coder.features
        arrays = structure_to_arrays(tree.structure)
        arrays |= {"own": tree.own, "g": tree.g}
        document["target"] = estimator.target_name
        # Without weights, statistics hold the number of rows.
        weight = tree.model.weight_of(tree.own)
        if tree.rows is not None and (weight != tree.rows).any():
            document["has_rows"], arrays["rows"] = True, tree.rows
    else:
        forest = estimator._forest
        e, features = forest.ensemble, forest.ensemble.features
        arrays = {name: np.asarray(getattr(e, name)) for name in QUESTIONS}
        arrays["allows_missing"] = np.broadcast_to(e.allows_missing, e.n_features)
        arrays |= {"own": forest.own, "g": forest.g}
        document |= {
            "weights": estimator.weights,
            "allows_infinite": bool(e.allows_infinite),
            "input_dtype": e.input_dtype,
            "source": e.source,
        }
    document |= features_to_dict(features)
    return document, arrays


def leaf_to_dict(leaf: LeafModel) -> dict[str, Any]:
    """A leaf model, for the document."""
    if LEAVES.get(type(leaf).__name__) is not type(leaf):
        raise InputError(f"Cannot save leaves of your own kind, {leaf!r}.")
    return {"kind": type(leaf).__name__, **asdict(leaf)}  # type: ignore[call-overload]


def structure_to_arrays(structure: Structure) -> dict[str, np.ndarray]:
    """The arrays of a structure, those of its coder included."""
    arrays = {name: getattr(structure, name) for name in NODES}
    arrays |= {"table_start": structure.table_start, "goes_to": structure.goes_to}
    arrays["original"] = structure.original
    coder = structure.coder
    if isinstance(coder, ValueCoder):
        return {**arrays, "n_values": coder.n_values}
    groups = [g for g in coder.bins.groups if g is not None]
    return {
        **arrays,
        "n_cuts": np.array([len(c) for c in coder.bins.cuts], dtype=np.int64),
        "cuts": np.concatenate([np.zeros(0), *coder.bins.cuts]),
        "groups": np.concatenate([np.zeros(0, dtype=np.int64), *groups]),
    }


# Reading


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
    leaf = read_leaf(top["leaf"])
    classes = None if top["classes"].value is None else top["classes"].labels()
    is_classifier = kind.endswith("Classifier")
    counts = leaf.n_stats if isinstance(leaf, Counts) else None
    if (classes is not None) != is_classifier or counts != (
        None if classes is None else len(classes)
    ):
        raise ModelFormatError("classes: do not fit the kind and the leaf.")
    own = read_statistics(leaf, array("own", "f", -1, leaf.n_stats))
    g = array("g", "f", len(own))
    if not ((g >= 0) & (g <= 1)).all():
        raise ModelFormatError("g: expected probabilities.")
    if kind.startswith("MetaTree"):
        has_rows = "has_rows" in top and top["has_rows"].flag()
        parts = features, leaf, own, g, array, has_rows
        estimator = _load_tree(KINDS[kind], *parts)
    else:
        estimator = _load_forest(KINDS[kind], top, features, leaf, own, g, array)
    estimator.leaf_ = leaf
    read_columns(estimator, top, features.n_features)
    if "target" in top:
        estimator.target_name = top["target"].text()
    if classes is not None:
        if not np.array_equal(np.unique(estimator.classes_), estimator.classes_):
            raise ModelFormatError("classes: expected labels of one type, in order.")
    with np.errstate(all="ignore"):
        known = np.isfinite(estimator.log_evidence_).all()
    if not known:
        raise ModelFormatError("leaf, own: numbers too large or small to learn from.")
    return estimator


def _load_tree(
    kind: Any, features: Any, leaf: Any, own: Any, g: Any, array: Any, has_rows: bool
) -> Any:
    structure = read_structure(features, array)
    if len(own) != structure.n_nodes or g[structure.is_leaf].any():
        raise ModelFormatError("own, g: do not fit the nodes.")
    estimator = kind(structure, leaf=leaf, g=g)
    estimator.meta_tree_ = MetaTree(structure, leaf, g)
    rows = array("rows", "i", len(own)) if has_rows else leaf.weight_of(own)
    if (rows < 0).any():
        raise ModelFormatError("rows: expected numbers of at least 0.")
    counts = (rows == np.rint(rows)).all() and rows.max() <= 2**53
    estimator.meta_tree_.put(own, rows.astype(np.int64) if counts else None)
    return estimator


def _load_forest(
    kind: Any, top: Place, features: Any, leaf: Any, own: Any, g: Any, array: Any
) -> Any:
    n = features.n_features
    roots = array("roots", "i", -1)
    arrays = {name: array(name, kind_, -1) for name, kind_ in QUESTIONS.items()}
    arrays["allows_missing"] = array("allows_missing", "b", n)
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
    forest = MetaForest(ensemble, leaf, lambda tree: np.zeros(tree.n_nodes))
    if g[np.concatenate([tree.structure.is_leaf for tree in forest.bare])].any():
        raise ModelFormatError("g: leaves do not ask.")
    forest.restore(own, g)
    estimator = kind(ensemble, leaf=leaf, weights=weights)
    estimator.estimator_ = ensemble
    estimator._put(forest)
    return estimator


def read_leaf(place: Place) -> LeafModel:
    """A leaf model of the document."""
    kind = place["kind"].text()
    if kind not in LEAVES:
        place["kind"].fail(shown(kind), f"one of {list(LEAVES)}")
    names = {key: _tuples(place[key].value) for key in place.keys() if key != "kind"}
    try:
        return LEAVES[kind](**names)
    except (InputError, TypeError, ValueError, OverflowError) as error:
        raise ModelFormatError(f"{place.where}: {error}") from None


def _tuples(value: Any) -> Any:
    return tuple(_tuples(v) for v in value) if isinstance(value, list) else value


def read_statistics(model: LeafModel, own: np.ndarray) -> np.ndarray:
    """Statistics that some rows could have."""
    finite = np.isfinite(own).all()
    sums = own if model.n_columns is None else own[:, :1]
    if not finite or (sums < 0).any():
        raise ModelFormatError("own: expected finite statistics, no weight below 0.")
    if model.n_columns is not None:
        d, place = model.n_columns, model.n_columns
        if (np.abs(own[:, 1 : 1 + d]) > MOST_MEAN).any() or (own > MOST_MEAN**2).any():
            raise ModelFormatError("own: numbers whose squares are too large.")
        for j in range(d):
            place += j + 1
            if (own[:, place] < 0).any():
                raise ModelFormatError("own: a sum of squares is below 0.")
    return own


def read_structure(features: FeatureSpace, array: Callable[..., Any]) -> Structure:
    """A structure, all checked."""
    nodes = {name: _small(array(name, "i", -1), name) for name in NODES}
    n, n_features = len(nodes["feature"]), features.n_features
    if any(len(values) != n for values in nodes.values()):
        raise ModelFormatError("nodes: arrays of different lengths.")
    start, goes_to = array("table_start", "i", n), array("goes_to", "i", -1)
    try:
        nodes["parent"] = check_children(nodes["first_child"], nodes["n_children"])
    except InputError as error:
        raise ModelFormatError(f"nodes: {error}") from None
    leaf = nodes["n_children"] == 0
    feature = nodes["feature"]
    in_range = np.where(leaf, feature == -1, (feature >= 0) & (feature < n_features))
    if not (in_range & (leaf == (nodes["first_child"] == -1))).all():
        raise ModelFormatError("nodes: features or children out of range.")
    structure = Structure(
        **nodes, table_start=start, goes_to=_small(goes_to, "goes_to"),
        coder=_read_coder(features, array),
        original=_small(array("original", "i", n), "original"),
    )  # fmt: skip
    _check_answers(structure)
    return structure


def _small(values: np.ndarray, name: str) -> np.ndarray:
    small = values.astype(np.int32)
    if not np.array_equal(small, values):
        raise ModelFormatError(f"{name}: numbers are too large.")
    return small


def _check_answers(s: Structure) -> None:
    """Every answer leads to a child or nowhere; tables are whole and stand apart."""
    inner = np.flatnonzero(~s.is_leaf)
    start, width = s.table_start[inner], s.coder.n_codes[s.feature[inner]]
    n_children = s.n_children[inner]
    numbers = np.array([c is None for c in s.coder.features.categories], dtype=bool)
    may_cut = numbers[s.feature[inner]] & isinstance(s.coder, BinCoder)
    by_cut = start == -1
    missing = s.missing_child[inner]
    good = np.where(
        by_cut,
        may_cut & (n_children >= 2) & (missing >= -1) & (missing < n_children),
        (start >= 0) & (width <= len(s.goes_to)) & (start <= len(s.goes_to) - width),
    )
    if not good.all():
        node = int(inner[int(np.argmin(good))])
        raise ModelFormatError(f"table_start of node {node}: answers out of range.")
    # Nodes may share a table; the children of the narrowest of them bound it.
    tables: dict[tuple[int, int], int] = {}
    for first, size, n in zip(start[~by_cut], width[~by_cut], n_children[~by_cut]):
        key = int(first), int(size)
        tables[key] = min(int(n), tables.get(key, int(n)))
    if sum(size for _, size in tables) > len(s.goes_to):
        raise ModelFormatError("table_start: tables overlap.")
    for (first, size), n in tables.items():
        child = s.goes_to[first : first + size]
        if (child < -1).any() or (child >= n).any():
            raise ModelFormatError(f"goes_to: the table at {first} leads to no child.")


def _read_coder(features: FeatureSpace, array: Callable[..., Any]) -> Any:
    n = features.n_features
    sizes = [None if c is None else len(c) for c in features.categories]
    try:
        values = array("n_values", "i", n)
    except ModelFormatError as error:
        if "missing" not in str(error):
            raise
    else:
        wrong = [
            not 1 <= int(v) < 2**31 or (size is not None and size > v)
            for v, size in zip(values, sizes)
        ]
        if any(wrong):
            raise ModelFormatError(f"n_values of feature {wrong.index(True)}: wrong.")
        return ValueCoder(features, values)
    n_cuts = array("n_cuts", "i", n)
    cuts, groups = array("cuts", "f", -1), array("groups", "i", -1)
    n_labels = [size or 0 for size in sizes]
    in_range = (n_cuts >= 0) & (n_cuts <= len(cuts))
    if np.isnan(cuts).any():
        raise ModelFormatError("cuts: hold NaN.")
    if not in_range.all() or int(n_cuts.sum()) != len(cuts):
        raise ModelFormatError("n_cuts: does not fit cuts.")
    if sum(n_labels) != len(groups):
        raise ModelFormatError("groups: one number per category is needed.")
    by_feature = np.split(cuts, np.cumsum(n_cuts)[:-1])
    group_of = np.split(groups, np.cumsum(n_labels)[:-1])
    for d, (mine, group) in enumerate(zip(by_feature, group_of)):
        numeric = sizes[d] is None
        if (mine[1:] <= mine[:-1]).any() or (not numeric and len(mine)):
            raise ModelFormatError(f"cuts of feature {d}: expected rising numbers.")
        known = np.unique(group)
        if not np.array_equal(known, np.arange(len(known))):
            raise ModelFormatError(f"groups of feature {d}: expected 0, 1, ...")
    empty = FeatureBins.from_splits(features, feature=[], cut=[])
    kept = tuple(
        None if size is None else group for size, group in zip(sizes, group_of)
    )
    return BinCoder(FeatureBins(features, tuple(by_feature), kept, empty.statements))
