"""What all estimators do with tables that are read block by block."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial, wraps
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._tables.opening import is_read_in_blocks, open_rows
from clearwood._tables.predicting import predicted, rewritten
from clearwood._tables.rows import SAMPLE_ROWS, RowBlocks, RowsOfTable, check_there
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError, SampledRowsWarning


def sample_of(
    X: Any, y: Any = None, weight: Any = None
) -> tuple[RowsOfTable, RowBlocks | None]:
    """Rows to choose by; and the table, where these are not all of its rows.

    Parameters
    ----------
    X, y, weight
        As :func:`open_rows` takes them; or a table in memory, which is its own sample.

    Warns
    -----
    SampledRowsWarning
        Where the sample has fewer rows than the table.
    """
    if not is_read_in_blocks(X):
        return RowsOfTable(X, y, weight), None
    table = open_rows(X, y, weight)
    sample = table.sample(SAMPLE_ROWS)
    if sample.n_rows == table.n_rows:
        return sample, None
    warnings.warn(
        f"The table has {table.n_rows:,} rows. What cannot be added up row by row "
        f"(structure, cuts) was chosen on {sample.n_rows:,} of them, drawn at random; "
        "a table in memory is used whole. The guide to large data lists what is exact.",
        SampledRowsWarning,
        stacklevel=4,
    )
    return sample, table


def refuse_sampled(
    error: Any, X: Any = None, y: Any = None, *_: Any, **__: Any
) -> None:
    """Name the part and its row where a fit refuses a row of :func:`sample_of`."""
    if isinstance(error, InputError) and is_read_in_blocks(X):
        open_rows(X, y).refuse_sampled(error, SAMPLE_ROWS)


def labels_of(table: RowBlocks) -> np.ndarray:
    """All labels, in order: a rare one need not be in a sample."""
    # One column is enough to know how many rows there are.
    table = table.only(table.columns[:1]) if table.columns else table
    return np.unique(np.concatenate(list(table.results(_labels_in))))


def _labels_in(rows: RowsOfTable) -> np.ndarray:
    return np.unique(check_target(rows.y, rows.n_rows, numeric=False))


def columns_of(estimator: Any, table: RowBlocks) -> list[str] | None:
    """Columns of a table that a fitted estimator reads; None for all there are."""
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    if not names or table.columns is None:
        return None
    check_there(names, table.columns)
    return names


def only_read(estimator: Any, table: RowBlocks) -> RowBlocks:
    """A table without the columns that a fitted estimator does not read."""
    columns = columns_of(estimator, table)
    return table if columns is None else table.only(columns)


def rewrites_table(
    estimator: Any, says: Callable[[Any], Any], X: Any, meta: Callable[[Any], Any]
) -> Any:
    """A table of the same rows, as a fitted estimator changes them."""
    check_is_fitted(estimator)
    return rewritten(says, X, meta, partial(columns_of, estimator))


def says_of_tables(*, shares: bool = False) -> Callable[[Any], Any]:
    """A method that says something of every row says it of tables in blocks, too.

    It gives an array then, and of Dask a collection that is not computed yet.

    Parameters
    ----------
    shares : bool
        Whether it says a number for each of ``classes_``.
    """

    def decorated(method: Any) -> Any:
        @wraps(method)
        def says(estimator: Any, X: Any) -> Any:
            if not is_read_in_blocks(X):
                return method(estimator, X)
            check_is_fitted(estimator)
            classes = getattr(estimator, "classes_", None)
            kind: Any = np.float64
            if classes is not None and method.__name__ == "predict":
                kind = classes.dtype
            return predicted(
                getattr(estimator, method.__name__),
                X,
                kind,
                list(classes) if shares and classes is not None else None,
                partial(columns_of, estimator),
            )

        return says

    return decorated
