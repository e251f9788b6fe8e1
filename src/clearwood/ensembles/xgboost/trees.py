"""One tree of an XGBoost model document, checked and numbered parents first."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np

from clearwood.codec.documents import Place, shown
from clearwood.ensembles.nodes import MOST_NODES, TreeNodes

DELETED = 2**31 - 1
"""Marks a node that pruning removed from the tree, in place of its feature."""

MOST_CODE = 2**24 - 1
"""Largest category code: codes are float32 numbers in XGBoost."""

# Training statistics, of the length of the other arrays; unused in prediction.
STATISTICS = ("base_weights", "loss_changes", "parents", "sum_hessian")


class ParsedTree(NamedTuple):
    """Tree whose category sets are still lists of codes.

    Parameters
    ----------
    nodes : TreeNodes
        With values and cuts in float32 as stored, where ``x < cut`` goes left, and
        without ``categories_left``.
    goes_right : dict of int to ndarray of int64
        Per categorical node, the category codes that go right, ascending; all others
        go left.
    """

    nodes: TreeNodes
    goes_right: dict[int, np.ndarray]


def read_tree(tree: Place, n_features: int) -> ParsedTree:
    """Read one tree.

    Parameters
    ----------
    tree : Place
        An entry of ``trees``.
    n_features : int
        Number of features of the model.

    Returns
    -------
    ParsedTree

    Raises
    ------
    ModelFormatError
        Names the tree, and the node and field if there is one.

    Examples
    --------
    >>> stump = {
    ...     "tree_param": {"num_nodes": "3", "size_leaf_vector": "1"},
    ...     "left_children": [1, -1, -1], "right_children": [2, -1, -1],
    ...     "split_indices": [0, 0, 0], "split_conditions": [2.5, -1.0, 1.0],
    ...     "default_left": [1, 0, 0],
    ... }
    >>> nodes, _ = read_tree(Place(stump, "example: trees[0]"), n_features=1)
    >>> nodes.feature, nodes.value.ravel()
    (array([ 0, -1, -1]), array([ 2.5, -1. ,  1. ], dtype=float32))
    """
    n = _n_nodes(tree)
    left = tree["left_children"].integers(n, low=-1, high=n - 1)
    right = tree["right_children"].integers(n, low=-1, high=n - 1)
    feature = tree["split_indices"].integers(n)
    inner = left >= 0
    order = _order(tree, left, right, is_deleted=feature == DELETED)
    _check_features(tree, np.where(inner, feature, 0), n_features)
    categorical = _flags(tree, "split_type", n) & inner
    number = np.full(n, -1)
    number[order] = np.arange(order.size)
    condition = _conditions(tree, n, needed=(number >= 0) & ~categorical)[order]
    nodes = TreeNodes(
        feature=np.where(inner, feature, -1)[order],
        cut=condition,
        left=number[left[order]],
        right=number[right[order]],
        missing_left=_flags(tree, "default_left", n)[order],
        value=condition[:, None],
        unseen_left=np.ones(order.size, bool),
    )
    sets = _category_sets(tree, categorical)
    return ParsedTree(nodes, {int(number[node]): codes for node, codes in sets.items()})


def _n_nodes(tree: Place) -> int:
    """Number of nodes, which is the length of all arrays of the tree."""
    param = tree["tree_param"]
    width = param.get("size_leaf_vector")
    if width is not None and width.integer(from_text=True) not in (0, 1):
        width.refuse(
            f"trees with {shown(width.value)} values per leaf",
            "Fit the model with multi_strategy='one_output_per_tree'",
        )
    n = param["num_nodes"].integer(1, MOST_NODES, from_text=True)
    for name in STATISTICS:
        statistic = tree.get(name)
        if statistic is not None and statistic.size() != n:
            statistic.fail(f"{statistic.size()} entries", f"{n}")
    return n


def _flags(tree: Place, name: str, n: int) -> np.ndarray:
    """Zeros and ones; early versions wrote booleans, or untyped arrays."""
    flags = tree.get(name) if name == "split_type" else tree[name]
    if flags is None:
        return np.zeros(n, bool)
    if isinstance(flags.value, list) and set(map(type, flags.value)) == {bool}:
        flags = Place([int(flag) for flag in flags.value], flags.where)
    return flags.integers(n, low=0, high=1).astype(bool)


def _order(
    tree: Place, left: np.ndarray, right: np.ndarray, is_deleted: np.ndarray
) -> np.ndarray:
    """The nodes of the tree, parents before children, without the deleted ones."""
    inner = left >= 0
    for node in _first((right >= 0) != inner):
        _fail_at(tree, node, "a child on one side", "two children or none")
    parents = np.bincount(np.concatenate([left[inner], right[inner]]), minlength=1)
    parents = np.append(parents, np.zeros(left.size - parents.size, parents.dtype))
    if parents[0]:
        _fail_at(tree, 0, "the root as a child (a cycle)", "no parent")
    for node in _first(parents > 1):
        _fail_at(tree, node, f"{parents[node]} parents", "1 parent")
    absent = parents == 0
    absent[0] = False
    for node in _first(absent & (inner | ~is_deleted)):
        _fail_at(tree, node, "no parent", "1 parent, or a deleted node")
    position = np.arange(left.size)
    if np.all(~inner | ((left > position) & (right > position))):
        return np.flatnonzero(~absent)
    order = _depth_first(left, right)
    for node in _first(~absent & ~np.isin(position, order)):
        _fail_at(tree, node, "a cycle", "a tree")
    return order


def _depth_first(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Nodes from the root on, for trees whose numbers do not increase downwards.

    It terminates, as no node has two parents and the root has none.
    """
    to_left, to_right = left.tolist(), right.tolist()
    order, open_nodes = [], [0]
    while open_nodes:
        node = open_nodes.pop()
        order.append(node)
        if to_left[node] >= 0:
            open_nodes += [to_right[node], to_left[node]]
    return np.array(order)


