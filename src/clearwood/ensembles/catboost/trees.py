"""Trees of CatBoost models: symmetric ones, and nested ones of any shape.

Values above the border of a split, or equal to its category, go right.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from typing import Any

import numpy as np

from clearwood._memory import memory_bound
from clearwood.codec.documents import Place
from clearwood.ensembles.catboost.features import Questions
from clearwood.ensembles.nodes import MOST_NODES

MOST_SYMMETRIC_DEPTH = 16
"""Largest depth of CatBoost's symmetric trees."""
NODE_MEMORY, VALUE_MEMORY = 100, 9
"""Bytes per node while a model is read, and per value of a node."""


class Forest:
    """Nodes of all trees, one tree after the other.

    They are kept in flat arrays, as a model of many tiny trees must not become an
    object per tree.

    Parameters
    ----------
    width : int
        Values per leaf.
    questions : Questions
        Candidate splits, by number.
    size : int, optional
        Size of the file in bytes. A symmetric tree may be written in two characters
        per leaf: then it is refused, before it takes fifty times its file in memory.
        CatBoost writes two indented lines per leaf.
    """

    def __init__(
        self, width: int, questions: Questions, size: int | None = None
    ) -> None:
        self.width = width
        self.questions = questions
        self.most_nodes = MOST_NODES
        if size is not None:
            node_memory = NODE_MEMORY + VALUE_MEMORY * width
            self.most_nodes = min(MOST_NODES, memory_bound(size) // node_memory)
        self.roots = array("i")
        # Number of the split, -1 at leaves.
        self.question = array("i")
        self.left = array("i")
        self.right = array("i")
        self.value = array("d")

    def add_symmetric(self, tree: Place) -> None:
        """Read a tree with the same split in all nodes of a level.

        Parameters
        ----------
        tree : Place
            With ``splits``, one per level, and ``leaf_values``: the side at split
            ``i`` is bit ``i`` of a leaf's number.
        """
        splits = tree.get("splits")
        levels = [] if splits is None or splits.value is None else splits.items()
        depth = len(levels)
        if depth > MOST_SYMMETRIC_DEPTH:
            most = f"at most {MOST_SYMMETRIC_DEPTH}, the deepest that CatBoost grows"
            tree["splits"].fail(f"a tree of depth {depth}", most)
        values = tree["leaf_values"].numbers(length=self.width << depth)
        question = np.array([self.questions.number(split) for split in levels] + [-1])
        level, left, leaf_order = _template(depth)
        start = len(self.question)
        if start + level.size > self.most_nodes:
            tree.refuse(
                f"more than {self.most_nodes:,} nodes, which would take far more "
                "memory than the file",
                'Take the file as save_model(path, format="json") wrote it, with a '
                "line per leaf, or fit fewer or shallower trees",
            )
        self.roots.append(start)
        inner = level < depth
        value = np.zeros((level.size, self.width))
        value[~inner] = values.reshape(-1, self.width)[leaf_order]
        self.question.frombytes(question.astype(np.int32)[level].tobytes())
        for side, child in ((self.left, left), (self.right, left + 1)):
            position = np.where(inner, child + start, -1)
            side.frombytes(position.astype(np.int32).tobytes())
        self.value.frombytes(value.tobytes())

    def add_nested(self, tree: Place) -> None:
        """Read a tree whose nodes hold their children.

        Parameters
        ----------
        tree : Place
            The root: an inner node with ``split``, ``left`` and ``right``, or a leaf
            with ``value``.
        """
        start = len(self.question)
        self.roots.append(start)
        no_value = [0.0] * self.width
        # Nodes still to be read, and where the parent stores their number.
        waiting: list[tuple[Any, int, array[int]]] = [(tree.value, -1, self.left)]
        while waiting:
            content, parent, side = waiting.pop()
            node = len(self.question)
            if parent >= 0:
                side[parent] = node
            place = Place(content, f"{tree.where}, node {node - start}")
            self.left.append(-1)
            self.right.append(-1)
            if "split" in place:
                self.question.append(self.questions.number(place["split"]))
                self.value.extend(no_value)
                waiting.append((place["right"].value, node, self.right))
                waiting.append((place["left"].value, node, self.left))
            else:
                self.question.append(-1)
                self.value.extend(self._leaf_value(place))

    def _leaf_value(self, leaf: Place) -> list[float]:
        for side in ("left", "right"):
            if side in leaf:
                leaf.fail(f"{side!r} without 'split'", "a split or a leaf")
        if self.width == 1:
            return [leaf["value"].number()]
        return leaf["value"].numbers(length=self.width).tolist()

    def fields(self) -> dict[str, Any]:
        """Node arrays, the keyword arguments of ``TreeEnsemble``."""
        question = np.frombuffer(self.question, dtype=np.int32)
        questions = self.questions
        # Every categorical split has a category set of its own.
        category_set = np.full(questions.column.size, -1, dtype=np.int32)
        categorical = np.unique(question[questions.categorical[question]])
        category_set[categorical] = np.arange(categorical.size)
        sets = questions.category_sets(categorical.tolist())
        return {
            "feature": questions.column[question],
            "cut": questions.cut[question],
            "left": np.frombuffer(self.left, dtype=np.int32),
            "right": np.frombuffer(self.right, dtype=np.int32),
            "missing_left": questions.missing_left[question],
            "unseen_left": questions.unseen_left[question],
            "category_set": category_set[question],
            "category_offsets": np.cumsum([0, *map(len, sets)], dtype=np.int64),
            "categories_left": np.concatenate([np.zeros(0, dtype=bool), *sets]),
            "value": np.frombuffer(self.value).reshape(-1, self.width),
            "roots": np.frombuffer(self.roots, dtype=np.int32),
            "output": np.zeros(len(self.roots), dtype=np.int32),
        }


@lru_cache(maxsize=8)
def _template(depth: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Per node its level and left child; leaf numbers from left to right.

    Nodes stand level by level, so the children of node ``i`` are ``2i + 1, 2i + 2``.
    """
    levels = np.arange(depth + 1, dtype=np.int8)
    level = np.repeat(levels, 1 << np.arange(depth + 1))
    leaf_order = np.zeros(1, dtype=np.int32)
    for split in range(depth):
        bit = np.array([0, 1 << split], dtype=np.int32)
        leaf_order = np.add.outer(leaf_order, bit).ravel()
    return level, 2 * np.arange(level.size, dtype=np.int32) + 1, leaf_order
