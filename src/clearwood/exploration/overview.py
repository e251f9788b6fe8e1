"""Overview of the columns of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import share_text, short_text

MOST_SHOWN = 3
"""Maximum number of categories of a column that are shown."""


def describe_columns(frame: pd.DataFrame, least: int = 1) -> pd.DataFrame:
    """Type, missing share, number of distinct values and values of each column.

    With ``least`` above 1, quartiles replace the extremes, which are values of single
    rows; categories of fewer rows, and values of columns with fewer, are not shown.

    Examples
    --------
    >>> frame = pd.DataFrame({"dose": [1.0, 2.5, None], "arm": ["a", "b", "a"]})
    >>> describe_columns(frame).to_dict("records")[0] # doctest: +NORMALIZE_WHITESPACE
    {'column': 'dose', 'type': 'number', 'missing': 0.333..., 'distinct': 2,
     'values': '1 to 2.5, median 1.75'}
    """
    lines = []
    for name in frame:
        column = frame[name]
        known = column.dropna()
        kind, values = _values(known, least)
        lines.append({
            "column": name, "type": kind, "missing": float(column.isna().mean()),
            "distinct": column.nunique(),
            "values": values if len(known) >= least else "",
        })  # fmt: skip
    return pd.DataFrame(lines)


def _values(known: pd.Series, least: int) -> tuple[str, str]:
    types = pd.api.types
    levels, kind = (
        ([0, 0.5, 1], "") if least == 1 else ([0.25, 0.5, 0.75], "quartiles ")
    )
    if known.empty:
        return "empty", ""
    if types.is_datetime64_any_dtype(known):
        low, _, high = known.quantile(levels)
        return "date", f"{kind}{low:%Y-%m-%d} to {high:%Y-%m-%d}"
    if types.is_numeric_dtype(known) and not types.is_bool_dtype(known):
        low, middle, high = map(short_text, np.quantile(known.astype(float), levels))
        return "number", f"{kind}{low} to {high}, median {middle}"
    counts = known.value_counts()
    shown = [
        f"{prediction_text(label)} {share_text(n / len(known))}"
        for label, n in counts[:MOST_SHOWN].items()
        if n >= least
    ]
    if len(counts) > len(shown):
        shown.append(f"{len(counts) - len(shown)}{' more' if shown else ' categories'}")
    kind = "boolean" if set(map(type, known)) <= {bool, np.bool_} else "category"
    return kind, ", ".join(shown)
