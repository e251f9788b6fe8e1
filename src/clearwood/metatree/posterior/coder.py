"""From a table to its features, and to the codes by which rows find their way down."""

from __future__ import annotations

import datetime
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from clearwood._cells import frame_cells, is_missing, shown
from clearwood._features import FeatureSpace, is_frame
from clearwood.exceptions import InputError
from clearwood.rules.bins import FeatureBins

MOST_VALUES = 256
"""Of one feature, where a node has one child per value."""

DATES = (
    *(datetime.date, datetime.time, datetime.timedelta),
    *(np.datetime64, np.timedelta64),
)
NUMBERS = (Real, Decimal, np.bool_)


@dataclass(frozen=True, eq=False)
class BinCoder:
    """Codes of features that are split at cuts or by category sets: their bins.

    Parameters
    ----------
    bins : FeatureBins
    """

    bins: FeatureBins

    @property
    def features(self) -> FeatureSpace:
        """Names and categories."""
        return self.bins.features

    @property
    def n_codes(self) -> np.ndarray:
        """Number of codes per feature; the last of a numeric one is missing."""
        return self.bins.n_bins

    def missing_code(self, feature: int) -> int:
        """The code of a missing value."""
        return self.bins.missing_bin(feature)

    def encode(self, X: Any) -> np.ndarray:
        """Codes of a table, of shape (n_rows, n_features)."""
        return self.bins.transform(X)

    def codes_of(self, encoded: np.ndarray) -> np.ndarray:
        """The same from cells that ``features.encode`` has made numbers."""
        return self.bins.transform_encoded(encoded)


@dataclass(frozen=True, eq=False)
class ValueCoder:
    """Codes of features with few values: the value, or the category, is the code.

    After the values of a feature come the codes for missing and for unseen.

    Parameters
    ----------
    features : FeatureSpace
        A feature without categories holds whole numbers from 0 on.
    n_values : ndarray of shape (n_features,)

    Examples
    --------
    >>> coder = ValueCoder(FeatureSpace.numeric(2), np.array([2, 3]))
    >>> coder.encode([[0, 2], [None, 7]]).tolist()
    [[0, 2], [2, 4]]
    """

    features: FeatureSpace
    n_values: np.ndarray

    @property
    def n_codes(self) -> np.ndarray:
        """Number of codes per feature, missing and unseen included."""
        return self.n_values + 2

    def missing_code(self, feature: int) -> int:
        """The code of a missing value."""
        return int(self.n_values[feature])

    def encode(self, X: Any) -> np.ndarray:
        """Codes of a table, of shape (n_rows, n_features)."""
        return self.codes_of(self.features.encode(X))

    def codes_of(self, encoded: np.ndarray) -> np.ndarray:
        """The same from cells that ``features.encode`` has made numbers."""
        missing = np.isnan(encoded)
        with np.errstate(invalid="ignore"):
            whole = missing | (encoded == np.floor(encoded))
            outside = (encoded < 0) | (encoded >= self.n_values)
        if not whole.all():
            row, d = np.argwhere(~whole)[0]
            raise InputError(
                f"Feature {self.features.names[d]!r} holds {encoded[row, d]} in row "
                f"{row}; a tree on given values reads whole numbers from 0 to "
                f"{self.n_values[d] - 1}. Bin the feature first."
            )
        encoded = np.where(outside, self.n_values + 1, encoded)
        encoded = np.where(missing, self.n_values, encoded)
        dtype = np.min_scalar_type(int(self.n_codes.max(initial=1)) - 1)
        return np.ascontiguousarray(encoded, dtype=dtype)


Coder = BinCoder | ValueCoder


def features_of(X: Any, counted: np.ndarray) -> FeatureSpace:
    """Names of a table's columns, and the categories of those that hold labels.

    A column holds labels where its type says so (the categories of pandas and polars,
    whatever they are, whole numbers too), or where its cells are texts.

    Parameters
    ----------
    X : ndarray or frame of shape (n_rows, n_features)
    counted : ndarray of bool of shape (n_rows,)
        Rows whose categories count as seen.

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
    >>> features_of(frame, np.array([True, True])).categories
    (None, ('red',))
    """
    if not is_frame(X):
        return FeatureSpace.numeric(X.shape[1])
    import narwhals as nw

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
                f"{row}), whose order trees cannot read; turn them into numbers (days "
                "since a day, the month) or leave them out."
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


def count_values(encoded: np.ndarray, features: FeatureSpace) -> np.ndarray:
    """How many values each feature has: its categories, or whole numbers from 0 on.

    Examples
    --------
    >>> count_values(np.array([[0.0, 2.0], [1.0, 0.0]]), FeatureSpace.numeric(2))
    array([2, 3])
    """
    wrong = ~((encoded >= 0) & (encoded == np.floor(encoded)) & (encoded < MOST_VALUES))
    if wrong.any():
        row, d = np.argwhere(wrong)[0]
        raise InputError(
            f"Feature {features.names[d]!r} holds {encoded[row, d]} in row {row}; the "
            f"sum over all trees reads labels, or whole numbers from 0 to "
            f"{MOST_VALUES - 1}, none missing. Bin the feature first."
        )
    found = [
        len(labels) if labels is not None else int(column.max()) + 1
        for labels, column in zip(features.categories, encoded.T)
    ]
    return np.maximum(found, 2)
