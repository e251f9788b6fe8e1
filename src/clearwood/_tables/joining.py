"""Consistency and concatenation of the parts of a table."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.columns.cells import shown
from clearwood.exceptions import InputError

KINDS = {"i": "numbers", "u": "numbers", "f": "numbers", "b": "booleans",
         "M": "dates", "m": "durations"}  # fmt: skip

MIXED = "mixed"

OBJECTS = {
    "string": "text", "integer": "numbers", "floating": "numbers",
    "mixed-integer-float": "numbers", "boolean": "booleans", "date": "dates",
    "datetime": "dates", "datetime64": "dates", "timedelta": "durations",
    "timedelta64": "durations", "empty": None, "mixed-integer": MIXED,
}  # fmt: skip
"""Kind of a column of objects, by pandas' inferred type."""

TARGET = ""
"""Stands for the target among column names."""


def kinds_of(X: Any, y: Any = None) -> dict[str, str]:
    """Kinds of the columns of a part, and of the target; without empty columns."""
    import pandas as pd

    columns = {str(name): c for name, c in X.items()} if hasattr(X, "columns") else {}
    if y is not None:
        columns[TARGET] = pd.Series(y)
    kinds = {name: _kind(column) for name, column in columns.items()}
    for name in [name for name, kind in kinds.items() if kind == MIXED]:
        _check_mixed(name, columns[name])
        kinds[name] = None
    return {name: kind for name, kind in kinds.items() if kind is not None}


def check_kinds(
    kinds: dict[str, str], place: str, seen: dict[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Raise an error if columns differ in kind from earlier parts.

    Parameters
    ----------
    kinds : dict
        Result of :func:`kinds_of` for the part.
    place : str
        Name of the part, for messages.
    seen : dict
        By column, its kind and the part where it was first seen.

    Returns
    -------
    dict
        ``seen``, updated with this part.

    Examples
    --------
    >>> import pandas as pd
    >>> seen = check_kinds(kinds_of(pd.DataFrame({"age": [31]})), "part 0", {})
    >>> check_kinds(kinds_of(pd.DataFrame({"age": ["old"]})), "part 1", seen)
    Traceback (most recent call last):
        ...
    clearwood.exceptions.InputError: part 1: column 'age' holds text, but in part 0 \
it holds numbers. Convert it to one type in all parts.
    """
    found = dict(seen)
    for name, kind in kinds.items():
        before, first = found.setdefault(name, (kind, place))
        if kind != before:
            raise InputError(
                f"{place}: {_words(name)} holds {kind}, but in {first} it holds "
                f"{before}. Convert it to one type in all parts."
            )
    return found


def _kind(column: Any) -> str | None:
    """Kind of a column; None for an empty one, ``MIXED`` for a mixture."""
    import pandas as pd

    kind = column.dtype.kind if hasattr(column.dtype, "kind") else "O"
    if isinstance(column.dtype, pd.CategoricalDtype):
        # The type of the categories matters: text and numbers are different cells.
        return _kind(column.cat.categories.to_series())
    if getattr(column.dtype, "tz", None) is not None:
        return "times with a time zone"
    if kind in KINDS:
        # pandas infers numbers for a column without values, whatever its type.
        empty = kind == "f" and not column.notna().any()
        return None if empty else KINDS[kind]
    inferred = pd.api.types.infer_dtype(column, skipna=True)
    return OBJECTS.get(inferred, inferred)


def _check_mixed(name: str, column: Any) -> None:
    """Raise an error for texts among other cells; readers check other mixtures."""
    texts = np.array([isinstance(cell, str) for cell in column.tolist()], dtype=bool)
    known = np.flatnonzero(column.notna())
    others = known[texts[known] != texts[known[0]]]
    if len(others):
        row = int(others[0])
        raise InputError(
            f"{_words(name)} holds {shown(column.iloc[row])} in row {row}, but "
            f"{shown(column.iloc[known[0]])} above it. Convert it to one type, or "
            "to categorical (in pandas: astype('category')).",
            row=row,
        )


def _words(name: str) -> str:
    return "the target" if name == TARGET else f"column {name!r}"


def joined(parts: list[Any]) -> Any:
    """Concatenate arrays, or frames of the same columns; None stays None.

    Categories are merged, in the order of their first occurrence.
    """
    if parts[0] is None:
        return None
    if not hasattr(parts[0], "columns"):
        return np.concatenate(parts)
    import pandas as pd
    from pandas.api.types import union_categoricals

    columns = {}
    for name in parts[0].columns:
        pieces = [part[name] for part in parts]
        of_categories = [isinstance(p.dtype, pd.CategoricalDtype) for p in pieces]
        if all(of_categories) and len({p.dtype for p in pieces}) > 1:
            columns[name] = union_categoricals(pieces, ignore_order=True)
        else:
            filled = [p for p in pieces if p.notna().any()] or pieces[:1]
            # A part without values has an arbitrary dtype from its file.
            common = filled[0].dtype if len({p.dtype for p in filled}) == 1 else None
            if (
                common is not None
                and common.kind in "iub"
                and len(filled) < len(pieces)
            ):
                common = np.dtype("f8") if common.kind != "b" else np.dtype(object)
            pieces = pieces if common is None else [p.astype(common) for p in pieces]
            columns[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(columns)
