"""Kinds of rows, found by hard EM: within each, columns are independent."""

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
"""Rows that each level has in each cluster before any is seen."""

KAPPA = 2.0
"""Rows that vary as all of the slice do, added to those of a cluster."""


class Starts(NamedTuple):
    """Where hard EM begins: with two rows, and all others at the nearer one.

    Attributes
    ----------
    number : int
    drawn : bool
        Whether all pairs are drawn; else the first are rows far apart.
    """

    number: int
    drawn: bool = False


class Clusters(NamedTuple):
    """Clusters of the rows of a slice, and the distribution of columns in each.

    Attributes
    ----------
    cluster : ndarray of int of shape (n_rows,)
    log_weights : ndarray of shape (k,)
    tables : ndarray of shape (k, n_levels of all columns + 1)
        Log probabilities; 0 for what is missing, at the end.
    normals : ndarray of shape (2, k, n_continuous)
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

    def scores(self, cells: SliceRows) -> np.ndarray:
        """Log of weight times density of rows in each cluster, of shape (n, k)."""
        return row_scores(
            level_places(cells.codes, self.offsets),
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

    def log_likelihood(self, cells: SliceRows) -> float:
        """Of rows under the mixture of all clusters."""
        return float(np.logaddexp.reduce(self.scores(cells), axis=1).sum())


def cluster_rows(slice_: Slice, start: np.ndarray, k: int) -> Clusters:
    """Hard EM from an assignment of rows; a cluster may lose all its rows."""
    train, offsets = slice_.train, slice_.offsets
    prior = *slice_.mean_and_variance, KAPPA, LEAST_SHARE, ALPHA
    cluster, log_weights, tables, normals = hard_em(
        train.codes, offsets, train.reals, prior, start.astype(np.int64), k
    )
    return Clusters(cluster, log_weights, tables, normals, offsets)


def one_cluster(slice_: Slice) -> Clusters:
    """All rows of one kind."""
    return cluster_rows(slice_, np.zeros(len(slice_.train)), 1)


def split_in_two(
    slice_: Slice, how: Starts, rng: np.random.Generator, balanced: bool = True
) -> Parts | None:
    """Two kinds of rows, if rows that were not learned from speak for them (4.2.2).

    Parameters
    ----------
    slice_ : Slice
    how : Starts
        Of hard EM; what is best on the validation rows is taken.
    rng : Generator
    balanced : bool, default=True
        See `cut_codes`.

    Returns
    -------
    Parts or None
        None where independent columns of rows of one kind are as good.
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


def split_in_kinds(
    slice_: Slice, penalty: float, how: Starts, rng: np.random.Generator
) -> Parts | None:
    """As many kinds of rows as pay their price under an exponential prior (4.2.1).

    Kinds are split in two for as long as both halves together, each row in its own,
    are likelier by more than what one more kind costs. Then all rows choose again.

    Parameters
    ----------
    slice_ : Slice
    penalty : float
        What a kind costs in log-likelihood, per column.
    how : Starts
        Of every split in two.
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
    """Which half each row is of; None where two halves do not pay."""
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
    """Assignments of rows to the nearer of two of them, by the cells that differ."""
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
    """Two rows; where most cells are missing, not such that have none in common."""
    pair = rng.integers(len(codes), size=2)
    if (codes[pair] >= 0).all(axis=0).any() or not (codes >= 0).any():
        return pair
    n_cells = (codes >= 0).sum(axis=1)
    one = rng.choice(len(codes), p=n_cells / n_cells.sum())
    differ = np.flatnonzero(differing_cells(codes, codes[one]))
    return np.array([one, rng.choice(differ) if len(differ) else one])


def _far_apart(codes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The row that differs most from the majority, and what differs most from it."""
    one = differing_cells(codes, majority(codes, offsets)).argmax()
    return np.array([one, differing_cells(codes, codes[one]).argmax()])
