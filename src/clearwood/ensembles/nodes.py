"""Assembly of single trees into the flat arrays of an ensemble, for all readers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from clearwood.exceptions import UnsupportedModelError

MOST_TREES = 1_000_000
MOST_NODES = 2**31 - 2
MOST_CLASSES = 10_000
MOST_UNNAMED_FEATURES = 200_000
MOST_SET_ENTRIES = 2**25
"""Entries of the table of category sets: sets times categories, 32 MiB."""


@dataclass
class TreeNodes:
    """Nodes of one tree, numbered from its root (node 0).

    Parameters
    ----------
    feature : array of int
        Feature that the node splits on, -1 at leaves.
    cut : array of float
        Rows with ``x <= cut`` go left; ignored at leaves and categorical nodes.
    left, right : array of int
        Children; ignored at leaves.
    missing_left : array of bool
        Whether rows with a missing value go left.
    value : array of shape (n_nodes, width)
        Contribution of a leaf to the outputs; ignored at inner nodes.
    output : int, default=0
        First output that the tree adds to.
    categories_left : dict of int to array of bool
        Per categorical node, which category codes go left.
    unseen_left : array of bool or None
        Whether unseen categories go left; None if they go with missing values.

    Examples
    --------
    >>> stump = TreeNodes(
    ...     feature=[0, -1, -1], cut=[1.5, 0, 0], left=[1, 0, 0], right=[2, 0, 0],
    ...     missing_left=[True, False, False], value=[[0.0], [1.0], [2.0]],
    ... )
    >>> join_trees([stump, stump])["left"]
    array([ 1, -1, -1,  4, -1, -1], dtype=int32)
    """

    feature: Any
    cut: Any
    left: Any
    right: Any
    missing_left: Any
    value: Any
    output: int = 0
    categories_left: dict[int, np.ndarray] = field(default_factory=dict)
    unseen_left: Any = None


def join_trees(trees: Sequence[TreeNodes]) -> dict[str, Any]:
    """Join trees into node arrays, the keyword arguments of ``TreeEnsemble``.

    Parameters
    ----------
    trees : sequence of TreeNodes
        In the order in which their values are added.

    Returns
    -------
    dict of str to ndarray
        Fields of ``TreeEnsemble``; unused entries (the threshold of a leaf, the value
        of an inner node) are blanked out.

    Examples
    --------
    >>> leaf = TreeNodes([-1], [0], [-1], [-1], [False], [[3.0]])
    >>> join_trees([leaf])["roots"]
    array([0], dtype=int32)
    """
    sizes = [len(tree.feature) for tree in trees]
    roots = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])[:-1]
    # Per node the root of its tree, to convert node numbers into positions.
    start = np.repeat(roots, sizes)
    feature = _joined([tree.feature for tree in trees]).astype(np.int32)
    sets, set_of_node = _distinct_sets(trees)
    category_set = np.full(feature.size, -1, dtype=np.int32)
    category_set[_categorical_positions(trees, roots)] = set_of_node
    leaf, numeric = feature < 0, category_set < 0
    missing_left = _joined([tree.missing_left for tree in trees]).astype(bool)
    unseen_left = _joined([_unseen_left(tree) for tree in trees]).astype(bool)
    value = _joined([np.asarray(tree.value, dtype=np.float64) for tree in trees])
    return {
        "feature": np.where(leaf, -1, feature).astype(np.int32),
        "cut": np.where(leaf | ~numeric, np.nan, _joined([t.cut for t in trees])),
        "left": _positions([t.left for t in trees], start, leaf),
        "right": _positions([t.right for t in trees], start, leaf),
        "missing_left": missing_left & ~leaf,
        "unseen_left": unseen_left & ~leaf & ~numeric,
        "category_set": category_set,
        "category_offsets": np.cumsum([0, *map(len, sets)], dtype=np.int64),
        "categories_left": _joined([np.zeros(0, bool), *sets]).astype(bool),
        "value": np.where(leaf[:, None], value, 0.0),
        "roots": roots.astype(np.int32),
        "output": np.array([tree.output for tree in trees], dtype=np.int32),
    }


def _joined(parts: Sequence[Any]) -> np.ndarray:
    return np.concatenate([np.asarray(part) for part in parts])


def _positions(
    children: Sequence[Any], start: np.ndarray, leaf: np.ndarray
) -> np.ndarray:
    return np.where(leaf, -1, _joined(children) + start).astype(np.int32)


def _unseen_left(tree: TreeNodes) -> Any:
    return tree.missing_left if tree.unseen_left is None else tree.unseen_left


def _distinct_sets(
    trees: Sequence[TreeNodes],
) -> tuple[list[np.ndarray], list[int]]:
    """Distinct category sets, and their number per categorical node, in node order."""
    number: dict[bytes, int] = {}
    # Each array is packed once, as many nodes may share a large one.
    number_of_array: dict[int, int] = {}
    sets: list[np.ndarray] = []
    set_of_node: list[int] = []
    entries = 0
    for tree in trees:
        for _, goes_left in sorted(tree.categories_left.items()):
            if id(goes_left) not in number_of_array:
                packed = len(goes_left).to_bytes(8) + np.packbits(goes_left).tobytes()
                if packed not in number:
                    number[packed] = len(sets)
                    sets.append(goes_left)
                    entries += len(goes_left)
                    check_set_entries(entries, "the ensemble")
                number_of_array[id(goes_left)] = number[packed]
            set_of_node.append(number_of_array[id(goes_left)])
    return sets, set_of_node


def fill_category_sets(
    sets: Iterable[tuple[TreeNodes, dict[int, np.ndarray]]],
    codes: dict[int, np.ndarray],
    answers: Callable[[np.ndarray, np.ndarray], np.ndarray],
    where: str,
) -> None:
    """Set for every categorical node which categories of its feature go left.

    Equal sets share one array, so that memory is bounded before trees are joined.

    Parameters
    ----------
    sets : iterable of (TreeNodes, dict of int to ndarray)
        Per tree and categorical node the set as the library stores it. The tree's
        ``categories_left`` is filled in.
    codes : dict of int to ndarray
        Per categorical feature the category codes of the ensemble.
    answers : callable
        Maps a set and the codes to whether each code goes left.
    where : str
        Name of the source, for messages.
    """
    made: dict[tuple[int, bytes], np.ndarray] = {}
    entries = 0
    for tree, written in sets:
        for node, one in written.items():
            d = int(tree.feature[node])
            key = d, one.tobytes()
            if key not in made:
                entries += codes[d].size
                check_set_entries(entries, where)
                made[key] = answers(one, codes[d])
            tree.categories_left[node] = made[key]


def check_set_entries(entries: int, where: str) -> None:
    """Refuse category sets that need too much memory, before they are created."""
    if entries > MOST_SET_ENTRIES:
        raise UnsupportedModelError(
            f"{where}: its category sets have more than {MOST_SET_ENTRIES:,} entries "
            "in all. Group rare categories before the model is fitted."
        )


def _categorical_positions(trees: Sequence[TreeNodes], roots: np.ndarray) -> list[int]:
    return [
        int(root) + node
        for tree, root in zip(trees, roots)
        for node in sorted(tree.categories_left)
    ]