def _check_features(tree: Place, features: np.ndarray, n_features: int) -> None:
    for node in _first((features < 0) | (features >= n_features)):
        found = f"the feature {features[node]} in split_indices"
        _fail_at(tree, node, found, f"0 to {n_features - 1}")


def _conditions(tree: Place, n: int, needed: np.ndarray) -> np.ndarray:
    """Thresholds of inner nodes and values of leaves, in XGBoost's float32."""
    with np.errstate(over="ignore"):
        values = tree["split_conditions"].numbers(n, finite=False).astype(np.float32)
    for node in _first(needed & ~np.isfinite(values)):
        found = f"{values[node]} in split_conditions"
        _fail_at(tree, node, found, "a finite float32 number")
    return values


def _category_sets(tree: Place, categorical: np.ndarray) -> dict[int, np.ndarray]:
    """The categories that go right, per categorical node."""
    if not categorical.any():
        return {}
    nodes = tree["categories_nodes"].integers(low=0, high=categorical.size - 1)
    codes = tree["categories"].integers(low=0, high=MOST_CODE)
    sizes = tree["categories_sizes"].integers(nodes.size, low=0, high=codes.size)
    starts = tree["categories_segments"].integers(nodes.size, low=0, high=codes.size)
    if (np.diff(nodes) <= 0).any():
        tree["categories_nodes"].fail("nodes out of order", "rising numbers of nodes")
    # If segments could overlap, a small file could declare sets without bound.
    ends = np.append(starts, codes.size)[1:]
    if (starts[:1] != 0).any() or (starts + sizes != ends).any():
        tree["categories_segments"].fail(
            "segments that do not follow each other",
            f"every segment to begin where the last ended, up to {codes.size}",
        )
    sets = {
        node: np.sort(codes[start : start + size])
        for node, start, size in zip(nodes.tolist(), starts.tolist(), sizes.tolist())
        if categorical[node]
    }
    for node in _first(categorical & ~np.isin(np.arange(categorical.size), nodes)):
        _fail_at(tree, node, "a categorical split without categories", "categories")
    return sets


def _first(bad: np.ndarray) -> list[int]:
    """First node where a condition holds, or none."""
    return np.flatnonzero(bad)[:1].tolist()


def _fail_at(tree: Place, node: int, found: str, expected: str) -> NoReturn:
    Place(None, f"{tree.where}, node {node}").fail(found, expected)
