"""Clusters of rows with independent columns, by hard EM."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clearwood._kernels.circuits_learning import (
    differing_cells,
    hard_em,
    level_places,
    majority,
    row_scores,
)
from clearwood.circuits.learning.slices import (
    LEAST_ROWS,
    Parts,
    Slice,
    SliceRows,
    cut_codes,
)
from clearwood.distributions.of_columns import LEAST_SHARE

ALPHA = 0.1
"""Pseudo-count of each level in each cluster."""

KAPPA = 2.0
"""Pseudo-rows of a cluster, with the variance of the slice."""


class Starts(NamedTuple):
    """Initialization of hard EM: two rows, and all others assigned to the nearer one.

    Attributes
    ----------
    number : int
    drawn : bool
        Whether all pairs are random; otherwise the first are rows far apart.
    """

    number: int
    drawn: bool = False


class Clusters(NamedTuple):
    """Clusters of the rows of a slice, and the column distributions of each.

    Attributes
    ----------
    cluster : ndarray of int of shape (n_rows,)
    log_weights : ndarray of shape (k,)
    tables : ndarray of shape (k, n_levels of all columns + 1)
        Log probabilities; 0 for missing values, at the end.
    normals : ndarray of shape (2, k, n_continuous)
        Means and variances.
    offsets : ndarray of int
        Index of the first level of each column.
    """

    cluster: np.ndarray
    log_weights: np.ndarray
    tables: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Number of rows per cluster."""
        return np.bincount(self.cluster, minlength=len(self.log_weights))

    def scores(self, cells: SliceRows) -> np.ndarray:
        """Log of weight times density per row and cluster, of shape (n, k)."""
        return row_scores(
            level_places(cells.codes, self.offsets),
            cells.reals,
            self.log_weights,
            self.tables,
            self.normals,
        )

    def parts(self, slice_: Slice) -> Parts:
        """Split the slice they were found in, by the likeliest cluster of each row."""
        routed = self.scores(slice_.valid).argmax(axis=1)
        kinds = range(len(self.log_weights))
        return Parts(
            [slice_.of_rows(self.cluster == k, routed == k) for k in kinds], self.sizes
        )

    def log_likelihood(self, cells: SliceRows) -> float:
        """Log-likelihood of rows under the mixture of all clusters."""
        return float(np.logaddexp.reduce(self.scores(cells), axis=1).sum())


def cluster_rows(slice_: Slice, start: np.ndarray, k: int) -> Clusters:
    """Hard EM from an assignment of rows; a cluster may become empty."""
    train, offsets = slice_.train, slice_.offsets
    prior = *slice_.mean_and_variance, KAPPA, LEAST_SHARE, ALPHA
    cluster, log_weights, tables, normals = hard_em(
        train.codes, offsets, train.reals, prior, start.astype(np.int64), k
    )
    return Clusters(cluster, log_weights, tables, normals, offsets)


def one_cluster(slice_: Slice) -> Clusters:
    """All rows in one cluster."""
    return cluster_rows(slice_, np.zeros(len(slice_.train)), 1)


def split_into_two(
    slice_: Slice, how: Starts, rng: np.random.Generator, balanced: bool = True
) -> Parts | None:
    """Split rows into two clusters if the validation rows support it (4.2.2).

    Parameters
    ----------
    slice_ : Slice
    how : Starts
        Starts of hard EM; the best on the validation rows is taken.
    rng : Generator
    balanced : bool, default=True
        See `cut_codes`.

    Returns
    -------
    Parts or None
        None if a single cluster with independent columns is as good.
    """
    if len(slice_.train) < LEAST_ROWS or not len(slice_.valid):
        return None
    best, best_score = None, one_cluster(slice_).log_likelihood(slice_.valid)
    for start in starts(slice_, how, rng, balanced):
        two = cluster_rows(slice_, start, 2)
        score = two.log_likelihood(slice_.valid)
        if two.sizes.all() and score > best_score:
            best, best_score = two, score
    return best.parts(slice_) if best else None


def split_into_clusters(
    slice_: Slice, penalty: float, how: Starts, rng: np.random.Generator
) -> Parts | None:
    """Split rows into clusters, with an exponential prior on their number (4.2.1).

    Clusters are split in two as long as both halves together, with hard assignments,
    gain more likelihood than the penalty of one cluster. Then all rows are reassigned.

    Parameters
    ----------
    slice_ : Slice
    penalty : float
        Penalty of a cluster on the log-likelihood, per column.
    how : Starts
        Starts of hard EM, for every split in two.
    rng : Generator
    """
    cluster = np.zeros(len(slice_.train), dtype=np.int64)
    waiting, none = [np.arange(len(cluster))], np.empty(0, dtype=np.int64)
    n_kinds = 0
    while waiting:
        rows = waiting.pop()
        half = _halves(slice_.of_rows(rows, none), penalty, how, rng)
        if half is None:
            cluster[rows] = n_kinds
            n_kinds += 1
        else:
            waiting += [rows[half == 1], rows[half == 0]]
    while n_kinds > 1:
        found = cluster_rows(slice_, cluster, n_kinds)
        if found.sizes.all():
            return found.parts(slice_)
        kinds, cluster = np.unique(found.cluster, return_inverse=True)
        n_kinds = len(kinds)
    return None


def _halves(
    slice_: Slice, penalty: float, how: Starts, rng: np.random.Generator
) -> np.ndarray | None:
    """Half of each row; None if two halves do not pay the penalty."""
    if len(slice_.train) < LEAST_ROWS:
        return None
    price = penalty * slice_.n_columns
    best = None
    best_score = one_cluster(slice_).log_likelihood(slice_.train) + price
    for start in starts(slice_, how, rng):
        two = cluster_rows(slice_, start, 2)
        score = two.scores(slice_.train).max(axis=1).sum()
        if two.sizes.all() and score > best_score:
            best, best_score = two.cluster, score
    return best


def starts(
    slice_: Slice, how: Starts, rng: np.random.Generator, balanced: bool = True
) -> Iterator[np.ndarray]:
    """Assign rows to the nearer of two of them, by the number of cells that differ."""
    codes, offsets = cut_codes(slice_, balanced)
    pairs = [] if how.drawn else [_far_apart(codes, offsets)]
    pairs += [_drawn(codes, rng) for _ in range(how.number - len(pairs))]
    for one, other in pairs:
        from_one, from_other = (
            differing_cells(codes, codes[row]) for row in (one, other)
        )
        if from_one[other]:
            yield from_other < from_one


def _drawn(codes: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Two random rows; with many missing cells, a pair with present cells in common."""
    pair = rng.integers(len(codes), size=2)
    if (codes[pair] >= 0).all(axis=0).any() or not (codes >= 0).any():
        return pair
    n_cells = (codes >= 0).sum(axis=1)
    one = rng.choice(len(codes), p=n_cells / n_cells.sum())
    differ = np.flatnonzero(differing_cells(codes, codes[one]))
    return np.array([one, rng.choice(differ) if len(differ) else one])


def _far_apart(codes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The row most different from the mode, and the one most different from it."""
    one = differing_cells(codes, majority(codes, offsets)).argmax()
    return np.array([one, differing_cells(codes, codes[one]).argmax()])
