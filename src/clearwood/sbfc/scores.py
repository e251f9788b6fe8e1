"""Dirichlet scores of features and edges (2.3.1).

Scores are symmetric in the two ends of an edge (likelihood equivalence). With the log
evidence ``F`` of a contingency table under a Dirichlet prior of ``alpha`` over the
number of cells, a feature alone scores ``F(j)`` in the noise and ``F(j, Y) - F(Y)`` in
the signal, and an edge gains ``F(j, p) - F(j) - F(p)``, in the signal all given ``Y``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._kernels.distributions import log_gamma_rise
from clearwood._kernels.sbfc import joint_scores, rising_table
from clearwood._numeric import product
from clearwood._tables import RowBlocks, RowsOfTable
from clearwood._tables.merging import merged_rows
from clearwood.columns.validation import check_target
from clearwood.discretize import LevelCoder
from clearwood.distributions import CategoricalDirichlet

if TYPE_CHECKING:
    from scipy.sparse import csr_array

NOISE, SIGNAL = 0, 1

MOST_KEPT = 2000
"""Number of features up to which the gains of all edges are stored (64 MB)."""

BLOCK_CELLS = 2**24
"""Block size of coded rows and of counts."""

EXACT_FLOAT32 = 2**24
"""Integers up to here are exact in float32."""


class CodedTable(NamedTuple):
    """Training rows coded as levels.

    Attributes
    ----------
    codes : ndarray of unsigned int of shape (n, d)
        Levels 0, 1, ... of each feature.
    levels : ndarray of int of shape (d,)
        Number of levels of each feature.
    y : ndarray of int of shape (n,)
        Indices of the classes.
    n_classes : int
    weight : ndarray of shape (n,) or None
        Weights of the rows.
    n_columns : int
        The ``d`` of the prior: number of columns given, including those excluded.
    """

    codes: np.ndarray
    levels: np.ndarray
    y: np.ndarray
    n_classes: int
    weight: np.ndarray | None
    n_columns: int

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.codes.shape[1]

    @classmethod
    def of_table(
        cls, table: RowBlocks, levels: LevelCoder, classes: np.ndarray
    ) -> CodedTable:
        """Distinct rows of a table larger than memory, with their total weights.

        Scores depend on counts only, so that they are the same.
        """
        n_levels = levels.n_levels
        kind = np.min_scalar_type(max(int(n_levels.max()), len(classes)))
        rows, weight = merged_rows(table, partial(_coded, levels, classes, kind))
        codes, y = np.ascontiguousarray(rows[:, :-1]), rows[:, -1].astype(np.intp)
        return cls(codes, n_levels, y, len(classes), weight, len(n_levels))


def _coded(
    levels: LevelCoder, classes: np.ndarray, kind: Any, rows: RowsOfTable
) -> tuple[np.ndarray, np.ndarray]:
    """Levels, classes and weights of the rows of positive weight."""
    weight = rows.checked_weight()
    y = check_target(rows.y, rows.n_rows, numeric=False)
    label = np.searchsorted(classes, y)
    codes = np.column_stack([levels.codes(rows.X), label]).astype(kind)
    return codes[weight > 0], weight[weight > 0]


class Penalty(NamedTuple):
    """Prior over graphs: costs of edges and nodes, as negative logs.

    Attributes
    ----------
    edge : tuple of float
        Cost of an edge in the noise and in the signal.
    node : tuple of float
        Cost of a feature in the noise (zero) and in the signal.
    """

    edge: tuple[float, float]
    node: tuple[float, float]

    @classmethod
    def of(
        cls,
        prior: str,
        lambda_x: float,
        lambda_y: float,
        n_columns: int,
        n_classes: int,
    ) -> Penalty:
        """Costs of the ``"paper"`` or the ``"balanced"`` prior.

        In the former, edges of the signal cost less, by the number of classes.

        Examples
        --------
        >>> cost = Penalty.of("paper", 4.0, 1.0, n_columns=10, n_classes=2)
        >>> [round(float(edge / np.log(10)), 1) for edge in cost.edge]
        [4.0, 2.0]
        """
        ell = math.log(n_columns)
        share = {"paper": n_classes, "balanced": 1}[prior]
        return cls(
            edge=(lambda_x * ell, lambda_x * ell / share),
            node=(0.0, lambda_y * ell / n_classes),
        )


@dataclass(frozen=True, eq=False)
class Scores:
    """Log evidence of features and edges, without the prior.

    Attributes
    ----------
    table : CodedTable
    alpha : float
    alone : ndarray of shape (2, d)
        Of each feature without an edge, in the noise and in the signal.
    kept : ndarray of shape (2, d, d) or None
        Gain of each edge, stored for few features only.

    Examples
    --------
    >>> codes = np.array([[0, 0], [0, 0], [1, 1], [1, 1]], dtype=np.uint8)
    >>> table = CodedTable(codes, np.array([2, 2]), np.array([0, 1, 0, 1]), 2, None, 2)
    >>> score(table).gains(NOISE).round(2).tolist()
    [[-inf, 0.82], [0.82, -inf]]
    """

    table: CodedTable
    alpha: float
    alone: np.ndarray
    kept: np.ndarray | None

    def gains(self, group: int, rows: np.ndarray | None = None) -> np.ndarray:
        """Gain in log evidence from an edge, compared with its two ends alone.

        Parameters
        ----------
        group : {0, 1}
            Noise or signal.
        rows : ndarray of int, optional
            First ends of the edges; all features by default.

        Returns
        -------
        ndarray of shape (len(rows), d)
            Gains of edges to all features; minus infinity on the diagonal.
        """
        if self.kept is not None:
            return self.kept[group] if rows is None else self.kept[group][rows]
        every = np.arange(self.table.n_features)
        return _gains(self, every if rows is None else np.asarray(rows), every)[group]


class Edges(NamedTuple):
    """Edges of one group above a bound on the weight.

    Attributes
    ----------
    log_weight : csr_array of shape (d, d)
        ``gain - penalty.edge[group]``, symmetric. Edges that are not stored are left
        out; an edge of weight 1 is stored, as 0.
    dropped : ndarray of shape (d,)
        Total weight of the edges left out, per feature.
    """

    log_weight: csr_array
    dropped: np.ndarray


def score(table: CodedTable, alpha: float = 5.0) -> Scores:
    """Compute the scores of a table, and for few features the gains of all edges."""
    codes, levels, y, n_classes, weight, _ = table
    rows = np.ones(len(y)) if weight is None else weight
    class_count = np.bincount(y, rows, n_classes)
    alone = np.empty((2, len(levels)))
    of_y = _evidence(class_count, alpha)
    for j, v in enumerate(levels):
        cell = codes[:, j].astype(np.intp) * n_classes + y
        count = np.bincount(cell, rows, v * n_classes)
        alone[NOISE, j] = _evidence(count.reshape(v, n_classes).sum(axis=1), alpha)
        alone[SIGNAL, j] = _evidence(count, alpha) - of_y
    scores = Scores(table, alpha, alone, None)
    if len(levels) > MOST_KEPT:
        return scores
    kept = np.empty((2, len(levels), len(levels)))
    for part, rest, gains in _upper_blocks(scores):
        kept[:, part, rest] = gains
        kept[:, rest, part] = gains.transpose(0, 2, 1)
    return Scores(table, alpha, alone, kept)


def strong_edges(scores: Scores, penalty: Penalty, bound: float) -> tuple[Edges, Edges]:
    """Noise and signal edges with a log weight above a bound."""
    from scipy.sparse import coo_array

    d = scores.table.n_features
    kept: list[list[tuple[np.ndarray, ...]]] = [[], []]
    dropped = np.zeros((2, d))
    for part, rest, gains in _upper_blocks(scores):
        for group in (NOISE, SIGNAL):
            log_weight = gains[group] - penalty.edge[group]
            # A block on the diagonal contains both directions.
            inside = log_weight[:, : part.stop - part.start]
            inside[np.tri(len(inside), dtype=bool)] = -np.inf
            i, j = np.nonzero(log_weight > bound)
            # There may be millions of edges; feature indices are small.
            ends = (i + part.start).astype(np.int32), (j + rest.start).astype(np.int32)
            kept[group].append((log_weight[i, j], *ends))
            log_weight[i, j] = -np.inf
            np.exp(log_weight, out=log_weight)
            dropped[group, part] += log_weight.sum(axis=1)
            dropped[group, rest] += log_weight.sum(axis=0)
    edges = []
    for group in (NOISE, SIGNAL):
        value, i, j = (np.concatenate(parts) for parts in zip(*kept[group]))
        kept[group].clear()
        both = (np.concatenate([i, j]), np.concatenate([j, i]))
        matrix = coo_array((np.tile(value, 2), both), shape=(d, d)).tocsr()
        edges.append(Edges(matrix, dropped[group]))
    return edges[NOISE], edges[SIGNAL]


def _evidence(count: np.ndarray, alpha: float) -> float:
    """Log evidence of counts, with ``alpha`` divided equally among their cells."""
    model = CategoricalDirichlet.symmetric(count.size, alpha / count.size)
    return float(model.log_marginal(count))


def _upper_blocks(scores: Scores) -> Iterator[tuple[slice, slice, np.ndarray]]:
    """Gains (2, ., .) of blocks of features with all from the first of the block on."""
    levels = scores.table.levels
    d, width = len(levels), int(levels.sum()) * scores.table.n_classes
    most = max(BLOCK_CELLS // max(width, 1), 1)
    block = np.cumsum(levels) // most
    cuts = [0, *(np.flatnonzero(np.diff(block)) + 1).tolist(), d]
    for start, stop in zip(cuts, cuts[1:]):
        part, rest = slice(start, stop), slice(start, d)
        if scores.kept is None:
            every = np.arange(d)
            yield part, rest, _gains(scores, every[part], every[rest])
        else:
            yield part, rest, scores.kept[:, part, rest]


def _gains(scores: Scores, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Gains (2, ., .) of the edges between two sets of features."""
    table, alpha = scores.table, scores.alpha
    counts = _pair_counts(table, first, second)
    n_rows = float(len(table.y) if table.weight is None else table.weight.sum())
    kinds, kind = np.unique(table.levels, return_inverse=True)
    starts = alpha / np.multiply.outer([1, table.n_classes], np.outer(kinds, kinds))
    size = min(int(n_rows) + 1, BLOCK_CELLS // 4 // starts.size)
    size = size if _are_whole(table.weight) else 0
    tables = rising_table(starts.ravel(), size).reshape(*starts.shape, size)
    joint = joint_scores(counts, first, second, table.levels, kind, starts, tables)
    class_count = np.bincount(table.y, table.weight, table.n_classes)
    of_y = np.array([0.0, _evidence(class_count, alpha)])
    joint -= (log_gamma_rise(alpha, n_rows) + of_y)[:, None, None]
    joint -= scores.alone[:, first, None] + scores.alone[:, None, second]
    joint[:, first[:, None] == second] = -np.inf
    return joint


def _pair_counts(
    table: CodedTable, first: np.ndarray, second: np.ndarray
) -> np.ndarray:
    """Weights of class by pair of levels, by products of one-hot codes."""
    n_rows = len(table.y) if table.weight is None else table.weight.sum()
    exact = _are_whole(table.weight) and n_rows < EXACT_FLOAT32
    dtype = np.dtype(np.float32 if exact else np.float64)
    width = [int(table.levels[part].sum()) for part in (first, second)]
    counts = np.zeros((table.n_classes, *width), dtype)
    step = max(BLOCK_CELLS // max(sum(width), 1), 1)
    for c in range(table.n_classes):
        rows = np.flatnonzero(table.y == c)
        for i in range(0, len(rows), step):
            block = rows[i : i + step]
            left = _one_hot(table, block, first, dtype)
            right = _one_hot(table, block, second, dtype)
            if table.weight is not None:
                left *= table.weight[block].astype(dtype)
            counts[c] += left @ right.T if exact else product(left, right.T)
    return counts


def _one_hot(
    table: CodedTable, rows: np.ndarray, features: np.ndarray, dtype: np.dtype
) -> np.ndarray:
    """Transposed one-hot matrix: a row per level of each feature, a column per row."""
    levels = table.levels[features]
    place = np.cumsum(levels) - levels
    codes = table.codes[np.ix_(rows, features)].T
    found = np.zeros((int(levels.sum()), len(rows)), dtype)
    found[place[:, None] + codes, np.arange(len(rows))] = 1.0
    return found


def _are_whole(weight: np.ndarray | None) -> bool:
    return weight is None or np.array_equal(weight, np.floor(weight))
