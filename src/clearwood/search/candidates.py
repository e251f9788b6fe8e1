"""Boxes to choose from: the nodes of small randomised trees."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.grid import Grid, contains, whole_box

FEATURE_SHARES = (1.0, 0.5, 0.25)
"""Share of the features that a tree may choose from at a split."""

MOST_TREE_ROWS = 4000
"""Rows that one tree is grown on."""


def candidate_boxes(
    grid: Grid,
    target: np.ndarray,
    weight: np.ndarray,
    generator: np.random.Generator,
    *,
    n_trees: int = 45,
    max_leaves: int = 12,
) -> np.ndarray:
    """Nodes of randomised trees as boxes, each set of rows once.

    Parameters
    ----------
    grid : Grid
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        What the trees predict.
    weight : ndarray of shape (n_rows,)
        Row weights.
    generator : numpy.random.Generator
        Each tree has its own part of the rows (as in a bootstrap sample, without the
        repetitions) and of the features at each split.
    n_trees, max_leaves : int
        How many trees, and how large.

    Returns
    -------
    ndarray of bool of shape (n_boxes, total number of bins)
    """
    from sklearn.tree import DecisionTreeRegressor

    target = target.reshape(len(target), -1)
    n_drawn = min(grid.n_rows, MOST_TREE_ROWS)
    boxes: list[np.ndarray] = []
    for i in range(n_trees):
        rows = np.unique(generator.integers(grid.n_rows, size=n_drawn))
        score = target[:, generator.integers(target.shape[1])]
        ranks = _ranks(grid, score, weight)
        columns = _ranked(grid.take(rows), ranks)
        tree = DecisionTreeRegressor(
            max_leaf_nodes=max_leaves,
            max_features=FEATURE_SHARES[i % len(FEATURE_SHARES)],
            random_state=int(generator.integers(2**31)),
        ).fit(columns, target[rows], weight[rows])
        boxes += _nodes(tree.tree_, grid, ranks)
    if not boxes:
        return np.zeros((0, int(grid.n_bins.sum())), dtype=bool)
    stacked = np.array(boxes)
    held = np.packbits(contains(grid, stacked), axis=1)
    _, first = np.unique(held, axis=0, return_index=True)
    return stacked[np.sort(first)]


def _ranks(
    grid: Grid, score: np.ndarray, weight: np.ndarray
) -> list[np.ndarray | None]:
    """Per categorical feature the rank of every bin by mean score."""
    ranks: list[np.ndarray | None] = []
    for column, size, category in zip(grid.columns, grid.n_bins, grid.is_category):
        if category:
            total = np.bincount(column, weights=weight, minlength=size)
            sums = np.bincount(column, weights=weight * score, minlength=size)
            mean = sums / np.maximum(total, 1e-300)
            ranks.append(np.argsort(np.argsort(mean, kind="stable")))
        else:
            ranks.append(None)
    return ranks


def rank_columns(
    grid: Grid, target: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, list[np.ndarray | None]]:
    """Rows for scikit-learn's trees: bins; of categories, ranks by mean target.

    Returns
    -------
    columns : ndarray of float32 of shape (n_rows, n_features)
    ranks : list of (ndarray or None)
        Per categorical feature the rank of every bin.
    """
    # Of several outputs the one that varies most.
    target = target.reshape(len(target), -1)
    ranks = _ranks(grid, target[:, int(target.var(axis=0).argmax())], weight)
    return _ranked(grid, ranks), ranks


def bins_that_go_left(
    size: int, rank: np.ndarray | None, threshold: float
) -> np.ndarray:
    """Bins of a feature, or their ranks, up to a threshold."""
    return (np.arange(size) if rank is None else rank) <= threshold


def _ranked(grid: Grid, ranks: list[np.ndarray | None]) -> np.ndarray:
    columns = [
        column if rank is None else rank[column]
        for column, rank in zip(grid.columns, ranks)
    ]
    return np.array(columns, np.float32).T


def _nodes(tree: Any, grid: Grid, ranks: list[np.ndarray | None]) -> list[np.ndarray]:
    """The box of every node but the root."""
    boxes = {0: whole_box(grid)}
    # Parents come before their children.
    for node in range(tree.node_count):
        d = tree.feature[node]
        if d < 0:
            continue
        size, rank = grid.n_bins[d], ranks[d]
        goes_left = bins_that_go_left(size, rank, tree.threshold[node])
        part = slice(grid.start[d], grid.start[d] + size)
        children = (
            (tree.children_left[node], goes_left),
            (
                tree.children_right[node],
                ~goes_left,
            ),
        )
        for child, allowed in children:
            boxes[child] = boxes[node].copy()
            boxes[child][part] &= allowed
    return [boxes[node] for node in range(1, tree.node_count)]
