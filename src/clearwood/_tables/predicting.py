"""Predictions for out-of-core tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from clearwood._numeric import written_in_place
from clearwood._tables.opening import is_dask, is_spark, open_rows
from clearwood._tables.rows import RowBlocks, RowsOfTable, join_rows


def predict_rows(
    function: Callable[[Any], np.ndarray],
    X: Any,
    kind: Any,
    classes: Sequence[Any] | None = None,
    columns_of: Callable[[RowBlocks], Sequence[str] | None] | None = None,
) -> Any:
    """Predictions for every row: an array, for Dask and Spark lazily.

    Parameters
    ----------
    function : callable
        Prediction function for rows in memory.
    X : path, callable, Dask collection or Spark frame
        See :func:`open_rows`.
    kind : dtype
        Of the predictions.
    classes : sequence, optional
        Classes, if predictions are probabilities of each.
    columns_of : callable, optional
        Returns the columns of a table that the model uses; None for all.
    """
    rows = open_rows(X)
    columns = None if columns_of is None else columns_of(rows)
    if is_dask(X):
        return _predict_lazily(
            function, _with_columns(X, columns), np.dtype(kind), classes
        )
    if is_spark(X):
        from clearwood._tables.spark.partitions import predict_spark

        return predict_spark(function, X, columns, np.dtype(kind), classes)
    rows = rows if columns is None else rows.only(columns)
    predictions = rows.results(_apply, function)
    if rows.known_rows is None:
        return np.concatenate(list(predictions))
    return written_in_place(predictions, rows.known_rows)


def transform_rows(
    function: Callable[[Any], Any],
    X: Any,
    meta: Callable[[Any], Any],
    columns_of: Callable[[RowBlocks], Sequence[str] | None],
) -> Any:
    """Transform a table row by row: in memory, for Dask lazily.

    Parameters
    ----------
    function : callable
        From rows to the same number of transformed rows.
    X : path, callable or Dask collection
    meta : callable
        From a frame without rows to its transformed form.
    columns_of : callable
        As for :func:`predict_rows`.
    """
    rows = open_rows(X)
    columns = columns_of(rows)
    if not is_dask(X):
        rows = rows if columns is None else rows.only(columns)
        return join_rows(
            [RowsOfTable(part) for part in rows.results(_apply, function)]
        ).X
    X = _with_columns(X, columns)
    if hasattr(X, "columns"):
        empty = meta(X._meta)
        return X.map_partitions(_transform_partition, function, empty, meta=empty)
    return X.rechunk({1: -1}).map_blocks(function, dtype=np.float64)


def _transform_partition(frame: Any, function: Callable[[Any], Any], empty: Any) -> Any:
    return function(frame) if len(frame) else empty


def _with_columns(X: Any, columns: Sequence[str] | None) -> Any:
    if columns is None or not hasattr(X, "columns"):
        return X
    place = {str(name): name for name in X.columns}
    return X[[place[name] for name in columns]]


def _apply(rows: RowsOfTable, function: Callable[[Any], np.ndarray]) -> np.ndarray:
    return function(rows.X)


def _predict_lazily(
    function: Callable[[Any], np.ndarray],
    X: Any,
    kind: np.dtype[Any],
    classes: Sequence[Any] | None,
) -> Any:
    if hasattr(X, "columns"):
        empty = np.empty((0,) if classes is None else (0, len(classes)), kind)
        meta = _as_pandas(empty, None, classes)
        return X.map_partitions(_predict_partition, function, classes, meta, meta=meta)
    X = X.rechunk({1: -1})
    if classes is None:
        return X.map_blocks(function, dtype=kind, drop_axis=1)
    return X.map_blocks(function, dtype=kind, chunks=(X.chunks[0], (len(classes),)))


def _predict_partition(
    frame: Any,
    function: Callable[[Any], np.ndarray],
    classes: Sequence[Any] | None,
    empty: Any,
) -> Any:
    # Empty partitions are common, and models raise errors for them.
    if not len(frame):
        return empty
    return _as_pandas(function(frame), frame.index, classes)


def _as_pandas(
    predictions: np.ndarray, index: Any, classes: Sequence[Any] | None
) -> Any:
    """A series, or a frame with a column per class; texts as objects."""
    import pandas as pd

    predictions = (
        predictions.astype(object) if predictions.dtype.kind == "U" else predictions
    )
    if classes is None:
        return pd.Series(predictions, index)
    return pd.DataFrame(predictions, index, columns=list(classes))
