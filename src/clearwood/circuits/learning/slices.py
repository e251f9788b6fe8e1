"""Slices of a table: some of its rows and some of its columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from clearwood.columns.feature_space import FeatureSpace

LEAST_ROWS = 20
"""Minimum number of rows for tests of dependence and for clusters."""


class SliceRows(NamedTuple):
    """Encoded rows of a slice.

    Attributes
    ----------
    codes : ndarray of int16 of shape (n_rows, n_discrete)
        Levels; -1 for missing values.
    reals : ndarray of shape (n_rows, n_continuous)
        Values; NaN for missing values.
    """

    codes: np.ndarray
    reals: np.ndarray

    def __len__(self) -> int:
        return len(self.codes)

    def of_rows(self, rows: np.ndarray) -> SliceRows:
        """Subset of rows, by a mask or by positions."""
        return SliceRows(self.codes[rows], self.reals[rows])


@dataclass(frozen=True, eq=False)
class Slice:
    """Training rows, validation rows, and a subset of columns.

    Attributes
    ----------
    train, valid : SliceRows
    valid_rows : ndarray of int of shape (n_valid,)
        Indices of the validation rows in the table.
    discrete, continuous : ndarray of int
        Indices of the columns in the table, ascending.
    n_levels : ndarray of int of shape (n_discrete,)
    """

    train: SliceRows
    valid: SliceRows
    valid_rows: np.ndarray
    discrete: np.ndarray
    continuous: np.ndarray
    n_levels: np.ndarray

    @classmethod
    def from_table(
        cls, values: np.ndarray, valid: np.ndarray, features: FeatureSpace
    ) -> Slice:
        """Slice of a whole table encoded by ``features``."""
        levels = np.array([len(labels or ()) for labels in features.categories])
        discrete, continuous = np.flatnonzero(levels), np.flatnonzero(levels == 0)

        def cells(table: np.ndarray) -> SliceRows:
            codes = np.nan_to_num(table[:, discrete], nan=-1).astype(np.int16)
            return SliceRows(codes, np.ascontiguousarray(table[:, continuous]))

        valid_rows = np.arange(len(valid))
        parts = cells(values), cells(valid), valid_rows, discrete, continuous
        return cls(*parts, levels[discrete])

    @property
    def n_columns(self) -> int:
        """Number of columns of both kinds."""
        return len(self.discrete) + len(self.continuous)

    @cached_property
    def offsets(self) -> np.ndarray:
        """Index of the first level of each discrete column, among all levels."""
        return np.append(0, np.cumsum(self.n_levels))

    @cached_property
    def mean_and_variance(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and variance of present continuous cells; 0 if there are none."""
        present = ~np.isnan(self.train.reals)
        count = np.maximum(present.sum(axis=0), 1)
        mean = np.where(present, self.train.reals, 0).sum(axis=0) / count
        apart = np.where(present, self.train.reals - mean, 0)
        return mean, (apart**2).sum(axis=0) / count

    def of_rows(self, train: np.ndarray, valid: np.ndarray) -> Slice:
        """Subset of rows, by two masks."""
        return replace(
            self,
            train=self.train.of_rows(train),
            valid=self.valid.of_rows(valid),
            valid_rows=self.valid_rows[valid],
        )

    def of_columns(self, chosen: np.ndarray) -> Slice:
        """Subset of columns, by a mask with the discrete ones first."""
        discrete, continuous = np.split(chosen, [len(self.discrete)])

        def cells(cells: SliceRows) -> SliceRows:
            codes = np.ascontiguousarray(cells.codes[:, discrete])
            return SliceRows(codes, np.ascontiguousarray(cells.reals[:, continuous]))

        return Slice(
            cells(self.train),
            cells(self.valid),
            self.valid_rows,
            self.discrete[discrete],
            self.continuous[continuous],
            self.n_levels[discrete],
        )


@dataclass(frozen=True, eq=False)
class Parts:
    """Result of a split of a slice.

    Attributes
    ----------
    slices : list of Slice
        Parts to be split further.
    sizes : ndarray or None
        Number of rows of each, if rows were split; None if columns were.
    alone : Slice or None
        Columns that are independent of all others.
    """

    slices: list[Slice]
    sizes: np.ndarray | None = None
    alone: Slice | None = None


def cut_codes(slice_: Slice, balanced: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """All columns as levels, the continuous ones split at their median.

    Parameters
    ----------
    slice_ : Slice
    balanced : bool, default=True
        The median goes to the side that makes the halves more equal; else below.
        Where most cells are the largest value, ``x > median`` would be a constant.

    Returns
    -------
    codes : ndarray of int16 of shape (n_rows, n_columns)
        Discrete columns first.
    offsets : ndarray of int of shape (n_columns + 1,)
        Index of the first level of each.
    """
    reals = slice_.train.reals
    levels = np.append(slice_.n_levels, np.full(reals.shape[1], 2))
    offsets = np.append(0, np.cumsum(levels)).astype(np.int64)
    if not reals.shape[1]:
        return slice_.train.codes, offsets
    halves = np.full(reals.shape, -1, dtype=np.int16)
    for half, column in zip(halves.T, reals.T):
        present = ~np.isnan(column)
        if present.any():
            half[present] = _upper_half(column[present], balanced)
    return np.hstack([slice_.train.codes, halves]), offsets


def _upper_half(values: np.ndarray, balanced: bool) -> np.ndarray:
    middle = np.median(values)
    above, from_it = values > middle, values >= middle
    closer = abs(2 * from_it.sum() - len(values)) < abs(2 * above.sum() - len(values))
    return from_it if balanced and closer else above
