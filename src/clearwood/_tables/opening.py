"""Opening of all out-of-core tables as blocks of rows."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._numeric import BLOCK_ROWS
from clearwood._tables.parquet import open_parquet
from clearwood._tables.rows import (
    PartRows,
    RowBlocks,
    RowsOfTable,
    RowStream,
    errors_located,
    take_columns,
)
from clearwood._words.labels import type_text
from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError


def is_dask(table: Any) -> bool:
    """Whether a table is a Dask collection, without importing Dask."""
    return type(table).__module__.partition(".")[0] in ("dask", "dask_expr")


def is_spark(table: Any) -> bool:
    """Whether a table is a frame of Spark, without importing Spark."""
    return type(table).__module__.startswith(("pyspark.sql.", "pyspark.pandas."))


def is_read_in_blocks(X: Any) -> bool:
    """Whether a table is a path, a function, or of Dask or Spark (out of core)."""
    if isinstance(X, str | os.PathLike) or is_dask(X) or is_spark(X) or is_function(X):
        return True
    if isinstance(X, Iterator):
        raise InputError(
            "X is an iterator, which can be read only once, but several passes are "
            "needed. Pass a function that returns it: lambda: pd.read_csv('rows.csv', "
            "chunksize=100_000)."
        )
    return False


def is_function(X: Any) -> bool:
    """Whether a table is a function that returns its parts."""
    return callable(X) and not hasattr(X, "shape")


def open_rows(X: Any, y: Any = None, weight: Any = None) -> RowBlocks:
    """Open a table as blocks of rows, with its target and its weights.

    Parameters
    ----------
    X : path, ndarray, pandas.DataFrame, callable, Dask collection or Spark frame
        A Parquet file or a folder of such; a function that returns an iterator of
        pandas frames; a Dask frame or two-dimensional Dask array; a Spark frame.
    y, weight : str or array-like of shape (n_rows,), optional
        A column of the table; or an array, for arrays and frames in memory, and a Dask
        array with the same partitions for Dask.

    Returns
    -------
    RowBlocks
    """
    if is_dask(X):
        from clearwood._tables.of_dask import open_dask

        return open_dask(X, y, weight)
    if is_spark(X):
        from clearwood._tables.spark.partitions import open_spark

        return open_spark(X, y, weight)
    if isinstance(X, str | os.PathLike):
        named = _column_names(y, weight)
        return open_parquet(Path(X), *named)
    if is_function(X):
        return _open_frames(X, *_column_names(y, weight))
    return _open_array(X, y, weight)


def _column_names(*given: Any) -> list[str | None]:
    for name in given:
        if name is not None and not isinstance(name, str):
            raise InputError(
                "The target and the weights of a file, or of a sequence of frames, "
                "must be columns of it: pass their names instead of a "
                f"{type(name).__name__}."
            )
    return list(given)


def _open_frames(make: Callable[[], Any], y: Any, weight: Any) -> RowStream:
    def parts(chosen: Sequence[str] | None) -> Iterator[tuple[str, RowsOfTable]]:
        n = -1
        try:
            for n, frame in enumerate(make()):
                with errors_located(PartRows(f"frame {n}", 0, 0)):
                    part = take_columns(_with_names(frame), y, weight, chosen)
                yield f"frame {n}", part
        except InputError:
            raise
        except Exception as error:  # whatever a reader raises
            raise InputError(f"Cannot read frame {n + 1}: {error}") from error
        if n < 0:
            raise InputError(
                "X returns no frames; pass a function that returns at least one."
            )

    first = next(iter(parts(None)))[1]
    return RowStream(list(first.X.columns), parts)


def _with_names(frame: Any) -> Any:
    if not hasattr(frame, "iloc"):
        raise InputError(f"Expected pandas frames, found {type_text(frame)}.")
    return frame.rename(columns=str)


def _open_array(X: Any, y: Any, weight: Any) -> RowStream:
    X, y, weight = (unwrapped(part) for part in (X, y, weight))
    columns = [str(name) for name in X.columns] if hasattr(X, "columns") else None
    if isinstance(y, str) or isinstance(weight, str):
        if columns is None:
            raise InputError("An array has no named columns; pass y as an array.")
        return _open_frames(lambda: [X], y, weight)
    rest = [None if part is None else np.asarray(part) for part in (y, weight)]
    for name, part in zip(("y", "sample_weight"), rest):
        if part is not None and len(part) != X.shape[0]:
            raise InputError(
                f"X has {X.shape[0]} samples but {name} has {len(part)} (inconsistent "
                "numbers of samples); give one value per row."
            )
    rows = RowsOfTable(X, *rest)

    def parts(chosen: Sequence[str] | None) -> Iterator[tuple[str, RowsOfTable]]:
        for i in range(0, max(rows.n_rows, 1), BLOCK_ROWS):
            block = rows.at(slice(i, i + BLOCK_ROWS))
            table = np.asarray(block.X) if columns is None else block.X
            if chosen is not None:
                table = table[list(chosen)]
            yield f"rows from {i}", block._replace(X=table)

    return RowStream(columns, parts, rows.n_rows)
