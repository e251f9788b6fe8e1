"""Trees of CatBoost models: symmetric ones, and nested ones of any shape.

A question is answered yes above a border or by its category, and yes goes right.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from clearwood.ensembles.catboost_features import Questions
from clearwood.ensembles.documents import Place
from clearwood.ensembles.nodes import TreeNodes

MOST_SYMMETRIC_DEPTH = 24
"""More than CatBoost grows; a file must hold a value for every leaf anyway."""


def symmetric_tree(tree: Place, width: int, questions: Questions) -> TreeNodes:
    """A tree that asks the same question in all nodes of a level.

    Parameters
    ----------
    tree : Place
        With ``splits``, one per level, and ``leaf_values``: the answer to split ``i``
        is bit ``i`` of a leaf's number.
    width : int
        Values per leaf.
    questions : Questions

    Returns
    -------
    TreeNodes
    """
    splits = tree.get("splits")
    levels = [] if splits is None or splits.value is None else splits.items()
    depth = len(levels)
    if depth > MOST_SYMMETRIC_DEPTH:
        tree["splits"].fail(f"{depth} splits", f"at most {MOST_SYMMETRIC_DEPTH}")
    values = tree["leaf_values"].numbers(length=width << depth)
    asked = np.array([questions.number(split) for split in levels] + [-1])
    level, left, leaf_order = _template(depth)
    value = np.zeros((level.size, width))
    value[level == depth] = values.reshape(-1, width)[leaf_order]
    return _tree_nodes(asked[level], left, left + 1, value, questions)


@lru_cache(maxsize=MOST_SYMMETRIC_DEPTH)
def _template(depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per node its level and left child; the numbers of the leaves from left to right.

    Nodes stand level by level, so the children of node ``i`` are ``2i + 1, 2i + 2``.
    """
    level = np.repeat(np.arange(depth + 1), 1 << np.arange(depth + 1))
    leaf_order: np.ndarray = np.zeros(1, dtype=np.int64)
    for split in range(depth):
        leaf_order = (leaf_order[:, None] + [0, 1 << split]).ravel()
    return level, 2 * np.arange(level.size) + 1, leaf_order


def nested_tree(tree: Place, width: int, questions: Questions) -> TreeNodes:
    """A tree whose nodes hold their children.

    Parameters
    ----------
    tree : Place
        The root: an inner node with ``split``, ``left`` and ``right``, or a leaf with
        ``value``.
    width : int
        Values per leaf.
    questions : Questions

    Returns
    -------
    TreeNodes
    """
    asked: list[int] = []
    children: tuple[list[int], list[int]] = ([], [])
    value: list[list[float]] = []
    no_value = [0.0] * width
    # Nodes still to be read, and where the parent waits for their number.
    waiting: list[tuple[object, int, list[int]]] = [(tree.value, -1, [])]
    while waiting:
        content, parent, numbers = waiting.pop()
        node = len(asked)
        if parent >= 0:
            numbers[parent] = node
        place = Place(content, f"{tree.where}, node {node}")
        for side in children:
            side.append(0)
        if "split" in place:
            asked.append(questions.number(place["split"]))
            value.append(no_value)
            waiting.append((place["right"].value, node, children[1]))
            waiting.append((place["left"].value, node, children[0]))
        else:
            asked.append(-1)
            value.append(_leaf_value(place, width))
    left, right = map(np.array, children)
    return _tree_nodes(np.array(asked), left, right, np.array(value), questions)


def _leaf_value(leaf: Place, width: int) -> list[float]:
    for side in ("left", "right"):
        if side in leaf:
            leaf.fail(f"{side!r} without 'split'", "a split or a leaf")
    if width == 1:
        return [leaf["value"].number()]
    return leaf["value"].numbers(length=width).tolist()


def _tree_nodes(
    asked: np.ndarray,
    left: np.ndarray,
    right: np.ndarray,
    value: np.ndarray,
    questions: Questions,
) -> TreeNodes:
    """Nodes by the number of their question, -1 at leaves."""
    categorical = np.flatnonzero(questions.category[asked] >= 0).tolist()
    return TreeNodes(
        feature=questions.column[asked],
        cut=questions.cut[asked],
        left=left,
        right=right,
        missing_left=questions.missing_left[asked],
        value=value,
        categories_left={
            node: questions.categories_left(int(asked[node])) for node in categorical
        },
        # A category that the model does not know is none that a split asks about.
        unseen_left=np.ones(asked.size, dtype=bool),
    )
