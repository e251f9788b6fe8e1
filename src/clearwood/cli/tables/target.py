"""Take the target out of a table, and decide what kind it is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pandas as pd

from clearwood._validation import FEW_CLASSES
from clearwood.exceptions import InputError


class Labelled(NamedTuple):
    """A table without its target, the target, and what is to be done with it."""

    X: pd.DataFrame
    y: np.ndarray
    task: str
    reason: str


def split_target(frame: pd.DataFrame, target: str, task: str) -> Labelled:
    """Take the target out of a table and decide what kind it is.

    Parameters
    ----------
    frame : DataFrame
        At least two columns and one row.
    target : str
        Name of the column to predict.
    task : {"auto", "classification", "regression"}
        What to do with it.

    Returns
    -------
    Labelled

    Examples
    --------
    >>> frame = pd.DataFrame({"dose": [1.0, 2.0], "state": ["ill", "well"]})
    >>> split_target(frame, "state", "auto").task
    'classification'
    """
    if target not in frame.columns:
        raise InputError(
            f"The table has no column {target!r} (--target); it has "
            f"{list(frame.columns)}."
        )
    column = frame[target]
    X = frame.drop(columns=target)
    if X.shape[1] == 0 or len(X) == 0:
        raise InputError(
            f"The table has {len(X)} row(s) and {X.shape[1]} column(s) beside the "
            "target; at least one of each is needed."
        )
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"The target {target!r} is missing in {missing} of {len(frame)} rows, "
            f"first in data row {int(column.isna().to_numpy().argmax()) + 1}; remove "
            "these rows or fill them in."
        )
    decided, reason = (task, "as asked") if task != "auto" else _task_of(column)
    y = np.array(column.tolist())
    if decided == "classification":
        _check_classes(y, target)
    elif y.dtype.kind not in "fiub":
        numbers = pd.to_numeric(column, errors="coerce")
        odd = column[numbers.isna()].tolist()[0]
        raise InputError(
            f"The target {target!r} holds {odd!r}, but regression needs numbers; "
            "correct such cells, or use --task classification."
        )
    return Labelled(X, y, decided, reason)


def _task_of(column: pd.Series) -> tuple[str, str]:
    types = pd.api.types
    if types.is_bool_dtype(column):
        return "classification", "it is true or false"
    if not types.is_numeric_dtype(column):
        return "classification", "it is text"
    if types.is_integer_dtype(column):
        n_distinct = column.nunique()
        kind = "classification" if n_distinct <= FEW_CLASSES else "regression"
        return kind, f"it has {n_distinct} distinct whole numbers"
    return "regression", "it is a number"


def _check_classes(y: np.ndarray, target: str) -> None:
    classes, counts = np.unique(y, return_counts=True)
    if len(classes) < 2:
        raise InputError(
            f"The target {target!r} is {classes.tolist()[0]!r} in every row; there "
            "is nothing to tell apart."
        )
    if len(y) > 2 * FEW_CLASSES and counts.max() == 1:
        raise InputError(
            f"The target {target!r} differs in every row, as an identifier does; "
            "choose another column, or --task regression for numbers."
        )
