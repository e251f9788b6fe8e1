"""Out-of-core fits: trees are grown on a sample, and learn all rows in blocks."""

from __future__ import annotations

from typing import Any

from clearwood._tables import RowBlocks, RowsOfTable
from clearwood._tables.learning import class_labels_of, sample_of, select_used_columns


def fit_table(estimator: Any, X: Any, y: Any, weight: Any, classes: Any) -> Any:
    """Fit to a sample, then replace its statistics by those of all rows.

    Tables, targets and weights are those of :func:`open_rows`.
    """
    sample, table = sample_of(X, y, weight)
    if table is None:
        return estimator._fit(*sample, classes)
    of_classes = estimator._task == "classification"
    if of_classes and classes is None and sample.y is not None:
        classes = class_labels_of(table)
    estimator._fit(*sample, classes)
    return learn_table(estimator, table, anew=True)


def learn_table(estimator: Any, table: RowBlocks, *, anew: bool = False) -> Any:
    """Learn all rows of a table; with ``anew``, in place of those before."""
    statistics = select_used_columns(estimator, table).results(_statistics, estimator)
    estimator._add(statistics, anew)
    return estimator


def _statistics(rows: RowsOfTable, estimator: Any) -> Any:
    """Sufficient statistics of some rows."""
    X, y, weight = estimator._check_rows(*rows, reset=False)
    return estimator._statistics(X, estimator._as_numbers(y), weight)
