"""Conditions on dates in SQL."""

from __future__ import annotations

import math

from clearwood.columns.dates import MICROSECONDS, date_text
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError
from clearwood.rules.exports.questions import NumberQuestion, Piece

STANDARD = (
    "DATE '{}'",
    "TIMESTAMP '{}'",
    "CAST('{}+00:00' AS TIMESTAMP WITH TIME ZONE)",
)
"""A day, a point in time, and one in UTC."""

LITERALS = {
    # Its Date begins in 1970, and its DateTime holds whole seconds only.
    "clickhouse": (
        "toDate32('{}')",
        "toDateTime64('{}', 6)",
        "toDateTime64('{}', 6, 'UTC')",
    ),
    "mssql": (
        "CAST('{}' AS DATETIME2)",
        "CAST('{}' AS DATETIME2)",
        "CAST('{}+00:00' AS DATETIMEOFFSET)",
    ),
    # A literal with an offset needs MySQL 8.0.19, and MariaDB rejects it.
    "mysql": (
        *STANDARD[:2],
        "CONVERT_TZ(TIMESTAMP '{}', '+00:00', @@session.time_zone)",
    ),
    "sqlite": ("'{}'", "'{}'", "'{}'"),
}
"""Literals of databases that differ from the standard."""

SQLITE_CELL = {
    "date": "date({})",
    "datetime": "strftime('%Y-%m-%d %H:%M:%f', {})",
}
"""SQLite has no type for dates: it stores text in one of several forms."""


def date_test(
    question: NumberQuestion, cell: str, name: str, info: ColumnInfo, dialect: str
) -> str:
    """SQL test whether a date lies in a union of intervals.

    Examples
    --------
    >>> question = NumberQuestion(0, ((17986.0, 18000.0),), missing=False)
    >>> date_test(question, "start", "start", ColumnInfo(kind="date"), "duckdb")
    "start >= DATE '2019-04-01' AND start < DATE '2019-04-15'"
    """
    if info.kind == "duration":
        raise InputError(
            f"Cannot write SQL: the rules use {name!r}, a duration, which every "
            "database writes differently; convert it to a column of numbers (days) "
            "before the fit."
        )
    if dialect == "sqlite":
        cell = SQLITE_CELL[info.kind].format(cell)
    texts = []
    for piece in question.pieces:
        parts = _parts(piece, cell, info, dialect)
        text = " AND ".join(parts)
        texts.append(f"({text})" if len(parts) > 1 and question.pieces[1:] else text)
    return " OR ".join(texts)


def _parts(piece: Piece, cell: str, info: ColumnInfo, dialect: str) -> list[str]:
    above, upto, at = ">", "<=", _microsecond
    if info.kind == "date":
        # After a day means from the next day on, whatever the time of day.
        above, upto, at = ">=", "<", _next_day
    low, high = piece
    parts = (
        []
        if low == -math.inf
        else [f"{cell} {above} {_literal(at(low), info, dialect)}"]
    )
    if high < math.inf:
        parts.append(f"{cell} {upto} {_literal(at(high), info, dialect)}")
    return parts


def _next_day(days: float) -> float:
    return math.floor(days) + 1.0


def _microsecond(days: float) -> float:
    """The last microsecond up to a point in time: no cell lies between the two."""
    at = round(days * MICROSECONDS)
    return (at - (at / MICROSECONDS > days)) / MICROSECONDS


def _literal(days: float, info: ColumnInfo, dialect: str) -> str:
    text = date_text(days)
    if text[:1] == "-" or not text[:4].isdecimal() or len(text) < 10:
        raise InputError(
            f"Cannot write SQL: a rule compares with {text}, which is before the year "
            "0 or after 9999; no database can represent it."
        )
    day, time, time_in_utc = LITERALS.get(dialect, STANDARD)
    in_utc = info.is_zoned and dialect != "sqlite"
    if info.kind == "date" and not in_utc:
        return day.format(text)
    text += " 00:00:00"[len(text) - 10 :]
    if dialect == "sqlite":
        # SQLite compares text: both sides in one form.
        text = f"{text}.000"[:23]
    return (time_in_utc if in_utc else time).format(text)
