"""Types and levels of the columns of a table, as variables of a joint distribution."""

from __future__ import annotations

from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood.columns.cells import UNSEEN, checked, is_missing, shown
from clearwood.columns.dates import DATES, UTC, as_times, date_number
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.info import ColumnInfo
from clearwood.columns.schema import features_of
from clearwood.exceptions import InputError

FEW_VALUES = 5
"""Numeric columns with at most so many distinct values have a level per value: they may
be codes, relevant only in an interaction, which MDLP cannot see."""

MANY_LEVELS = 20
"""A column of more levels, which are more than half of its cells, is an identifier."""

MOST_LEVELS = 1000
"""Maximum for a discrete column: all pairs of levels of two columns are counted."""

NOTHING = (None,)
"""The level of a column without any value, which no cell has."""


def read_variables(X: Any, discrete: Collection[str | int] = ()) -> FeatureSpace:
    """Determine which columns of a table are discrete, and their levels.

    Strings, Booleans and declared categories are discrete, as are numbers of at most
    five values, if any of these is repeated: 0 and 1, or grades. Other numbers are
    continuous. A column of one value has that level and no information. Nor has one
    without any value, whose cells count as missing in other tables, too.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_columns)
    discrete : collection of str and int
        Names or positions of numeric columns that are codes, of any number of levels.

    Returns
    -------
    FeatureSpace

    Raises
    ------
    InputError
        Infinite numbers; a discrete column whose levels identify rows; an unknown
        column in ``discrete``.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"grade": [1, 2, 2, 1], "size": [1.5, 2.0, None, 0.7]})
    >>> read_variables(table).categories
    ((1, 2), None)
    """
    features = features_of(X)
    declared = positions_of(discrete, features.names, "discrete")
    encoded = features.encode(X)
    all_true = isinstance(X, np.ndarray) and X.dtype.kind == "b"
    categories = []
    for j, name in enumerate(features.names):
        levels, is_time = features.categories[j], features.info[j].is_time
        if is_time and j in declared:
            raise InputError(
                f"discrete names {name!r}, which holds dates or durations; remove it "
                "from discrete, or convert the column to text (in pandas: astype(str))."
            )
        if levels is None and not is_time:
            levels = _levels(encoded[:, j], name, j in declared)
            if levels and (all_true or features.info[j].kind == "boolean"):
                levels = tuple(map(bool, levels))
        if levels is not None:
            _check_repeats(levels, encoded[:, j], name)
        categories.append(NOTHING if levels == () else levels)
    kinds = zip(features.info, categories)
    info = (one if own is None else replace(one, kind="number") for one, own in kinds)
    return replace(features, categories=tuple(categories), info=tuple(info))


def positions_of(
    columns: Collection[str | int] | str | int, names: Sequence[str], parameter: str
) -> set[int]:
    """Positions of columns that a parameter gives by name or by position.

    A single one need not be in a list.

    Examples
    --------
    >>> sorted(positions_of(["hue", 0], ["age", "size", "hue"], "discrete"))
    [0, 2]
    """
    columns = [columns] if isinstance(columns, str | int) else columns
    places: dict[str | int, int] = {name: j for j, name in enumerate(names)}
    places |= {j: j for j in range(len(names))}
    unknown = [column for column in columns if column not in places]
    if unknown:
        raise InputError(
            f"{parameter} names column(s) {unknown}, which are not in the table; its "
            f"columns are {list(names)}, counted from 0."
        )
    return {places[column] for column in columns}


