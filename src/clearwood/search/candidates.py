"""Boxes to choose from: where they come from, and what is known of them beforehand."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.grid import Grid, contains, n_literals, whole_box

FEATURE_SHARES = (1.0, 0.5, 0.25)
"""Share of the features that a tree may choose from at a split."""

MOST_TREE_ROWS = 4000
"""Rows that one tree is grown on."""

MOST_GAIN_ROWS = 20_000
"""Rows on which candidates are compared."""


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
        None of a grid without features.
    """
    from sklearn.tree import DecisionTreeRegressor

    target = target.reshape(len(target), -1)
    n_drawn = min(grid.n_rows, MOST_TREE_ROWS)
    boxes: list[np.ndarray] = []
    for i in range(n_trees if len(grid.n_bins) else 0):
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


class Candidates:
    """Boxes that may join, with what can be known of them beforehand.

    Where there are very many rows, only a random part is looked at.

    Parameters
    ----------
    problem : ListProblem or SumProblem
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    """

    def __init__(self, problem: Any, boxes: np.ndarray) -> None:
        self.boxes = boxes
        self.grid, self.loss, self.counts = _thinned(
            problem.grid, problem.loss, problem.counts
        )
        self.literals = np.array(
            [n_literals(self.grid, box, problem.seen) for box in boxes], dtype=int
        )
        # Sums over the rows of a box are products with this matrix.
        self.member = contains(self.grid, boxes).astype(np.float32)

    def __len__(self) -> int:
        return len(self.boxes)

    def sums(self, columns: np.ndarray) -> np.ndarray:
        """Sums of columns (n_rows, n_columns) over the rows of each box."""
        return self.member @ columns.astype(np.float32)


def _thinned(grid: Grid, loss: Any, counts: np.ndarray) -> tuple[Grid, Any, np.ndarray]:
    """Grid, loss and counts of a random part of very many rows.

    What the rows count is scaled up to the same total.
    """
    if grid.n_rows <= MOST_GAIN_ROWS:
        return grid, loss, counts
    rows = np.random.default_rng(0).permutation(grid.n_rows)[:MOST_GAIN_ROWS]
    scale = counts.sum() / max(counts[rows].sum(), 1.0)
    return grid.take(rows), loss.take(rows), counts[rows] * scale


def mean_ranks(
    column: np.ndarray, score: np.ndarray, weight: np.ndarray, size: int
) -> np.ndarray:
    """Rank of every bin of a feature by the mean score of its rows.

    Among all sets of categories, the best one for a score is a cut in these ranks.

    Parameters
    ----------
    column : ndarray of integers of shape (n_rows,)
        Bin of every row.
    score, weight : ndarray of shape (n_rows,)
    size : int
        Number of bins. One without rows has mean 0.

    Returns
    -------
    ndarray of int64 of shape (size,)

    Examples
    --------
    >>> mean_ranks(np.array([0, 1, 1, 2]), np.array([3.0, 1.0, 2.0, 2.0]),
    ...            np.ones(4), size=3)
    array([2, 0, 1])
    """
    total = np.bincount(column, weights=weight, minlength=size)
    sums = np.bincount(column, weights=weight * score, minlength=size)
    mean = sums / np.maximum(total, 1e-300)
    return np.argsort(np.argsort(mean, kind="stable"))


def _ranks(grid: Grid, score: np.ndarray, weight: np.ndarray) -> list[np.ndarray]:
    """Per feature the rank of every bin: its position, where it is numeric."""
    return [
        mean_ranks(column, score, weight, size) if category else np.arange(size)
        for column, size, category in zip(grid.columns, grid.n_bins, grid.is_category)
    ]


def _ranked(grid: Grid, ranks: list[np.ndarray]) -> np.ndarray:
    """Rows for scikit-learn's trees: ranks of bins."""
    columns = [rank[column] for rank, column in zip(ranks, grid.columns)]
    return np.array(columns, np.float32).T


def _nodes(tree: Any, grid: Grid, ranks: list[np.ndarray]) -> list[np.ndarray]:
    """The box of every node but the root."""
    boxes = {0: whole_box(grid)}
    # Parents come before their children.
    for node in range(tree.node_count):
        d = tree.feature[node]
        if d < 0:
            continue
        goes_left = ranks[d] <= tree.threshold[node]
        part = slice(grid.start[d], grid.start[d] + grid.n_bins[d])
        left, right = tree.children_left[node], tree.children_right[node]
        for child, allowed in ((left, goes_left), (right, ~goes_left)):
            boxes[child] = boxes[node].copy()
            boxes[child][part] &= allowed
    return [boxes[node] for node in range(1, tree.node_count)]
