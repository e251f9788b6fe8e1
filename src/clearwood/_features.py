"""The columns a model reads: their names, their categories, and how to encode them.

Every room speaks of data in one form: a float64 matrix with one column per
feature, where a numeric feature holds its value, a categorical feature holds the
position of its category in ``categories``, a missing value is NaN and a category
that the model has never seen is ``UNSEEN``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.exceptions import InputError

UNSEEN = -1.0
"""Code of a category that the model has never seen."""


@dataclass(frozen=True)
class FeatureSpace:
    """Names and categories of the features of one model.

    Parameters
    ----------
    names : tuple of str
        One name per feature.
    categories : tuple of (None or tuple)
        ``None`` for a numeric feature, else its category labels in code order.
    named : bool, default=True
        False when the names were made up (``x0``, ``x1``, ...) because the model
        was fitted on data without column names; columns then go by position.

    Examples
    --------
    >>> space = FeatureSpace(("age", "sex"), (None, ("female", "male")))
    >>> space.encode([[31.5, "male"], [None, "unknown"]])
    array([[31.5,  1. ],
           [ nan, -1. ]])
    """

    names: tuple[str, ...]
    categories: tuple[tuple[Hashable, ...] | None, ...]
    named: bool = True

    def __post_init__(self) -> None:
        if len(self.names) != len(self.categories):
            raise InputError(
                f"{len(self.names)} feature names but categories for "
                f"{len(self.categories)} features; give None for a numeric feature."
            )
        check_distinct(self.names)

    @classmethod
    def numeric(
        cls, n_features: int, names: Sequence[str] | None = None
    ) -> FeatureSpace:
        """All features numeric; names are ``x0, x1, ...`` where none are given."""
        named = names is not None
        labels = [f"x{i}" for i in range(n_features)] if names is None else names
        return cls(tuple(str(n) for n in labels), (None,) * n_features, named)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.names)

    def renamed(self, names: Sequence[str]) -> FeatureSpace:
        """The same features under the names of the user's data."""
        if len(names) != self.n_features:
            raise InputError(
                f"The data has {len(names)} columns, the model reads "
                f"{self.n_features}; hand in the columns the model was fitted on."
            )
        return FeatureSpace(tuple(str(n) for n in names), self.categories, True)

    def encode(self, X: Any) -> np.ndarray:
        """Turn a table into the float64 matrix that all rooms read.

        Parameters
        ----------
        X : array-like or pandas or polars frame of shape (n_samples, n_features)
            A frame is read by column name where the model knows names (further
            columns are ignored), else by position.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Values, category codes, NaN for missing, ``UNSEEN`` for an unknown
            category.

        Raises
        ------
        InputError
            A column is missing, there are too many or too few columns, or a
            numeric feature holds something that is not a number.
        """
        if isinstance(X, np.ndarray) and X.dtype.kind in "fiub" and X.ndim == 2:
            self._check_width(X.shape[1])
            if not any(self.categories):
                return np.ascontiguousarray(X, dtype=np.float64)
            columns = list(X.T)
        else:
            columns = self._columns(X)
        encoded = np.empty((len(columns[0]) if columns else 0, self.n_features))
        for d, column in enumerate(columns):
            labels = self.categories[d]
            if labels is None:
                encoded[:, d] = _numeric_column(column, self.names[d])
            else:
                encoded[:, d] = _category_codes(column, labels)
        return encoded

    def _columns(self, X: Any) -> list[np.ndarray]:
        if not is_frame(X):
            table = np.asarray(X, dtype=object)
            if table.ndim != 2:
                raise InputError(
                    f"Expected a table of rows and columns, found {table.ndim} "
                    "dimension(s); for one row use X.reshape(1, -1)."
                )
            self._check_width(table.shape[1])
            return list(table.T)
        names = [str(name) for name in X.columns]
        check_distinct(names)
        if not self.named:
            self._check_width(len(names))
            return [_frame_column(X, name) for name in X.columns]
        absent = [name for name in self.names if name not in names]
        if absent:
            raise InputError(
                f"The model reads column(s) {absent}, which the data lacks; "
                f"found {names}."
            )
        position = dict(zip(names, X.columns))
        return [_frame_column(X, position[name]) for name in self.names]

    def _check_width(self, width: int) -> None:
        if width != self.n_features:
            raise InputError(
                f"X has {width} features, but the model reads {self.n_features} "
                "features; hand in the columns the model was fitted on."
            )


def check_distinct(names: Sequence[str]) -> None:
    """Refuse column names that occur twice."""
    if len(set(names)) != len(names):
        twice = sorted(name for name, n in Counter(names).items() if n > 1)
        raise InputError(
            f"Feature names must differ, found more than once: {twice}. "
            "Rename these columns."
        )


def is_frame(X: Any) -> bool:
    """Whether a table has named columns (pandas, polars)."""
    return hasattr(X, "columns") and hasattr(X, "shape")


def _frame_column(frame: Any, name: Any) -> np.ndarray:
    import narwhals as nw

    series = nw.from_native(frame, eager_only=True).get_column(name)
    if series.dtype.is_numeric() or series.dtype == nw.Boolean:
        # Nulls of nullable types become NaN; large integers lose nothing that a
        # tree, which compares in floating point, could have seen.
        return series.cast(nw.Float64).to_numpy()
    return np.asarray(series.to_list(), dtype=object)


def _numeric_column(column: np.ndarray, name: str) -> np.ndarray:
    if column.dtype.kind in "fiub":
        return column.astype(np.float64)
    values = np.empty(len(column))
    for i, value in enumerate(column):
        try:
            values[i] = np.nan if is_missing(value) else float(value)
        except (TypeError, ValueError):
            raise InputError(
                f"Feature {name!r} is numeric in the model, but row {i} holds "
                f"{value!r}; make the column numeric or leave the cell empty."
            ) from None
    return values


def _category_codes(column: np.ndarray, labels: tuple[Hashable, ...]) -> np.ndarray:
    code = {label: float(i) for i, label in enumerate(labels)}
    return np.array(
        [np.nan if is_missing(v) else code.get(v, UNSEEN) for v in column.tolist()],
        dtype=np.float64,
    )


def is_missing(value: Any) -> bool:
    """Whether a cell is empty: None, NaN, NaT or pandas' NA."""
    if value is None:
        return True
    # NaN, NaT and pandas' NA are the values that do not equal themselves.
    try:
        return bool(value != value)
    except TypeError:
        return type(value).__name__ == "NAType"
