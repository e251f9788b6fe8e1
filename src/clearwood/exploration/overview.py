"""Overview of the columns of a table."""

from __future__ import annotations

import numpy as np
import pandas as pd

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import share_text, short_text

MOST_SHOWN = 3
"""Maximum number of categories of a column that are shown."""


def describe_columns(frame: pd.DataFrame) -> pd.DataFrame:
    """Type, missing share, number of distinct values and values of each column.

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
        kind, values = _values(column.dropna())
        lines.append({
            "column": name, "type": kind, "missing": float(column.isna().mean()),
            "distinct": column.nunique(), "values": values,
        })  # fmt: skip
    return pd.DataFrame(lines)


def _values(known: pd.Series) -> tuple[str, str]:
    types = pd.api.types
    if known.empty:
        return "empty", ""
    if types.is_datetime64_any_dtype(known):
        return "date", f"{known.min():%Y-%m-%d} to {known.max():%Y-%m-%d}"
    if types.is_numeric_dtype(known) and not types.is_bool_dtype(known):
        low, middle, high = map(
            short_text, np.quantile(known.astype(float), [0, 0.5, 1])
        )
        return "number", f"{low} to {high}, median {middle}"
    shares = known.value_counts(normalize=True)
    shown = [
        f"{prediction_text(label)} {share_text(share)}"
        for label, share in shares[:MOST_SHOWN].items()
    ]
    if len(shares) > MOST_SHOWN:
        shown.append(f"{len(shares) - MOST_SHOWN} more")
    kind = "boolean" if set(map(type, known)) <= {bool, np.bool_} else "category"
    return kind, ", ".join(shown)
