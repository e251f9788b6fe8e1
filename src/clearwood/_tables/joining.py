"""Whether the parts of a table fit together, and how they are put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.exceptions import InputError

KINDS = {"i": "numbers", "u": "numbers", "f": "numbers", "b": "truth values",
         "M": "dates", "m": "durations"}  # fmt: skip


def check_kinds(
    X: Any, place: str, seen: dict[str, tuple[str, str]]
) -> dict[str, tuple[str, str]]:
    """Refuse a part whose columns hold something else than those before it.

    Parameters
    ----------
    X : ndarray or pandas.DataFrame
        The part.
    place : str
        Where it comes from.
    seen : dict
        By the column's name its kind, and where it was seen first.

    Returns
    -------
    dict
        The same of this part, too.

    Examples
    --------
    >>> import pandas as pd
    >>> seen = check_kinds(pd.DataFrame({"age": [31]}), "part 0", {})
    >>> check_kinds(pd.DataFrame({"age": ["old"]}), "part 1", seen)
    Traceback (most recent call last):
        ...
    clearwood.exceptions.InputError: part 1: column 'age' holds text, but in part 0 \
it holds numbers. Give the column one type in all parts.
    """
    if not hasattr(X, "columns"):
        return seen
    found = dict(seen)
    for name, column in X.items():
        kind = _kind(column)
        if kind is None:
            continue
        before, first = found.setdefault(str(name), (kind, place))
        if kind != before:
            raise InputError(
                f"{place}: column {str(name)!r} holds {kind}, but in {first} it holds "
                f"{before}. Give the column one type in all parts."
            )
    return found


def _kind(column: Any) -> str | None:
    """What a column holds; None where it holds nothing."""
    import pandas as pd

    kind = column.dtype.kind if hasattr(column.dtype, "kind") else "O"
    if isinstance(column.dtype, pd.CategoricalDtype):
        # Categories may be of text or of numbers: those are different cells.
        return _kind(column.cat.categories.to_series())
    if getattr(column.dtype, "tz", None) is not None:
        return "times with a time zone"
    if kind in KINDS:
        # A column without a cell is numbers to pandas, whatever it would have held.
        empty = kind == "f" and not column.notna().any()
        return None if empty else KINDS[kind]
    cell = next(iter(column.dropna().head(1)), None)
    if cell is None:
        return None
    if isinstance(cell, bool | np.bool_):
        return "truth values"
    return "text" if isinstance(cell, str) else type(cell).__name__


def joined(parts: list[Any]) -> Any:
    """Arrays, or frames of the same columns, one after the other; None stays None.

    Of categories that differ all are kept, in the order in which they come.
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
            held = [p for p in pieces if p.notna().any()] or pieces[:1]
            # A piece without a cell has whatever type its file gave it.
            common = held[0].dtype if len({p.dtype for p in held}) == 1 else None
            if common is not None and common.kind in "iub" and len(held) < len(pieces):
                common = np.dtype("f8") if common.kind != "b" else np.dtype(object)
            pieces = pieces if common is None else [p.astype(common) for p in pieces]
            columns[name] = pd.concat(pieces, ignore_index=True)
    return pd.DataFrame(columns)
