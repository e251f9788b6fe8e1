"""What is said of each row of a table, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from clearwood._numeric import said_by_blocks
from clearwood.columns import cells
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.frames import kept_frame, read_once
from clearwood.exceptions import InputError


@read_once()
def said_of_rows(
    features: FeatureSpace,
    X: Any,
    says: Callable[[np.ndarray], np.ndarray],
    asked: Collection[int] | None = None,
) -> np.ndarray:
    """What is said of each row of a table, some rows at a time.

    Tables of numbers alone are encoded by blocks, too; of others at once, as what a
    column holds may depend on all of its cells.

    Parameters
    ----------
    features : FeatureSpace
    X, asked
        As in :meth:`FeatureSpace.encode`.
    says : callable
        From encoded rows to something about each of them alone.
    """
    X = cells.unmasked(X)
    take = _numbers_of(features, X, asked)
    if take is None:
        X = features.encode(X, asked)
        take = X.__getitem__
    try:
        return said_by_blocks(lambda rows: says(take(rows)), X.shape[0])
    except InputError:
        # Errors name a row of the whole table.
        return says(take(slice(None)))


def _numbers_of(
    features: FeatureSpace, X: Any, asked: Collection[int] | None
) -> Callable[[slice], np.ndarray] | None:
    """What encodes some rows; None where there is more than numbers."""
    if features.reads_specially():
        return None
    if cells.are_numbers(X):
        return lambda rows: features.encode(X[rows], asked)
    if not is_frame(X):
        return None
    kept_frame(X)
    columns = features.columns(X, asked)
    if not columns or any(column.dtype.kind not in "fiub" for column in columns):
        return None
    return lambda rows: np.stack(
        [cells.as_float64(column[rows], features.float32) for column in columns], axis=1
    )
