"""Tables larger than memory: trees are grown on a sample, and learn from all rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._tables import SAMPLE_ROWS, RowBlocks, RowsOfTable, open_rows
from clearwood._tables.predicting import predicted
from clearwood._validation import check_target


def fit_table(estimator: Any, X: Any, y: Any, weight: Any, classes: Any) -> Any:
    """Fit to a sample; then forget what its rows taught, and learn all rows.

    Parameters
    ----------
    estimator : LearnsByStatistics
    X, y, weight
        As :func:`open_rows` takes them.
    classes : array-like or None
        All classes there will be, where somebody names them.

    Returns
    -------
    estimator
    """
    table = open_rows(X, y, weight)
    sample = table.sample(SAMPLE_ROWS)
    of_classes = estimator._task == "classification"
    if of_classes and classes is None and sample.y is not None:
        classes = _labels(table)  # A rare one need not be in the sample.
    estimator._fit(*sample, classes)
    if sample.n_rows == table.n_rows:
        return estimator
    return learn_table(estimator, table, anew=True)


def learn_table(estimator: Any, table: RowBlocks, *, anew: bool = False) -> Any:
    """Learn all rows of a table; with ``anew``, in place of those before."""
    columns = _columns(estimator, table)
    table = table if columns is None else table.only(columns)
    estimator._add(table.results(_taught, estimator), anew)
    return estimator


def _taught(rows: RowsOfTable, estimator: Any) -> Any:
    """What some rows teach."""
    X, y, weight = estimator._check_rows(*rows, reset=False)
    return estimator._taught(X, estimator._as_numbers(y), weight)


def _labels(table: RowBlocks) -> np.ndarray:
    """All labels; one column is enough to know how many rows there are."""
    table = table.only(table.columns[:1]) if table.columns else table
    return np.unique(np.concatenate(list(table.results(_labels_of))))


def _labels_of(rows: RowsOfTable) -> np.ndarray:
    return np.unique(check_target(rows.y, rows.n_rows, numeric=False))


def say_of_table(
    estimator: Any, says: Callable[[Any], np.ndarray], X: Any, *, shares: bool = False
) -> Any:
    """What an estimator says of every row: an array, of Dask a collection, lazily.

    ``shares``: it says a probability of each class.
    """
    check_is_fitted(estimator)
    classes = getattr(estimator, "classes_", None)
    kind = np.float64 if shares or classes is None else classes.dtype
    shown = list(classes) if shares and classes is not None else None
    return predicted(says, X, kind, shown, partial(_columns, estimator))


def _columns(estimator: Any, table: RowBlocks) -> list[str] | None:
    """Columns of a table that a fitted estimator reads; None for all there are."""
    names = [str(name) for name in getattr(estimator, "feature_names_in_", ())]
    return names if names and set(names) <= set(table.columns or ()) else None
