"""Table files: CSV in memory, and Parquet."""

from __future__ import annotations

import codecs
import csv
import io
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pandas.io.common import get_handle

from clearwood._memory import check_memory_of_table
from clearwood._tables.parquet import SUFFIXES, check_parquet, columns_of_file
from clearwood._words.labels import check_names
from clearwood.codec.files import plain_file
from clearwood.exceptions import ClearwoodError, InputError

STANDARD_INPUT = "-"

PIECE = 2**20
"""Bytes decompressed at a time."""

MOST_SHOWN = 5
"""Maximum number of cells, or lines, shown in a message."""


SEPARATORS = ",;\t|"
"""Candidate separators, if none is given."""


class CsvForm(NamedTuple):
    """Format of a CSV file; separator and encoding are detected if not given.

    ``missing`` are the missing values besides empty cells.
    """

    sep: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()


DETECTED = CsvForm()


def _content(path: str) -> bytes:
    """Bytes of a file, decompressed; ``-`` is the standard input."""
    if path == STANDARD_INPUT:
        return sys.stdin.buffer.read()
    with plain_file(path) as plain:
        try:
            size = Path(plain).stat().st_size
            with get_handle(plain, "rb", compression="infer", is_text=False) as raw:
                handle: Any = raw.handle
                data: Any = handle.read(size)
                while piece := handle.read(PIECE):  # compressed
                    data = bytearray(data) if isinstance(data, bytes) else data
                    data += piece
                    check_memory_of_table(len(data), size, path)
        except (OSError, EOFError) as error:  # from decompression, too
            raise InputError(f"Cannot read {path!r}: {reason_of(error)}.") from None
    return bytes(data)


def as_utf8(data: bytes, path: str, encoding: str | None) -> bytes:
    """Text converted to UTF-8; UTF-16 is recognized by its byte-order mark."""
    if encoding is None and data[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        encoding = "utf-16"
    try:
        text = data.decode(encoding or "utf-8-sig")
    except LookupError:
        raise InputError(
            f"Unknown encoding {encoding!r} (--encoding); Windows files are often "
            "cp1252, older ones latin-1."
        ) from None
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError(
            f"Cannot read {path!r}: line {line} is not valid {encoding or 'UTF-8'}. "
            "Specify its encoding (--encoding cp1252 for most Windows files, latin-1 "
            "for older ones), or save it as UTF-8."
        ) from None
    return data if encoding is None else text.encode()


def _separator(data: bytes) -> str:
    """Most frequent candidate separator in the header, outside of quotes."""
    header = data.removeprefix(codecs.BOM_UTF8).lstrip(b"\r\n").split(b"\n", 1)[0]
    plain = re.sub(r'"[^"]*"', "", header.decode(errors="replace"))
    return max(SEPARATORS, key=plain.count)


@dataclass(frozen=True)
class CsvFile:
    """CSV file in memory, as a pipe can be read only once."""

    path: str
    data: bytes
    sep: str
    missing: tuple[str, ...] = ()

    @classmethod
    def from_path(cls, path: str, form: CsvForm = DETECTED) -> CsvFile:
        """Read the file; raise if it is not CSV, or has duplicate column names."""
        data = as_utf8(_content(path), path, form.encoding)
        if b"\0" in data:
            line = data[: data.index(b"\0")].count(b"\n") + 1
            raise InputError(
                f"Cannot read {path!r} as a table: there is a NUL byte in line {line}. "
                "The file is damaged or encoded in UTF-16; save it as CSV in UTF-8."
            )
        file = cls(path, data, form.sep or _separator(data), form.missing)
        header = file._parsed(header=None, nrows=1, dtype=str, keep_default_na=False)
        names = pd.Series(header.iloc[0])
        twice = sorted(set(names[names.duplicated() & (names != "")]))
        # pandas would silently rename the second "age" to "age.1".
        if twice:
            raise InputError(
                f"{path!r} has more than one column named {twice}; rename them."
            )
        check_names(names, f"The header of {path!r}")
        return file

    def read(self, as_text: Sequence[str] = ()) -> pd.DataFrame:
        """Table as read by pandas, except for missing values."""
        return self._parsed(
            dtype=dict.fromkeys(as_text, str),
            keep_default_na=False,
            na_values=["", *self.missing],
            low_memory=False,
        )

    def _parsed(self, **settings: Any) -> pd.DataFrame:
        try:
            with warnings.catch_warnings():
                # Rows with more cells than column names would lose the last ones.
                warnings.simplefilter("error", pd.errors.ParserWarning)
                frame = pd.read_csv(
                    io.BytesIO(self.data), sep=self.sep, index_col=False, **settings
                )
        except (ValueError, pd.errors.ParserWarning) as error:
            raise InputError(
                f"Cannot read {self.path!r} as a table: {reason_of(error)}. Expected "
                "CSV with one header line, or Parquet."
            ) from None
        frame.columns = [str(name) for name in frame.columns]
        return frame

    def lines(self, rows: np.ndarray) -> str:
        """Positions of some rows, in line numbers of the file."""
        shown, wanted = [], set(rows[:MOST_SHOWN].tolist())
        text = list(io.StringIO(self.data.decode("utf-8-sig"), newline=""))
        reader = csv.reader(text, delimiter=self.sep)
        row, start = -1, 1
        try:
            for _ in reader:
                # pandas skips blank lines, too, but not a lone '""'.
                if text[start - 1].strip(" \t\r\n"):
                    if row in wanted:
                        shown.append(start)
                    row += 1
                start = reader.line_num + 1
                if len(shown) == len(wanted):
                    break
        except csv.Error:  # A cell longer than this reader's limit.
            return listed([row + 1 for row in rows], len(rows), "data row")
        return listed(shown, len(rows), "line")


def listed(shown: Sequence[Any], n: int, what: str) -> str:
    """Number of items, with the first of them by name or number.

    Examples
    --------
    >>> listed([7], 1, "line"), listed([7, 9], 4, "line")
    ('line 7', 'lines 7, 9 and 2 more')
    """
    few = list(map(str, shown[:MOST_SHOWN]))
    more = f" and {n - len(few):,} more" if n > len(few) else ""
    return f"{what}{'s' * (n != 1)} {', '.join(few)}{more}"


def reason_of(error: BaseException) -> str:
    """Reason why a file cannot be read, in one line."""
    strerror = error.strerror if isinstance(error, OSError) else None
    return strerror or " ".join(str(error).split()).rstrip(".")


def is_parquet(path: str) -> bool:
    """Whether a file is Parquet, by its name."""
    return Path(path).suffix.lower() in SUFFIXES


def column_names(path: str, form: CsvForm) -> list[str]:
    """Names of the columns of a table, without its rows."""
    if is_parquet(path):
        return columns_of_file(Path(path))
    return list(CsvFile.from_path(path, form)._parsed(nrows=0).columns)


def read_parquet(path: str, form: CsvForm) -> pd.DataFrame:
    """Table of a Parquet file, which has a type for each column."""
    if form.missing:
        raise InputError(
            f"--na is for CSV; {path!r} is Parquet, whose schema defines missing "
            "values."
        )
    try:
        with plain_file(path) as plain:
            check_parquet(Path(plain))
            frame = pd.read_parquet(plain)
    except ClearwoodError:
        raise
    except (ValueError, OSError) as error:  # from pandas or pyarrow
        raise InputError(
            f"Cannot read {path!r} as a table: {reason_of(error)}."
        ) from None
    frame.columns = [str(name) for name in frame.columns]
    check_names(frame.columns, f"The header of {path!r}")
    return frame
