"""Conditional distributions of the missing cells of a table, in its units."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood._numeric import bisect
from clearwood._numeric.logspace import log_of
from clearwood.circuits.queries.shares import LevelShares, ValueShares, conditionals
from clearwood.circuits.queries.surprisal import surprisals
from clearwood.columns.cells import UNSEEN
from clearwood.columns.table_variables import NumericColumn, log_seen

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit


@dataclass(frozen=True, eq=False)
class CellShares:
    """Conditional distributions of a numeric column's missing cells.

    Point masses, and otherwise a mixture of normal distributions of the cell or of its
    logarithm.

    Attributes
    ----------
    number : ValueShares
        Distribution of the continuous variable, off the point masses.
    column : NumericColumn
        Point masses of the column and the scale of that variable.
    at : ndarray of shape (n, n_point_masses)
        Probability of each point mass.
    """

    number: ValueShares
    column: NumericColumn
    at: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """Rows in which the cell is missing."""
        return self.number.rows

    @property
    def elsewhere(self) -> np.ndarray:
        """Probability that a cell is at no point mass."""
        return 1.0 - self.at.sum(axis=1)

    @property
    def mean(self) -> np.ndarray:
        """Expected values."""
        mean, _ = self._number_moments()
        return self.elsewhere * mean + self.at @ np.array(self.column.point_masses)

    @property
    def sd(self) -> np.ndarray:
        """Standard deviations."""
        mean, variance = self._number_moments()
        centre = self.mean
        masses = (np.array(self.column.point_masses) - centre[:, None]) ** 2
        spread = self.elsewhere * (variance + (mean - centre) ** 2)
        return np.sqrt(spread + (self.at * masses).sum(axis=1))

    def _number_moments(self) -> tuple[np.ndarray, np.ndarray]:
        own = self.number
        if self.column.scale is None:
            return own.mean, own.sd**2
        means, variances = self.column.moments(own.mean_of, own.sd_of**2)
        mean = (own.weight * means).sum(axis=1)
        spread = variances + (means - mean[:, None]) ** 2
        return mean, (own.weight * spread).sum(axis=1)

    def cdf(self, values: np.ndarray) -> np.ndarray:
        """Cumulative distribution function; one value for each cell."""
        values = np.asarray(values, dtype=float)
        below = np.array(self.column.point_masses) <= values[:, None]
        rest = self.elsewhere * self.number.cdf(self.column.scaled(values))
        return rest + (self.at * below).sum(axis=1)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density, or log probability at a point mass.

        One value for each cell, or many values of one cell.
        """
        place, number = self.log_parts(values)
        return place + np.nan_to_num(number, neginf=-np.inf)

    def log_parts(self, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Log probability of the point mass, or of none, and log density otherwise.

        The second is NaN at a point mass.
        """
        values = np.asarray(values, dtype=float)
        place = self.column.to_place(values).astype(np.intp)
        number = self.column.scaled(values)
        logs = self.number.log_density(number) + self.column.log_jacobian(number)
        every = np.arange(len(place)) if len(self.rows) > 1 else 0
        with np.errstate(divide="ignore"):
            shares = np.column_stack([np.log(self.elsewhere), log_of(self.at)])
        return shares[every, place], np.where(place > 0, np.nan, logs)

    def quantile(self, share: float) -> np.ndarray:
        """Quantiles: the smallest values with at least this cumulative probability.

        Parameters
        ----------
        share : float
            Between 0 and 1, both excluded.
        """
        found = self.column.from_number(self.number.quantile(share))
        if not self.column.point_masses:
            return found
        # A quantile of a mixture lies between those of its components.
        masses = np.tile(self.column.point_masses, (len(found), 1))
        ends = np.column_stack([found, masses])
        possible = np.column_stack([self.elsewhere, self.at]) > 0.0
        return bisect(
            lambda at: self.cdf(at) >= share,
            np.nextafter(np.where(possible, ends, np.inf).min(axis=1), -np.inf),
            np.where(possible, ends, -np.inf).max(axis=1),
        )


def cell_surprisals(circuit: Circuit, variables: np.ndarray) -> np.ndarray:
    """Surprisal of each cell given all others of its row: -log p(cell | rest).

    Parameters
    ----------
    circuit : Circuit
    variables : ndarray of shape (n_rows, n_variables)
        From ``circuit.table.to_variables``.

    Returns
    -------
    ndarray of shape (n_rows, n_variables)
        In the units of the table, see :func:`surprisals`. Of a cell of a column with
        point masses in two parts: whether it is at one, and its number otherwise;
        :func:`per_cell` adds them.
    """
    found, table = surprisals(circuit, variables), circuit.table
    for j, (own, unseen) in enumerate(zip(table.numbers, table.unseen)):
        if own is not None:
            found[:, j] -= own.log_jacobian(variables[:, j])
        elif unseen:
            found[variables[:, j] == UNSEEN, j] = 0.0
            found[:, j] -= log_seen(variables[:, j], unseen)
    if table.place_of:
        density = circuit.log_density(variables)
    for j, place in table.place_of.items():
        rest = variables.copy()
        rest[:, [j, place]] = np.nan
        with np.errstate(invalid="ignore"):  # both impossible
            surprisal = circuit.log_density(rest) - density
        surprisal -= np.nan_to_num(found[:, j])
        found[:, place] = np.where(np.isnan(variables[:, place]), np.nan, surprisal)
    return found


def per_cell(circuit: Circuit, parts: np.ndarray) -> np.ndarray:
    """Sum of the parts of each cell, in the place of its number; NaN in the other."""
    found = parts.copy()
    for j, place in circuit.table.place_of.items():
        found[:, j] = parts[:, place] + np.nan_to_num(parts[:, j])
        found[:, place] = np.nan
    return found


def cell_conditionals(
    circuit: Circuit, variables: np.ndarray
) -> dict[int, LevelShares | CellShares]:
    """Conditional distribution of every missing cell, given the others of its row.

    Parameters
    ----------
    circuit : Circuit
    variables : ndarray of shape (n_rows, n_variables)
        From ``circuit.table.to_variables``.

    Returns
    -------
    dict of int to LevelShares or CellShares
        By column of the table, for those in which a cell is missing.
    """
    found = conditionals(circuit, variables)
    answers: dict[int, LevelShares | CellShares] = {}
    for j, own in found.items():
        column = circuit.table.numbers[j] if j < len(circuit.table.numbers) else None
        place = circuit.table.place_of.get(j)
        if isinstance(own, LevelShares):
            if j not in circuit.table.place_of.values():
                answers[j] = own
        elif place is None:
            nowhere = np.empty((len(own.rows), 0))
            answers[j] = CellShares(own, column or NumericColumn(), nowhere)
        elif place in found:
            assert column is not None
            masses = found[place]
            assert isinstance(masses, LevelShares)
            rest = variables[masses.rows]
            rest[:, place] = 0.0
            number = conditionals(circuit, rest, (j,))[j]
            assert isinstance(number, ValueShares)
            number = replace(number, rows=masses.rows)
            answers[j] = CellShares(number, column, masses.probabilities[:, 1:])
    return answers


def marginal_log_density(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """Marginal log density of every cell of rows, in parts as `cell_surprisals`."""
    found, cells = np.full(values.shape, np.nan), cells_of(circuit, values)
    nothing = np.full((1, values.shape[1]), np.nan)
    for j, own in cell_conditionals(circuit, nothing).items():
        rows, place = ~np.isnan(cells[:, j]), circuit.table.place_of.get(j)
        if isinstance(own, CellShares) and place is not None:
            found[rows, place], found[rows, j] = own.log_parts(cells[rows, j])
        else:
            found[rows, j] = own.log_density(cells[rows, j])
    for j, unseen in enumerate(circuit.table.unseen):
        if unseen:
            found[cells[:, j] == UNSEEN, j] = 0.0
            found[:, j] += log_seen(cells[:, j], unseen)
    return found


def cells_of(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    """Cells of the table in the place of their variables, from these."""
    rows = circuit.table.to_rows(values)
    return np.column_stack([rows, values[:, rows.shape[1] :]])
