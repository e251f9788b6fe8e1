"""The leaves of a compiled circuit: of every kind all at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from clearwood._kernels.circuits import add_normals, normal_moments
from clearwood._numeric import product
from clearwood.circuits.distributions import (
    LEAST_SHARE,
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
    MultivariateGaussian,
    levels_of,
)

IMPOSSIBLE = -1e300
"""Log of 0 in tables that are multiplied: 0 times it is 0, not NaN."""

OneByOne = Histogram | MultivariateGaussian | ChowLiuTree
"""Leaves that are evaluated one at a time."""

SMALL_TILE = 512
"""Entries of a table that cost no more to multiply than to leave out."""


@dataclass(frozen=True, eq=False)
class Tile:
    """Discrete leaves of some places, as one table of places by levels.

    ``place`` (rows of the table), ``indicator`` (its columns), and of every entry that
    a leaf has: where the leaves' probabilities hold it, its row and its column.
    """

    place: np.ndarray
    indicator: np.ndarray
    entry: np.ndarray
    row: np.ndarray
    column: np.ndarray


@dataclass(frozen=True, eq=False)
class LevelLeaves:
    """Bernoulli and categorical leaves.

    Attributes
    ----------
    at : ndarray of shape (n_leaves,)
        Which of all the circuit's leaves they are.
    leaves : tuple of Leaf
        As they were before any re-estimation.
    first : ndarray of shape (n_leaves + 1,)
        Where the levels of a leaf begin in ``probabilities``.
    probabilities : ndarray
    variable, level : ndarray of shape (n_indicators,)
        What each indicator asks of a row.
    tiles : tuple of Tile
    """

    at: np.ndarray
    leaves: tuple[Bernoulli | Categorical, ...]
    first: np.ndarray
    probabilities: np.ndarray
    variable: np.ndarray
    level: np.ndarray
    tiles: tuple[Tile, ...]

    @cached_property
    def _log_tables(self) -> list[np.ndarray]:
        with np.errstate(divide="ignore"):
            log = np.maximum(np.log(self.probabilities), IMPOSSIBLE)
        tables = [np.zeros((len(t.place), len(t.indicator))) for t in self.tiles]
        for table, tile in zip(tables, self.tiles):
            table[tile.row, tile.column] = log[tile.entry]
        return tables

    def _indicators(self, columns: np.ndarray) -> np.ndarray:
        return (columns[self.variable] == self.level[:, None]).astype(np.float64)

    def add_log_density(self, log: np.ndarray, columns: np.ndarray) -> None:
        """See :class:`LeafArrays`."""
        indicators = self._indicators(columns)
        for tile, table in zip(self.tiles, self._log_tables):
            own = product(table, indicators[tile.indicator])
            log[tile.place] += np.where(own > 0.5 * IMPOSSIBLE, own, -np.inf)

    def statistics(self, flow: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Expected counts of the levels of all leaves."""
        indicators = self._indicators(columns)
        counts = np.zeros(len(self.probabilities))
        for tile in self.tiles:
            table = product(flow[tile.place], indicators[tile.indicator].T)
            counts[tile.entry] = table[tile.row, tile.column]
        return counts

    def estimated(
        self, counts: np.ndarray, alpha: float, spread: np.ndarray
    ) -> LevelLeaves:
        """See :class:`LeafArrays`."""
        if not len(self.at):
            return self
        total = np.add.reduceat(counts + alpha, self.first[:-1])
        total = np.repeat(total, np.diff(self.first))
        shares = (counts + alpha) / np.where(total > 0.0, total, 1.0)
        shares = np.where(total > 0.0, shares, self.probabilities)
        return replace(self, probabilities=shares)

    def as_leaves(self) -> Iterable[Leaf]:
        """The leaves with their probabilities as they are now."""
        for leaf, p in zip(self.leaves, np.split(self.probabilities, self.first[1:-1])):
            if isinstance(leaf, Bernoulli):
                yield Bernoulli(leaf.variable, float(p[1]))
            else:
                yield Categorical(leaf.variable, p)


