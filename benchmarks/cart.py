"""scikit-learn's CART on bins, as a baseline for what is searched for here."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.candidates import rank_columns
from clearwood.search.lists.ascent import LEAST_ROWS
from clearwood.search.trees.nodes import Node, TreeProblem, root_of
from clearwood.search.trees.splits import prunings


def cart_trees(
    problem: TreeProblem,
    target: np.ndarray,
    max_leaves: int,
    *,
    max_depth: int | None = None,
) -> list[Node]:
    """CARTs of 1, 2, ... leaves, grown best first.

    Parameters
    ----------
    problem : TreeProblem
        Says what the leaves say. All rows count as support.
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        What squared error is taken of.
    max_leaves : int
    max_depth : int, optional
        Grow one tree so deep and cut it back, instead of one tree per size.

    Returns
    -------
    list of Node
    """
    from sklearn.tree import DecisionTreeRegressor

    root = root_of(problem)
    if max_leaves < 2 or not len(problem.grid.n_bins):
        return [root]
    weight = problem.stats[:, -3]
    columns, ranks = rank_columns(problem.grid, target, weight)

    def grown(**settings: Any) -> Node:
        tree = DecisionTreeRegressor(
            min_samples_leaf=LEAST_ROWS, random_state=0, **settings
        ).fit(columns, target, weight)
        return _as_nodes(root, tree.tree_, ranks)

    if max_depth is not None:
        cut = prunings(grown(max_depth=max_depth), max_leaves)
        return [cut[size] for size in sorted(cut)]
    found = [root]
    for size in range(2, max_leaves + 1):
        tree = grown(max_leaf_nodes=size)
        if tree.n_leaves < size:
            break
        found.append(tree)
    return found


def _as_nodes(node: Node, tree: Any, ranks: list[Any], position: int = 0) -> Node:
    """A node and what is below in scikit-learn's tree, on our bins."""
    d = int(tree.feature[position])
    if d < 0:
        return node
    asked = node.split(d, ranks[d] <= tree.threshold[position])
    below = (tree.children_left[position], tree.children_right[position])
    return asked.with_children(
        tuple(
            _as_nodes(child, tree, ranks, int(at))
            for child, at in zip(asked.children, below)
        )
    )
