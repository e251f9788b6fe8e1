"""Inference of the schema of a table: numeric and categorical columns."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Collection, Hashable
from decimal import Decimal
from itertools import pairwise
from numbers import Integral, Real
from typing import Any

import numpy as np

from clearwood._words.numbers import written_numbers
from clearwood.columns.cells import EXACT, days, is_missing, shown
from clearwood.columns.dates import UTC
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.frames import FrameColumn, frame_of
from clearwood.columns.info import ColumnInfo, info_with
from clearwood.columns.sparse_tables import is_sparse
from clearwood.exceptions import InputError

DATES = (datetime.date, np.datetime64)
DURATIONS = (datetime.timedelta, np.timedelta64)
TIMES = (*DATES, *DURATIONS, datetime.time)
MOST_TEXTS = 255
"""Number of distinct texts up to which a column is always accepted as categorical."""

NUMBERS = (Real, Decimal, np.bool_)


def features_of(
    X: Any, counted: np.ndarray | None = None, *, learned: bool = False
) -> FeatureSpace:
    """Infer the names of a table's columns and the categories of categorical ones.

    A column is categorical if its dtype is (in pandas or polars, whatever the
    categories, integers too), or if its cells are texts.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
    counted : ndarray of bool of shape (n_rows,), optional
        Rows whose categories are collected; all by default.
    learned : bool
        Whether a fitted model uses the columns as they are, so that texts that look
        like numbers are categories.

    Returns
    -------
    FeatureSpace

    Raises
    ------
    InputError
        A column holds times of day, or both texts and numbers, or free text, or numbers
        written as text: as categories, every new value would be unknown. Or it holds
        different integers that would become the same float64.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "hue": ["red", None]})
    >>> features_of(frame).categories
    (None, ('red',))
    >>> times = pd.DataFrame({"start": pd.to_datetime(["2019-04-01"])})
    >>> features_of(times).info[0].kind
    'date'
    """
    if is_sparse(X):
        return FeatureSpace.numeric(X.shape[1], X.columns if is_frame(X) else None)
    if not is_frame(X):
        space = FeatureSpace.numeric(np.shape(X)[1])
        if isinstance(X, np.ndarray):
            for column, name in zip(X.T, space.names):
                refuse_same_numbers(column, name)
        return space
    counted = np.ones(X.shape[0], dtype=bool) if counted is None else counted
    frame = frame_of(X)
    names = tuple(frame.names)
    categories, info = [], []
    for name, column in zip(names, frame):
        cells = column.cells
        first = _first_of_each_type(cells)
        found = _time_info(column, first, name)
        info.append(found)
        by_label = column.is_declared
        if not by_label and cells.dtype == object and not found.is_time:
            by_label = _are_texts(cells, first, name)
            if by_label:
                _refuse_free_text(cells, name, learned)
        if not by_label:
            refuse_same_numbers(cells, name)
        categories.append(_labels(cells, counted) if by_label else None)
    space = FeatureSpace(names, tuple(categories), info=tuple(info))
    return space.with_info(info_with(X))


def _first_of_each_type(cells: np.ndarray) -> dict[type, int]:
    """The first row of each Python type in a column of objects."""
    first: dict[type, int] = {}
    if cells.dtype == object:
        for row, cell in enumerate(cells):
            if type(cell) not in first and not is_missing(cell):
                first[type(cell)] = row
    return first


def _time_info(column: FrameColumn, first: dict[type, int], name: str) -> ColumnInfo:
    """Column metadata of booleans and times: the kind, and whether with a time zone."""
    cells = column.cells
    is_span = cells.dtype.kind == "m" or _all_of(first, DURATIONS)
    if is_span:
        return ColumnInfo(kind="duration")
    if column.is_flag:
        return ColumnInfo(kind="boolean")
    if cells.dtype.kind != "M" and not _all_of(first, DATES):
        return ColumnInfo()
    zones = (getattr(cells[row], "tzinfo", None) for row in first.values())
    is_zoned = bool(getattr(column.dtype, "time_zone", None) or any(zones))
    at = days(cells, name, "datetime", is_zoned)
    whole = bool((at[~np.isnan(at)] % 1 == 0).all())
    unit = UTC if is_zoned else ""
    return ColumnInfo(unit=unit, kind="date" if whole else "datetime")


def _all_of(first: dict[type, int], kinds: tuple[type, ...]) -> bool:
    return bool(first) and all(issubclass(kind, kinds) for kind in first)


def _are_texts(cells: np.ndarray, first: dict[type, int], name: str) -> bool:
    """Whether objects are texts, or else numbers; others raise an error."""
    for kind, row in first.items():
        if issubclass(kind, TIMES):
            raise InputError(
                f"Column {name!r} holds times of the day, or dates among other cells "
                f"({shown(cells[row])} in row {row}), which are read neither as "
                "numbers nor as labels; make dates of the whole column, numbers (the "
                "hour), or leave it out.",
                row=row,
            )
    numbers = {kind for kind in first if issubclass(kind, NUMBERS)}
    others = [row for kind, row in first.items() if kind not in numbers]
    texts = [row for row in others if isinstance(cells[row], str)]
    if others and (numbers or len(texts) < len(others)):
        raise InputError(
            f"Column {name!r} holds numbers and other cells, or neither numbers nor "
            f"texts: {shown(cells[others[0]])} in row {others[0]}. Correct the cell, "
            "or leave it empty; or declare the column to be one of categories (in "
            "pandas: astype('category')).",
            row=others[0],
        )
    return not numbers


def refuse_same_numbers(cells: np.ndarray, name: str) -> None:
    """Raise an error for different integers that are equal as float64."""
    if cells.dtype.kind in "iu":
        large = cells[np.abs(cells.astype(np.float64)) >= EXACT].tolist()
    elif cells.dtype == object:
        large = [
            cell
            for cell in cells.tolist()
            if isinstance(cell, Integral | Decimal)
            and not is_missing(cell)
            and abs(float(cell)) >= EXACT
        ]
    else:
        return
    different = sorted(set(large))
    for one, other in pairwise(different):
        if float(one) == float(other):
            raise InputError(
                f"Column {name!r} holds whole numbers beyond 2**53 that differ in "
                f"their last digits alone, such as {one} and {other}: as numbers they "
                "are one. Declare the column to be one of categories (in pandas by "
                "astype('category'), on the command line by --categories), or leave it "
                "out."
            )


def _refuse_free_text(cells: np.ndarray, name: str, learned: bool) -> None:
    """Raise an error for texts mostly unique to a row, and for numbers as text."""
    count = Counter(cells.tolist()).items()
    known = {text: n_rows for text, n_rows in count if not is_missing(text)}
    different, n_cells = len(known), sum(known.values())
    number = None if learned else written_numbers(known)
    if number is not None:
        raise InputError(
            f"Column {name!r} holds numbers that are written as text, such as "
            f"{shown(number)}: {different:,} different ones in {n_cells:,} rows, which "
            "as categories have no order. Convert them to numbers (in pandas: "
            "str.rstrip('%'), then to_numeric); or, if these are names, declare the "
            "column to be one of categories (in pandas: astype('category'))."
        )
    if different > max(MOST_TEXTS, n_cells / 2):
        raise InputError(
            f"Column {name!r} holds {different:,} different texts in {n_cells:,} rows, "
            f"such as {shown(next(iter(known)))}: free text, names or dates, which "
            "rules cannot use. Drop the column; convert it to numbers or dates (in "
            "pandas: to_datetime); or group its values. If these are categories, "
            "declare them (in pandas: astype('category'))."
        )


def _labels(cells: np.ndarray, counted: np.ndarray) -> tuple[Hashable, ...]:
    found = set(cells[counted].tolist())
    return in_order({cell for cell in found if not is_missing(cell)})


def in_order(labels: Collection[Hashable]) -> tuple[Hashable, ...]:
    """Distinct labels, sorted by their text."""
    return tuple(sorted(labels, key=lambda label: (str(label), str(type(label)))))
