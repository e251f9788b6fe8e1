"""Leaves of circuits: distributions of one column or of a few together.

Every kind has ``variables`` and ``degrees_of_freedom``, and its numbers as plain lists,
``to_plain`` and ``from_plain``. A compiled circuit evaluates Bernoulli, categorical and
Gaussian leaves all at once; the other kinds, one leaf at a time, by

- ``log_density(values)``: of what is present in encoded rows; 0 where nothing is,
- ``statistics(values, weight)``: what rows add to, as one array,
- ``estimated(statistics, alpha, least)``: the leaf of greatest likelihood, with
  ``alpha`` added to the count of every level and no variance below ``least`` of its
  column.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearwood.circuits._kernels import tree_counts, tree_log_density
from clearwood.conjugate import partial_normal


class OfOneColumn:
    """What the leaves of one column share."""

    variable: int

    @property
    def variables(self) -> tuple[int, ...]:
        """What the leaf is a distribution of."""
        return (self.variable,)


@dataclass(frozen=True, eq=False)
class Bernoulli(OfOneColumn):
    """One column of two levels.

    Attributes
    ----------
    variable : int
    probability : float
        Of the second level.
    """

    variable: int
    probability: float

    degrees_of_freedom = 1

    @property
    def probabilities(self) -> np.ndarray:
        """Of both levels."""
        return np.array([1.0 - self.probability, self.probability])


@dataclass(frozen=True, eq=False)
class Categorical(OfOneColumn):
    """One column of some levels.

    Attributes
    ----------
    variable : int
    probabilities : ndarray of shape (n_levels,)
    """

    variable: int
    probabilities: np.ndarray

    @property
    def degrees_of_freedom(self) -> int:
        """Free parameters."""
        return len(self.probabilities) - 1


@dataclass(frozen=True, eq=False)
class Gaussian(OfOneColumn):
    """One continuous column.

    Attributes
    ----------
    variable : int
    mean, variance : float
    """

    variable: int
    mean: float
    variance: float

    degrees_of_freedom = 2


@dataclass(frozen=True, eq=False)
class Histogram(OfOneColumn):
    """One continuous column, of constant density between edges.

    Attributes
    ----------
    variable : int
    edges : ndarray of shape (n_bins + 1,)
        Increasing. A bin includes its lower edge, the last one both.
    probabilities : ndarray of shape (n_bins,)
    """

    variable: int
    edges: np.ndarray
    probabilities: np.ndarray

    @property
    def degrees_of_freedom(self) -> int:
        """Free parameters; edges are given."""
        return len(self.probabilities) - 1

    def bins(self, values: np.ndarray) -> np.ndarray:
        """The bin of every row; -1 outside of the edges and where missing."""
        x = values[:, self.variable]
        found = np.searchsorted(self.edges, x, side="right") - 1
        found[x == self.edges[-1]] -= 1
        found[~(x <= self.edges[-1])] = -1
        return found

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Of what is present; see the module."""
        with np.errstate(divide="ignore"):
            log = np.log(self.probabilities) - np.log(np.diff(self.edges))
        found = np.append(log, -np.inf)[self.bins(values)]
        return np.where(np.isnan(values[:, self.variable]), 0.0, found)

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Counts of the bins."""
        bins = self.bins(values)
        n = len(self.probabilities)
        return np.bincount(bins[bins >= 0], weight[bins >= 0], minlength=n)

    def estimated(
        self, statistics: np.ndarray, alpha: float, least: np.ndarray
    ) -> Histogram:
        """The leaf of greatest likelihood; see the module."""
        shares_ = shares(statistics + alpha, self.probabilities)
        return Histogram(self.variable, self.edges, shares_)


@dataclass(frozen=True, eq=False)
class MultivariateGaussian:
    """Continuous columns that depend on each other.

    Attributes
    ----------
    variables : tuple of int
    mean : ndarray of shape (n_variables,)
    covariance : ndarray of shape (n_variables, n_variables)
    """

    variables: tuple[int, ...]
    mean: np.ndarray
    covariance: np.ndarray

    @property
    def degrees_of_freedom(self) -> int:
        """Free parameters."""
        d = len(self.variables)
        return d + d * (d + 1) // 2

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Of what is present; see the module."""
        own = values[:, self.variables]
        return partial_normal.log_density(own, self.mean, self.covariance)

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Expected weight, sums and products of distances from the mean."""
        used = weight > 0.0
        own = values[used][:, self.variables]
        moments = partial_normal.expected_moments(
            own, weight[used], self.mean, self.covariance
        )
        return np.concatenate([np.ravel(part) for part in moments])

    def estimated(
        self, statistics: np.ndarray, alpha: float, least: np.ndarray
    ) -> MultivariateGaussian:
        """The leaf of greatest likelihood; see the module."""
        d = len(self.variables)
        weight, sums, products = np.split(statistics, [1, 1 + d])
        if not weight[0] > 0.0:
            return self
        moments = float(weight[0]), sums, products.reshape(d, d)
        own = least[list(self.variables)]
        return MultivariateGaussian(
            self.variables, *partial_normal.maximise(moments, self.mean, own)
        )


@dataclass(frozen=True, eq=False)
class ChowLiuTree:
    """Discrete columns, each of which depends on at most one other.

    Attributes
    ----------
    variables : tuple of int
    parents : tuple of int
        Per variable the position in ``variables`` of what it depends on; -1 for the
        root. Parents come first.
    tables : tuple of ndarray of shape (n_levels_of_parent, n_levels)
        Conditional probabilities; the root's has one row.
    """

    variables: tuple[int, ...]
    parents: tuple[int, ...]
    tables: tuple[np.ndarray, ...]

    @property
    def degrees_of_freedom(self) -> int:
        """Free parameters."""
        return sum(len(table) * (table.shape[1] - 1) for table in self.tables)

    @cached_property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Variables, parents, sizes, starts of the tables, and the tables: flat."""
        starts = np.cumsum([0, *(table.size for table in self.tables[:-1])])
        sizes = np.array([table.shape[1] for table in self.tables])
        flat = np.concatenate([np.ravel(table) for table in self.tables])
        return np.array(self.variables), np.array(self.parents), sizes, starts, flat

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Of what is present; see the module."""
        return tree_log_density(values, *self.arrays)

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Expected counts of the cells of all tables."""
        return tree_counts(values, weight, *self.arrays)

    def estimated(
        self, statistics: np.ndarray, alpha: float, least: np.ndarray
    ) -> ChowLiuTree:
        """The leaf of greatest likelihood; see the module."""
        ends = np.cumsum([table.size for table in self.tables])[:-1]
        tables = tuple(
            shares(counts.reshape(table.shape) + alpha, table)
            for counts, table in zip(np.split(statistics, ends), self.tables)
        )
        return ChowLiuTree(self.variables, self.parents, tables)


def shares(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Counts as shares of their last axis; others where there are none.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.full((2, 2), 0.5)).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0.0, counts / np.where(total > 0.0, total, 1.0), otherwise)


Leaf = (
    Bernoulli | Categorical | Gaussian | Histogram | MultivariateGaussian | ChowLiuTree
)
