"""Cells of a column, and their encoding as numbers.

All packages read cells by these functions. **Which cells belong to one category?**
Those equal to its label in Python: 1, 1.0 and True are one category, the text "1" is
another. Integers are compared exactly, however large; for models that store categories
as floats, cells are first rounded to floats, too. CatBoost identifies categories by
their text (``lookup="hash"``): for it 1, 1.0, True and "1" are the same.
"""

from __future__ import annotations

import datetime
import sys
from collections.abc import Hashable, Iterable, Sized
from numbers import Integral, Number
from typing import Any, NoReturn

import numpy as np

from clearwood.columns.cityhash import category_hash
from clearwood.columns.dates import day_numbers
from clearwood.exceptions import InputError

UNSEEN = -1.0
"""Code of a category that is unknown to the model."""

EXACT = 2.0**53
"""Integers from here on may share a float64 with a neighbour."""

PLAIN = {str, float, bool, type(None)}
"""Types of cells that are valid whatever the value."""

# Raw cells


def is_missing(value: Any) -> bool:
    """Whether a cell is missing: None, NaN, NaT, pandas' NA or masked."""
    if value is None or value is np.ma.masked:
        return True
    # NaN, NaT and pandas' NA are the values that do not equal themselves.
    try:
        return bool(value != value)
    except (TypeError, ValueError, ArithmeticError):
        return type(value).__name__ == "NAType"


def unwrapped(values: Any) -> Any:
    """The values; of a masked array with NaN or None where it is masked.

    A torch tensor of any device and precision becomes an array.

    Examples
    --------
    >>> unwrapped(np.ma.array([1.5, 2.5], mask=[True, False]))
    array([nan, 2.5])
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(values, torch.Tensor):
        values = values.detach().cpu()
        # NumPy has no bfloat16, and computes in half precision.
        is_half = values.is_floating_point() and values.itemsize == 2
        return (values.float() if is_half else values).numpy()
    if not isinstance(values, np.ma.MaskedArray):
        return values
    if not np.ma.is_masked(values):
        return values.data
    is_float = values.dtype.kind == "f"
    cells = np.array(values.data, dtype=values.dtype if is_float else object)
    cells[np.ma.getmaskarray(values)] = np.nan if is_float else None
    return cells


def are_numbers(values: Any) -> bool:
    """Whether a table is an array of numbers."""
    is_array = isinstance(values, np.ndarray) and values.ndim == 2
    return is_array and values.dtype.kind in "fiub"


def are_flags(cells: Iterable[Any]) -> bool:
    """Whether all non-missing cells are booleans, and there are any."""
    kinds = {type(cell) for cell in cells if not is_missing(cell)}
    return bool(kinds) and kinds <= {bool, np.bool_}


def checked(column: np.ndarray, name: str) -> np.ndarray:
    """Validate that cells are scalars, numbers in the range of float64; return them."""
    cells = column.tolist()
    kinds = set(map(type, cells)) - PLAIN
    many = {kind for kind in kinds if not _is_single(kind)}
    exact = {kind for kind in kinds if issubclass(kind, Number)} - many
    for row, cell in enumerate(cells if many or exact else ()):
        if type(cell) in many or (type(cell) in exact and not _is_float(cell)):
            raise InputError(
                f"Column {name!r} holds {shown(cell)} ({type(cell).__name__}) in row "
                f"{row}; a cell must be one text or one number that float64 can hold. "
                "Correct it, leave it empty, or make several columns of it.",
                row=row,
            )
    return column


def _is_single(kind: type) -> bool:
    is_many = issubclass(kind, Sized) and not issubclass(kind, str | bytes)
    return not is_many and kind.__hash__ is not None


def _is_float(cell: Any) -> bool:
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def shown(value: Any) -> str:
    """A cell for messages, truncated.

    Examples
    --------
    >>> shown(np.float64(2.0)), shown("a" * 100)
    ('2.0', "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa ...")
    """
    try:
        text = repr(value.item() if isinstance(value, np.generic) else value)
    except ValueError:  # an integer of more digits than Python converts
        return "a number of thousands of digits"
    text = text.replace("\n", " ")
    return text if len(text) <= 40 else f"{text[:37]} ..."


# Numbers


def numbers(column: np.ndarray, name: str, float32: bool = False) -> np.ndarray:
    """Cells as float64, see :func:`as_float64`; anything else raises an error."""
    if column.dtype.kind in "fiub":
        return as_float64(column, float32)
    if column.dtype.kind in "mM":
        raise InputError(
            f"Feature {name!r} is numeric in the model, but the data holds dates or "
            "durations; pass the numbers that the model was fitted on."
        )
    values = np.empty(len(column))
    for i, value in enumerate(column.tolist()):
        try:
            values[i] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError, OverflowError):
            raise InputError(
                f"Feature {name!r} is numeric in the model, but row {i} holds "
                f"{shown(value)}; make the column numeric or leave the cell empty."
            ) from None
    return values


def as_float64(values: np.ndarray, float32: bool = False) -> np.ndarray:
    """Convert numbers to the nearest float64.

    Parameters
    ----------
    values : ndarray of numbers
    float32 : bool, default=False
        Whether the model casts to float32. Rounded first to float64, an integer beyond
        2**53 may fall halfway between two float32 numbers, and be rounded to the wrong
        one. It then becomes the adjacent float64 on the correct side.

    Examples
    --------
    >>> ids = np.array([2**60 + 2**36 + 1])
    >>> [int(as_float64(ids, float32)[0]) - 2**60 - 2**36 for float32 in (False, True)]
    [0, 256]
    """
    doubles = np.ascontiguousarray(values, dtype=np.float64)
    if float32 and values.dtype.itemsize >= 8 and values.dtype != np.float64:
        with np.errstate(over="ignore"):
            once, twice = values.astype(np.float32), doubles.astype(np.float32)
        wrong = once != twice
        if wrong.any():
            doubles[wrong] = np.nextafter(doubles[wrong], once[wrong])
    return doubles


def single(values: np.ndarray) -> np.ndarray:
    """Round to float32, with infinity on overflow."""
    with np.errstate(over="ignore"):
        return values.astype(np.float32).astype(np.float64)


# Dates

TIMES: dict[str, tuple[tuple[type, ...], str, str]] = {
    "M": ((datetime.date, np.datetime64), "dates", "to_datetime"),
    "m": ((datetime.timedelta, np.timedelta64), "durations", "to_timedelta"),
}
"""By NumPy kind: types of cells, their name, and pandas' function to make them."""


