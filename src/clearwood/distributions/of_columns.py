"""Leaves of circuits: distributions of one column of a table or of a few together.

Every kind has

- ``variables`` and ``degrees_of_freedom``,
- ``log_density(values)``: of what is present in encoded rows; 0 where nothing is,
- ``given(row)``: the same of one row, and leaves of the columns that it lacks,
- ``drawn(own, rng)``: rows of its columns alone, what is missing in them drawn,
- ``moments(own, tables)``: their means and covariances, see `OfOneColumn`,
- ``modes()``: its best points, each a log density and a value by column,
- ``apart()``: of each of its columns the leaf of that column alone,
- ``scaled(zero, one)``: the same in the units of a table, in which its columns' 0 and 1
  are so much; ``over(columns)``: the same of others,
- ``fault(n_levels)``: what is wrong with it, if anything, where its columns have so
  many levels; 0 where they are continuous,
- ``to_plain()`` and ``from_plain(whole, numbers)``: its whole and other numbers.

A compiled circuit evaluates Bernoulli, categorical and Gaussian leaves all at once; the
other kinds, one leaf at a time, have also

- ``statistics(values, weight)``: what rows add to, as one array,
- ``estimated(statistics, alpha, spread)``: the leaf of greatest likelihood, with
  ``alpha`` added to the count of every level, ``alpha`` rows as wide as ``spread`` of
  their column to those of normal distributions, and no variance below `LEAST_SHARE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

Plain = tuple[Sequence[int], Sequence[float]]
"""Whole numbers and other numbers of a leaf."""

Point = tuple[float, dict[int, float]]
"""A log density, and where it is: a value by column."""

LEAST_SHARE = 1e-6
"""Least variance of a leaf, as a share of that of its column."""

NOT_CONTINUOUS = "is over a column that has levels"


@dataclass(frozen=True, eq=False)
class OfOneColumn:
    """What the leaves of one column share."""

    variable: int

    @property
    def variables(self) -> tuple[int, ...]:
        """What the leaf is a distribution of."""
        return (self.variable,)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Of what is present; see the module."""
        raise NotImplementedError

    def given(self, row: np.ndarray) -> tuple[float, tuple[Self, ...]]:
        """See the module."""
        if np.isnan(row[self.variable]):
            return 0.0, (self,)
        return float(self.log_density(row[None])[0]), ()

    def drawn(self, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """See the module."""
        return np.where(np.isnan(own), self._draws(own.shape, rng), own)

    def _draws(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        raise NotImplementedError

    def apart(self) -> list[Self]:
        """See the module."""
        return [self]

    def over(self, columns: Sequence[int]) -> Self:
        """See the module."""
        return replace(self, variable=columns[0])


class OfNumbers(OfOneColumn):
    """What those of one continuous column share."""

    mean: float
    variance: float

    def moments(
        self, own: np.ndarray, tables: Sequence[Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of numbers that columns count as.

        Parameters
        ----------
        own : ndarray of shape (n_rows, n_variables)
            Encoded rows of the leaf's columns.
        tables : sequence of ndarray of shape (n_levels, n_numbers), or of None
            By column, the numbers that its levels count as. A continuous column counts
            as itself.

        Returns
        -------
        mean : ndarray of shape (n_rows, n_numbers)
            Of all columns, given what is present.
        covariance : ndarray of shape (n_rows, n_numbers, n_numbers)
            Of a leaf of one column that where it is missing, without ``n_rows``.
        """
        mean = np.where(np.isnan(own), self.mean, own)
        return mean, np.array([[self.variance]])
