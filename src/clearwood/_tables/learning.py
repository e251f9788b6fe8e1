"""Fitting and predicting with out-of-core tables, shared by estimators."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._tables.opening import is_read_in_blocks, open_rows
from clearwood._tables.predicting import predict_rows, transform_rows
from clearwood._tables.rows import SAMPLE_ROWS, RowBlocks, RowsOfTable, check_columns
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError, SampledRowsWarning


def sample_of(
    X: Any, y: Any = None, weight: Any = None
) -> tuple[RowsOfTable, RowBlocks | None]:
    """Sample of rows for model selection, and the table if it has more rows.

    Parameters
    ----------
    X, y, weight
        As in :func:`open_rows`; or a table in memory, which is its own sample.

    Warns
    -----
    SampledRowsWarning
        If the sample has fewer rows than the table.
    """
    if not is_read_in_blocks(X):
        return RowsOfTable(X, y, weight), None
    table = open_rows(X, y, weight)
    sample = table.sample(SAMPLE_ROWS)
    if sample.n_rows == table.n_rows:
        return sample, None
    warnings.warn(
        f"The table has {table.n_rows:,} rows. Its structure and thresholds were "
        f"learned from a random sample of {sample.n_rows:,} rows, all sums over rows "
        "from the whole table. A table in memory is used as a whole; see the guide to "
        "large data.",
        SampledRowsWarning,
        stacklevel=4,
    )
    return sample, table


def raise_in_sample(
    error: Any, X: Any = None, y: Any = None, *_: Any, **__: Any
) -> None:
    """Re-raise an error in a row of :func:`sample_of`, with its part and row there."""
    if isinstance(error, InputError) and is_read_in_blocks(X):
        open_rows(X, y).raise_in_sample(error, SAMPLE_ROWS)


def class_labels_of(table: RowBlocks) -> np.ndarray:
    """Sorted labels of the whole table: a sample may lack rare ones."""
    # A single column gives the number of rows.
    table = table.only(table.columns[:1]) if table.columns else table
    return np.unique(np.concatenate(list(table.results(_labels_in))))


def _labels_in(rows: RowsOfTable) -> np.ndarray:
    return np.unique(check_target(rows.y, rows.n_rows, numeric=False))


def columns_of(estimator: Any, table: RowBlocks) -> list[str] | None:
    """Columns of a table that a fitted estimator uses; None for all."""
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    if not names or table.columns is None:
        return None
    check_columns(names, table.columns)
    return names


def select_used_columns(estimator: Any, table: RowBlocks) -> RowBlocks:
    """Drop the columns that a fitted estimator does not use."""
    columns = columns_of(estimator, table)
    return table if columns is None else table.only(columns)


def transform_table(
    estimator: Any, function: Callable[[Any], Any], X: Any, meta: Callable[[Any], Any]
) -> Any:
    """Transform a table by a fitted estimator."""
    check_is_fitted(estimator)
    return transform_rows(function, X, meta, partial(columns_of, estimator))


def accepts_tables(*, shares: bool = False) -> Callable[[Any], Any]:
    """Decorate a prediction method so that it accepts out-of-core tables.

    The result is an array, for Dask a lazy collection.

    Parameters
    ----------
    shares : bool
        Whether the method returns a value for each of ``classes_``.
    """

    def decorate(method: Any) -> Any:
        @wraps(method)
        def predict(estimator: Any, X: Any) -> Any:
            if not is_read_in_blocks(X):
                return method(estimator, X)
            check_is_fitted(estimator)
            classes = getattr(estimator, "classes_", None)
            kind: Any = np.float64
            if classes is not None and method.__name__ == "predict":
                kind = classes.dtype
            return predict_rows(
                getattr(estimator, method.__name__),
                X,
                kind,
                list(classes) if shares and classes is not None else None,
                partial(columns_of, estimator),
            )

        return predict

    return decorate
