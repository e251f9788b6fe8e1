"""Types of text columns: numbers, text, or missing values.

An empty cell is missing, and so are the values of ``--na``. In a column of numbers (or
booleans) the usual words for a missing value (NA, NaN, null, ...) are missing, too; in
a column of text they are values. A column of numbers with a few cells of text is an
error, and an ambiguous one causes a warning.
"""

from __future__ import annotations

import shlex
import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clearwood._tables.csv_file import MOST_SHOWN, CsvFile, listed
from clearwood._words.labels import printable
from clearwood._words.numbers import FEW_CODES, written_numbers
from clearwood.codec.documents import plain_integer, plain_number
from clearwood.columns.dates import as_times, date_number, has_zone
from clearwood.exceptions import InputError

LONGEST = 60
"""Maximum number of characters of a displayed cell."""

MISSING_WORDS = frozenset(
    "na n/a nan -nan null none <na> #n/a #na 1.#ind -1.#ind 1.#qnan -1.#qnan".split()
) | {"", "#n/a n/a"}
"""In lower case, without surrounding blanks."""

BOOLEANS = {"true": True, "false": False}


class Cells(NamedTuple):
    """Types of the cells of a column, determined once per distinct value.

    Attributes
    ----------
    code : ndarray of int of shape (n_rows,)
        Index of the distinct value of each row; -1 for an empty cell.
    texts : list of str
        The distinct values.
    numbers : ndarray of float
        Numbers of the distinct values; NaN for others.
    is_text : ndarray of bool
        Which of them are neither numbers nor words for a missing value.
    """

    code: np.ndarray
    texts: list[str]
    numbers: np.ndarray
    is_text: np.ndarray

    @classmethod
    def from_column(cls, column: pd.Series) -> Cells:
        """Determine the types of the cells of a column."""
        code, different = pd.factorize(column)
        texts = list(map(str, different))
        numbers = np.array([_number(text) for text in texts], dtype=np.float64)
        is_word = np.array([_is_missing_word(text) for text in texts], dtype=bool)
        return cls(code, texts, numbers, np.isnan(numbers) & ~is_word)

    @property
    def is_number(self) -> np.ndarray:
        """Which distinct values are numbers."""
        which: np.ndarray = ~np.isnan(self.numbers)
        return which

    def rows(self, which: np.ndarray) -> np.ndarray:
        """Rows that hold one of some distinct values."""
        return np.flatnonzero(np.append(which, False)[self.code])


def infer_type(column: pd.Series, file: CsvFile) -> pd.Series:
    """Numbers if all cells are numbers; else text, unless numbers were intended."""
    if not _is_text(column):
        return column
    cells = Cells.from_column(column)
    if cells.is_number.any() and cells.is_text.any():
        _check_mixed(column, cells, file)
    read = _read(column, cells, file)
    n, different = column.count(), len(cells.texts)
    number = written_numbers(cells.texts) if read is column else None
    if number is not None:
        raise InputError(
            f"{file.path!r}: column {column.name!r} holds numbers written as text, "
            f"such as {number!r}: {different:,} distinct ones, which as categories "
            "would have no order. Write them plainly, as 1234.5, with the unit in "
            "--column-info; or, if they are identifiers, use "
            f"{_option('--categories', column.name)}."
        )
    if read is column and different > max(FEW_CODES, n / 2):
        warnings.warn(
            f"Column {column.name!r} holds {different:,} distinct texts in {n:,} "
            f"cells, such as {_cells_text(column.dropna().iloc[:3])}, each read as a "
            "category. Write numbers plainly, as 1234.5, and dates as 2019-04-01; "
            "leave the column out if it identifies rows "
            f"({_option('--drop', column.name)}).",
            stacklevel=3,
        )
    return read