@dataclass(frozen=True, eq=False)
class NormalLeaves:
    """Gaussian leaves; the arrays have one entry per leaf."""

    at: np.ndarray
    place: np.ndarray
    variable: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    def add_log_density(self, log: np.ndarray, columns: np.ndarray) -> None:
        """See :class:`LeafArrays`."""
        add_normals(log, columns, self._arrays)

    def statistics(self, flow: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Weights, sums and squares of distances from the means."""
        return normal_moments(flow, columns, self._arrays).ravel()

    def estimated(
        self, moments: np.ndarray, alpha: float, spread: np.ndarray
    ) -> NormalLeaves:
        """See :class:`LeafArrays`."""
        weight, sums, squares = moments.reshape(-1, 3).T
        any_row = weight > 0.0
        weight = np.where(any_row, weight, 1.0)
        shift, own = sums / weight, spread[self.variable]
        scatter = squares - weight * shift**2 + alpha * own
        variance = np.maximum(scatter / (weight + alpha), LEAST_SHARE * own)
        return replace(
            self,
            mean=self.mean + shift,
            variance=np.where(any_row, variance, self.variance),
        )

    def as_leaves(self) -> Iterable[Leaf]:
        """The leaves with their means and variances as they are now."""
        for j, mean, variance in zip(
            self.variable.tolist(), self.mean.tolist(), self.variance.tolist()
        ):
            yield Gaussian(j, mean, variance)

    @property
    def _arrays(self) -> tuple[np.ndarray, ...]:
        return self.place, self.variable, self.mean, self.variance


@dataclass(frozen=True, eq=False)
class LeafArrays:
    """All leaves of a circuit: those of many a time as arrays, the others as they are.

    Attributes
    ----------
    levels : LevelLeaves
    normals : NormalLeaves
    others : tuple of Leaf
    at, place : ndarray
        Of the others: which of all leaves they are, and where they belong.
    """

    levels: LevelLeaves
    normals: NormalLeaves
    others: tuple[OneByOne, ...]
    at: np.ndarray
    place: np.ndarray

    def add_log_density(self, log: np.ndarray, values: np.ndarray) -> None:
        """Add what the leaves say of encoded rows to ``log`` (places, rows)."""
        columns = np.ascontiguousarray(values.T)
        self.levels.add_log_density(log, columns)
        self.normals.add_log_density(log, columns)
        for leaf, place, rows in self._with_rows(values):
            log[place] += leaf.log_density(rows)

    def _with_rows(
        self, values: np.ndarray
    ) -> Iterator[tuple[OneByOne, np.int64, np.ndarray]]:
        """The other leaves, their places, and rows as they read them: trees, codes."""
        codes = levels_of(values) if self.others else values
        for leaf, place in zip(self.others, self.place):
            yield leaf, place, codes if isinstance(leaf, ChowLiuTree) else values

    def statistics(self, flow: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        """What rows add to, of all leaves, given what comes to their places."""
        columns = np.ascontiguousarray(values.T)
        return [
            self.levels.statistics(flow, columns),
            self.normals.statistics(flow, columns),
            *(
                leaf.statistics(rows, flow[place])
                for leaf, place, rows in self._with_rows(values)
            ),
        ]

    def estimated(
        self, statistics: Sequence[np.ndarray], alpha: float, spread: np.ndarray
    ) -> LeafArrays:
        """The leaves of greatest likelihood; see ``distributions``."""
        return replace(
            self,
            levels=self.levels.estimated(statistics[0], alpha, spread),
            normals=self.normals.estimated(statistics[1], alpha, spread),
            others=tuple(
                leaf.estimated(own, alpha, spread)
                for leaf, own in zip(self.others, statistics[2:])
            ),
        )

    def as_leaves(self) -> list[Leaf]:
        """All leaves as they are now, in the circuit's order."""
        parts = (self.levels, self.normals)
        at = np.concatenate([*(part.at for part in parts), self.at])
        leaves = [leaf for part in parts for leaf in part.as_leaves()] + [*self.others]
        return [leaves[i] for i in np.argsort(at)]


def compile_leaves(leaves: Sequence[Leaf], place: np.ndarray) -> LeafArrays:
    """Lay leaves out in arrays; ``place`` says where each belongs."""
    levels, normals, others = [], [], []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, Bernoulli | Categorical):
            levels.append((i, leaf))
        elif isinstance(leaf, Gaussian):
            normals.append((i, leaf))
        else:
            others.append((i, leaf))
    at_levels, at_normals, at_others = (
        np.array([i for i, _ in own], dtype=np.int64)
        for own in (levels, normals, others)
    )
    return LeafArrays(
        _compile_levels(at_levels, tuple(leaf for _, leaf in levels), place[at_levels]),
        NormalLeaves(
            at_normals,
            place[at_normals],
            np.array([leaf.variable for _, leaf in normals], dtype=np.int64),
            np.array([leaf.mean for _, leaf in normals], dtype=np.float64),
            np.array([leaf.variance for _, leaf in normals], dtype=np.float64),
        ),
        tuple(leaf for _, leaf in others),
        at_others,
        place[at_others],
    )


