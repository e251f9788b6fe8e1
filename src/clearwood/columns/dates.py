"""Conversion of dates and times to numbers and to text.

A point in time is the number of days since the start of 1970: whole days are integers,
exact in single precision, too. Times with a time zone are in UTC.
"""

from __future__ import annotations

import datetime
import math
import re
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.numbers import number_text

if TYPE_CHECKING:
    from clearwood.columns.info import ColumnInfo

DATES = ("date", "datetime")
"""Kinds of columns that hold points in time; a ``date`` has no time of day."""

TIMED = (*DATES, "duration")
"""Kinds of columns whose numbers count days."""

WORDED = (*DATES, "boolean")
"""Kinds of columns whose values are not displayed as numbers."""

UTC = "UTC"
"""Unit of points in time with a time zone."""

MICROSECONDS = 86_400_000_000
"""Microseconds in a day: the resolution of times."""

PARTS = ("Y", "M", "D", "h", "m", "s", "ms")
ISO = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?))?"
    r"(?: ?(Z|UTC|[-+]\d\d(?::?\d\d)?))?",
    re.ASCII,
)


def day_numbers(times: np.ndarray) -> np.ndarray:
    """Days since the start of 1970 (for durations: days); NaN for NaT.

    Parameters
    ----------
    times : ndarray of datetime64 or timedelta64

    Examples
    --------
    >>> day_numbers(np.array(["1970-01-03T12:00", "NaT"], dtype="M8[us]"))
    array([2.5, nan])
    """
    counted = times.astype(f"{times.dtype.kind}8[us]")
    days = counted.astype(np.int64) / MICROSECONDS
    return np.where(np.isnat(counted), np.nan, days)


def _time(days: float) -> np.datetime64:
    return np.datetime64(round(days * MICROSECONDS), "us")


def date_text(days: float) -> str:
    """A point in time in ISO 8601, at the coarsest exact precision.

    Examples
    --------
    >>> date_text(17987.0), date_text(17987.5), date_text(17987 + 1 / 86400)
    ('2019-04-01', '2019-04-01 12:00', '2019-04-01 00:00:01')
    """
    if not math.isfinite(days) or abs(days) > 10_000_000:
        return number_text(days)
    time = _time(days)
    for unit, letters in (("D", 10), ("m", 16), ("s", 19)):
        if time == time.astype(f"M8[{unit}]"):
            return str(time).replace("T", " ")[:letters]
    return str(time).replace("T", " ")


def date_number(text: str) -> float:
    """Days since the start of 1970 of an ISO 8601 text; NaN for other texts.

    Examples
    --------
    >>> date_number("2019-04-01"), date_number("2019-04-01T14:00+02:00")
    (17987.0, 17987.5)
    >>> date_number("01/04/2019"), date_number("2019-02-30")
    (nan, nan)
    """
    found = ISO.fullmatch(text.strip())
    if not found:
        return math.nan
    day, time, zone = found.groups()
    try:
        parsed = np.datetime64(f"{day}T{time}" if time else day, "us")
    except ValueError:
        return math.nan
    if zone not in (None, "Z", "UTC"):
        minutes = 60 * int(zone[1:3]) + int(zone[3:].lstrip(":") or 0)
        parsed -= np.timedelta64(-minutes if zone[0] == "-" else minutes, "m")
    return float(day_numbers(np.array([parsed]))[0])


def has_zone(text: str) -> bool:
    """Whether an ISO 8601 text includes a time zone."""
    found = ISO.fullmatch(text.strip())
    return bool(found and found[3])


def as_times(days: np.ndarray, is_duration: bool = False) -> np.ndarray:
    """The inverse of :func:`day_numbers`, of dates or durations.

    Examples
    --------
    >>> as_times(np.array([17987.5])).astype(str).tolist()
    ['2019-04-01T12:00:00.000000']
    """
    known = np.where(np.isnan(days), 0.0, days)
    kind = "m8[us]" if is_duration else "M8[us]"
    times = np.round(known * MICROSECONDS).astype(np.int64).astype(kind)
    return np.where(np.isnan(days), np.array("NaT", dtype=kind), times)


def column_of_times(
    name: str, days: np.ndarray, kind: Any, info: ColumnInfo, blank: Any
) -> Any:
    """Dates, times or durations in the column's own type and time zone."""
    import narwhals as nw

    times = as_times(days, info.kind == "duration")
    if not kind.is_temporal():
        # Python objects, which distinguish dates from times.
        whole = info.kind == "date" and not info.is_zoned
        cells = times.astype("M8[D]" if whole else times.dtype)
        objects = cells.astype(object)  # None where missing
        if info.is_zoned:
            objects = np.array(
                [t and t.replace(tzinfo=datetime.UTC) for t in objects], object
            )
        kind = nw.Object()
        return nw.new_series(name, objects, kind, backend=blank.implementation)
    made = nw.new_series(name, times, backend=blank.implementation)
    zone = getattr(kind, "time_zone", None)
    if zone:
        made = made.dt.replace_time_zone("UTC").dt.convert_time_zone(zone)
    return made.cast(kind)


def value_text(value: float, kind: str) -> str:
    """Display text of a number, by the kind of its column.

    Examples
    --------
    >>> value_text(17987.0, "date"), value_text(1.0, "boolean"), value_text(1, "number")
    ('2019-04-01', 'true', '1')
    """
    if kind == "boolean" and value in (0, 1):
        return "true" if value else "false"
    return date_text(value) if kind in DATES else number_text(value)


def plain_date(low: float, high: float, near: float, kind: str) -> float:
    """The point in time with the shortest text in ``low <= date < high``.

    The start of a year, else of a month, a day, an hour ...; of several the one closest
    to ``near``. Whole days are displayed by the day after ("from the first of May on"),
    so that it is the day after that starts a year or a month.

    Examples
    --------
    >>> date_text(plain_date(17600.0, 17700.0, 17650.0, "datetime"))
    '2018-05-01'
    >>> date_text(plain_date(17600.0, 17700.0, 17650.0, "date"))
    '2018-04-30'
    """
    after = 1.0 if kind == "date" else 0.0
    low, high, near = low + after, high + after, near + after
    if abs(low) > 10_000_000 or abs(high) > 10_000_000:
        return low - after
    for part in PARTS[: 3 if kind == "date" else None]:
        starts = np.array([_time(near), _time(low)]).astype(f"M8[{part}]")
        starts = np.concatenate([starts, starts + np.array(1, f"m8[{part}]")])
        found: list[float] = day_numbers(starts).tolist()
        inside = [days for days in found if low <= days < high]
        if inside:
            return min(inside, key=lambda days: (abs(days - near), days)) - after
    return low - after