def days(column: np.ndarray, name: str, kind: str, zoned: bool = False) -> np.ndarray:
    """Dates as days since the start of 1970, durations as days; else raise an error.

    Parameters
    ----------
    column : ndarray
        As datetime64 in UTC, if ``zoned``.
    name : str
    kind : {"date", "datetime", "duration"}
        The time of day is dropped for ``date``.
    zoned : bool, default=False
        Whether dates have a time zone: dates with and without one cannot be compared.
    """
    wanted = "m" if kind == "duration" else "M"
    if column.dtype.kind != wanted:
        times = np.full(len(column), "NaT", dtype=f"{wanted}8[us]")
        for row, cell in enumerate(column.tolist()):
            if not is_missing(cell):
                times[row] = _time(cell, wanted, name, row, zoned)
        column = times
    counted = day_numbers(column)
    return np.floor(counted) if kind == "date" else counted


def _time(cell: Any, wanted: str, name: str, row: int, zoned: bool) -> Any:
    """A cell as datetime64 or timedelta64."""
    kinds, words, remedy = TIMES[wanted]
    if not isinstance(cell, kinds):
        raise InputError(
            f"Feature {name!r} holds {words}, but row {row} holds {shown(cell)}; make "
            f"{words} of the column (pandas.{remedy}) or leave the cell empty."
        )
    time: Any = cell
    if wanted == "m":
        return np.timedelta64(time, "us")
    if (getattr(time, "tzinfo", None) is not None) != zoned:
        refuse_zone(name, zoned, f"{time} in row {row} has")
    if zoned:
        time = time.astimezone(datetime.UTC).replace(tzinfo=None)
    return np.datetime64(time, "us")


def refuse_zone(name: str, zoned: bool, found: str) -> NoReturn:
    """Raise an error: times with and without a time zone cannot be compared.

    Parameters
    ----------
    name : str
        Name of the feature.
    zoned : bool
        Whether its times have a time zone.
    found : str
        Subject of the message, with its verb ("has"): what differs from the feature.
    """
    own, other = ("with a", "none") if zoned else ("without a", "one")
    remedy = (
        "Give them the zone that they were written in (in pandas: "
        "dt.tz_localize('Europe/Rome'); in a file: 2019-04-01 12:30+02:00)."
        if zoned
        else "Convert them to the zone of the feature, then drop it (in pandas: "
        "dt.tz_convert('Europe/Rome').dt.tz_localize(None); in a file: 2019-04-01 "
        "12:30)."
    )
    raise InputError(
        f"Feature {name!r} holds times {own} time zone, but {found} {other}: it cannot "
        f"be known which comes first. {remedy}"
    )


