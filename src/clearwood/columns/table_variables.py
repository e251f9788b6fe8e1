"""Columns of a table as variables of a model: point masses, logarithms, rounding.

A numeric column of income, of which 60 % are 0 and the rest is skewed, has no normal
distribution in any cluster. It becomes two variables: a discrete one, which of its
point masses a cell is at, if any, and the logarithm of all other cells, which is
missing at a point mass. Densities in the column's own units include the Jacobian, and
what the model draws is converted back to cells that the table could contain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq

from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import value_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.columns.validation import check_table
from clearwood.columns.variables import row_of
from clearwood.exceptions import InputError

MIN_SHARE, MIN_CELLS = 0.02, 10
"""Minimum share and number of the cells at a point mass."""

MANY, NEAR = 5.0, 5
"""Minimum ratio of this number to those at so many distinct values on either side,
their median and the mean of those below the minimum: rounded numbers are repeated."""

MIN_VALUES, SKEWED = 10, 0.5
"""Minimum number of distinct values, and skewness, from which logarithms are taken."""

PLACES = range(-6, 7)
"""Decimal places to which cells may be rounded."""

OTHERWISE = "otherwise"


class LogScale(NamedTuple):
    """Logarithmic scale of skewed cells: ``log(1 + (x - start) / unit)``.

    Below ``start``, the smallest cell, it is linear, ``(x - start) / unit``.

    Attributes
    ----------
    start, unit : float
    """

    start: float
    unit: float

    @classmethod
    def from_cells(cls, cells: np.ndarray) -> LogScale | None:
        """The scale on which cells have no skewness; None if they have little.

        It does not depend on the unit and the origin of the cells.
        """
        if len(np.unique(cells)) < MIN_VALUES or _skewness(cells) <= SKEWED:
            return None
        start, spread = float(cells.min()), float(np.ptp(cells))
        far = (cells - start) / spread

        def skewness(log_unit: float) -> float:
            return _skewness(np.log1p(far / np.exp(log_unit)))

        low, high = UNITS
        if skewness(low) >= 0.0 or skewness(high) <= 0.0:
            return None
        return cls(start, spread * float(np.exp(brentq(skewness, low, high))))


class NumericColumn(NamedTuple):
    """Model of the cells of a numeric column.

    Attributes
    ----------
    point_masses : tuple of float
        Values that many cells share, ascending.
    scale : LogScale or None
        Of the other cells; None: the model is of these themselves.
    places : int or None
        Decimal places to which all cells are rounded, if they are.
    range : tuple of float, or None
        Of the cells.
    """

    point_masses: tuple[float, ...] = ()
    scale: LogScale | None = None
    places: int | None = None
    range: tuple[float, float] | None = None

    @classmethod
    def from_cells(cls, cells: np.ndarray, is_time: bool = False) -> NumericColumn:
        """Choose the model of a column by its cells, which may be missing.

        Examples
        --------
        >>> income = np.append(np.zeros(60), np.exp(np.linspace(1, 5, 40)))
        >>> found = NumericColumn.from_cells(income)
        >>> found.point_masses, found.scale is not None
        ((0.0,), True)
        """
        values, is_mass, counts = _point_masses(cells)
        if not len(values):
            return cls()
        rest = np.repeat(values[~is_mass], counts[~is_mass])
        exact = (k for k in PLACES if np.array_equal(np.round(values, k), values))
        return cls(
            tuple(values[is_mass].tolist()),
            None if is_time else LogScale.from_cells(rest),
            next(exact, None),
            (float(values[0]), float(values[-1])),
        )

    def scaled(self, cells: np.ndarray) -> np.ndarray:
        """Cells on the scale of the continuous variable."""
        if self.scale is None:
            return cells
        far = (cells - self.scale.start) / self.scale.unit
        return np.where(far < 0.0, far, np.log1p(np.maximum(far, 0.0)))

    def to_number(self, cells: np.ndarray) -> np.ndarray:
        """The continuous variable: NaN at point masses."""
        return self.scaled(np.where(np.isin(cells, self.point_masses), np.nan, cells))

    def log_jacobian(self, number: np.ndarray) -> np.ndarray:
        """Log density of cells less that of the continuous variable."""
        if self.scale is None:
            return np.zeros_like(number)
        log_slope: np.ndarray = -np.maximum(number, 0.0) - np.log(self.scale.unit)
        return log_slope

    def to_place(self, cells: np.ndarray) -> np.ndarray:
        """The discrete variable: 0 off the point masses, else 1 and more."""
        at = np.searchsorted(self.point_masses, cells)
        is_at = np.isin(cells, self.point_masses)
        return np.where(np.isnan(cells), np.nan, np.where(is_at, at + 1.0, 0.0))

    def from_number(self, number: np.ndarray) -> np.ndarray:
        """Convert the continuous variable back to the units of the column."""
        if self.scale is None:
            return number
        far = np.expm1(np.minimum(np.maximum(number, 0.0), LARGEST))
        far = np.where(number < 0.0, number, far)
        return self.scale.start + self.scale.unit * far

    def to_cells(self, number: np.ndarray, place: np.ndarray | None) -> np.ndarray:
        """Cells from both variables; the second is None without point masses."""
        cells = self.from_number(number)
        if place is None:
            return cells
        masses = np.array([np.nan, *self.point_masses])
        at = masses[np.nan_to_num(place).astype(np.intp)]
        return np.where(place > 0.0, at, cells)

    def beyond(self, cells: np.ndarray) -> np.ndarray:
        """Distance of cells from the range of the training cells, negative inside."""
        if self.range is None:
            return np.full(np.shape(cells), -np.inf)
        return np.maximum(self.range[0] - cells, cells - self.range[1])

    def rounded(self, cells: np.ndarray) -> np.ndarray:
        """Cells rounded as those of the table, and in their range."""
        if self.range is not None:
            cells = np.clip(cells, *self.range)
        return cells if self.places is None else np.round(cells, self.places)

    def moments(self, mean: Any, variance: Any) -> tuple[Any, Any]:
        """Means and variances of cells whose continuous variable is normal."""
        if self.scale is None:
            return mean, variance
        middle = self.scale.unit * np.exp(np.minimum(mean + 0.5 * variance, LARGEST))
        spread = middle**2 * np.expm1(np.minimum(variance, LARGEST))
        centre = self.scale.start - self.scale.unit + middle
        if self.range is None:
            return centre, spread
        # A mean of exponentials would extrapolate without bound. The variance in a
        # range is at most a quarter of its square (Popoviciu, 1935).
        low, high = self.range
        return np.clip(centre, low, high), np.minimum(spread, 0.25 * (high - low) ** 2)


def log_seen(cells: np.ndarray, unseen: float) -> np.ndarray:
    """Log probability that cells have a level that is known, or a new one, as they do.

    0 where a cell is missing.
    """
    known = np.where(np.isnan(cells), 0.0, np.log1p(-unseen))
    return np.where(cells == UNSEEN, np.log(unseen), known)


def _unseen(cells: np.ndarray) -> float:
    """Probability of a new level: the share of levels that occur once (Good, 1953).

    As if there were half such a level more.
    """
    present = cells[~np.isnan(cells)].astype(np.intp)
    once = np.count_nonzero(np.bincount(present) == 1)
    # Without any level, cells of other tables count as missing.
    return (once + 0.5) / (len(present) + 1.0) if len(present) else 0.0


def point_masses_of(cells: np.ndarray) -> tuple[float, ...]:
    """Values that many of the cells of a numeric column share, ascending.

    Examples
    --------
    >>> point_masses_of(np.append(np.zeros(60), np.linspace(1, 5, 40)))
    (0.0,)
    """
    values, is_mass, _ = _point_masses(cells)
    return tuple(values[is_mass].tolist())


def _point_masses(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distinct values of a column, whether they are point masses, and their counts."""
    values, counts = np.unique(cells[~np.isnan(cells)], return_counts=True)
    return values, _are_masses(counts), counts


