"""Growing a tree split by split, and pruning it to each size exactly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._kernels import search_trees as kernels
from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.trees.nodes import Address, GrownNode, at, with_node

MOST_AHEAD_ROWS = 2500
"""Maximum number of rows to compare first splits on; the best are compared on all."""

MOST_AHEAD_WORK = 5e7
"""Maximum number of additions in one comparison of first splits."""

N_FIRST = (12, 64)
"""Minimum and maximum number of first splits that are followed up."""

N_COMPARED = 6
"""Of these, the number that are followed up on all rows."""


Proposal = tuple[float, int, np.ndarray]
"""Gain, feature, and the bins that go left."""


def grow(root: GrownNode, n_leaves: int, propose: Any) -> GrownNode:
    """Repeatedly split the leaf of largest gain."""
    tree = root
    proposals: dict[Address, Proposal | None] = {(): propose(root)}
    for _ in range(n_leaves - 1):
        address = max(proposals, key=lambda address: _gain(proposals[address]))
        proposal = proposals.pop(address)
        if proposal is None or proposal[0] <= SMALLEST_CHANGE:
            break
        node = at(tree, address).split(*proposal[1:])
        tree = with_node(tree, address, node)
        for side, child in enumerate(node.children):
            proposals[(*address, side)] = propose(child)
    return tree


def _gain(proposal: Proposal | None) -> float:
    return -np.inf if proposal is None else proposal[0]


def next_split(leaf: GrownNode) -> Proposal | None:
    """The split that lowers the loss most by itself."""
    losses, goes_left = leaf.best_splits
    if not np.isfinite(losses).any():
        return None
    d = int(losses.argmin())
    gain = _own_loss(leaf) - float(losses[d])
    return gain, d, goes_left[leaf.part(d)]


def _own_loss(leaf: GrownNode) -> float:
    return float(kernels.leaf_loss(leaf.sums, leaf.problem.leaf))


def first_split(leaf: GrownNode) -> Proposal | None:
    """The split that lowers the loss most together with the best one on each side.

    Returns
    -------
    Proposal or None
        The gain is per added leaf. None if no split is possible.
    """
    features, masks = first_splits(leaf)
    if not len(features):
        return None
    rows = leaf.rows
    if len(rows) > MOST_AHEAD_ROWS and len(features) > N_COMPARED:
        some = rows[:: -(-len(rows) // MOST_AHEAD_ROWS)].copy()  # Contiguous.
        after = follow_up(leaf, some, features, masks)
        best = np.argsort(after.min(axis=1), kind="stable")[:N_COMPARED]
        features, masks = features[best], masks[best]
    after = follow_up(leaf, rows, features, masks)
    chosen = int(after[:, 2].argmin())
    if not np.isfinite(after[chosen, 2]):
        return None
    gains = _own_loss(leaf) - after[chosen]
    d = int(features[chosen])
    size = leaf.problem.grid.n_bins[d]
    return float((gains / [1, 2, 3]).max()), d, masks[chosen, :size]


def follow_up(
    leaf: GrownNode, rows: np.ndarray, features: np.ndarray, masks: np.ndarray
) -> np.ndarray:
    """Loss after each split, with none, the better, and both of the follow-up splits.

    Computed on a sample of the rows, each standing for equally many.
    """
    problem = leaf.problem
    scale = len(leaf.rows) / len(rows)
    least = problem.min_samples_leaf / scale
    left, right, left_split, right_split = kernels.look_ahead(
        problem, rows, features, masks, least
    ).T
    one = np.minimum(left_split + right, left + right_split)
    return scale * np.stack([left + right, one, left_split + right_split], axis=1)


def first_splits(leaf: GrownNode) -> tuple[np.ndarray, np.ndarray]:
    """Splits to follow up: the best of each feature, and evenly spaced thresholds.

    All thresholds of all numeric features, if they are few.

    Returns
    -------
    features : ndarray of int64 of shape (n_splits,)
    masks : ndarray of bool of shape (n_splits, largest number of bins)
        Bins that go left.
    """
    problem, (losses, goes_left) = leaf.problem, leaf.best_splits
    grid, order = problem.grid, np.argsort(losses, kind="stable")
    n_rows = min(len(leaf.rows), MOST_AHEAD_ROWS)
    each = n_rows * len(grid.start) * problem.stats.shape[1] / 2
    most = int(np.clip(MOST_AHEAD_WORK / max(each, 1.0), *N_FIRST))
    order = order[np.isfinite(losses[order])][: max(most // 2, 1)]
    best = np.zeros((len(order), int(grid.n_bins.max(initial=1))), dtype=bool)
    for line, d in zip(best, order):
        line[: grid.n_bins[d]] = goes_left[leaf.part(d)]
    numeric = order[~grid.is_category[order]]
    each = most // max(len(order), 1)
    features, cuts = kernels.spread_cuts(grid, leaf.rows, numeric, each)
    return np.concatenate([order, features]), np.concatenate([best, cuts])


def best_subtrees(
    costs: Sequence[float],
    left: Sequence[int],
    right: Sequence[int],
    most: int,
) -> list[tuple[float, tuple[int, ...]]]:
    """Minimum-cost prunings of a tree with 1, 2, ... leaves.

    Parameters
    ----------
    costs : sequence of float
        Cost of each node as a leaf. Node 0 is the root; children come after their
        parents.
    left, right : sequence of int
        Children of each node; -1 for a leaf.
    most : int
        Maximum number of leaves.

    Returns
    -------
    list of (float, tuple of int)
        Per size, from 1: the cost, and the nodes that are leaves, from left to right.

    Examples
    --------
    >>> best_subtrees([5.0, 3.0, 1.5, 0.0, 0.5], [1, 3, -1, -1, -1],
    ...               [2, 4, -1, -1, -1], most=3)
    [(5.0, (0,)), (4.5, (1, 2)), (2.0, (3, 4, 2))]
    """
    tables: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in costs]
    for node in range(len(costs) - 1, -1, -1):
        best: dict[int, tuple[float, tuple[int, ...]]]
        best = {1: (float(costs[node]), (node,))}
        if left[node] >= 0:
            for i, (cost, leaves) in enumerate(tables[left[node]], start=1):
                for j, (other, others) in enumerate(tables[right[node]], start=1):
                    total = cost + other
                    if i + j <= most and total < best.get(i + j, (np.inf,))[0]:
                        best[i + j] = (total, leaves + others)
        tables[node] = [best[size] for size in sorted(best)]
    return tables[0]


def prunings(tree: GrownNode, most: int) -> dict[int, GrownNode]:
    """The best pruning of every possible size."""
    nodes, left, right = [tree], [-1], [-1]
    addresses: list[Address] = [()]
    for i, node in enumerate(nodes):
        for side, child in enumerate(node.children):
            (left, right)[side][i] = len(nodes)
            nodes.append(child)
            addresses.append((*addresses[i], side))
            left.append(-1)
            right.append(-1)
    costs = [node.leaf_cost for node in nodes]
    found = {}
    for _, leaves in best_subtrees(costs, left, right, most):
        found[len(leaves)] = _cut_at(tree, {addresses[i] for i in leaves})
    return found


def _cut_at(node: GrownNode, leaves: set[Address], address: Address = ()) -> GrownNode:
    if address in leaves:
        return node.leaf()
    children = [
        _cut_at(child, leaves, (*address, side))
        for side, child in enumerate(node.children)
    ]
    return node.with_children(tuple(children))
