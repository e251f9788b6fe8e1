"""Chow-Liu trees: discrete columns, each with at most one parent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.distributions import as_codes, tree_counts, tree_log_density
from clearwood._numeric.logspace import log_of
from clearwood.distributions.categorical import (
    Categorical,
    choose,
    shares,
    shares_fault,
)
from clearwood.distributions.of_columns import Plain, Point

Reduce = Callable[..., np.ndarray]
"""Reduction over an axis of logs: ``np.logaddexp.reduce`` or ``np.maximum.reduce``."""


class TreeArrays(NamedTuple):
    """Arrays of one or several Chow-Liu trees.

    Attributes
    ----------
    variables : ndarray of int
    parents : ndarray of int
        Position in ``variables`` of the parent of each; -1 for roots.
    sizes : ndarray of int
        Number of levels of each.
    starts : ndarray of int
        Index of the table of each, of shape (levels of the parent, levels).
    table : ndarray
        All tables, flattened.
    """

    variables: np.ndarray
    parents: np.ndarray
    sizes: np.ndarray
    starts: np.ndarray
    table: np.ndarray


@dataclass(frozen=True, eq=False)
class ChowLiuTree:
    """Chow-Liu tree leaf: discrete columns, each with at most one parent.

    Attributes
    ----------
    variables : tuple of int
    parents : tuple of int
        Per variable the position of its parent in ``variables``; -1 for the root.
        Parents come first.
    tables : tuple of ndarray of shape (n_levels_of_parent, n_levels)
        Conditional probabilities; the root's has one row.
    """

    variables: tuple[int, ...]
    parents: tuple[int, ...]
    tables: tuple[np.ndarray, ...]

    @property
    def degrees_of_freedom(self) -> int:
        """Number of free parameters."""
        return sum(len(table) * (table.shape[1] - 1) for table in self.tables)

    @cached_property
    def arrays(self) -> TreeArrays:
        """Arrays for evaluation."""
        starts = np.cumsum([0, *(table.size for table in self.tables[:-1])])
        sizes = np.array([table.shape[1] for table in self.tables])
        flat = np.concatenate([np.ravel(table) for table in self.tables])
        variables, parents = np.array(self.variables), np.array(self.parents)
        return TreeArrays(variables, parents, sizes, starts, flat)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of present entries; see ``of_columns``."""
        return tree_log_density(levels_of(values), self.arrays)

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Expected counts of the cells of all tables; see ``of_columns``."""
        return tree_counts(levels_of(values), weight, self.arrays)

    def estimated(
        self, statistics: np.ndarray, alpha: float, spread: np.ndarray
    ) -> ChowLiuTree:
        """Maximum-likelihood leaf from statistics of rows and pseudo-counts."""
        counts = np.split(statistics, self.arrays.starts[1:])
        tables = tuple(
            shares(own.reshape(table.shape) + alpha, table)
            for own, table in zip(counts, self.tables)
        )
        return replace(self, tables=tables)

    # Messages along the tree: sums or maxima over open levels, for a batch

    def allowed(self, own: np.ndarray) -> list[np.ndarray]:
        """Log masks of allowed levels per variable: (n_rows, n_levels) of 0, -inf.

        Parameters
        ----------
        own : ndarray of shape (n_rows, n_variables)
            Levels of the tree's columns; a missing entry allows all.
        """
        found = []
        for column, table in zip(own.T, self.tables):
            cell = column[:, None]
            open_ = np.isnan(cell) | (cell == np.arange(table.shape[1]))
            found.append(np.where(open_, 0.0, -np.inf))
        return found

    def upward(
        self, log_allowed: list[np.ndarray], reduce: Reduce = np.logaddexp.reduce
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Upward pass from the tree's leaves to its root.

        Parameters
        ----------
        log_allowed : list of ndarray of shape (n_rows, n_levels)
            Log weights of the levels of each variable.
        reduce : callable

        Returns
        -------
        log_value : ndarray of shape (n_rows,)
            Log of the sum (or the maximum) over all levels.
        log_tables : list of ndarray of shape (n_rows, n_levels_of_parent, n_levels)
            Conditional tables given the allowed levels: each row of a table has the sum
            (or the maximum) 1. Rows of impossible levels are all -inf.
        """
        below = list(log_allowed)
        log_tables: list[np.ndarray] = [np.empty(0)] * len(below)
        logs = [log_of(table) for table in self.tables]
        message = np.empty(0)
        for i in reversed(range(len(below))):
            joint = logs[i] + below[i][:, None, :]
            message = reduce(joint, axis=2)
            # 0 in place of -inf, so that -inf less it stays -inf.
            finite = np.where(np.isneginf(message), 0.0, message)
            log_tables[i] = joint - finite[:, :, None]
            if self.parents[i] >= 0:
                below[self.parents[i]] = below[self.parents[i]] + message
        return message[:, 0], log_tables

    def downward(
        self, log_tables: list[np.ndarray], reduce: Reduce = np.logaddexp.reduce
    ) -> list[np.ndarray]:
        """Downward pass from the root to the leaves.

        Returns
        -------
        list of ndarray of shape (n_rows, n_levels)
            Log probabilities given the allowed levels; for maxima, the log density of
            the best combination with that level, less the best.
        """
        worth: list[np.ndarray] = []
        for parent, table in zip(self.parents, log_tables):
            above = worth[parent][:, :, None] if parent >= 0 else 0.0
            worth.append(reduce(above + table, axis=1))
        return worth

    def marginals(self, own: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Probabilities of levels by column, (n_rows, n_levels), given the others."""
        _, logs = self.upward(self.allowed(own))
        return [(np.exp(worth),) for worth in self.downward(logs)]

    # Methods of all leaves

    def given(
        self, row: np.ndarray
    ) -> tuple[float, tuple[Categorical | ChowLiuTree, ...]]:
        """Condition on known entries, which split the tree; see ``of_columns``."""
        log_density, logs = self.upward(self.allowed(row[None, self.variables]))
        trees: dict[int, list[int]] = {}  # of what is missing, by the place of the root
        root_of: dict[int, int] = {}
        tables: dict[int, np.ndarray] = {}
        for i, (variable, parent) in enumerate(zip(self.variables, self.parents)):
            if not np.isnan(row[variable]):
                continue
            table = np.exp(logs[i][0])
            if parent not in root_of:  # it has none, or that is known
                known = int(row[self.variables[parent]]) if parent >= 0 else 0
                table = table[known : known + 1]
            # Levels that cannot be may lead anywhere.
            table[table.sum(axis=1) == 0] = 1 / table.shape[1]
            tables[i] = table
            root_of[i] = root_of.get(parent, i)
            trees.setdefault(root_of[i], []).append(i)
        return float(log_density[0]), tuple(
            self._part(places, tables) for places in trees.values()
        )

    def _part(
        self, places: Sequence[int], tables: dict[int, np.ndarray]
    ) -> Categorical | ChowLiuTree:
        """Tree of the variables at some places; a categorical leaf for a single one."""
        variables = tuple(self.variables[i] for i in places)
        if len(places) == 1:
            return Categorical(variables[0], tables[places[0]][0])
        new = {i: k for k, i in enumerate(places)}
        parents = tuple(new.get(self.parents[i], -1) for i in places)
        return ChowLiuTree(variables, parents, tuple(tables[i] for i in places))

    def drawn(self, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows of its columns, with missing entries drawn; see ``of_columns``."""
        _, logs = self.upward(self.allowed(own))
        found = np.zeros(own.shape, dtype=np.intp)
        for i, (parent, log) in enumerate(zip(self.parents, logs)):
            above = found[:, parent] if parent >= 0 else 0
            found[:, i] = choose(rng, np.exp(log[np.arange(len(own)), above]))
        return found

    def moments(
        self, own: np.ndarray, tables: Sequence[Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the numeric coordinates of columns."""
        _, logs = self.upward(self.allowed(own))
        levels = [np.exp(worth) for worth in self.downward(logs)]
        means = [p @ table for p, table in zip(levels, tables)]
        gaps = [table - mean[:, None] for table, mean in zip(tables, means)]
        ends = np.cumsum([0, *(table.shape[1] for table in tables)])
        at = [slice(*pair) for pair in pairwise(ends)]
        covariance = np.empty((len(own), ends[-1], ends[-1]))
        both: dict[tuple[int, int], np.ndarray] = {}  # probabilities of pairs of levels
        for b, parent in enumerate(self.parents):
            both[b, b] = levels[b][:, :, None] * np.eye(levels[b].shape[1])
            for a in range(b):
                both[a, b] = both[a, parent] @ np.exp(logs[b])
                both[b, a] = both[a, b].swapaxes(1, 2)
            for a in range(b + 1):
                product = gaps[a].swapaxes(1, 2) @ both[a, b] @ gaps[b]
                covariance[:, at[a], at[b]] = product
                covariance[:, at[b], at[a]] = product.swapaxes(1, 2)
        return np.hstack(means), covariance

    def modes(self) -> list[Point]:
        """Most probable of all combinations of levels; see ``of_columns``."""
        nothing = np.full((1, len(self.variables)), np.nan)
        height, tables = self.upward(self.allowed(nothing), np.maximum.reduce)
        levels: list[int] = []
        for parent, (table,) in zip(self.parents, tables):
            above = levels[parent] if parent >= 0 else 0
            levels.append(int(table[above].argmax()))
        return [(float(height[0]), dict(zip(self.variables, map(float, levels))))]

    def apart(self) -> list[Categorical]:
        """Marginal leaf of each of its columns; see ``of_columns``."""
        found: list[np.ndarray] = []
        for parent, table in zip(self.parents, self.tables):
            found.append(table[0] if parent < 0 else found[parent] @ table)
        return [Categorical(*own) for own in zip(self.variables, found)]

    def scaled(self, zero: np.ndarray, one: np.ndarray) -> ChowLiuTree:
        """Leaf in the units of a table, whose 0 and 1 are given; see ``of_columns``."""
        return self

    def over(self, columns: Sequence[int]) -> ChowLiuTree:
        """The same leaf of other columns; see ``of_columns``."""
        return replace(self, variables=tuple(columns))

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """Its defect, if any, in a table whose columns have so many levels."""
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
        """Its integers and floats, as they are saved; see ``of_columns``."""
        sizes, flat = self.arrays.sizes.tolist(), self.arrays.table.tolist()
        return [*self.variables, *self.parents, *sizes], flat

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> ChowLiuTree:
        """Leaf from its saved integers and floats; see ``of_columns``."""
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


def levels_of(values: np.ndarray) -> np.ndarray:
    """Codes of encoded rows for trees; codes are returned unchanged."""
    return values if values.dtype == np.int16 else as_codes(values)
