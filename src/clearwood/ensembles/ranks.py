"""Trees that compare ranks: small integers in place of the cells of a table.

A tree only compares a number with the thresholds of its feature, so the number of
smaller thresholds (the rank) carries the same information. It is computed once per
cell, for all trees together; so is the outcome of every categorical split.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._kernels import ensembles as _kernels
from clearwood.ensembles.flat_trees import FlatTrees

MOST_LEVELS = 16
"""Most levels of a symmetric tree, whose leaf is a number with a bit per level."""


class Ranking(NamedTuple):
    """Thresholds and categorical splits that convert a row into ranks."""

    feature: np.ndarray
    offsets: np.ndarray
    cuts: np.ndarray
    set_nodes: np.ndarray


class RankedTrees(NamedTuple):
    """Nodes of every tree level by level; a right child follows its sibling.

    Rows with ``cells[column] <= rank`` go left. A leaf is its own child.
    """

    column: np.ndarray
    rank: np.ndarray
    child: np.ndarray
    roots: np.ndarray
    levels: np.ndarray
    symmetric: np.ndarray


def ranked(
    trees: FlatTrees, levels: np.ndarray
) -> tuple[Ranking, RankedTrees, np.ndarray] | None:
    """Ranking, trees that compare ranks, and the original positions of their nodes.

    None where computing the ranks of a row takes longer than traversing the trees.

    Parameters
    ----------
    trees : FlatTrees
    levels : ndarray of int32 of shape (n_trees,)
        Depth of a tree that is nearly full, 0 for any other.
    """
    ranking, column, rank = _ranking(trees)
    n_cuts = np.diff(ranking.offsets)
    n_leaves = np.add.reduceat(trees.feature < 0, trees.roots, dtype=np.int64)
    work = np.log2(n_cuts + 1).sum() + ranking.set_nodes.size
    largest = max(n_cuts.max(initial=0), column.max())
    if work > np.log2(n_leaves).sum() or largest > np.iinfo(np.uint16).max:
        return None
    order = _kernels.level_by_level(trees.left, trees.right, trees.roots)
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    leaf = trees.feature[order] < 0
    child = np.where(leaf, np.arange(order.size), place[trees.left[order]])
    small = n_cuts.max(initial=0) <= np.iinfo(np.uint8).max
    kind = np.uint8 if small else np.uint16
    # The rank of a leaf is the largest, so that rows stay there.
    rank = np.where(leaf, np.iinfo(kind).max, rank[order]).astype(kind)
    column = column[order]
    symmetric = _symmetric(trees, order, column * 2**16 + rank)
    nodes = column.astype(np.uint16), rank, child.astype(np.int32)
    return ranking, RankedTrees(*nodes, trees.roots, levels, symmetric), order


def _ranking(trees: FlatTrees) -> tuple[Ranking, np.ndarray, np.ndarray]:
    """Ranking of all splits, and per node the column and the rank that it compares.

    A missing value goes right in column ``2 * j`` of feature ``j`` and left in
    ``2 * j + 1``; these are followed by a column for each categorical split.
    """
    column, rank = np.zeros((2, trees.n_nodes), dtype=np.int64)
    node, feature, cut, missing_left = trees.splits().numeric
    order = np.lexsort((cut, feature))
    node, feature, cut = node[order], feature[order], cut[order]
    is_first = _differs(feature)
    is_new = is_first | _differs(cut)
    offsets = np.flatnonzero(np.append(is_first[is_new], True))
    j = np.cumsum(is_first) - 1
    column[node] = 2 * j + missing_left[order]
    rank[node] = np.cumsum(is_new) - 1 - offsets[j]

    by_set = np.flatnonzero(trees.category_set >= 0)
    categorical = (
        trees.feature,
        trees.category_set,
        trees.missing_left,
        trees.unseen_left,
    )
    questions = np.stack([array[by_set] for array in categorical], axis=1)
    _, first, which = np.unique(
        questions, axis=0, return_index=True, return_inverse=True
    )
    column[by_set] = 2 * np.count_nonzero(is_first) + which
    set_nodes = by_set[first].astype(np.int32)
    return Ranking(feature[is_first], offsets, cut[is_new], set_nodes), column, rank


def _symmetric(trees: FlatTrees, order: np.ndarray, asks: np.ndarray) -> np.ndarray:
    """Per tree, whether all nodes of a level share a split, and levels are few."""
    depth = _kernels.node_depths(trees.feature, trees.left, trees.right)
    starts_level = _differs(depth[order])
    starts_level[trees.roots] = True
    starts = np.flatnonzero(starts_level)
    same = np.maximum.reduceat(asks, starts) == np.minimum.reduceat(asks, starts)
    same &= depth[order[starts]] <= MOST_LEVELS
    symmetric: np.ndarray
    symmetric = np.logical_and.reduceat(same, np.searchsorted(starts, trees.roots))
    return symmetric


def _differs(values: np.ndarray) -> np.ndarray:
    """Whether each value differs from the previous one."""
    differs = np.ones(values.size, dtype=bool)
    differs[1:] = values[1:] != values[:-1]
    return differs
