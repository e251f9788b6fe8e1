"""Questions about dates, as other tools ask them."""

from __future__ import annotations

import math
from collections.abc import Callable

from clearwood._words.dates import date_text
from clearwood.exceptions import InputError
from clearwood.rules.exports.questions import NumberQuestion, Piece

SQL_DATE: dict[str, Callable[[str], str]] = {
    "mssql": lambda text: f"CAST('{text}' AS DATETIME2)",
    "sqlite": lambda text: f"'{text}'",
}
"""How a point in time is written where the standard's DATE and TIMESTAMP are not."""

SQL_CELL = {
    ("sqlite", "date"): "date({})",
    ("sqlite", "datetime"): "strftime('%Y-%m-%d %H:%M:%f', {})",
}
"""SQLite has no type for dates: it keeps texts, of one form or another."""


def date_test(
    question: NumberQuestion, cell: str, name: str, kind: str, dialect: str
) -> str:
    """Whether a date lies in one of some pieces, in SQL.

    Examples
    --------
    >>> asked = NumberQuestion(0, ((17986.0, 18000.0),), missing=False)
    >>> date_test(asked, "start", "start", "date", "duckdb")
    "start >= DATE '2019-04-01' AND start < DATE '2019-04-15'"
    """
    if kind == "duration":
        raise InputError(
            f"Cannot write SQL: the rules ask {name!r}, a duration, which databases "
            "write in ways of their own; make a column of numbers of it (days) before "
            "the fit."
        )
    cell = SQL_CELL.get((dialect, kind), "{}").format(cell)
    texts = []
    for piece in question.pieces:
        parts = _parts(piece, cell, kind, dialect)
        text = " AND ".join(parts)
        texts.append(f"({text})" if len(parts) > 1 and question.pieces[1:] else text)
    return " OR ".join(texts)


def _parts(piece: Piece, cell: str, kind: str, dialect: str) -> list[str]:
    low, high = piece
    above, upto = ">", "<="
    if kind == "date":
        # After a day is from the next one on, whatever the time of the day.
        low = math.floor(low) + 1 if low > -math.inf else low
        high = math.floor(high) + 1 if high < math.inf else high
        above, upto = ">=", "<"
    parts = (
        [] if low == -math.inf else [f"{cell} {above} {_literal(low, kind, dialect)}"]
    )
    if high < math.inf:
        parts.append(f"{cell} {upto} {_literal(high, kind, dialect)}")
    return parts


def _literal(days: float, kind: str, dialect: str) -> str:
    text = date_text(days)
    if text[:1] == "-" or not text[:4].isdecimal() or len(text) < 10:
        raise InputError(
            f"Cannot write SQL: a rule asks for {text}, which is before the year 0 or "
            "after 9999; no database knows it."
        )
    whole = len(text) == 10
    text += ":00" * (len(text) == 16)
    if dialect == "sqlite" and kind == "datetime":
        # As texts compare: both sides in one form.
        text = f"{text}{' 00:00:00' * whole}.000"[:23]
    standard = f"{'DATE' if whole else 'TIMESTAMP'} '{text}'"
    return SQL_DATE[dialect](text) if dialect in SQL_DATE else standard
