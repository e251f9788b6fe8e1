"""Validation of the trees of every ensemble when it is built."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from clearwood.codec.documents import refuse_damaged
from clearwood.ensembles.flat_trees import FlatTrees

NODE_FIELDS = {
    "feature": np.int32,
    "cut": np.float64,
    "left": np.int32,
    "right": np.int32,
    "missing_left": np.bool_,
    "unseen_left": np.bool_,
    "category_set": np.int32,
}
TREE_FIELDS = {"roots": np.int32, "output": np.int32}
OTHER_FIELDS = {
    "category_offsets": np.int64,
    "categories_left": np.bool_,
    "value": np.float64,
    "base_score": np.float64,
    "offset": np.float64,
    "tree_weight": np.float64,
}
ARRAYS: dict[str, Any] = {**NODE_FIELDS, **TREE_FIELDS, **OTHER_FIELDS}
"""Data type of every array of an ensemble."""


def exact_array(name: str, values: Any, dtype: Any) -> np.ndarray:
    """Convert values to the type of their field, if it can represent them.

    Examples
    --------
    >>> exact_array("left", [1, -1, -1], np.int32)
    array([ 1, -1, -1], dtype=int32)
    """
    given = np.asarray(values)
    with np.errstate(invalid="ignore"):
        array = np.ascontiguousarray(given, dtype=dtype)
    if array.dtype.kind != "f" and not np.array_equal(array, given):
        refuse_damaged(name, "values that do not fit", f"{np.dtype(dtype).name} values")
    return array


def check_trees(trees: FlatTrees) -> None:
    """Raise ``ModelFormatError`` if arrays do not form valid trees.

    Parameters
    ----------
    trees : FlatTrees
        With fields of the right types.

    Raises
    ------
    ModelFormatError
        Names the first tree, node and field that is wrong.

    Examples
    --------
    ``TreeEnsemble`` calls it; there is no need to call it by hand.

    >>> from dataclasses import replace
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> from clearwood.ensembles import read_ensemble
    >>> tree = DecisionTreeRegressor().fit([[0.0], [1.0]], [5.0, 7.0])
    >>> replace(read_ensemble(tree), left=[0, -1, -1])
    Traceback (most recent call last):
        ...
    clearwood.exceptions.ModelFormatError: left of node 0 in tree 0: found 0, \
expected a later node of the same tree. The model is damaged or was changed by hand; \
read it again or refit it.
    """
    _check_shapes(trees)
    _check_roots(trees)
    _check_children(trees)
    _check_splits(trees)
    _check_category_sets(trees)
    finite = (trees.feature >= 0) | np.isfinite(trees.value).all(axis=1)
    _require(trees, "value", finite, "finite leaf values")


def _check_shapes(e: FlatTrees) -> None:
    for name in NODE_FIELDS:
        found = getattr(e, name).shape
        if found != (e.n_nodes,):
            refuse_damaged(
                name, f"shape {found}", f"({e.n_nodes},), one entry per node"
            )
    if e.value.ndim != 2 or len(e.value) != e.n_nodes:
        refuse_damaged("value", f"shape {e.value.shape}", f"({e.n_nodes}, width)")
    for name in TREE_FIELDS:
        found = getattr(e, name).shape
        if found != (e.n_trees,):
            refuse_damaged(
                name, f"shape {found}", f"({e.n_trees},), one entry per tree"
            )


def _check_roots(e: FlatTrees) -> None:
    expected_first = e.n_trees == 0 or e.roots[0] == 0
    # Compared, not subtracted: differences of hostile numbers would overflow.
    rising = np.all(e.roots[1:] > e.roots[:-1])
    in_order = rising and np.all(e.roots < e.n_nodes)
    if not expected_first or not in_order or (e.n_nodes > 0) != (e.n_trees > 0):
        refuse_damaged(
            "roots", f"{e.roots[:5].tolist()}...", "0, then rising positions of nodes"
        )


def _check_children(e: FlatTrees) -> None:
    inner = e.feature >= 0
    position = np.arange(e.n_nodes)
    tree_end = np.append(e.roots, e.n_nodes)[1:][_tree_of_node(e)]
    for name in ("left", "right"):
        child = getattr(e, name)
        _require(e, name, inner | (child == -1), "-1, the node being a leaf")
        after = (child > position) & (child < tree_end)
        _require(e, name, ~inner | after, "a later node of the same tree")
    children = np.concatenate([e.left[inner], e.right[inner]])
    parents = np.bincount(children, minlength=e.n_nodes)
    parents[e.roots] += 1
    bad = np.flatnonzero(parents != 1)
    if bad.size:
        _fail_at(
            e, bad[0], "left/right", f"{parents[bad[0]]} parents", "exactly 1 parent"
        )


def _check_splits(e: FlatTrees) -> None:
    n = e.n_features
    in_range = (e.feature >= -1) & (e.feature < n)
    _require(e, "feature", in_range, f"-1 at a leaf, else 0 to {n - 1}")
    is_categorical = np.array([c is not None for c in e.features.categories] + [False])
    expected = is_categorical[e.feature]
    found = e.category_set >= 0
    _require(
        e, "category_set", found == expected, "a set exactly at categorical features"
    )
    numeric = (e.feature >= 0) & ~found
    _require(e, "cut", ~numeric | ~np.isnan(e.cut), "a number")


def _check_category_sets(e: FlatTrees) -> None:
    offsets = e.category_offsets
    n_sets = offsets.size - 1
    ends_fit = n_sets >= 0 and offsets[0] == 0 and offsets[-1] == e.categories_left.size
    if not ends_fit or (offsets[1:] < offsets[:-1]).any():
        expected = f"rising from 0 to {e.categories_left.size}, the table's end"
        refuse_damaged("category_offsets", f"{offsets[:5].tolist()}...", expected)
    _require(e, "category_set", e.category_set < n_sets, f"below {n_sets}")
    n_categories = np.array([len(c or ()) for c in e.features.categories], dtype=int)
    nodes = np.flatnonzero(e.category_set >= 0)
    sizes = np.diff(offsets)[e.category_set[nodes]]
    wrong = np.flatnonzero(sizes != n_categories[e.feature[nodes]])
    if wrong.size:
        node, size = nodes[wrong[0]], sizes[wrong[0]]
        expected = f"{n_categories[e.feature[node]]} categories"
        _fail_at(e, node, "category_set", f"a set over {size} categories", expected)


def _tree_of_node(e: FlatTrees) -> np.ndarray:
    return np.searchsorted(e.roots, np.arange(e.n_nodes), side="right") - 1


def _require(e: FlatTrees, field: str, good: np.ndarray, expected: str) -> None:
    bad = np.flatnonzero(~good)
    if bad.size:
        _fail_at(e, bad[0], field, str(getattr(e, field)[bad[0]]), expected)


def _fail_at(
    e: FlatTrees, node: int, field: str, found: str, expected: str
) -> NoReturn:
    tree = np.searchsorted(e.roots, node, side="right") - 1
    where = f"{field} of node {node - e.roots[tree]} in tree {tree}"
    refuse_damaged(where, found, expected)
