"""Leaves of circuits: distributions of one column or of a few together.

Every kind has

- ``variables`` and ``degrees_of_freedom``,
- ``fault(n_levels)``: what is wrong with it, if anything, where its columns have so
  many levels; 0 where they are continuous,
- ``to_plain()`` and ``from_plain(whole, numbers)``: its whole and other numbers.

A compiled circuit evaluates Bernoulli, categorical and Gaussian leaves all at once; the
other kinds, one leaf at a time, by

- ``log_density(values)``: of what is present in encoded rows; 0 where nothing is,
- ``statistics(values, weight)``: what rows add to, as one array,
- ``estimated(statistics, alpha, spread)``: the leaf of greatest likelihood, with
  ``alpha`` added to the count of every level, ``alpha`` rows as wide as ``spread`` of
  their column to those of normal distributions, and no variance below `LEAST_SHARE`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from clearwood._kernels.circuits import as_codes, tree_counts, tree_log_density
from clearwood.conjugate import partial_normal

Plain = tuple[Sequence[int], Sequence[float]]
"""Whole numbers and other numbers of a leaf."""

LEAST_SHARE = 1e-6
"""Least variance of a leaf, as a share of that of its column."""

ROUNDING = 1e-6
"""By how much probabilities may miss 1 together."""


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

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """What is wrong with it; see the module."""
        return levels_fault(self.probabilities, n_levels)

    def to_plain(self) -> Plain:
        """Its numbers; see the module."""
        return [self.variable], [self.probability]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Bernoulli:
        """What :meth:`to_plain` was of."""
        return cls(int(whole.item()), float(numbers.item()))


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

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """What is wrong with it; see the module."""
        return levels_fault(self.probabilities, n_levels)

    def to_plain(self) -> Plain:
        """Its numbers; see the module."""
        return [self.variable], self.probabilities.tolist()

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Categorical:
        """What :meth:`to_plain` was of."""
        return cls(int(whole.item()), numbers)


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

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """What is wrong with it; see the module."""
        if any(n_levels):
            return NOT_CONTINUOUS
        if not (np.isfinite(self.mean) and 0.0 < self.variance < np.inf):
            return f"has mean {self.mean} and variance {self.variance}"
        return None

    def to_plain(self) -> Plain:
        """Its numbers; see the module."""
        return [self.variable], [self.mean, self.variance]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Gaussian:
        """What :meth:`to_plain` was of."""
        mean, variance = numbers.tolist()
        return cls(int(whole.item()), mean, variance)


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

    def bins(self, x: np.ndarray) -> np.ndarray:
        """The bins of values; -1 outside of the edges and where missing."""
        found = np.searchsorted(self.edges, x, side="right") - 1
        found[x == self.edges[-1]] -= 1
        found[~(x <= self.edges[-1])] = -1
        return found

    def density(self, x: np.ndarray) -> np.ndarray:
        """At values; 0 outside of the edges and where missing."""
        return np.append(self.probabilities / np.diff(self.edges), 0.0)[self.bins(x)]

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Of what is present; see the module."""
        x = values[:, self.variable]
        with np.errstate(divide="ignore"):
            return np.where(np.isnan(x), 0.0, np.log(self.density(x)))

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Counts of the bins."""
        bins = self.bins(values[:, self.variable])
        n = len(self.probabilities)
        return np.bincount(bins[bins >= 0], weight[bins >= 0], minlength=n)

    def estimated(
        self, statistics: np.ndarray, alpha: float, spread: np.ndarray
    ) -> Histogram:
        """The leaf of greatest likelihood; see the module."""
        p = shares(statistics + alpha, self.probabilities)
        return Histogram(self.variable, self.edges, p)

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """What is wrong with it; see the module."""
        if any(n_levels):
            return NOT_CONTINUOUS
        if not (np.isfinite(self.edges).all() and (np.diff(self.edges) > 0.0).all()):
            return "has edges that do not rise"
        if self.edges.shape != (len(self.probabilities) + 1,):
            return f"has {len(self.edges)} edges of {len(self.probabilities)} bins"
        return shares_fault(self.probabilities)

    def to_plain(self) -> Plain:
        """Its numbers; see the module."""
        return [self.variable], [*self.edges.tolist(), *self.probabilities.tolist()]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Histogram:
        """What :meth:`to_plain` was of."""
        n_edges = len(numbers) // 2 + 1
        return cls(int(whole.item()), numbers[:n_edges], numbers[n_edges:])


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
        self, statistics: np.ndarray, alpha: float, spread: np.ndarray
    ) -> MultivariateGaussian:
        """The leaf of greatest likelihood; see the module."""
        d = len(self.variables)
        weight, sums, products = np.split(statistics, [1, 1 + d])
        if not weight[0] > 0.0:
            return self
        moments = float(weight[0]), sums, products.reshape(d, d)
        own = spread[list(self.variables)]
        least = LEAST_SHARE * own
        return MultivariateGaussian(
            self.variables,
            *partial_normal.maximise(moments, self.mean, least, alpha, own),
        )

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """What is wrong with it; see the module."""
        if any(n_levels):
            return NOT_CONTINUOUS
        d = len(self.variables)
        if self.mean.shape != (d,) or self.covariance.shape != (d, d):
            return f"has mean and covariance of other sizes than {d} columns"
        if not np.isfinite(self.mean).all():
            return "has a mean that is not finite"
        finite = np.isfinite(self.covariance).all()
        if not (finite and is_definite(self.covariance) and self._is_symmetric()):
            return "has a covariance that is not symmetric and positive definite"
        return None

    def _is_symmetric(self) -> bool:
        # In units of the columns: a covariance of 0 may be rounded either way.
        sd = np.sqrt(np.diag(self.covariance))
        gap = np.abs(self.covariance - self.covariance.T)
        return bool((gap <= 1e-9 * np.outer(sd, sd)).all())

    def to_plain(self) -> Plain:
        """Its numbers; see the module."""
        return self.variables, [*self.mean.tolist(), *self.covariance.ravel().tolist()]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> MultivariateGaussian:
        """What :meth:`to_plain` was of."""
        d = len(whole)
        return cls(tuple(whole.tolist()), numbers[:d], numbers[d:].reshape(d, d))


class TreeArrays(NamedTuple):
    """One or several Chow-Liu trees.

    Attributes
    ----------
    variables : ndarray of int
    parents : ndarray of int
        Position in ``variables`` of what each depends on; -1 for roots.
    sizes : ndarray of int
        Levels of each.
    starts : ndarray of int
        Where the table of each begins, of shape (levels of the parent, levels).
    table : ndarray
        All tables, flat.
    """

    variables: np.ndarray
    parents: np.ndarray
    sizes: np.ndarray
    starts: np.ndarray
    table: np.ndarray


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
    def arrays(self) -> TreeArrays:
        """What is evaluated."""
        starts = np.cumsum([0, *(table.size for table in self.tables[:-1])])
        sizes = np.array([table.shape[1] for table in self.tables])
        flat = np.concatenate([np.ravel(table) for table in self.tables])
        variables, parents = np.array(self.variables), np.array(self.parents)
        return TreeArrays(variables, parents, sizes, starts, flat)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Of what is present; see the module."""
        return tree_log_density(levels_of(values), self.arrays)

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Expected counts of the cells of all tables."""
        return tree_counts(levels_of(values), weight, self.arrays)

    def estimated(
        self, statistics: np.ndarray, alpha: float, spread: np.ndarray
    ) -> ChowLiuTree:
        """The leaf of greatest likelihood; see the module."""
        ends = np.cumsum([table.size for table in self.tables])[:-1]
        tables = tuple(
            shares(counts.reshape(table.shape) + alpha, table)
            for counts, table in zip(np.split(statistics, ends), self.tables)
        )
        return ChowLiuTree(self.variables, self.parents, tables)

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """What is wrong with it; see the module."""
        d = len(self.variables)
        if len(self.parents) != d or len(self.tables) != d:
            return f"has parents and tables of other numbers than {d} columns"
        if any(p not in range(i) for i, p in enumerate(self.parents) if i):
            return "has parents that do not come first"
        if not d or self.parents[0] != -1:
            return "has no root"
        for n, parent, table in zip(n_levels, self.parents, self.tables):
            shape = (n_levels[parent] if parent >= 0 else 1, n)
            if table.shape != shape:
                return f"has a table of {table.shape} cells where {shape} are"
            if shares_fault(table):
                return shares_fault(table)
        return None

    def to_plain(self) -> Plain:
        """Its numbers; see the module."""
        sizes, flat = self.arrays.sizes.tolist(), self.arrays.table.tolist()
        return [*self.variables, *self.parents, *sizes], flat

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> ChowLiuTree:
        """What :meth:`to_plain` was of."""
        variables, parents, sizes = whole.reshape(3, -1)
        above = np.where(parents < 0, 1, sizes[parents])
        ends = np.cumsum(above * sizes)
        if ends[-1] != len(numbers):
            raise ValueError("tables do not fit their columns")
        tables = [
            part.reshape(n, m)
            for part, n, m in zip(np.split(numbers, ends[:-1]), above, sizes)
        ]
        return cls(tuple(variables.tolist()), tuple(parents.tolist()), tuple(tables))


NOT_CONTINUOUS = "is over a column that has levels"


def levels_of(values: np.ndarray) -> np.ndarray:
    """Encoded rows as the codes that trees read; what already is codes stays."""
    return values if values.dtype == np.int16 else as_codes(values)


def levels_fault(probabilities: np.ndarray, n_levels: Sequence[int]) -> str | None:
    """What is wrong with probabilities of the levels of one column."""
    if probabilities.shape != (n_levels[0],):
        return f"is of {len(probabilities)} levels where its column has {n_levels[0]}"
    return shares_fault(probabilities)


def shares_fault(probabilities: np.ndarray) -> str | None:
    """What is wrong with probabilities, which add up to 1 along the last axis."""
    total = probabilities.sum(axis=-1)
    if not ((probabilities >= 0.0).all() and (np.abs(total - 1.0) <= ROUNDING).all()):
        return f"has probabilities {probabilities.tolist()}"
    return None


def is_definite(covariance: np.ndarray) -> bool:
    """Whether it has a Cholesky factor."""
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return False
    return True


def shares(counts: np.ndarray, otherwise: np.ndarray) -> np.ndarray:
    """Counts as shares of their last axis; others where there are none.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.full((2, 2), 0.5)).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    total = counts.sum(axis=-1, keepdims=True)
    return np.where(total > 0.0, counts / np.where(total > 0.0, total, 1.0), otherwise)


MOST_RATIO = 1e30
"""Of a new number and an old one: its powers are no overflow."""


def carried(new: np.ndarray, old: np.ndarray, length: float) -> np.ndarray:
    """Numbers ``length`` times as far from old ones as new ones are, in logs.

    Numbers are not negative; where the old one was 0, it is the new one.

    Examples
    --------
    >>> carried(np.array([2.0, 0.5, 3.0]), np.array([1.0, 1.0, 0.0]), 3.0).tolist()
    [8.0, 0.125, 3.0]
    """
    ratio = np.divide(new, old, out=np.ones_like(new), where=old > 0.0)
    return new * np.minimum(ratio, MOST_RATIO) ** (length - 1.0)


Leaf = (
    Bernoulli | Categorical | Gaussian | Histogram | MultivariateGaussian | ChowLiuTree
)