# Categories


def category_codes(column: np.ndarray, labels: tuple[Hashable, ...]) -> np.ndarray:
    """Positions of cells among labels, NaN where missing, ``UNSEEN`` where unknown."""
    if column.dtype.kind in "iu" and all(isinstance(x, float) for x in labels):
        column = column.astype(np.float64)
    code = {label: float(i) for i, label in enumerate(labels)}
    if column.dtype.kind in "fiub" and column.dtype.itemsize <= 8:
        known_numbers = [x for x in code if not isinstance(x, str)]
        if all(map(_is_exact, known_numbers)):
            return _codes_of_numbers(column, {x: code[x] for x in known_numbers})
    cells = column.tolist()
    known = {
        cell: np.nan if is_missing(cell) else code.get(cell, UNSEEN)
        for cell in set(cells)
    }
    return np.fromiter(map(known.__getitem__, cells), np.float64, len(cells))


def _is_exact(label: Any) -> bool:
    """Whether a number equals a label if and only if their float64 are equal."""
    return isinstance(label, int | float) and abs(label) < EXACT


def _codes_of_numbers(column: np.ndarray, code: dict[Any, float]) -> np.ndarray:
    """Vectorized codes for numbers and exact labels."""
    # NaN sorts last, and equals nothing.
    labels = np.array([*sorted(code), np.nan])
    code_of = np.array([*(code[label] for label in sorted(code)), UNSEEN])
    cells = column.astype(np.float64)
    position = np.searchsorted(labels[:-1], cells)
    codes = np.where(labels[position] == cells, code_of[position], UNSEEN)
    codes[np.isnan(cells)] = np.nan
    return codes


def hash_codes(column: np.ndarray, labels: tuple[Any, ...]) -> np.ndarray:
    """As :func:`category_codes`, by the hash of the text of a cell."""
    code = {
        category_hash(label) if isinstance(label, str) else label: float(i)
        for i, label in enumerate(labels)
    }
    texts = [cell_text(cell) for cell in column.tolist()]
    known: dict[str | None, float] = {None: np.nan}
    for text in set(texts):
        if text is not None:
            known[text] = code.get(category_hash(text), UNSEEN)
    return np.array([known[text] for text in texts], dtype=np.float64)


def cell_text(cell: Any) -> str | None:
    """Text of a cell of which CatBoost takes the hash: true is 1."""
    if is_missing(cell):
        return None
    if isinstance(cell, bool | np.bool_):
        return str(int(cell))
    # A column of integers may arrive as floats.
    whole = isinstance(cell, float) and cell.is_integer()
    return str(int(cell) if whole else cell)


def integer_codes(
    values: np.ndarray, labels: tuple[Any, ...], cells: np.ndarray
) -> np.ndarray:
    """Positions of the integer parts of the values among ascending integers.

    Parameters
    ----------
    values : ndarray of float64
    labels : tuple of int
    cells : ndarray
        The original cells: integers are compared exactly.
    """
    known = np.array(labels, dtype=np.float64)
    whole = np.trunc(values)
    position = np.searchsorted(known, whole)
    found = np.append(known, np.nan)[position] == whole
    for i in np.flatnonzero(found & (whole >= EXACT)).tolist():
        if isinstance(cells[i], Integral):
            found[i] = int(cells[i]) == labels[position[i]]
    codes = np.where(found & (whole >= 0), position, UNSEEN)
    return np.where(np.isnan(values), np.nan, codes)


def refuse_text(column: np.ndarray, name: str) -> None:
    """Raise an error for labels where a model takes integers only."""
    if column.dtype.kind not in "fiub":
        text = next((cell for cell in column.tolist() if isinstance(cell, str)), None)
        if text is not None:
            refuse_labels(text, name)


def refuse_labels(found: Any, name: str) -> NoReturn:
    """Raise an error: the model takes integers only."""
    raise InputError(
        f"The model knows the categories of {name!r} only as integers, but the data "
        f"holds labels ({found!r}); pass the codes that the model was fitted on (in "
        "pandas: column.cat.codes, with the categories as they were then)."
    )