def _are_masses(counts: np.ndarray) -> np.ndarray:
    """Which distinct values, in their order, are point masses, by numbers of cells."""
    is_frequent = counts >= max(MIN_SHARE * counts.sum(), MIN_CELLS)
    is_mass = np.zeros(len(counts), dtype=bool)
    for i in np.flatnonzero(is_frequent).tolist():
        near = slice(max(i - NEAR, 0), i + NEAR + 1)
        others = np.delete(counts[near], i - near.start)
        rare = counts[near][~is_frequent[near]]
        if len(others):
            usual = max(np.median(others), rare.mean() if len(rare) else 0.0)
            is_mass[i] = counts[i] >= MANY * usual
    return is_mass


UNITS = (-14.0, 10.0)
"""Range of the logarithm of the unit, relative to the range of the cells."""

LARGEST = 300.0
"""Logarithm whose exponential, and its square, are in the range of float64."""


def _skewness(values: np.ndarray) -> float:
    gap = values - values.mean()
    spread = gap.std()
    return float(((gap / spread) ** 3).mean()) if spread > 0.0 else 0.0


@dataclass(frozen=True)
class TableVariables:
    """Variables of the columns of a table.

    First all columns, in their order, then the point masses of those that have some.

    Attributes
    ----------
    columns : FeatureSpace
        Of the table.
    numbers : tuple of NumericColumn or None
        Models of numeric columns, None for discrete ones.
    unseen : tuple of float
        Probability that a cell of a discrete column has none of its levels; 0 for
        numeric columns, or if such a cell counts as missing.
    """

    columns: FeatureSpace
    numbers: tuple[NumericColumn | None, ...]
    unseen: tuple[float, ...]

    @classmethod
    def plain(cls, columns: FeatureSpace) -> TableVariables:
        """Every column is one variable, as it is."""
        kinds = columns.categories
        return cls(
            columns,
            tuple(NumericColumn() if own is None else None for own in kinds),
            (0.0,) * columns.n_features,
        )

    @classmethod
    def from_values(cls, values: np.ndarray, columns: FeatureSpace) -> TableVariables:
        """Choose the models of columns by encoded rows."""
        both = list(zip(columns.categories, columns.info, values.T))
        return cls(
            columns,
            tuple(
                NumericColumn.from_cells(cells, info.is_time) if own is None else None
                for own, info, cells in both
            ),
            tuple(0.0 if own is None else _unseen(cells) for own, _, cells in both),
        )

    @cached_property
    def place_of(self) -> dict[int, int]:
        """Variable of the point masses of a column, by column."""
        own = [
            j for j, one in enumerate(self.numbers)
            if one is not None and one.point_masses
        ]  # fmt: skip
        return {j: self.columns.n_features + i for i, j in enumerate(own)}

    @cached_property
    def variables(self) -> FeatureSpace:
        """Names and levels of the variables.

        Examples
        --------
        >>> columns = FeatureSpace(("income",), (None,))
        >>> income = NumericColumn(point_masses=(0.0,))
        >>> both = TableVariables(columns, (income,), (0.0,)).variables
        >>> both.shown(0), both.shown(1), both.categories[1]
        ('income if not 0', 'income', ('otherwise', '0'))
        """
        found, info = self.columns, list(self.columns.info)
        for j in self.place_of:
            own, shown = self.numbers[j], self.columns.shown(j)
            assert own is not None  # as it has point masses
            masses = tuple(value_text(x, info[j].kind) for x in own.point_masses)
            rest = f"if not {masses[0]}" if len(masses) == 1 else OTHERWISE
            info[j] = replace(info[j], name=f"{shown} {rest}")
            name = f"{self.columns.names[j]}, point mass"
            found = with_labels(found, name, (OTHERWISE, *masses), shown)
        return replace(found, info=(*info, *found.info[len(info) :]))

    @property
    def n_variables(self) -> int:
        """Number of variables of all columns."""
        return self.columns.n_features + len(self.place_of)

    def column_of(self, variable: int) -> int:
        """Column of the table of which this is a variable."""
        columns = {place: j for j, place in self.place_of.items()}
        return columns.get(variable, variable)

    def scales(self, variables: Sequence[int]) -> tuple[NumericColumn | None, ...]:
        """Of some variables, the scale of those that are continuous."""
        numbers = dict(enumerate(self.numbers))
        own = (numbers.get(j) for j in variables)
        return tuple(one and one._replace(point_masses=()) for one in own)

    def to_variables(self, values: np.ndarray) -> np.ndarray:
        """Values of the variables in encoded rows of the table."""
        numbers = [
            cells if own is None else own.to_number(cells)
            for own, cells in zip(self.numbers, values.T)
        ]
        places = [self.numbers[j].to_place(values[:, j]) for j in self.place_of]  # type: ignore[union-attr]
        return np.column_stack([*numbers, *places])

    def to_rows(self, variables: np.ndarray) -> np.ndarray:
        """Encoded rows of the table from values of the variables; the inverse."""
        rows = variables[:, : len(self.numbers)].copy()
        for j, own in enumerate(self.numbers):
            if own is not None:
                place = self.place_of.get(j)
                at = None if place is None else variables[:, place]
                rows[:, j] = own.to_cells(rows[:, j], at)
        return rows

    def completed(self, rows: np.ndarray, variables: np.ndarray) -> np.ndarray:
        """Fill the missing cells of encoded rows by cells that the table could contain.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns) or (n_columns,)
        variables : ndarray of shape (n_rows, n_variables)
            Without missing values.
        """
        found = self.to_rows(variables)
        for j, own in enumerate(self.numbers):
            if own is not None:
                found[:, j] = own.rounded(found[:, j])
        return np.where(np.isnan(rows), found, rows)

    def is_outside(self, rows: np.ndarray, variables: np.ndarray) -> np.ndarray:
        """Whether a missing cell of encoded rows is drawn outside of its range.

        Parameters
        ----------
        rows : ndarray of shape (n_rows, n_columns) or (n_columns,)
        variables : ndarray of shape (n_rows, n_variables)
        """
        cells, found = self.to_rows(variables), np.zeros(len(variables), dtype=bool)
        cells = np.where(np.isnan(rows), cells, np.nan)
        for own, column in zip(self.numbers, cells.T):
            if own is not None:
                found |= own.beyond(column) > 0.0
        return found

    def without_masked(self, variables: np.ndarray) -> np.ndarray:
        """Rows in which the number of a cell at a point mass is missing."""
        found = variables.copy()
        for j, place in self.place_of.items():
            found[variables[:, place] > 0.0, j] = np.nan
        return found

    def log_unseen(self, variables: np.ndarray) -> np.ndarray:
        """Log probability that the cells of rows have one of their levels, or none."""
        found = np.zeros(len(variables))
        for cells, unseen in zip(variables.T, self.unseen):
            if unseen:
                found += log_seen(cells, unseen)
        return found

    def log_jacobian(self, variables: np.ndarray) -> np.ndarray:
        """Log density of rows in the table's units less that of the variables."""
        jacobians = (
            np.nan_to_num(own.log_jacobian(variables[:, j]))
            for j, own in enumerate(self.numbers)
            if own is not None and own.scale is not None
        )
        return sum(jacobians, np.zeros(len(variables)))


