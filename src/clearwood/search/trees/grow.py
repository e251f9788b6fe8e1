"""Small trees, grown by looking two splits ahead and improved as a whole.

A tree is fitted to a loss on bins. It is grown large by the splits with the lowest loss
after their best follow-up splits, pruned to each size exactly, and improved at each
size by moving splits and leaves until the objective stops falling.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._kernels.search_trees import N_EXTRA
from clearwood.search.ascent import MOST_SWEEPS, SMALLEST_CHANGE
from clearwood.search.growth import some_rows
from clearwood.search.trees.nodes import (
    Address,
    GrownNode,
    TreeProblem,
    at,
    inner_nodes,
    root_of,
    with_node,
)
from clearwood.search.trees.splits import first_split, grow, next_split, prunings

Expansion = tuple[float, Address, GrownNode, int, Any]
"""Change of the cost, the leaf's address, the leaf, feature and bins that go left."""

N_REMOVED = 3
"""Number of leaves that may be moved at a time, those of least cost of removal."""

MOST_ROUNDS = 2
"""Most passes over all sizes."""


def grow_trees(problem: TreeProblem, max_leaves: int) -> list[GrownNode]:
    """Trees of 1, 2, ... leaves, each as good as the search finds.

    Parameters
    ----------
    problem : TreeProblem
    max_leaves : int

    Returns
    -------
    list of GrownNode
        One per size, up to the size from which no split lowers the objective.
    """
    some = some_rows(problem.grid.n_rows, problem.stats.shape[1] - N_EXTRA)
    if some is not None:
        whole, thin = root_of(problem), grow_trees(problem.take(some), max_leaves)
        trees = [whole.shaped_like(tree) for tree in thin]
        return [tree for tree in trees if tree.is_sound]
    root = root_of(problem)
    if max_leaves < 2 or not len(problem.grid.n_bins):
        return [root]
    large = [grow(root, 2 * max_leaves, how) for how in (first_split, next_split)]
    found = {1: root}
    for cut in (prunings(tree, max_leaves) for tree in large):
        for size in sorted(cut):
            _keep(found, improve(cut[size]))
    # Results at one size may improve adjacent ones.
    for _ in range(MOST_ROUNDS):
        before = sum(tree.cost for tree in found.values())
        for size in range(1, max_leaves):
            if size in found:
                for longer in expansions(found[size]):
                    _keep(found, improve(longer))
        for size in range(max_leaves, 2, -1):
            if size in found:
                for shorter in removals(found[size], 1):
                    _keep(found, improve(shorter))
        if sum(tree.cost for tree in found.values()) > before - SMALLEST_CHANGE:
            break
    paying = [root]
    for size in sorted(found):
        if found[size].cost < paying[-1].cost - SMALLEST_CHANGE:
            paying.append(found[size])
    return paying


def _keep(found: dict[int, GrownNode], tree: GrownNode) -> None:
    """Keep a tree if it is the best of its size, without splits that have no effect."""
    tree = merged(tree)
    known = found.get(tree.n_leaves)
    if known is None or tree.cost < known.cost - SMALLEST_CHANGE:
        found[tree.n_leaves] = tree


def merged(tree: GrownNode) -> GrownNode:
    """The tree without splits with equal predictions on both sides."""
    if not tree.children:
        return tree
    children = tuple(merged(child) for child in tree.children)
    left, right = children
    if not left.children and not right.children and left.value == right.value:
        return tree.leaf()
    return tree if children == tree.children else tree.with_children(children)


def improve(tree: GrownNode) -> GrownNode:
    """Move splits and leaves while the objective falls."""
    for _ in range(MOST_SWEEPS):
        before = tree.cost
        for address, _ in list(inner_nodes(tree)):
            tree = with_node(tree, address, at(tree, address).moved)
        if tree.cost > before - SMALLEST_CHANGE:
            better = transplanted(tree)
            if better is tree:
                break
            tree = better
    return tree


def removals(tree: GrownNode, most: int | None = None) -> list[GrownNode]:
    """Trees with one leaf less, best first: a split is replaced by one of its sides."""
    found = []
    for address, node in inner_nodes(tree):
        for side, child in enumerate(node.children):
            # The leaf to remove; of two, either.
            if child.children or (side and node.n_leaves == 2):
                continue
            if np.isfinite(cost := node.without(side)):
                found.append((cost - node.cost, address, node, 1 - side))
    found.sort(key=lambda entry: entry[0])
    return [
        with_node(tree, address, node.leaf().shaped_like(node.children[kept]))
        for _, address, node, kept in found[:most]
    ]


def expansions(tree: GrownNode) -> list[GrownNode]:
    """The best tree with one leaf more, a leaf of which is split, if there is one."""
    return [_expanded(tree, found) for found in _best_expansions(tree)[:1]]


def _best_expansions(tree: GrownNode) -> list[Expansion]:
    """Candidate splits of leaves with their change of the cost, best first."""
    found = []
    todo: list[tuple[Address, GrownNode]] = [((), tree)]
    while todo:
        address, node = todo.pop()
        todo += [((*address, side), child) for side, child in enumerate(node.children)]
        if not node.children:
            for cost, d, mask in node.promising[:2]:
                found.append((cost - node.cost, address, node, d, mask))
    return sorted(found, key=lambda entry: entry[0])


def _expanded(tree: GrownNode, found: Expansion) -> GrownNode:
    _, address, node, d, mask = found
    return with_node(tree, address, node.split(d, mask))


def transplanted(tree: GrownNode) -> GrownNode:
    """Remove a leaf and split another one; the same tree if that is no better."""
    best = tree
    for shorter in removals(tree, N_REMOVED):
        for longer in _best_expansions(shorter)[:1]:
            if shorter.cost + longer[0] < best.cost - SMALLEST_CHANGE:
                best = _expanded(shorter, longer)
    return best