def _compile_levels(
    at: np.ndarray, leaves: tuple[Bernoulli | Categorical, ...], place: np.ndarray
) -> LevelLeaves:
    probabilities = [leaf.probabilities for leaf in leaves]
    variable = np.array([leaf.variable for leaf in leaves], dtype=np.int64)
    sizes = np.array([len(p) for p in probabilities], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    known, one = np.unique(variable, return_index=True)
    n_levels = sizes[one]
    start = np.zeros(variable.max(initial=-1) + 1, dtype=np.int64)
    start[known] = np.cumsum(n_levels) - n_levels
    return LevelLeaves(
        at,
        leaves,
        first,
        np.concatenate([np.zeros(0), *probabilities]),
        np.repeat(known, n_levels),
        np.concatenate(
            [np.zeros(0, dtype=np.int64), *(np.arange(n) for n in n_levels)]
        ),
        tuple(
            _tile(units, place, variable, first, start)
            for units in _alike(place, variable)
        ),
    )


def _alike(place: np.ndarray, variable: np.ndarray) -> Iterable[list[np.ndarray]]:
    """Places whose leaves are of the same columns, or nearly: tables hardly empty."""
    order = np.lexsort([variable, place])
    ends = np.flatnonzero(np.diff(place[order])) + 1
    units = [own for own in np.split(order, ends) if len(own)]
    scopes = [tuple(variable[own].tolist()) for own in units]
    group: list[np.ndarray] = []
    union: set[int] = set()
    needed = 0
    for unit in sorted(range(len(units)), key=scopes.__getitem__):
        wider = union.union(scopes[unit])
        area = len(wider) * (len(group) + 1)
        if area > max(2 * (needed + len(scopes[unit])), SMALL_TILE):
            yield group
            group, wider, needed = [], set(scopes[unit]), 0
        group.append(units[unit])
        union, needed = wider, needed + len(scopes[unit])
    if group:
        yield group


def _tile(
    units: list[np.ndarray],
    place: np.ndarray,
    variable: np.ndarray,
    first: np.ndarray,
    start: np.ndarray,
) -> Tile:
    """One table; ``units``: the leaves of each place, ``start``: of each column."""
    own = np.concatenate(units)
    sizes = first[own + 1] - first[own]
    level = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    asked = np.repeat(start[variable[own]], sizes) + level
    indicator, column = np.unique(asked, return_inverse=True)
    row = np.repeat(np.arange(len(units)), [len(unit) for unit in units])
    return Tile(
        place=np.array([place[unit[0]] for unit in units]),
        indicator=indicator,
        entry=np.repeat(first[own], sizes) + level,
        row=np.repeat(row, sizes),
        column=column,
    )