def row_of(
    features: FeatureSpace, given: Mapping[Any, Any], parameter: str = "given"
) -> np.ndarray:
    """Encode a row in which only some columns are known, by name or by position."""
    if not isinstance(given, Mapping):
        raise InputError(
            f"{parameter} is {shown(given)}; expected a dict of columns and their "
            'values, such as {"age": 60}.'
        )
    row = np.full(features.n_features, np.nan)
    for column, value in given.items():
        (j,) = positions_of([column], features.names, parameter)
        labels, is_date = features.categories[j], features.info[j].kind in DATES
        if labels is None and is_date and isinstance(value, str):
            row[j] = date_number(value)
            if np.isnan(row[j]):
                raise InputError(
                    f"{parameter} sets {column!r} to {value!r}; expected a date such "
                    "as '2019-04-01', or '2019-04-01 14:00'."
                )
            continue
        cell = np.empty(1, dtype=object)
        cell[0] = value
        row[j] = features.encode_column(checked(cell, features.names[j]), j)[0]
        if labels is not None and row[j] == UNSEEN:
            raise InputError(
                f"{parameter} sets {column!r} to {shown(value)}, which did not occur "
                f"in fit; its levels are {list(labels)}."
            )
    return row


def _levels(
    column: np.ndarray, name: str, declared: bool
) -> tuple[Hashable, ...] | None:
    """The levels of a column of numbers; None where it is continuous."""
    present = column[~np.isnan(column)]
    if np.isinf(present).any():
        row = int(np.isinf(column).argmax())
        raise InputError(
            f"Column {name!r} holds infinity in row {row}; correct the cell, or leave "
            "it empty."
        )
    values = np.unique(present)
    few = len(values) <= min(FEW_VALUES, max(len(present) - 1, 1))
    if not few and not declared:
        return None
    if (values == np.trunc(values)).all():
        return tuple(map(int, values))
    return tuple(values.tolist())


def _check_repeats(levels: tuple[Hashable, ...], column: np.ndarray, name: str) -> None:
    """Raise an error for strings and codes that differ from row to row."""
    n_present = np.count_nonzero(~np.isnan(column))
    if len(levels) > min(max(MANY_LEVELS, n_present / 2), MOST_LEVELS):
        raise InputError(
            f"Column {name!r} is discrete and holds {len(levels)} different values in "
            f"{n_present} cells: a name, a date or free text. Leave the column out, "
            "convert dates to numbers (days since a date), or group values."
        )


def library_of(X: Any) -> Any:
    """Library of a frame, "pandas" or "polars"; pandas if it is no frame."""
    if not is_frame(X):
        return "pandas"
    import narwhals as nw

    return nw.from_native(X, eager_only=True).implementation.value


def table_of(
    values: np.ndarray, features: FeatureSpace, library: Any = "pandas"
) -> Any:
    """Decode rows into a table: a frame if columns have names, else an array.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        Cells of unknown levels count as missing.
    features : FeatureSpace
    library : str, default="pandas"
        Library of the frame.

    Examples
    --------
    >>> features = FeatureSpace(("hue", "size"), (("blue", "red"), None))
    >>> table_of(np.array([[1.0, 2.5], [np.nan, 3.0]]), features)
       hue  size
    0  red   2.5
    1  NaN   3.0
    """
    parts = zip(values.T, features.categories, features.info)
    columns = [_cells(*part) for part in parts]
    if not features.named:
        return np.column_stack(columns)
    import narwhals as nw

    table: dict[str, Any] = dict(zip(features.names, columns))
    if library != "pandas":  # NaN stands for missing cells in pandas alone
        table = {
            name: [None if is_missing(cell) else cell for cell in column.tolist()]
            for name, column in table.items()
        }
    frame = nw.from_dict(table, backend=library)
    zoned = [n for n, info in zip(features.names, features.info) if info.is_zoned]
    in_utc = (nw.col(name).dt.replace_time_zone(UTC) for name in zoned)
    return frame.with_columns(*in_utc).to_native()


def _cells(
    column: np.ndarray, levels: tuple[Hashable, ...] | None, info: ColumnInfo
) -> np.ndarray:
    """Decoded values of a column; numbers and Booleans as such."""
    if info.is_time:
        return as_times(column, info.kind not in DATES)
    if levels is None:
        return column
    labels = np.array([*levels, np.nan], dtype=object)
    cells = labels[np.where(column >= 0, column, -1).astype(np.intp)]
    numbers = all(isinstance(level, int | float) for level in levels)
    return np.array(cells.tolist()) if numbers else cells
