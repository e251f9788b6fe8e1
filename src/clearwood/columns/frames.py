"""The columns of a frame, of which each is read once, also by many who ask for it."""

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
"""Columns and what each is encoded to, by how."""


class FrameColumn:
    """A column of a frame; its cells are read when they are first asked for.

    Parameters
    ----------
    series : narwhals Series
    """

    def __init__(self, series: Any) -> None:
        self.series = series

    @cached_property
    def dtype(self) -> Any:
        """Its type, as narwhals calls it."""
        return self.series.dtype

    @cached_property
    def cells(self) -> np.ndarray:
        """Its cells as numbers of its own type, or as objects.

        Dates are ``datetime64``, those with a time zone in UTC; durations
        ``timedelta64``.
        """
        cells: np.ndarray = _cells_of(self.series)
        return cells

    @cached_property
    def is_flag(self) -> bool:
        """Whether it holds booleans, some of them missing."""
        import narwhals as nw

        if self.dtype == nw.Object:
            return are_flags(self.cells.tolist())
        return bool(self.dtype == nw.Boolean)

    @property
    def is_declared(self) -> bool:
        """Whether its type says that its cells are categories."""
        import narwhals as nw

        return self.dtype in (nw.Categorical, nw.Enum)

    def check_zone(self, name: str, zoned: bool) -> None:
        """Refuse dates that have a time zone where others have none.

        Objects are looked at one by one, by :func:`~clearwood.columns.cells.days`.

        Parameters
        ----------
        name : str
            What the feature is called.
        zoned : bool
            Whether the dates that these are compared with have one.
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
    """The columns of a frame by the text of their names, taken out as they are asked.

    Parameters
    ----------
    X : frame of pandas or polars, or whatever else narwhals takes
    """

    def __init__(self, X: Any) -> None:
        # Held, so that no other table gets its identity.
        self.table = X
        self.names = {str(name): name for name in X.columns}
        self._columns: dict[str, FrameColumn] = {}
        self.codes: Codes | None = None
        """What `FeatureSpace.encode` has made of the columns, where it is kept."""

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
        """The cells of all columns, in their order."""
        return [column.cells for column in self]


_KEPT: ContextVar[dict[int, Frame] | None] = ContextVar("kept", default=None)


@contextmanager
def read_once() -> Iterator[None]:
    """Within one call read the columns of a frame once, if it is kept.

    A frame is kept until the call ends, so that a later one finds what it holds then;
    also by :func:`kept_frame` in a call within this one, which finds those kept here.
    Also as a decorator.

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
    """A frame, its columns as they were read before in this call, if they were."""
    return (_KEPT.get() or {}).get(id(X)) or Frame(X)


def kept_frame(X: Any, *, codes: bool = False) -> Frame:
    """As :func:`frame_of`; in a call that reads once, it does so for all who ask.

    Parameters
    ----------
    X : frame
    codes : bool, default=False
        Whether to keep what the columns are encoded to, too: as much memory again.
    """
    frame, kept = frame_of(X), _KEPT.get()
    if codes:
        frame.codes = {}
    if kept is not None:
        kept[id(X)] = frame
    return frame


def codes_of(X: Any, features: Any, column: np.ndarray, d: int) -> np.ndarray:
    """A column encoded by a feature, or before in this call by one that reads it alike.

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
        # With the cells, so that no others get their identity.
        known[how] = column, features.encode_column(column, d)
    return known[how][1]
