"""Chow-Liu trees: discrete columns, each with at most one parent.

In a hidden Chow-Liu tree (Liu and Van den Broeck, 2021) hidden variables form the tree,
and each column depends on one of these only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.distributions import as_codes, tree_counts, tree_log_density
from clearwood._numeric.logspace import log_of, overrelaxed
from clearwood.distributions.categorical import (
    Categorical,
    choose,
    shares,
    shares_fault,
)
from clearwood.distributions.of_columns import Plain, Point

Reduce = Callable[..., np.ndarray]
"""Reduction over an axis of logs: ``SUM`` or ``np.maximum.reduce``."""

SUM: Reduce = np.logaddexp.reduce


class TreeArrays(NamedTuple):
    """Arrays of one or several Chow-Liu trees.

    Attributes
    ----------
    variables : ndarray of int
        -1 for hidden ones.
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
    """Chow-Liu tree leaf: hidden variables and discrete columns, each with one parent.

    Attributes
    ----------
    variables : tuple of int
        The columns. Hidden variables, if there are any, precede them in the tree.
    parents : tuple of int
        Per variable of the tree the position of its parent; -1 for the root. Parents
        come first.
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

    @property
    def n_hidden(self) -> int:
        """Number of hidden variables."""
        return len(self.parents) - len(self.variables)

    @property
    def n_levels(self) -> list[int]:
        """Number of levels of each column."""
        return [table.shape[1] for table in self.tables[self.n_hidden :]]

    @cached_property
    def arrays(self) -> TreeArrays:
        """Arrays for evaluation."""
        starts = np.cumsum([0, *(table.size for table in self.tables[:-1])])
        sizes = np.array([table.shape[1] for table in self.tables])
        flat = np.concatenate([np.ravel(table) for table in self.tables])
        variables = np.array([-1] * self.n_hidden + [*self.variables])
        return TreeArrays(variables, np.array(self.parents), sizes, starts, flat)

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

    def beyond(self, earlier: ChowLiuTree, length: float) -> ChowLiuTree:
        """Extrapolate from earlier parameters; see ``Compiled.beyond``.

        Without hidden variables all parameters are exact: nothing is extrapolated.
        """
        if not self.n_hidden:
            return self
        tables = tuple(
            shares(overrelaxed(new, old, length), new)
            for new, old in zip(self.tables, earlier.tables)
        )
        return replace(self, tables=tables)

    # Messages along the tree: sums or maxima over open levels, for a batch

    def allowed(self, own: np.ndarray) -> list[np.ndarray]:
        """Log masks of allowed levels per column: (n_rows, n_levels) of 0, -inf.

        Parameters
        ----------
        own : ndarray of shape (n_rows, n_variables)
            Levels of the tree's columns; a missing entry allows all.
        """
        found = []
        for column, n in zip(own.T, self.n_levels):
            cell = column[:, None]
            open_ = np.isnan(cell) | (cell == np.arange(n))
            found.append(np.where(open_, 0.0, -np.inf))
        return found

    def upward(
        self, log_allowed: list[np.ndarray], reduce: Reduce = SUM
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        """Upward pass from the tree's leaves to its root; sums over hidden variables.

        The sum of maxima is an upper bound of the maximum, exact of complete rows.

        Parameters
        ----------
        log_allowed : list of ndarray of shape (n_rows, n_levels)
            Log weights of the levels of each column.
        reduce : callable
            For columns.

        Returns
        -------
        log_value : ndarray of shape (n_rows,)
            Log of the sum (or the maximum) over all levels.
        log_tables : list of ndarray of shape (n_rows, n_levels_of_parent, n_levels)
            Conditional tables given the allowed levels: each row of a table has the sum
            (or the maximum) 1. Rows of impossible levels are all -inf.
        """
        n_rows = len(log_allowed[0])
        hidden = [np.zeros((n_rows, t.shape[1])) for t in self.tables[: self.n_hidden]]
        below = hidden + log_allowed
        log_tables: list[np.ndarray] = [np.empty(0)] * len(below)
        logs = [log_of(table) for table in self.tables]
        message = np.empty(0)
        for i in reversed(range(len(below))):
            joint = logs[i] + below[i][:, None, :]
            message = (reduce if i >= self.n_hidden else SUM)(joint, axis=2)
            # 0 in place of -inf, so that -inf less it stays -inf.
            finite = np.where(np.isneginf(message), 0.0, message)
            log_tables[i] = joint - finite[:, :, None]
            if self.parents[i] >= 0:
                below[self.parents[i]] = below[self.parents[i]] + message
        return message[:, 0], log_tables

    def downward(
        self, log_tables: list[np.ndarray], reduce: Reduce = SUM
    ) -> list[np.ndarray]:
        """Downward pass from the root to the leaves.

        Returns
        -------
        list of ndarray of shape (n_rows, n_levels)
            Log probabilities given the allowed levels, of hidden variables, too; for
            maxima, the log density of the best combination with that level, less the
            best.
        """
        worth: list[np.ndarray] = []
        for parent, table in zip(self.parents, log_tables):
            above = worth[parent][:, :, None] if parent >= 0 else 0.0
            own = reduce if parent >= self.n_hidden else SUM
            worth.append(own(above + table, axis=1))
        return worth

    def marginals(self, own: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Probabilities of levels by column, (n_rows, n_levels), given the others."""
        _, logs = self.upward(self.allowed(own))
        return [(np.exp(worth),) for worth in self.downward(logs)[self.n_hidden :]]

    # Methods of all leaves

    def given(
        self, row: np.ndarray
    ) -> tuple[float, tuple[Categorical | ChowLiuTree, ...]]:
        """Condition on known entries, which split the tree; see ``of_columns``."""
        log_density, logs = self.upward(self.allowed(row[None, self.variables]))
        trees: dict[int, list[int]] = {}  # of what is missing, by the place of the root
        root_of: dict[int, int] = {}
        tables: dict[int, np.ndarray] = {}
        cells = [np.nan] * self.n_hidden + row[list(self.variables)].tolist()
        for i in self._above(np.isnan(row[list(self.variables)])):
            parent, table = self.parents[i], np.exp(logs[i][0])
            if parent not in root_of:  # it has none, or that is known
                known = int(cells[parent]) if parent >= 0 else 0
                table = table[known : known + 1]
            # Levels that cannot be may lead anywhere.
            table[table.sum(axis=1) == 0] = 1 / table.shape[1]
            tables[i] = table
            root_of[i] = root_of.get(parent, i)
            trees.setdefault(root_of[i], []).append(i)
        return float(log_density[0]), tuple(
            self._part(places, tables) for places in trees.values()
        )

    def _above(self, wanted: np.ndarray) -> list[int]:
        """Places of the columns that are wanted, and of hidden variables above them."""
        columns = np.flatnonzero(wanted) + self.n_hidden
        places: set[int] = set(columns.tolist())
        for i in columns.tolist():
            while 0 <= self.parents[i] < self.n_hidden:
                i = self.parents[i]
                if i in places:
                    break
                places.add(i)
        return sorted(places)

    def _part(
        self, places: Sequence[int], tables: dict[int, np.ndarray]
    ) -> Categorical | ChowLiuTree:
        """Tree of the variables at some places; a categorical leaf for a single one."""
        h = self.n_hidden
        variables = tuple(self.variables[i - h] for i in places if i >= h)
        new = {i: k for k, i in enumerate(places)}
        parents = tuple(new.get(self.parents[i], -1) for i in places)
        tree = ChowLiuTree(variables, parents, tuple(tables[i] for i in places))
        return tree if len(variables) > 1 else tree.apart()[0]

    def drawn(self, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows of its columns, with missing entries drawn; see ``of_columns``."""
        _, logs = self.upward(self.allowed(own))
        found = np.zeros((len(own), len(logs)), dtype=np.intp)
        for i, (parent, log) in enumerate(zip(self.parents, logs)):
            above = found[:, parent] if parent >= 0 else 0
            found[:, i] = choose(rng, np.exp(log[np.arange(len(own)), above]))
        return found[:, self.n_hidden :]

    def moments(
        self, own: np.ndarray, tables: Sequence[Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the numeric coordinates of columns."""
        _, logs = self.upward(self.allowed(own))
        levels = [np.exp(worth) for worth in self.downward(logs)]
        steps = [np.exp(log) for log in logs]  # from a level of the parent to each
        h, n, m = self.n_hidden, len(own), len(logs)
        means = [p @ table for p, table in zip(levels[h:], tables)]
        ends = np.cumsum([0, *(table.shape[1] for table in tables)])
        # Deviations of all numbers from their means, expected given each level of a
        # variable: those below it, from the leaves on; the others, from the root on.
        inside = np.zeros((m, ends[-1]), dtype=bool)
        expected = [np.zeros((n, p.shape[1], ends[-1])) for p in levels]
        for i in reversed(range(m)):
            if i >= h:
                own_numbers = slice(ends[i - h], ends[i - h + 1])
                gap = tables[i - h] - means[i - h][:, None]
                expected[i][:, :, own_numbers] = gap
                inside[i, own_numbers] = True
            if self.parents[i] >= 0:
                inside[self.parents[i]] |= inside[i]
                expected[self.parents[i]] += steps[i] @ expected[i]
        covariance = np.empty((n, ends[-1], ends[-1]))
        for i, parent in enumerate(self.parents):
            if parent >= 0:
                joint = (levels[parent][:, :, None] * steps[i]).swapaxes(1, 2)
                outside = joint @ (expected[parent] * ~inside[i])
                share = levels[i][:, :, None]
                expected[i] += np.divide(
                    outside, share, out=np.zeros_like(outside), where=share > 0
                )
            if i >= h:
                own_numbers = slice(ends[i - h], ends[i - h + 1])
                gap = tables[i - h] - means[i - h][:, None]
                weighted = (levels[i][:, :, None] * gap).swapaxes(1, 2)
                covariance[:, own_numbers] = weighted @ expected[i]
        return np.hstack(means), covariance

    def modes(self) -> list[Point]:
        """Most probable of all combinations of levels; see ``of_columns``.

        With hidden variables their density together with these, as of the components
        of a mixture: another combination may be more probable.
        """
        seen = replace(self, variables=tuple(range(len(self.parents))))
        nothing = np.full((1, len(self.parents)), np.nan)
        height, tables = seen.upward(seen.allowed(nothing), np.maximum.reduce)
        levels: list[int] = []
        for parent, (table,) in zip(self.parents, tables):
            above = levels[parent] if parent >= 0 else 0
            levels.append(int(table[above].argmax()))
        own = map(float, levels[self.n_hidden :])
        return [(float(height[0]), dict(zip(self.variables, own)))]

    def apart(self) -> list[Categorical]:
        """Marginal leaf of each of its columns; see ``of_columns``."""
        found: list[np.ndarray] = []
        for parent, table in zip(self.parents, self.tables):
            found.append(table[0] if parent < 0 else found[parent] @ table)
        return [
            Categorical(*own) for own in zip(self.variables, found[self.n_hidden :])
        ]

    def scaled(self, zero: np.ndarray, one: np.ndarray) -> ChowLiuTree:
        """Leaf in the units of a table, whose 0 and 1 are given; see ``of_columns``."""
        return self

    def over(self, columns: Sequence[int]) -> ChowLiuTree:
        """The same leaf of other columns; see ``of_columns``."""
        return replace(self, variables=tuple(columns))

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """Its defect, if any, in a table whose columns have so many levels."""
        d, h = len(self.variables), self.n_hidden
        if h < 0 or len(self.parents) != len(self.tables):
            return f"has parents and tables of other numbers than {d} columns"
        if any(p not in range(i) for i, p in enumerate(self.parents) if i):
            return "has parents that do not come first"
        if not d or self.parents[0] != -1:
            return "has no root"
        sizes = [table.shape[1] for table in self.tables[:h]] + [*n_levels]
        for n, parent, table in zip(sizes, self.parents, self.tables):
            shape = (sizes[parent] if parent >= 0 else 1, n)
            if table.shape != shape:
                return f"has a table of {table.shape} cells where {shape} are"
            if shares_fault(table):
                return shares_fault(table)
        return None

    def to_plain(self) -> Plain:
        """Its integers and floats, as they are saved; see ``of_columns``."""
        variables, _, sizes, _, table = (part.tolist() for part in self.arrays)
        return [*variables, *self.parents, *sizes], table

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> ChowLiuTree:
        """Leaf from its saved integers and floats; see ``of_columns``."""
        variables, parents, sizes = whole.reshape(3, -1)
        above = np.where(parents < 0, 1, sizes[parents])
        ends = np.cumsum(above * sizes)
        if ends[-1] != len(numbers):
            raise ValueError("tables do not fit their columns")
        n_hidden = np.count_nonzero(variables < 0)
        if (variables[n_hidden:] < 0).any():
            raise ValueError("hidden variables do not come first")
        tables = [
            part.reshape(n, m)
            for part, n, m in zip(np.split(numbers, ends[:-1]), above, sizes)
        ]
        own = tuple(variables[n_hidden:].tolist())
        return cls(own, tuple(parents.tolist()), tuple(tables))


def levels_of(values: np.ndarray) -> np.ndarray:
    """Codes of encoded rows for trees; codes are returned unchanged."""
    return values if values.dtype == np.int16 else as_codes(values)
