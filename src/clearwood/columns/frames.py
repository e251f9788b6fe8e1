"""Columns of a frame, each converted once per call, however often it is used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property
from typing import Any

import numpy as np

from clearwood.columns.cells import EXACT, are_flags, checked, refuse_zone
from clearwood.columns.sparse_tables import with_dense_columns

Codes = dict[Any, tuple[np.ndarray, np.ndarray]]
"""Cells and codes of columns, by encoding."""


class FrameColumn:
    """A column of a frame, converted to an array on first use.

    Parameters
    ----------
    series : narwhals Series
    """

    def __init__(self, series: Any) -> None:
        self.series = series

    @cached_property
    def dtype(self) -> Any:
        """Its narwhals dtype."""
        return self.series.dtype

    @cached_property
    def cells(self) -> np.ndarray:
        """Its cells, as numbers of their own dtype or as objects.

        Dates are ``datetime64``, those with a time zone in UTC; durations
        ``timedelta64``.
        """
        cells: np.ndarray = _cells_of(self.series)
        return cells

    @cached_property
    def is_flag(self) -> bool:
        """Whether it holds booleans, with or without missing values."""
        import narwhals as nw

        if self.dtype == nw.Object:
            return are_flags(self.cells.tolist())
        return bool(self.dtype == nw.Boolean)

    @property
    def is_declared(self) -> bool:
        """Whether it has a categorical dtype."""
        import narwhals as nw

        return self.dtype in (nw.Categorical, nw.Enum)

    def check_zone(self, name: str, zoned: bool) -> None:
        """Raise an error if dates have a time zone and others have none, or vice versa.

        Cells of object dtype are checked by :func:`~clearwood.columns.cells.days`.

        Parameters
        ----------
        name : str
            Display name of the feature.
        zoned : bool
            Whether the dates that these are compared with have a time zone.
        """
        import narwhals as nw

        series = self.series
        if self.dtype in (nw.Date, nw.Datetime):
            has_zone = getattr(self.dtype, "time_zone", None) is not None
            if has_zone != zoned and series.null_count() < len(series):
                cell = series.drop_nulls()[0]
                refuse_zone(name, zoned, f"{cell} in the data has")


def _cells_of(series: Any) -> Any:
    import narwhals as nw

    dtype = series.dtype
    if dtype == nw.Duration:
        return series.to_numpy().astype("m8[us]")
    if dtype in (nw.Date, nw.Datetime):
        if getattr(dtype, "time_zone", None):
            series = series.dt.convert_time_zone("UTC").dt.replace_time_zone(None)
        return series.to_numpy().astype("M8[us]")

    if dtype.is_float():
        return series.cast(nw.Float64).to_numpy()
    if dtype.is_integer() or dtype == nw.Boolean:
        if not series.null_count() and dtype not in (nw.Int128, nw.UInt128):
            return series.to_numpy()
        values = series.cast(nw.Float64).to_numpy()
        if not (np.abs(values) >= EXACT).any():
            return values
    cells = series.to_list()
    return checked(np.fromiter(cells, dtype=object, count=len(cells)), series.name)


class Frame:
    """A frame as a mapping from column names (text) to lazily converted columns.

    Parameters
    ----------
    X : frame of pandas, polars or another library supported by narwhals
    """

    def __init__(self, X: Any) -> None:
        # A reference, so that no other table gets its id.
        self.table = X
        self.names = {str(name): name for name in X.columns}
        self._columns: dict[str, FrameColumn] = {}
        self.codes: Codes | None = None
        """Columns encoded by `FeatureSpace.encode`, if cached."""

    @cached_property
    def _dense(self) -> Any:
        import narwhals as nw

        return nw.from_native(with_dense_columns(self.table), eager_only=True)

    def __getitem__(self, name: str) -> FrameColumn:
        if name not in self._columns:
            column = FrameColumn(self._dense.get_column(self.names[name]))
            self._columns[name] = column
        return self._columns[name]

    def __iter__(self) -> Iterator[FrameColumn]:
        return map(self.__getitem__, self.names)

    def read(self) -> list[np.ndarray]:
        """Cells of all columns, in their order."""
        return [column.cells for column in self]


_KEPT: ContextVar[dict[int, Frame] | None] = ContextVar("kept", default=None)


@contextmanager
def read_once() -> Iterator[None]:
    """Context in which the columns of a cached frame are converted once.

    The cache ends with the call, so that later calls see changes of the frame. A nested
    context shares the frames that :func:`kept_frame` has cached in the outer one. Also
    a decorator.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"age": [31, 52]})
    >>> with read_once():
    ...     kept_frame(table) is frame_of(table)
    True
    >>> frame_of(table) is frame_of(table)
    False
    """
    token = _KEPT.set({**(_KEPT.get() or {})})
    try:
        yield
    finally:
        _KEPT.reset(token)


def frame_of(X: Any) -> Frame:
    """The frame's columns, from the cache of the current call if possible."""
    return (_KEPT.get() or {}).get(id(X)) or Frame(X)


def kept_frame(X: Any, *, codes: bool = False) -> Frame:
    """As :func:`frame_of`, and cache the columns until the current call ends.

    Parameters
    ----------
    X : frame
    codes : bool, default=False
        Whether to cache the encoded columns, too: as much memory again.
    """
    frame, kept = frame_of(X), _KEPT.get()
    if codes:
        frame.codes = {}
    if kept is not None:
        kept[id(X)] = frame
    return frame


def codes_of(X: Any, features: Any, column: np.ndarray, d: int) -> np.ndarray:
    """Encode a column by a feature, or return cached codes of an equal encoding.

    Parameters
    ----------
    X : array-like or frame
        The table.
    features : FeatureSpace
    column : ndarray of shape (n_rows,)
        Its cells.
    d : int
        The feature.
    """
    frame = (_KEPT.get() or {}).get(id(X))
    if frame is None or frame.codes is None:
        found: np.ndarray = features.encode_column(column, d)
        return found
    known, how = frame.codes, (
        id(column), features.categories[d], features.lookup[d], features.missing_at[d],
        features.float32, features.info[d].time_kind,
    )  # fmt: skip
    if how not in known:
        # With the cells, so that no other array gets their id.
        known[how] = column, features.encode_column(column, d)
    return known[how][1]
