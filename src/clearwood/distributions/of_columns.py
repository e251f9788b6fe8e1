"""Leaves of circuits: distributions of one or several columns of a table.

Every type has

- ``variables`` and ``degrees_of_freedom``,
- ``log_density(values)``: of the present entries of encoded rows; 0 without any,
- ``given(row)``: the same of one row, and leaves of the missing columns,
- ``drawn(own, rng)``: rows of its columns alone, with missing entries drawn,
- ``moments(own, tables)``: their means and covariances, see `OfOneColumn`,
- ``modes()``: its modes, each a log density and a value by column,
- ``apart()``: the marginal leaf of each of its columns,
- ``scaled(zero, one)``: the same in the units of a table, in which its columns' 0 and 1
  have these values; ``over(columns)``: the same of others,
- ``fault(n_levels)``: its defect, if any, where its columns have so
  many levels; 0 for continuous ones,
- ``to_plain()`` and ``from_plain(whole, numbers)``: its integers and floats.

A compiled circuit evaluates Bernoulli, categorical and Gaussian leaves in batches; the
other types, one leaf at a time, also have

- ``statistics(values, weight)``: sufficient statistics of rows, as one array,
- ``estimated(statistics, alpha, spread)``: the maximum-likelihood leaf, with
  the pseudo-count ``alpha`` of every level, ``alpha`` pseudo-rows of variance
  ``spread`` for normal distributions, and no variance below `LEAST_SHARE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

Plain = tuple[Sequence[int], Sequence[float]]
"""Integers and floats of a leaf."""

Point = tuple[float, dict[int, float]]
"""A log density, and its point: a value by column."""

LEAST_SHARE = 1e-6
"""Minimum variance of a leaf, as a share of that of its column."""

NOT_CONTINUOUS = "is for a column that has levels"


@dataclass(frozen=True, eq=False)
class OfOneColumn:
    """Base class of leaves of one column."""

    variable: int

    @property
    def variables(self) -> tuple[int, ...]:
        """Scope of the leaf."""
        return (self.variable,)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of present entries; see the module."""
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
    """Base class of leaves of one continuous column."""

    mean: float
    variance: float

    def moments(
        self, own: np.ndarray, tables: Sequence[Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the numeric coordinates of columns.

        Parameters
        ----------
        own : ndarray of shape (n_rows, n_variables)
            Encoded rows of the leaf's columns.
        tables : sequence of ndarray of shape (n_levels, n_numbers), or of None
            By column, the coordinates of its levels. A continuous column is its own
            coordinate.

        Returns
        -------
        mean : ndarray of shape (n_rows, n_numbers)
            Of all columns, given the present entries.
        covariance : ndarray of shape (n_rows, n_numbers, n_numbers)
            For a leaf of one column that of missing entries, without ``n_rows``.
        """
        mean = np.where(np.isnan(own), self.mean, own)
        return mean, np.array([[self.variance]])