def with_labels(
    features: FeatureSpace, name: str, labels: tuple[Any, ...], shown: str = ""
) -> FeatureSpace:
    """Append a column of labels; its name gets underscores where it is taken."""
    while name in features.names:
        name += "_"
    return with_others(
        features, FeatureSpace((name,), (labels,), info=(ColumnInfo(shown),))
    )


def with_others(features: FeatureSpace, others: FeatureSpace) -> FeatureSpace:
    """Append the columns of another table."""
    parts = ("names", "categories", "lookup", "missing_at", "info")
    both = {part: getattr(features, part) + getattr(others, part) for part in parts}
    return replace(features, **both)


def encoded(estimator: Any, X: Any, table: TableVariables) -> np.ndarray:
    """Variables of the rows of a table; infinite numbers raise an error."""
    return table.to_variables(encoded_cells(estimator, X, table.columns))


def encoded_cells(estimator: Any, X: Any, columns: FeatureSpace) -> np.ndarray:
    """Encoded rows of a table, or known cells of one; no infinite numbers."""
    if isinstance(X, Mapping):
        return row_of(columns, X, "X")[None]
    values = columns.encode(check_table(estimator, X, reset=False))
    row, column = np.nonzero(np.isinf(values))
    if len(row):
        raise InputError(
            f"Column {columns.names[column[0]]!r} holds infinity in row {row[0]}; "
            "correct the cell, or leave it empty."
        )
    return values
