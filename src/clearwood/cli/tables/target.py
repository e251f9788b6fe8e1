"""Take the target out of a table, and decide what kind it is."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clearwood.cli.tables.csv_file import MOST_SHOWN
from clearwood.columns.validation import FEW_CLASSES
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
    column = _target_of(frame, target)
    X = frame.drop(columns=target)
    if X.shape[1] == 0 or len(X) == 0:
        raise InputError(
            f"The table has {len(X)} row(s) and {X.shape[1]} column(s) beside the "
            "target; at least one of each is needed."
        )
    _check_known(column)
    decided, reason = (task, "as asked") if task != "auto" else _task_of(column)
    y = np.array(column.tolist())
    if decided == "classification":
        _check_classes(y, target)
    elif y.dtype.kind not in "fiub":
        raise InputError(
            f"The target {target!r} holds {_no_number(column)!r}, but regression needs "
            "numbers; correct such cells, or use --task classification."
        )
    return Labelled(X, y, decided, reason)


def truth_of(rules: Any, frame: pd.DataFrame, target: str) -> np.ndarray:
    """What is true of the rows of a table, in the words of the rules.

    Parameters
    ----------
    rules : RuleSet
        Their classes may be texts where the table has numbers, and the reverse.
    frame : DataFrame
    target : str

    Returns
    -------
    ndarray of shape (n_rows,)
        Classes that the rules do not know are as they are.
    """
    column = _target_of(frame, target)
    _check_known(column)
    if not rules.classes:
        y = np.array(column.tolist())
        if y.dtype.kind in "fiub":
            return y
        raise InputError(
            f"The target {target!r} holds {_no_number(column)!r}, but the rules say "
            "numbers; correct such cells."
        )
    known = rules.classes
    # 1 where the table says 1.0, "1" where it says 1.
    by_value = {label: label for label in known}
    by_text = {str(label): label for label in known}
    told = {
        cell: by_value.get(cell, by_text.get(str(cell), cell))
        for cell in column.unique().tolist()
    }
    strange = [cell for cell, label in told.items() if label not in known]
    n_strange = int(column.isin(strange).sum())
    found = (
        f"The target {target!r} holds {strange[:MOST_SHOWN]} in {n_strange:,} of "
        f"{len(column):,} rows, which the rules do not know; they say {list(known)}"
    )
    labels = np.array([told[cell] for cell in column.tolist()])
    # Where texts stand among numbers, all become texts.
    is_text, as_known = ({np.array(x).dtype.kind} <= set("UO") for x in (labels, known))
    if n_strange == len(column) or is_text != as_known:
        raise InputError(
            f"{found}. Name the column that they are about (--target), or write its "
            "classes as they do."
        )
    if strange:
        warnings.warn(f"{found}. There the rules are wrong.", stacklevel=3)
    return labels


def _target_of(frame: pd.DataFrame, target: str) -> pd.Series:
    if target not in frame.columns:
        raise InputError(
            f"The table has no column {target!r} (--target); it has "
            f"{list(frame.columns)}."
        )
    return frame[target]


def _check_known(column: pd.Series) -> None:
    missing = int(column.isna().sum())
    if missing:
        raise InputError(
            f"The target {column.name!r} is missing in {missing} of {len(column)} "
            f"rows, first in data row {int(column.isna().to_numpy().argmax()) + 1}; "
            "remove these rows or fill them in."
        )


def _no_number(column: pd.Series) -> Any:
    """The first cell that is none."""
    numbers = pd.to_numeric(column, errors="coerce")
    return column[numbers.isna()].tolist()[0]


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
