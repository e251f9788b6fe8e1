"""Candidate boxes: where they come from, and quantities computed in advance."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._kernels.search import rows_in_boxes, sums_of_boxes
from clearwood._kernels.search_trees import node_boxes
from clearwood._numeric import product
from clearwood.search.grid import Grid, literals_of
from clearwood.search.losses import SQUARED_ERROR

FEATURE_SHARES = (1.0, 0.5, 0.25)
"""Share of the features that a tree considers at a split."""

MOST_TREE_ROWS = 2000
"""Number of rows per tree; with twice as many, lists and sums were no better."""

MOST_OUTPUTS, N_DIRECTIONS = 256, 64
"""Maximum number of outputs of trees; more are reduced to random projections."""


def candidate_boxes(
    grid: Grid,
    target: np.ndarray,
    weight: np.ndarray,
    generator: np.random.Generator,
    *,
    n_trees: int = 45,
    max_leaves: int = 12,
) -> np.ndarray:
    """Nodes of randomized trees as boxes, each set of rows once.

    Parameters
    ----------
    grid : Grid
    target : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Target of the trees.
    weight : ndarray of shape (n_rows,)
        Row weights.
    generator : numpy.random.Generator
        Each tree has its own part of the rows (as in a bootstrap sample, without the
        repetitions) and of the features at each split.
    n_trees, max_leaves : int
        Number of trees, and maximum number of leaves per tree.

    Returns
    -------
    ndarray of bool of shape (n_boxes, total number of bins)
        Empty for a grid without features.
    """
    scores = target.reshape(grid.n_rows, -1)
    if scores.shape[1] > MOST_OUTPUTS:
        # Squared distances, by which trees split, are nearly preserved by projections.
        directions = generator.normal(size=(scores.shape[1], N_DIRECTIONS))
        scores = product(scores, directions) / np.sqrt(N_DIRECTIONS)
    share = (weight / weight.sum())[:, None]
    ones = np.ones_like(share)
    # The columns of a tree's `stats`; every row counts as support.
    # In row-major order, whatever that of the scores is: kernels are compiled for it.
    stats = np.ascontiguousarray(np.hstack([share * scores, share, ones, ones]))
    n_features, able = len(grid.n_bins), np.flatnonzero(weight > 0)
    order = np.tile(np.arange(n_features), (2 * max_leaves - 1, 1))
    boxes = [np.zeros((0, int(grid.n_bins.sum())), dtype=bool)]
    for i in range(n_trees if n_features else 0):
        is_drawn = np.zeros(grid.n_rows, dtype=bool)
        is_drawn[generator.choice(able, min(len(able), MOST_TREE_ROWS))] = True
        rows = np.flatnonzero(is_drawn)
        n_tried = max(1, int(FEATURE_SHARES[i % len(FEATURE_SHARES)] * n_features))
        boxes.append(
            node_boxes(
                grid, rows, stats, SQUARED_ERROR, generator.permuted(order, axis=1),
                n_tried,
            )
        )  # fmt: skip
    stacked = np.concatenate(boxes)
    return stacked[_first_of_each(grid, stacked)]


def _first_of_each(grid: Grid, boxes: np.ndarray) -> list[int]:
    """Indices of the boxes with other rows than any before them."""
    first: dict[bytes, int] = {}
    for place, rows in enumerate(rows_in_boxes(grid, boxes)):
        first.setdefault(rows.tobytes(), place)
    return list(first.values())


class Candidates:
    """Candidate boxes, with quantities computed in advance.

    Parameters
    ----------
    problem : ListProblem or SumProblem
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    """

    def __init__(self, problem: Any, boxes: np.ndarray) -> None:
        self.boxes = boxes
        self.grid, self.loss, self.counts = problem.grid, problem.loss, problem.counts
        self.literals = literals_of(self.grid, boxes, problem.seen)
        self._inside = rows_in_boxes(self.grid, boxes)

    def __len__(self) -> int:
        return len(self.boxes)

    def sums(self, columns: np.ndarray, line: np.ndarray, n_lines: int) -> np.ndarray:
        """Sums of columns (n_rows, n_columns) over the rows of each box, by line.

        Of shape (n_boxes, n_lines, n_columns); ``line`` is an int32 per row.
        """
        found: np.ndarray = sums_of_boxes(self._inside, line, n_lines, columns)
        return found
