"""Candidate boxes: where they come from, and quantities computed in advance."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from clearwood._kernels.search import rows_in_boxes, sums_of_boxes
from clearwood._kernels.search_trees import node_boxes
from clearwood._numeric import product
from clearwood.search.grid import Grid, contains, literals_of
from clearwood.search.losses import SQUARED_ERROR
from clearwood.search.trees.flat import digest

FEATURE_SHARES = (1.0, 0.5, 0.25)
"""Share of the features that a tree considers at a split."""

MOST_TREE_ROWS = 2000
"""Number of rows per tree; with twice as many, lists and sums were no better."""

N_FREQUENT, FREQUENT_LEAVES, FREQUENT_ROWS = 1000, 4, 300
"""Number, leaves and rows of the trees in which nodes are counted. On few rows, all
splits that are nearly as good are found: a node's frequency then changes little with
the rows."""

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
    none = np.zeros((0, int(grid.n_bins.sum())), dtype=bool)
    nodes = _nodes(grid, target, weight, generator, n_trees, max_leaves)
    stacked = np.concatenate([none, *nodes])
    return stacked[_first_of_each(grid, stacked)]


def _nodes(
    grid: Grid,
    target: np.ndarray,
    weight: np.ndarray,
    generator: np.random.Generator,
    n_trees: int,
    max_leaves: int,
    n_rows: int = MOST_TREE_ROWS,
    shares: tuple[float, ...] = FEATURE_SHARES,
) -> Iterator[np.ndarray]:
    """The nodes of each tree; see :func:`candidate_boxes`."""
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
    for i in range(n_trees if n_features else 0):
        is_drawn = np.zeros(grid.n_rows, dtype=bool)
        is_drawn[generator.choice(able, min(len(able), n_rows))] = True
        rows = np.flatnonzero(is_drawn)
        n_tried = max(1, int(shares[i % len(shares)] * n_features))
        yield node_boxes(
            grid, rows, stats, SQUARED_ERROR, generator.permuted(order, axis=1), n_tried
        )


def frequent_boxes(
    grid: Grid,
    target: np.ndarray,
    weight: np.ndarray,
    generator: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray]:
    """Nodes of many small trees, the most frequent first.

    A box and its complement separate the same rows: they are counted, and returned, as
    one. Parameters are those of :func:`candidate_boxes`.

    Returns
    -------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    frequency : ndarray of shape (n_boxes,)
        Share of the trees with a node of these rows, or of all others.
    """
    n_trees, max_leaves = N_FREQUENT, FREQUENT_LEAVES
    trees = _nodes(
        grid, target, weight, generator, n_trees, max_leaves, FREQUENT_ROWS, (1 / 3,)
    )
    count: Counter[bytes] = Counter()
    first: dict[bytes, np.ndarray] = {}
    for boxes in trees:
        inside = contains(grid, boxes)
        # Of a box and its complement, the one without the first row.
        keys = list(map(digest, np.packbits(inside ^ inside[:, :1], axis=1)))
        count.update(list(dict.fromkeys(keys)))
        for key, box in zip(keys, boxes):
            first.setdefault(key, box)
    # Those of all rows separate none.
    count.pop(digest(np.packbits(np.zeros(grid.n_rows, dtype=bool))), None)
    found = count.most_common()
    stacked = np.array([first[key] for key, _ in found], dtype=bool)
    frequency = np.array([n for _, n in found], dtype=np.float64) / n_trees
    return stacked.reshape(len(found), int(grid.n_bins.sum())), frequency


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
