"""Metadata of columns: display names, units, descriptions and kinds of numbers."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from clearwood._words.labels import check_names, check_text, printable
from clearwood.columns.dates import DATES, TIMED, UTC
from clearwood.exceptions import InputError

Kind = Literal["number", "integer", "binary", "boolean", "date", "datetime", "duration"]
KINDS: tuple[str, ...] = get_args(Kind)
NUMBERS: tuple[Kind, ...] = ("number", "integer", "binary", "boolean")
"""Kinds of numbers, each a special case of those before it."""
GIVEN = ("name", "unit", "description")
LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True)
class ColumnInfo:
    """Metadata of a column.

    Attributes
    ----------
    name : str
        Display name; empty for the column label itself.
    unit : str
        Unit of its numbers; UTC for dates with a time zone, else empty for dates.
    description : str
        Short description.
    kind : {"number", "integer", "binary", "boolean", "date", "datetime", "duration"}
        Kind of its numbers in the rows that rules come from. Integers are displayed as
        such (``>= 8``), and so are 0 and 1 (``is 1``) and booleans (``is true``). Dates
        are days since the start of 1970, displayed as dates (``>= 2019-04-01``);
        durations are days.
    """

    name: str = ""
    unit: str = ""
    description: str = ""
    kind: Kind = "number"

    def __post_init__(self) -> None:
        check_names((self.name, self.unit, self.description), "column_info")

    @property
    def is_whole(self) -> bool:
        """Whether all its numbers are integers."""
        return self.kind in ("integer", "binary", "boolean", "date")

    @property
    def is_time(self) -> bool:
        """Whether the column holds dates or durations, not numbers."""
        return self.kind in TIMED

    @property
    def time_kind(self) -> tuple[str, bool] | None:
        """How times are converted to numbers; None for columns without times."""
        return (self.kind, self.is_zoned) if self.is_time else None

    @property
    def is_zoned(self) -> bool:
        """Whether the column holds points in time with a time zone."""
        return self.kind in DATES and self.unit == UTC


def read_column_info(
    given: Any, names: Sequence[str], known: Sequence[ColumnInfo]
) -> tuple[ColumnInfo, ...]:
    """Validate the metadata of columns; the known metadata where none is given.

    Parameters
    ----------
    given : mapping of str to mapping
        Per column label its ``name``, ``unit`` and ``description``, or some of these.
        Other columns are ignored: data dictionaries often cover more columns than a
        model uses.
    names : sequence of str
        Column labels.
    known : sequence of ColumnInfo

    Examples
    --------
    >>> given = {"chol": {"unit": "mg/dl", "name": "cholesterol"}}
    >>> info, = read_column_info(given, ["chol"], [ColumnInfo()])
    >>> info.name, info.unit
    ('cholesterol', 'mg/dl')
    """
    if not isinstance(given, Mapping) or not all(
        isinstance(own, Mapping) for own in given.values()
    ):
        raise InputError(
            "column_info must map column names to their descriptions, as in {'chol': "
            f"{{'unit': 'mg/dl'}}}}; found {type(given).__name__}."
        )
    for column, own in given.items():
        unknown = set(own) - set(GIVEN)
        wrong = unknown or {v for v in own.values() if not isinstance(v, str)}
        if wrong:
            raise InputError(
                f"column_info of {column!r} holds {sorted(map(repr, wrong))[0]}; "
                f"expected texts under {', '.join(GIVEN)}."
            )
        check_text(own.values(), f"column_info of {column!r}:")
        check_names(own.values(), f"column_info of {column!r}")
    if given and not set(given) & set(names):
        raise InputError(
            f"column_info names {list(given)[:5]}, none of which is a column that the "
            f"rules know; they know {list(names)[:5]}."
        )
    for name, one in zip(names, known):
        unit = given.get(name, {}).get("unit", one.unit)
        own = (one.unit, "days") if one.kind == "duration" else (one.unit,)
        if one.is_time and unit not in own:
            raise InputError(
                f"column_info gives {name!r} the unit {unit!r}, but it holds dates or "
                "durations, whose unit is known: durations are in days, and times with "
                "a time zone in UTC. Leave the unit out."
            )
    info = tuple(replace(i, **given.get(name, {})) for name, i in zip(names, known))
    shown = [i.name or name for name, i in zip(names, info)]
    if len(set(shown)) != len(shown):
        twice = next(name for name in shown if shown.count(name) > 1)
        raise InputError(
            f"column_info calls two columns {twice!r}; give them different names."
        )
    return info


def glossary(
    names: Sequence[str], info: Sequence[ColumnInfo], used: Collection[int]
) -> list[tuple[str, str]]:
    """Display names and definitions of the given columns.

    Examples
    --------
    >>> info = [ColumnInfo("cholesterol", "mg/dl", "in the blood"), ColumnInfo()]
    >>> glossary(["chol", "age"], info, {0, 1})
    [('cholesterol', 'in the blood, in mg/dl; in the data chol')]
    """
    found = []
    for d in sorted(used):
        one = info[d]
        unit = f"in {one.unit}" if one.unit else ""
        words = ", ".join(filter(None, (one.description, unit)))
        name = printable(names[d])
        own = f"in the data {name}" if one.name else ""
        if one.description or own:
            found.append((one.name or name, "; ".join(filter(None, (words, own)))))
    return found


def shown_names(features: Any) -> tuple[str, ...]:
    """Display names of the columns of a ``FeatureSpace``."""
    return tuple(features.shown(j) for j in range(features.n_features))


def kinds_of(
    encoded: np.ndarray, numeric: Sequence[bool], flagged: Sequence[bool]
) -> list[Kind]:
    """Kind of the numbers of each column in some rows.

    Parameters
    ----------
    encoded : ndarray of shape (n_samples, n_features)
        Encoded rows, with NaN for missing values.
    numeric : sequence of bool
        Whether each column holds numbers, not category codes.
    flagged : sequence of bool
        Whether each column is boolean in the table.

    Examples
    --------
    >>> rows = np.array([[0.5, 3.0, 1.0], [1.5, np.nan, 0.0], [1.0, 8.0, 1.0]])
    >>> kinds_of(rows, [True] * 3, [False] * 3)
    ['number', 'integer', 'binary']
    """
    return [
        _kind(column[~np.isnan(column)], flag) if is_number else "number"
        for column, is_number, flag in zip(encoded.T, numeric, flagged)
    ]


def _kind(values: np.ndarray, flag: bool) -> Kind:
    low, high = (values.min(), values.max()) if len(values) else (0.0, 0.0)
    if not -LARGEST_WHOLE < low < high < LARGEST_WHOLE:
        # A single value determines no kind.
        return "number"
    # Most columns of fractional numbers have one in their first cells.
    if (values[:100] % 1).any() or (values % 1).any():
        return "number"
    if low == 0 and high == 1:
        return "boolean" if flag else "binary"
    return "integer"


def info_of_more(
    info: Sequence[ColumnInfo], encoded: np.ndarray
) -> tuple[ColumnInfo, ...]:
    """Update the kinds of columns with further rows.

    Examples
    --------
    >>> kinds = [ColumnInfo(kind=kind) for kind in ("integer", "binary", "date")]
    >>> infos = info_of_more(kinds, np.array([[3.0, 2.0, 0.5], [0.5, np.nan, 1.0]]))
    >>> [one.kind for one in infos]
    ['number', 'integer', 'date']
    """
    kinds = [
        _shared(one.kind, _narrowest(column[~np.isnan(column)], one.kind))
        for one, column in zip(info, encoded.T)
    ]
    return tuple(replace(one, kind=kind) for one, kind in zip(info, kinds))


def info_of_both(
    info: Sequence[ColumnInfo], other: Sequence[ColumnInfo]
) -> tuple[ColumnInfo, ...]:
    """Combine the kinds of columns of two tables.

    Examples
    --------
    >>> here, there = ColumnInfo(kind="binary"), ColumnInfo(kind="integer")
    >>> info_of_both([here], [there])[0].kind
    'integer'
    """
    pairs = zip(info, other)
    return tuple(replace(a, kind=_shared(a.kind, b.kind)) for a, b in pairs)


def _narrowest(values: np.ndarray, kind: Kind) -> Kind:
    """The narrowest kind that allows these values and a kind; times are unchanged."""
    if kind not in NUMBERS or np.isin(values, (0, 1)).all():
        return kind
    whole = (np.abs(values) < LARGEST_WHOLE).all() and not (values % 1).any()
    return "integer" if whole else "number"


def _shared(one: Kind, other: Kind) -> Kind:
    if one == other:
        return one
    return NUMBERS[min(NUMBERS.index(k) if k in NUMBERS else 0 for k in (one, other))]


def info_with(X: Any) -> Any:
    """Column metadata attached to a table: ``attrs`` of a pandas frame.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"chol": [180.0]})
    >>> frame.attrs["column_info"] = {"chol": {"unit": "mg/dl"}}
    >>> info_with(frame)
    {'chol': {'unit': 'mg/dl'}}
    """
    attrs = getattr(X, "attrs", None)
    given = attrs.get("column_info", {}) if isinstance(attrs, dict) else {}
    if not given or not isinstance(given, Mapping):
        return given
    return {name: given[name] for name in map(str, X.columns) if name in given}
