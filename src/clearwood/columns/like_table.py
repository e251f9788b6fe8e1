"""Encoded rows as a table like another one, with its types of columns."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import column_of_times
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.sparse_tables import is_sparse
from clearwood.exceptions import InputError


class TableLike(NamedTuple):
    """Template of tables.

    Attributes
    ----------
    features : FeatureSpace
    blank : ndarray or frame
        The table without its rows.
    cells : tuple of (None or frame)
        Per categorical column of a frame a row for each category, as in the table, and
        one that is missing if any is.
    """

    features: FeatureSpace
    blank: Any
    cells: tuple[Any, ...]

    @classmethod
    def of(cls, X: Any, features: FeatureSpace) -> TableLike:
        """Template of tables like X."""
        cells: list[Any] = [None] * features.n_features
        if is_frame(X) and not is_sparse(X):
            import narwhals as nw

            frame, encoded = nw.from_native(X, eager_only=True), features.encode(X)
            for d, labels in enumerate(features.categories):
                if labels is not None:
                    column = encoded[:, d]
                    column = np.where(np.isnan(column), len(labels), column)
                    rows = np.unique(column, return_index=True)[1].tolist()
                    cells[d] = frame.select(frame.columns[d])[rows].to_native()
        return cls(features, X[:0], tuple(cells))

    def decode(self, encoded: np.ndarray) -> Any:
        """Convert encoded rows to a table; an array of numbers is as encoded."""
        if not is_frame(self.blank):
            return encoded
        import narwhals as nw

        blank = nw.from_native(self.blank, eager_only=True)
        columns = []
        for d, name in enumerate(blank.columns):
            column, kind = encoded[:, d], blank.schema[name]
            if self.features.info[d].is_time:
                info = self.features.info[d]
                columns.append(column_of_times(name, column, kind, info, blank))
                continue
            if self.features.info[d].kind == "boolean" and np.isnan(column).any():
                columns.append(_column_of_flags(column, blank.get_column(name)))
                continue
            if self.cells[d] is None:
                columns.append(_column_of_numbers(name, column, kind, blank))
                continue
            n_labels = len(self.features.categories[d] or ())
            rows = np.where(np.isnan(column), n_labels, column).astype(np.int64)
            known = nw.from_native(self.cells[d], eager_only=True)
            if (column == UNSEEN).any() or rows.max(initial=0) >= len(known):
                raise InputError(
                    f"Column {name!r} holds a category, or a missing value, that was "
                    "not in the first table; pass the whole table."
                )
            columns.append(known[name][rows.tolist()])
        return nw.concat([c.to_frame() for c in columns], how="horizontal").to_native()


def _column_of_numbers(name: str, column: np.ndarray, kind: Any, blank: Any) -> Any:
    """Numbers in the column's own type, where that is lossless."""
    import narwhals as nw

    made = nw.new_series(name, column, nw.Float64(), backend=blank.implementation)
    whole = bool(np.isfinite(column).all() and (column == np.round(column)).all())
    exact = kind.is_integer() or kind == nw.Boolean
    return made.cast(kind) if (whole and exact) or kind == nw.Float32 else made


def _column_of_flags(column: np.ndarray, own: Any) -> Any:
    """Booleans with missing values, in the type of the original column."""
    import narwhals as nw

    cells = [None if np.isnan(cell) else bool(cell) for cell in column]
    made = nw.new_series(own.name, cells, backend=own.implementation)
    if made.dtype == own.dtype:
        return made
    kind = own.to_native().dtype  # pandas has several types for them
    return nw.from_native(made.to_native().astype(kind), series_only=True)
