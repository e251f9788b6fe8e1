"""Kinds of rows, found by hard EM: within each, columns are independent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clearwood.circuits.learning._kernels import hard_em, row_scores
from clearwood.circuits.learning.slices import Cells, Parts, Slice, cut_codes

ALPHA = 0.1
"""Rows that each level has in each cluster before any is seen."""

KAPPA = 2.0
"""Rows that vary as all of the slice do, added to those of a cluster."""

FLOOR = 1e-6
"""Least variance of a continuous column, whose variance in the whole table is 1."""

LEAST_ROWS = 20


class Clusters(NamedTuple):
    """Clusters of the rows of a slice, and the distribution of columns in each.

    Attributes
    ----------
    cluster : ndarray of int of shape (n_rows,)
    log_weights : ndarray of shape (k,)
    tables : ndarray of shape (n_levels of all columns, k)
        Log probabilities.
    normals : ndarray of shape (2, n_continuous, k)
        Means and variances.
    offsets : ndarray of int
        Where the levels of each column begin.
    """

    cluster: np.ndarray
    log_weights: np.ndarray
    tables: np.ndarray
    normals: np.ndarray
    offsets: np.ndarray

    @property
    def sizes(self) -> np.ndarray:
        """Rows of each cluster."""
        return np.bincount(self.cluster, minlength=len(self.log_weights))

    def scores(self, cells: Cells) -> np.ndarray:
        """Log of weight times density of rows in each cluster, of shape (n, k)."""
        return row_scores(
            cells.codes,
            self.offsets,
            cells.reals,
            self.log_weights,
            self.tables,
            self.normals,
        )

    def parts(self, slice_: Slice) -> Parts:
        """The slice that they were found in, row by row in the likeliest cluster."""
        routed = self.scores(slice_.valid).argmax(axis=1)
        kinds = range(len(self.log_weights))
        return Parts(
            [slice_.of_rows(self.cluster == k, routed == k) for k in kinds], self.sizes
        )

    def log_likelihood(self, cells: Cells) -> float:
        """Of rows under the mixture of all clusters."""
        return float(np.logaddexp.reduce(self.scores(cells), axis=1).sum())


def cluster_rows(
    slice_: Slice, start: np.ndarray, k: int, alpha: float = ALPHA
) -> Clusters | None:
    """Hard EM from an assignment of rows; None where a cluster loses all rows."""
    mean, variance = slice_.mean_and_variance
    whole, cluster, *found = hard_em(
        slice_.train.codes,
        slice_.offsets,
        slice_.train.reals,
        mean,
        variance,
        KAPPA,
        FLOOR,
        alpha,
        start.astype(np.int64),
        k,
    )
    return Clusters(cluster, *found, slice_.offsets) if whole else None


def split_in_two(
    slice_: Slice, n_starts: int, rng: np.random.Generator, alpha: float = ALPHA
) -> Parts | None:
    """Two kinds of rows, if rows that were not learned from speak for them.

    Parameters
    ----------
    slice_ : Slice
    n_starts : int
        Starts of hard EM, see `starts`; the best on the validation rows is taken.
    rng : Generator
    alpha : float
        Smoothing.

    Returns
    -------
    Parts or None
        None where one product of independent columns is as good (4.2.2).
    """
    if len(slice_.train) < LEAST_ROWS or not len(slice_.valid):
        return None
    one = cluster_rows(slice_, np.zeros(len(slice_.train)), 1, alpha)
    best, best_score = None, one.log_likelihood(slice_.valid) if one else -np.inf
    for start in starts(slice_, n_starts, rng):
        two = cluster_rows(slice_, start, 2, alpha)
        score = two.log_likelihood(slice_.valid) if two else -np.inf
        if score > best_score:
            best, best_score = two, score
    return best.parts(slice_) if best else None


def starts(
    slice_: Slice, n_starts: int, rng: np.random.Generator
) -> Iterator[np.ndarray]:
    """Assignments of rows to the nearer of two of them, by the cells that differ.

    First to the row that differs most from the majority, and the one that differs most
    from that; then to rows drawn.
    """
    codes, offsets = cut_codes(slice_)
    majority = np.array(
        [
            np.bincount(column[column >= 0], minlength=width).argmax()
            for column, width in zip(codes.T, np.diff(offsets))
        ]
    )
    for i in range(n_starts):
        if i == 0:
            first = codes[_distance(codes, majority).argmax()]
        else:
            first = codes[rng.integers(len(codes))]
        from_first = _distance(codes, first)
        if i == 0:
            row = from_first.argmax()
        else:
            row = rng.integers(len(codes))
        if from_first[row]:
            yield _distance(codes, codes[row]) < from_first


def _distance(codes: np.ndarray, row: np.ndarray) -> np.ndarray:
    """Cells, present in both, that differ from those of one row."""
    return ((codes != row) & (codes >= 0) & (row >= 0)).sum(axis=1)