def _check_mixed(column: pd.Series, cells: Cells, file: CsvFile) -> None:
    """Handle a column in which some cells are numbers, and some are not."""
    rows, odd = cells.rows(cells.is_number), cells.rows(cells.is_text)
    different = len(np.unique(cells.numbers[cells.is_number]))
    found = f"{_cells_text(column.iloc[odd])} in {file.lines(odd)}"
    missing = _option("--na", column.iloc[odd[0]])
    named = _option("--categories", column.name)
    # Codes of categories are few, or at least as many cells are not numbers.
    if different > max(FEW_CODES, cells.is_text.sum()):
        raise InputError(
            f"{file.path!r}: column {column.name!r} holds numbers in {len(rows):,} "
            f"cells, but {found}. Correct these cells; or use {missing} if they are "
            f"missing values, {named} if the numbers are codes of categories."
        )
    if len(rows) > len(odd):
        warnings.warn(
            f"Column {column.name!r} is read as categorical, although {len(rows):,} "
            f"cells are numbers, because of {found}. Use {named} to confirm this, or "
            f"{missing} if these cells are missing values.",
            stacklevel=4,
        )


def to_numbers(column: pd.Series, file: CsvFile, *, only: bool) -> pd.Series:
    """Text column as numbers, or booleans; unchanged if it is neither.

    With ``only``, a cell that is neither a number nor missing is an error.
    """
    if not _is_text(column):
        return column
    cells = Cells.from_column(column)
    read = _read(column, cells, file)
    if not only or read is not column:
        return read
    odd = cells.rows(cells.is_text)
    if odd.size:
        raise _type_error("numbers", column, odd, file)
    return pd.Series(np.nan, column.index, name=column.name)


def _type_error(
    what: str, column: pd.Series, odd: np.ndarray, file: CsvFile
) -> Exception:
    """Message about a column with rows of another type."""
    return InputError(
        f"{file.path!r}: column {column.name!r} must hold {what}, but there is "
        f"{_cells_text(column.iloc[odd])} in {file.lines(odd)}. Correct these cells; "
        f"or use {_option('--na', column.iloc[odd[0]])} if they are missing values."
    )


def _read(column: pd.Series, cells: Cells, file: CsvFile) -> pd.Series:
    """Numbers, or booleans, if all cells that are not missing are such."""
    values: Any = cells.numbers
    if not cells.is_number.any():
        truth = [BOOLEANS.get(text.strip().lower()) for text in cells.texts]
        values = np.array(truth, dtype=object)
        flags = values[cells.is_text].tolist()
        if not flags or None in flags:
            return _dates(column, cells, file)
    elif cells.is_text.any():
        return column
    _warn_of_lost_digits(column, cells)
    # An empty cell is the last one.
    values = np.append(values, np.nan)[cells.code]
    return pd.Series(values, column.index, name=column.name)


def _dates(column: pd.Series, cells: Cells, file: CsvFile) -> pd.Series:
    """ISO 8601 dates, if all cells that are not missing are such."""
    days = np.array([date_number(text) for text in cells.texts], dtype=np.float64)
    if np.isnan(days[cells.is_text]).any() or not cells.is_text.any():
        return column
    with_zone = np.array([has_zone(text) for text in cells.texts], dtype=bool)
    zoned = set(with_zone[cells.is_text].tolist())
    if len(zoned) > 1:
        odd = cells.rows(cells.is_text & with_zone)
        others = cells.rows(cells.is_text & ~with_zone)
        odd = min(odd, others, key=len)
        raise InputError(
            f"{file.path!r}: column {column.name!r} holds times with and without a "
            f"time zone, such as {_cells_text(column.iloc[odd])} in {file.lines(odd)}: "
            "their order is undefined. Write all of them with a time zone (2019-04-01 "
            "12:30+02:00), or none."
        )
    times = np.append(as_times(days), np.datetime64("NaT", "us"))[cells.code]
    read = pd.Series(times, column.index, name=column.name)
    return read.dt.tz_localize("UTC") if zoned == {True} else read


