"""Serialization of meta-trees and meta-forests: structure, prior and statistics.

Parameters that only matter to the next ``fit`` are not saved, except the structure or
forest, which becomes the parameter.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import numpy as np

from clearwood import codec
from clearwood.codec.documents import Place, shown
from clearwood.columns.feature_space import FeatureSpace
from clearwood.distributions import CONJUGATE, LeafModel
from clearwood.distributions.counts import Counts
from clearwood.ensembles import TreeEnsemble
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor
from clearwood.metatree.forest_estimators import (
    MetaForestClassifier,
    MetaForestRegressor,
)
from clearwood.metatree.posterior.coder import BinCoder, ValueCoder
from clearwood.metatree.posterior.forest import QUESTIONS, MetaForest
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.structure import Structure, check_children
from clearwood.rules.stored_parts import BINS, bins_of, parts_of_bins

LEAVES: dict[str, Any] = {kind.__name__: kind for kind in CONJUGATE}

MOST_MEAN = 1e140
"""Largest absolute mean, so that squares do not overflow."""


# Declarations of the saved fields


def _write_leaf(leaf: LeafModel) -> dict[str, Any]:
    if LEAVES.get(type(leaf).__name__) is not type(leaf):
        raise InputError(f"Cannot save the custom leaf model {leaf!r}.")
    return {"kind": type(leaf).__name__, **asdict(leaf)}  # type: ignore[call-overload]


def _read_leaf(place: Place) -> LeafModel:
    kind = place["kind"].text()
    if kind not in LEAVES:
        place["kind"].fail(shown(kind), f"one of {list(LEAVES)}")
    names = {key: _tuples(place[key].value) for key in place.keys() if key != "kind"}
    with codec.refusing(place.where):
        return LEAVES[kind](**names)


def _tuples(value: Any, depth: int = 0) -> Any:
    if depth > 3:
        raise ModelFormatError("leaf: found deeper lists, expected vectors, matrices.")
    is_list = isinstance(value, list)
    return tuple(_tuples(v, depth + 1) for v in value) if is_list else value


LEARNT = (
    codec.Field("leaf", codec.FieldType(_write_leaf, _read_leaf), "leaf_model_"),
    *codec.COLUMNS,
    codec.Array("own", "f", "nodes statistics"),
    codec.Array("g", "f", "nodes", check=codec.within(0, 1)),
)

COUNTS = codec.within(0, np.inf, "numbers of at least 0")
NODES = (
    "first_child", "n_children", "feature", "cut_code", "missing_child", "original",
)  # fmt: skip

TREE = (
    *LEARNT,
    codec.Together(codec.Field("target", codec.TEXT, "target_name")),
    codec.Together(
        codec.Field("has_rows", codec.FLAG),
        codec.Array("rows", "i", "nodes", check=COUNTS),
    ),
    codec.FEATURES,
    *(codec.Array(name, "i", "nodes") for name in NODES),
    codec.Array("table_start", "i", "nodes"),
    codec.Array("goes_to", "i"),
    # Either the number of values of each feature, or its cuts and groups of categories.
    codec.Together(codec.Array("n_values", "i", "features")),
    codec.Together(*BINS),
)  # fmt: skip

FOREST = (
    *LEARNT,
    codec.Field("weights", codec.choice("uniform", "evidence")),
    codec.Field("allows_infinite", codec.FLAG),
    codec.Field("input_dtype", codec.choice("float32", "float64")),
    codec.Field("source", codec.TEXT),
    codec.FEATURES,
    *(codec.Array(name, kind) for name, kind in QUESTIONS.items() if name != "feature"),
    codec.Array("feature", "i", "nodes"),
    codec.Array("allows_missing", "b", "features"),
)


# Writing


def _take_tree(found: Any) -> dict[str, Any]:
    tree = found.meta_tree_
    coder = tree.structure.coder
    taken = {
        **vars(tree.structure), "features": coder.features, "own": tree.own,
        "g": tree.g, "has_rows": codec.UNSET,
    }  # fmt: skip
    # Without weights, statistics hold the number of rows.
    weight = tree.model.weight_of(tree.own)
    if tree.rows is not None and (weight != tree.rows).any():
        taken |= {"has_rows": True, "rows": tree.rows}
    if isinstance(coder, ValueCoder):
        return {**taken, "n_values": coder.n_values}
    return taken | parts_of_bins(coder.bins)


def _take_forest(found: Any) -> dict[str, Any]:
    forest = found._forest
    e = forest.ensemble
    return {
        **vars(e),
        "own": forest.own,
        "g": forest.g,
        "allows_missing": np.broadcast_to(e.allows_missing, e.n_features),
    }


# Reading


def _learnt(values: dict[str, Any]) -> tuple[LeafModel, np.ndarray, np.ndarray]:
    """Leaf model, validated statistics, and prior."""
    leaf, own = values["leaf_model_"], values["own"]
    codec.require(own.shape[1] == leaf.n_stats, "own", "the statistics of the leaf")
    sums = own if leaf.n_columns is None else own[:, :1]
    is_known = np.isfinite(own).all() and (sums >= 0).all()
    codec.require(is_known, "own", "finite statistics, no weight below 0")
    if leaf.n_columns is not None:
        d = leaf.n_columns
        is_small = (np.abs(own[:, 1 : 1 + d]) <= MOST_MEAN).all()
        is_small &= (own <= MOST_MEAN**2).all()
        codec.require(is_small, "own", "numbers whose squares are not too large")
        squares = own[:, d + np.cumsum(np.arange(1, d + 1))]
        codec.require(squares >= 0, "own", "no sum of squares below 0")
    return leaf, own, values["g"]


def _checked(found: Any, values: dict[str, Any]) -> Any:
    """Estimator with its columns, if it can be updated."""
    codec.filled(found, values, values["features"].n_features)
    classes = codec.classes_of(found)
    counts = found.leaf_model_.n_stats if isinstance(found.leaf_model_, Counts) else 0
    codec.require(len(classes) == counts, "classes", "those of the leaf")
    in_order = np.array_equal(np.unique(classes), classes)
    codec.require(in_order, "classes", "labels of one type, in order")
    with np.errstate(all="ignore"):
        evidence = found.log_evidence_
    expected = "numbers with finite evidence"
    codec.require(np.isfinite(evidence), "leaf, own", expected)
    return found


def _make_tree(kind: Any, values: dict[str, Any]) -> Any:
    leaf, own, g = _learnt(values)
    structure = _structure(values)
    codec.require(g[structure.is_leaf] == 0, "g", "0 at leaves")
    found = kind(structure, leaf_model=leaf, split_prior=g)
    found.meta_tree_ = MetaTree(structure, leaf, g)
    has_rows = values["has_rows"] is True
    rows = values["rows"] if has_rows else leaf.weight_of(own)
    counts = (rows == np.rint(rows)).all() and rows.max() <= 2**53
    found.meta_tree_.put(own, rows.astype(np.int64) if counts else None)
    if values["target_name"] is not codec.UNSET:
        found.target_name = values["target_name"]
    return _checked(found, values)


def _make_forest(kind: Any, values: dict[str, Any]) -> Any:
    leaf, own, g = _learnt(values)
    n_trees = len(values["roots"])
    fits = n_trees and not leaf.reads_features
    codec.require(fits, "roots, leaf", "trees with leaf models without features")
    shared = ("features", "allows_missing", "allows_infinite", "input_dtype", "source")
    ensemble = TreeEnsemble(
        task="regression",
        **{name: values[name] for name in (*shared, *QUESTIONS)},
        value=np.zeros((len(own), 1)),
        output=np.zeros(n_trees),
        base_score=np.zeros(1),
        divisor=float(n_trees),
        link="identity",
    )
    forest = MetaForest(ensemble, leaf, lambda tree: np.zeros(tree.n_nodes))
    is_leaf = np.concatenate([tree.structure.is_leaf for tree in forest.bare])
    codec.require(g[is_leaf] == 0, "g", "0 at leaves")
    forest.restore(own, g)
    found = kind(ensemble, leaf_model=leaf, weights=values["weights"])
    found.estimator_ = ensemble
    found._put(forest)
    return _checked(found, values)


# Structures


def _structure(values: dict[str, Any]) -> Structure:
    nodes = {name: _small(values[name], name) for name in (*NODES, "goes_to")}
    with codec.refusing("nodes"):
        nodes["parent"] = check_children(nodes["first_child"], nodes["n_children"])
    leaf = nodes["n_children"] == 0
    feature, n_features = nodes["feature"], values["features"].n_features
    in_range = np.where(leaf, feature == -1, (feature >= 0) & (feature < n_features))
    in_range &= leaf == (nodes["first_child"] == -1)
    codec.require(in_range, "nodes", "features and children in range")
    structure = Structure(
        **nodes, table_start=values["table_start"], coder=_coder(values)
    )
    _check_answers(structure)
    return structure


def _small(values: np.ndarray, name: str) -> np.ndarray:
    small = values.astype(np.int32)
    codec.require(small == values, name, "numbers of at most 32 bits")
    return small


def _check_answers(s: Structure) -> None:
    """Validate that branches lead to a child or nowhere, and tables do not overlap."""
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


def _coder(values: dict[str, Any]) -> BinCoder | ValueCoder:
    features: FeatureSpace = values["features"]
    if values["n_values"] is not codec.UNSET:
        for d, n in enumerate(values["n_values"].tolist()):
            least = len(features.categories[d] or ()) or 1
            fits = least <= n < 2**31
            codec.require(fits, f"n_values of feature {d}", "all its categories")
        return ValueCoder(features, values["n_values"])
    known = values["cuts"] is not codec.UNSET
    codec.require(known, "cuts", "those of all features", "none")
    return BinCoder(bins_of(features, values))


SAVED = codec.by_name(
    codec.Saved(MetaTreeClassifier, TREE, _make_tree, _take_tree),
    codec.Saved(MetaTreeRegressor, TREE, _make_tree, _take_tree),
    codec.Saved(MetaForestClassifier, FOREST, _make_forest, _take_forest),
    codec.Saved(MetaForestRegressor, FOREST, _make_forest, _take_forest),
)
