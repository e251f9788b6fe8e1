"""Grown trees as arrays, for the kernels that look at whole ones."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from clearwood._kernels import search_trees as kernels

if TYPE_CHECKING:
    from clearwood.search.trees.nodes import GrownNode, TreeProblem


class FlatTree(NamedTuple):
    """A tree as arrays, each node before its children; see ``cost_of_tree``.

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
    def of(cls, tree: GrownNode) -> tuple[FlatTree, list[GrownNode]]:
        """The arrays of a tree, and its nodes in the same order."""
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
        return cls(feature, masks, np.array(children)), nodes

    def asking(self, d: int, mask: np.ndarray) -> FlatTree:
        """The same tree with another question at its root."""
        self.feature[0] = d
        self.goes_left[0, : len(mask)] = mask
        return self


def split_of(problem: TreeProblem) -> FlatTree:
    """A split into two leaves, with no question yet."""
    masks = np.zeros((3, int(problem.grid.n_bins.max())), dtype=bool)
    return FlatTree(np.full(3, -1), masks, np.array([[1, 2], [-1, -1], [-1, -1]]))


def cost_in_place(node: GrownNode, tree: FlatTree) -> float:
    """What a tree costs in the place of a node; infinite where it is not sound."""
    cost: float = kernels.cost_of_tree(
        node.problem, node.rows, node.box, node.literals, tree
    )
    return cost


def digest(*arrays: np.ndarray) -> bytes:
    """A short name of some arrays."""
    return blake2b(b"".join(a.tobytes() for a in arrays), digest_size=16).digest()
