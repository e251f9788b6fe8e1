"""Untidy tables: numbers, dates and booleans written as text, and codes for missing.

How a column is read is inferred once (:func:`infer_reading`), and applies to new rows,
too. A column is converted only if all its cells, or nearly all, can be; whatever is
changed or left out is reported in a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from os import PathLike
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import pandas as pd

from clearwood._tables.csv_file import DETECTED, CsvFile, is_parquet, read_parquet
from clearwood._tables.target import is_text
from clearwood._words.labels import printable, type_text
from clearwood._words.numbers import FEW_CODES, WRITTEN, number_text
from clearwood._words.sentences import listed, rows_in_words
from clearwood.columns.dates import date_number
from clearwood.exceptions import InputError

MISSING_WORDS = frozenset("na n/a #n/a nan null none <na> ? - .".split()) | {""}
"""Texts for a missing value, in lower case."""

BOOLEANS = {"true": True, "false": False}

DATE_FORMS = ("%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%Y/%m/%d", "%Y%m%d")
"""Forms of dates besides ISO 8601, of which the first that fits all cells is taken."""

MOST_STRAY = 0.1
"""Share of the cells of a column of numbers that may be no numbers."""

CODES = frozenset(sign * float("9" * n) for n in range(1, 7) for sign in (1, -1))
"""Numbers that often stand for a missing value; -1 is too common otherwise."""

MOST_LEVELS = 255
"""Maximum number of distinct texts of a categorical column."""

FEWEST_KNOWN = 5
"""Minimum number of known entries of a column that is used."""

FEWEST_IDS = 20
"""Rows below which distinct cells are no evidence of an identifier."""

ID_NAME = re.compile(r"(?:^|[^a-z])(?:id|uuid|key|nr|no|number|index)$", re.IGNORECASE)


class Reading(NamedTuple):
    """How the cells of a column are read.

    Attributes
    ----------
    kind : {"", "numbers", "dates", "booleans", "text"}
        Type that text is converted to; "" if the column is left as it is.
    form : str
        Decimal mark of numbers, or format of dates.
    codes : tuple of float
        Numbers that stand for a missing value.
    spelling : mapping of str to str
        Most frequent spelling of texts that differ only in case and blanks.
    """

    kind: str = ""
    form: str = ""
    codes: tuple[float, ...] = ()
    spelling: Mapping[str, str] = {}

    def read(self, column: pd.Series) -> pd.Series:
        """Convert a column."""
        if self.kind:
            texts = column.astype(object).map(_text, na_action="ignore")
            read = {text: self._cell(text) for text in texts.dropna().unique()}
            column = texts.map(read, na_action="ignore")
            if self.kind == "numbers":
                column = column.astype(float)
            elif self.kind == "dates":
                column = pd.to_datetime(column)
        if self.codes:
            column = column.where(~column.isin(self.codes))
        return column

    def _cell(self, text: str) -> Any:
        if text.lower() in MISSING_WORDS:
            return None
        if self.kind == "numbers":
            return _number(text, self.form)
        if self.kind == "dates":
            return _date(text, self.form)
        if self.kind == "booleans":
            return BOOLEANS.get(text.lower())
        return self.spelling.get(text.casefold(), text)


def read_any(table: Any) -> pd.DataFrame:
    """Frame of pandas of a file, or of a frame of any library."""
    if isinstance(table, str | PathLike):
        path = str(table)
        if is_parquet(path):
            return read_parquet(path, DETECTED)
        return CsvFile.from_path(path).read()
    try:
        frame = nw.from_native(table, eager_only=True).to_pandas()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"Cannot read {type_text(table)} as a table ({error}); expected a "
            "frame of pandas or polars, or the path of a CSV or Parquet file."
        ) from None
    frame.columns = [str(name) for name in frame.columns]
    return frame.reset_index(drop=True)


def infer_reading(column: pd.Series) -> tuple[Reading, list[str]]:
    """How a column is read, and sentences on what this changes."""
    name = printable(str(column.name))
    found, notes = Reading(), []
    if is_text(column) and not isinstance(column.dtype, pd.CategoricalDtype):
        cells = column.dropna().map(_text)
        found, what = _of_texts(cells[~cells.str.lower().isin(MISSING_WORDS)])
        notes = [f"{name}: {what}."] if what else []
    read = found.read(column)
    if pd.api.types.is_numeric_dtype(read) and read.dtype != bool:
        codes = _missing_codes(read)
        if codes:
            found = found._replace(codes=codes)
            n = int(read.isin(codes).sum())
            texts = listed([number_text(code) for code in codes], "and")
            notes.append(
                f"{name}: {texts}, in {rows_in_words(n)} and far from all other "
                "values, is read as missing."
            )
    return found, notes


def _text(cell: Any) -> str:
    return " ".join(str(cell).split())


def _of_texts(cells: pd.Series) -> tuple[Reading, str]:
    """Type of the texts of a column, none of them missing; and a remark."""
    texts = cells.unique().tolist()
    if not texts:
        return Reading("text"), ""
    if {text.lower() for text in texts} <= set(BOOLEANS):
        return Reading("booleans"), ""
    for form in ("", *DATE_FORMS):
        if all(_date(text, form) is not None for text in texts):
            return Reading("dates", form), f"dates written as {form}" if form else ""
    mark = _decimal_mark(texts)
    is_number = cells.map({text: _number(text, mark) is not None for text in texts})
    stray = cells[~is_number].unique().tolist()
    n_numbers = cells[is_number].nunique()
    signs = {_sign(text) for text in texts if text not in stray}
    few = len(cells) * MOST_STRAY >= (~is_number).sum() and n_numbers > FEW_CODES
    if n_numbers and len(signs) == 1 and (not stray or few):
        parts = ["numbers written with a decimal comma"] if mark == "," else []
        if (sign := signs.pop().strip()) != "":
            parts.append(f"numbers written with {sign!r}")
        if stray:
            n = rows_in_words(int((~is_number).sum()))
            texts = listed([repr(text) for text in stray], "and")
            parts.append(f"{texts} in {n}, no numbers, read as missing")
        return Reading("numbers", mark), "; ".join(parts)
    counts = cells.value_counts()
    spelling: dict[str, str] = {}
    for text in counts.index:
        spelling.setdefault(text.casefold(), text)
    merged = [text for text in counts.index if spelling[text.casefold()] != text]
    texts = listed([repr(text) for text in merged], "and") if merged else ""
    what = f"{texts} read as another spelling of the same text" if merged else ""
    return Reading("text", spelling=spelling), what


def _date(text: str, form: str) -> Any:
    """A date in a format, by default ISO 8601; None for other texts."""
    if not form:
        return None if np.isnan(date_number(text)) else pd.Timestamp(text)
    date = pd.to_datetime(text, format=form, errors="coerce")
    return None if pd.isna(date) or len(text) < 8 else date


def _decimal_mark(texts: list[str]) -> str:
    """A comma or a point, whichever decimals follow.

    Examples
    --------
    >>> _decimal_mark(["3,5", "12"]), _decimal_mark(["1,234"]), _decimal_mark(["1,2.5"])
    (',', '.', '.')
    """
    both = [text for text in texts if "," in text and "." in text]
    if both:
        return max(",.", key=both[0].rfind)
    commas = [text for text in texts if "," in text]
    grouped = all(re.search(r"\b\d{1,3}(,\d{3})+\b", text) for text in commas)
    return "." if grouped else ","


def _number(text: str, mark: str) -> float | None:
    """A number, perhaps with a unit; None for other texts.

    Examples
    --------
    >>> _number("8.1%", "."), _number("1.234,5 EUR", ","), _number("R2", ".")
    (8.1, 1234.5, None)
    """
    try:
        return float(text.replace(",", ".") if mark == "," else text)
    except ValueError:
        pass
    found = WRITTEN.fullmatch(text)
    if not found:
        return None
    other = "." if mark == "," else ","
    digits = text[len(found[1]) : len(text) - len(found[3])]
    digits = re.sub(rf"[ '’\u00a0\u202f{other}]", "", digits).replace(mark, ".")
    try:
        return float(digits)
    except ValueError:
        return None


def _sign(text: str) -> str:
    """Currency and unit of a number."""
    found = WRITTEN.fullmatch(text)
    return f"{found[1].strip()} {found[3].strip()}" if found else " "


def _missing_codes(numbers: pd.Series) -> tuple[float, ...]:
    """Numbers such as 999 or -9 that are far from all others of a column.

    Examples
    --------
    >>> _missing_codes(pd.Series([20, 31, 44, 79, 999, 999]))
    (999.0,)
    """
    counts = numbers.value_counts()
    codes = [float(c) for c in counts.index if c in CODES and counts[c] > 1]
    found: list[float] = []
    for code in sorted(codes, key=abs, reverse=True):
        others = counts.index.difference([*found, code]).to_numpy(float)
        if len(others) < 2:
            break
        if np.abs(others - code).min() > np.ptp(others):
            found.append(code)
    return tuple(found)


def unusable(column: pd.Series) -> str:
    """Why a column, as read, is set aside; empty if it is not."""
    known = column.dropna()
    if known.empty:
        return "empty in every row"
    if len(known) < FEWEST_KNOWN:
        # Before a value is quoted, which would be that of single rows.
        return f"known in {rows_in_words(len(known))} only"
    n_distinct = known.nunique()
    if n_distinct == 1:
        return f"{printable(str(known.iloc[0]))} wherever it is known"
    if len(known) >= FEWEST_IDS and n_distinct == len(known):
        is_whole = pd.api.types.is_integer_dtype(known) or (
            pd.api.types.is_float_dtype(known) and (known % 1 == 0).all()
        )
        if is_text(known) or (is_whole and _is_identifier(known)):
            return "distinct in every row, like an identifier"
    if is_text(known) and n_distinct > min(MOST_LEVELS, max(FEW_CODES, len(known) / 2)):
        return f"{n_distinct:,} distinct texts"
    return ""


def _is_identifier(numbers: pd.Series) -> bool:
    """Whether distinct integers are consecutive, or named like identifiers."""
    consecutive = float(numbers.max() - numbers.min()) == len(numbers) - 1
    return consecutive or ID_NAME.search(str(numbers.name)) is not None
