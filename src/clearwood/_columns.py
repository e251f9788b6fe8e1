"""Which columns of a table hold numbers, and which labels."""

from __future__ import annotations

import datetime
from collections.abc import Hashable
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from clearwood._cells import frame_cells, is_missing, shown
from clearwood._features import FeatureSpace, is_frame
from clearwood.exceptions import InputError

DATES = (
    *(datetime.date, datetime.time, datetime.timedelta),
    *(np.datetime64, np.timedelta64),
)
NUMBERS = (Real, Decimal, np.bool_)


def features_of(X: Any, counted: np.ndarray | None = None) -> FeatureSpace:
    """Names of a table's columns, and the categories of those that hold labels.

    A column holds labels where its type says so (the categories of pandas and polars,
    whatever they are, whole numbers too), or where its cells are texts.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
    counted : ndarray of bool of shape (n_rows,), optional
        Rows whose categories count as seen; by default all.

    Returns
    -------
    FeatureSpace

    Raises
    ------
    InputError
        A column holds dates, or both texts and numbers. As labels every new one would
        be unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "hue": ["red", None]})
    >>> features_of(frame).categories
    (None, ('red',))
    """
    if not is_frame(X):
        return FeatureSpace.numeric(np.shape(X)[1])
    import narwhals as nw

    counted = np.ones(X.shape[0], dtype=bool) if counted is None else counted

    frame = nw.from_native(X, eager_only=True)
    categories = []
    for name in X.columns:
        column = frame.get_column(name)
        cells = frame_cells(column)
        declared = column.dtype in (nw.Categorical, nw.Enum)
        by_label = declared or (cells.dtype == object and _are_texts(cells, str(name)))
        categories.append(_labels(cells, counted) if by_label else None)
    return FeatureSpace(tuple(str(name) for name in X.columns), tuple(categories))


def _are_texts(cells: np.ndarray, name: str) -> bool:
    """Whether objects are texts, or else numbers; all others are refused."""
    first: dict[type, int] = {}
    for row, cell in enumerate(cells):
        if type(cell) not in first and not is_missing(cell):
            first[type(cell)] = row
    for kind, row in first.items():
        if issubclass(kind, DATES):
            raise InputError(
                f"Column(s) {[name]} hold dates or times ({shown(cells[row])} in row "
                f"{row}), which are read neither as numbers nor as labels; turn them "
                "into numbers (days since a day, the month) or leave them out."
            )
    numbers = {kind for kind in first if issubclass(kind, NUMBERS)}
    others = [row for kind, row in first.items() if kind not in numbers]
    texts = [row for row in others if isinstance(cells[row], str)]
    if others and (numbers or len(texts) < len(others)):
        raise InputError(
            f"Column {name!r} holds numbers and other cells, or neither numbers nor "
            f"texts: {shown(cells[others[0]])} in row {others[0]}. Correct the cell, "
            "or leave it empty; or declare the column to be one of categories (in "
            "pandas: astype('category'))."
        )
    return not numbers


def _labels(cells: np.ndarray, counted: np.ndarray) -> tuple[Hashable, ...]:
    """The distinct labels, in the order of the texts that they are written as."""
    rows = zip(cells.tolist(), counted)
    labels = {cell for cell, counts in rows if counts and not is_missing(cell)}
    return tuple(sorted(labels, key=lambda label: (str(label), str(type(label)))))
