"""The grid of bins, and boxes in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._kernels import search as _kernels

LEAST_ROWS = 5
"""Rows that a box has to catch, unless a problem says otherwise."""


class Grid(NamedTuple):
    """Rows as bins, and what kind of bins they are.

    Attributes
    ----------
    columns : ndarray of uint16, or uint32, of shape (n_features, n_rows)
        Bin of every row; one contiguous line per feature.
    start : ndarray of int64 of shape (n_features,)
        Where each feature's bins begin when all bins stand in one row.
    n_bins : ndarray of int64 of shape (n_features,)
        Bins per feature. Those of a numeric feature stand in order, the last one holds
        missing values; those of a categorical one have no order.
    is_category : ndarray of bool of shape (n_features,)
        Which features are categorical.
    """

    columns: np.ndarray
    start: np.ndarray
    n_bins: np.ndarray
    is_category: np.ndarray

    @classmethod
    def of(cls, codes: np.ndarray, n_bins: np.ndarray, is_category: np.ndarray) -> Grid:
        """Grid of rows of bins.

        Parameters
        ----------
        codes : ndarray of unsigned integers of shape (n_rows, n_features)
        n_bins, is_category : ndarray of shape (n_features,)

        Examples
        --------
        >>> codes = np.array([[0, 1], [2, 0]], dtype=np.uint8)
        >>> Grid.of(codes, np.array([4, 3]), np.array([False, True])).start
        array([0, 4])
        """
        n_bins = np.asarray(n_bins, dtype=np.int64)
        start = np.concatenate([[0], np.cumsum(n_bins)[:-1]]).astype(np.int64)
        # Those two types are what kernels are compiled for.
        dtype = np.uint16 if n_bins.max(initial=0) <= 2**16 else np.uint32
        columns = np.ascontiguousarray(codes.T, dtype)
        return cls(columns, start, n_bins, np.asarray(is_category, dtype=bool))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.columns.shape[1]

    def take(self, rows: np.ndarray) -> Grid:
        """The same grid with some of the rows."""
        return self._replace(columns=np.ascontiguousarray(self.columns[:, rows]))

    def coarse(self, most: int) -> Grid:
        """The same rows in at most so many bins of each numeric feature.

        Neighbouring bins become one; that of missing values stays by itself.
        """
        n_bins = np.where(self.is_category, self.n_bins, np.minimum(self.n_bins, most))
        columns = self.columns.copy()
        for d in np.flatnonzero(n_bins < self.n_bins):
            last = self.n_bins[d] - 1
            group = np.arange(last + 1) * (most - 1) // last
            columns[d] = group[columns[d]]
        return Grid.of(columns.T, n_bins, self.is_category)

    def seen(self) -> np.ndarray:
        """Which bins hold rows, over all bins of all features."""
        seen = np.zeros(int(self.n_bins.sum()), dtype=bool)
        for first, column in zip(self.start, self.columns):
            seen[first + column.astype(np.int64)] = True
        return seen


def whole_box(grid: Grid) -> np.ndarray:
    """The box that holds everything."""
    return np.ones(int(grid.n_bins.sum()), dtype=bool)


def contains(grid: Grid, boxes: np.ndarray) -> np.ndarray:
    """Which rows are in which boxes.

    Parameters
    ----------
    grid : Grid
    boxes : ndarray of bool of shape (n_boxes, total number of bins)

    Returns
    -------
    ndarray of bool of shape (n_boxes, n_rows)
    """
    return _kernels.contains(grid, boxes)


def n_literals(grid: Grid, box: np.ndarray, seen: np.ndarray) -> int:
    """Bounds and category sets that it takes to write a box down.

    A two-sided interval is two literals; a bound beyond which there are no bins with
    rows is none.

    Parameters
    ----------
    grid : Grid
    box, seen : ndarray of bool of shape (total number of bins,)
        Allowed bins, and bins that hold rows.

    Returns
    -------
    int
    """
    return _kernels.n_literals(grid, seen, box)


def literals_of(grid: Grid, boxes: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Literals of each of some boxes (n_boxes, total number of bins)."""
    found: np.ndarray = _kernels.literals_of(grid, seen, boxes)
    return found
