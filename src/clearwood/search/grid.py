"""The grid of bins, and boxes in it."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._kernels import search as _kernels

LEAST_ROWS = 5
"""Default minimum number of rows in a box."""


class Grid(NamedTuple):
    """Rows as bins, and the kinds of the features.

    Attributes
    ----------
    columns : ndarray of uint16, or uint32, of shape (n_features, n_rows)
        Bin of every row; one contiguous line per feature.
    start : ndarray of int64 of shape (n_features,)
        Start of each feature's bins when all bins are concatenated.
    n_bins : ndarray of int64 of shape (n_features,)
        Bins per feature. Those of a numeric feature are ordered, with the last for
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
        # Kernels are compiled for these two types.
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
        """The same rows in at most ``most`` bins of each numeric feature.

        Adjacent bins are merged; that of missing values is not.
        """
        n_bins = np.where(self.is_category, self.n_bins, np.minimum(self.n_bins, most))
        columns = self.columns.copy()
        for d in np.flatnonzero(n_bins < self.n_bins):
            last = self.n_bins[d] - 1
            group = np.arange(last + 1) * (most - 1) // last
            columns[d] = group[columns[d]]
        return Grid.of(columns.T, n_bins, self.is_category)

    def seen(self) -> np.ndarray:
        """Which bins contain rows, over all bins of all features."""
        seen = np.zeros(int(self.n_bins.sum()), dtype=bool)
        for first, column in zip(self.start, self.columns):
            seen[first + column.astype(np.int64)] = True
        return seen


def whole_box(grid: Grid) -> np.ndarray:
    """The box that contains all rows."""
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
    """Number of literals of a box: bounds and category sets.

    A two-sided interval is two literals; a bound beyond which there are no bins with
    rows is none.

    Parameters
    ----------
    grid : Grid
    box, seen : ndarray of bool of shape (total number of bins,)
        Allowed bins, and bins that contain rows.

    Returns
    -------
    int
    """
    return _kernels.n_literals(grid, seen, box)


def literals_of(grid: Grid, boxes: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Number of literals of each box (n_boxes, total number of bins)."""
    found: np.ndarray = _kernels.literals_of(grid, seen, boxes)
    return found
