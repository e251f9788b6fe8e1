"""Grown trees as arrays, for kernels."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from clearwood.search.trees.nodes import GrownNode


class NodePlace(NamedTuple):
    """Rows and box of a node.

    Attributes
    ----------
    rows : ndarray of int64
        Indices of its rows.
    box : ndarray of bool of shape (total number of bins,)
        Allowed bins.
    literals : int
        Number of literals of the box.
    """

    rows: np.ndarray
    box: np.ndarray
    literals: int


class FlatTree(NamedTuple):
    """A tree as arrays, each node before its children.

    Attributes
    ----------
    feature : ndarray of int64 of shape (n_nodes,)
    goes_left : ndarray of bool of shape (n_nodes, largest number of bins)
    children : ndarray of int64 of shape (n_nodes, 2)
    """

    feature: np.ndarray
    goes_left: np.ndarray
    children: np.ndarray

    @classmethod
    def of(cls, tree: GrownNode) -> FlatTree:
        """The arrays of a tree."""
        nodes, children = [tree], [[-1, -1]]
        for i, node in enumerate(nodes):
            for side, child in enumerate(node.children):
                children[i][side] = len(nodes)
                nodes.append(child)
                children.append([-1, -1])
        feature = np.array([node.feature for node in nodes])
        masks = np.zeros((len(nodes), int(tree.problem.grid.n_bins.max())), dtype=bool)
        for line, node in zip(masks, nodes):
            if node.goes_left is not None:
                line[: len(node.goes_left)] = node.goes_left
        return cls(feature, masks, np.array(children))


def digest(*parts: Any) -> bytes:
    """Short hash of some arrays and bytes."""
    return blake2b(b"".join(parts), digest_size=16).digest()
