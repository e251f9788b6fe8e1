"""Predictions for a table in batches of rows, and tables of a single row."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from clearwood._numeric import map_blocks
from clearwood.columns import cells
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.frames import kept_frame, read_once
from clearwood.exceptions import InputError


@read_once()
def map_rows(
    features: FeatureSpace,
    X: Any,
    function: Callable[[np.ndarray], np.ndarray],
    used: Collection[int] | None = None,
) -> np.ndarray:
    """Apply a function to the encoded rows of a table, batch by batch.

    Tables of numbers are encoded by batches, too; others at once, as the type of a
    column may depend on all of its cells.

    Parameters
    ----------
    features : FeatureSpace
    X, used
        As in :meth:`FeatureSpace.encode`.
    function : callable
        From encoded rows to a result for each row by itself.
    """
    X = cells.unwrapped(X)
    take = _numbers_of(features, X, used)
    if take is None:
        X = features.encode(X, used)
        take = X.__getitem__
    try:
        return map_blocks(lambda rows: function(take(rows)), X.shape[0])
    except InputError:
        # Error messages name a row of the whole table.
        return function(take(slice(None)))


def _numbers_of(
    features: FeatureSpace, X: Any, used: Collection[int] | None
) -> Callable[[slice], np.ndarray] | None:
    """Function that encodes a batch of rows; None unless all columns are numeric."""
    if features.reads_specially():
        return None
    if cells.are_numbers(X):
        return lambda rows: features.encode(X[rows], used)
    if not is_frame(X):
        return None
    kept_frame(X)
    columns = features.columns(X, used)
    if not columns or any(column.dtype.kind not in "fiub" for column in columns):
        return None
    return lambda rows: np.stack(
        [cells.as_float64(column[rows], features.float32) for column in columns], axis=1
    )


def one_row(x: Any) -> Any:
    """Convert a row in any form to a table of one row; tables are unchanged."""
    if is_frame(x):
        return x
    if not isinstance(x, Mapping) and getattr(x, "ndim", 0) == 1:
        # A row of a pandas frame has the names of its values.
        x = x.to_dict() if hasattr(x, "to_dict") else [x.tolist()]
    if isinstance(x, Mapping):
        import pandas as pd

        return pd.DataFrame({name: [value] for name, value in x.items()})
    is_row = isinstance(x, list | tuple) and not any(
        isinstance(cell, list | tuple | np.ndarray) for cell in x
    )
    return [x] if is_row and len(x) else x