def to_times(column: pd.Series, kind: str, file: CsvFile) -> pd.Series:
    """Text column as dates or durations; anything else is an error."""
    if not _is_text(column):
        return column
    cells = Cells.from_column(column)
    values = ~np.array([_is_missing_word(text) for text in cells.texts], dtype=bool)
    if not values.any():
        return pd.Series(pd.NaT, column.index, name=column.name)
    if kind == "duration":
        read = pd.to_timedelta(column, errors="coerce")
        is_time = pd.to_timedelta(pd.Series(cells.texts), errors="coerce").notna()
    else:
        read = _dates(column, cells, file)
        is_time = ~pd.isna([date_number(text) for text in cells.texts])
    odd = cells.rows(values & ~np.asarray(is_time, dtype=bool))
    if not odd.size and read is not column:
        return read
    what = "durations" if kind == "duration" else "dates (2019-04-01 12:30)"
    raise _type_error(what, column, odd if odd.size else cells.rows(values), file)


def parse_cells(column: pd.Series) -> pd.Series:
    """Convert each cell by itself: integer (exact), float, boolean or text."""

    def value(cell: str) -> Any:
        text = cell.strip()
        readings = (plain_integer(text), plain_number(text), BOOLEANS.get(text.lower()))
        return next((found for found in readings if found is not None), cell)

    known = {
        cell: None if _is_missing_word(cell) else value(cell)
        for cell in column.dropna().unique()
    }
    values = [known.get(cell) for cell in column]
    return pd.Series(values, column.index, dtype=object, name=column.name)


def _is_text(column: pd.Series) -> bool:
    """Whether it holds text, or integers too large for a numeric column."""
    types = pd.api.types
    return not (
        types.is_numeric_dtype(column)
        or column.dtype.kind in "mM"
        or types.infer_dtype(column, skipna=True) == "boolean"
    )


def _number(cell: str) -> float:
    """Number in a cell; NaN if there is none."""
    text = cell.strip()
    if text.lstrip("+-").lower() in ("inf", "infinity"):
        return -np.inf if text.startswith("-") else np.inf
    number = plain_number(text)
    return np.nan if number is None else number


def _is_missing_word(cell: str) -> bool:
    return cell.strip().lower() in MISSING_WORDS


def warn_of_missing_words(frame: pd.DataFrame) -> None:
    """Warn if a word for a missing value is a value, perhaps unintentionally."""
    found: dict[str, list[str]] = {}
    for name in frame:
        if _is_text(frame[name]):
            for cell in sorted(filter(_is_missing_word, frame[name].dropna().unique())):
                found.setdefault(cell, []).append(str(name))
    for cell, names in found.items():
        warnings.warn(
            f"{cell!r} is read as a value in text columns; it occurs in "
            f"{listed([repr(name) for name in names], len(names), 'column')}. Use "
            f"{_option('--na', cell)} if it means a missing value.",
            stacklevel=3,
        )


def _warn_of_lost_digits(column: pd.Series, cells: Cells) -> None:
    """Warn if integers are too long to be distinguished as float64."""
    whole = {
        text.strip().lstrip("0"): number
        for text, number in zip(cells.texts, cells.numbers.tolist())
        if text.strip().isdecimal()
    }
    if len(set(whole.values())) < len(whole):
        warnings.warn(
            f"Column {column.name!r} holds integers so large that some of them are "
            f"equal in double precision. Use {_option('--categories', column.name)} "
            "if they are identifiers.",
            stacklevel=4,
        )


def _cells_text(column: pd.Series) -> str:
    """Some distinct cells, as they are."""
    cells = column.astype(str).unique()
    shown = [repr(cell[:LONGEST]) for cell in cells[:MOST_SHOWN]]
    return ", ".join(shown) + " and others" * (len(cells) > MOST_SHOWN)


def _option(option: str, value: Any) -> str:
    text = str(value)
    text = text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
    return f"{option} {shlex.quote(printable(text))}"
