"""Separation of the target from a table, and detection of its type."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clearwood._tables.csv_file import MOST_SHOWN
from clearwood.columns.cells import are_flags
from clearwood.columns.validation import FEW_CLASSES
from clearwood.exceptions import InputError


class Labelled(NamedTuple):
    """Table without its target, the target, the task, and the group of each row."""

    X: pd.DataFrame
    y: np.ndarray
    task: str
    reason: str
    groups: np.ndarray | None = None


def split_target(frame: pd.DataFrame, target: str, task: str) -> Labelled:
    """Separate the target from a table; determine the task if it is "auto".

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
            f"The table has {len(X)} row(s) and {X.shape[1]} column(s) besides the "
            "target; at least one of each is required."
        )
    _check_known(column)
    decided, reason = (task, "as requested") if task != "auto" else _task_of(column)
    if decided == "classification":
        y = np.array(column.tolist())
        _check_classes(y, target)
    else:
        y = _numbers(column, "regression needs", ", or use --task classification")
    return Labelled(X, y, decided, reason)


def is_text(column: pd.Series) -> bool:
    """Whether a column holds neither numbers, booleans nor timestamps."""
    types = pd.api.types
    is_time = types.is_datetime64_any_dtype(column) or column.dtype.kind == "m"
    is_flag = column.dtype == object and are_flags(column)
    return not (types.is_numeric_dtype(column) or is_time or is_flag)


def target_as_labels(rules: Any, frame: pd.DataFrame, target: str) -> np.ndarray:
    """True targets of the rows of a table, as labels of the rules.

    The rules may have text where the table has numbers, and vice versa. Classes unknown
    to the rules are unchanged.
    """
    column = _target_of(frame, target)
    _check_known(column)
    if not rules.classes:
        return _numbers(column, "the rules predict")
    known = rules.classes
    # 1 where the table has 1.0, "1" where it has 1.
    by_value = {label: label for label in known}
    by_text = {str(label): label for label in known}
    labels_by_cell = {
        cell: by_value.get(cell, by_text.get(str(cell), cell))
        for cell in column.unique().tolist()
    }
    strange = [cell for cell, label in labels_by_cell.items() if label not in known]
    n_strange = int(column.isin(strange).sum())
    found = (
        f"The target {target!r} holds {strange[:MOST_SHOWN]} in {n_strange:,} of "
        f"{len(column):,} rows, not classes of the rules, which are "
        f"{list(known)}"
    )
    labels = np.array([labels_by_cell[cell] for cell in column.tolist()])
    # Mixed text and numbers all become text.
    is_text, as_known = ({np.array(x).dtype.kind} <= set("UO") for x in (labels, known))
    if n_strange == len(column) or is_text != as_known:
        raise InputError(
            f"{found}. Pass the target of the rules (--target), or convert its labels."
        )
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
            "remove or complete these rows."
        )


def _numbers(column: pd.Series, expected: str, remedy: str = "") -> np.ndarray:
    """Target of a regression; raise if it holds something else than numbers."""
    y = np.array(column.tolist())
    if y.dtype.kind not in "fiub":
        odd = column[pd.to_numeric(column, errors="coerce").isna()].tolist()[0]
        raise InputError(
            f"The target {column.name!r} holds {odd!r}, but {expected} numbers; "
            f"correct such cells{remedy}."
        )
    return y


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
            f"The target {target!r} is {classes.tolist()[0]!r} in every row; at "
            "least two classes are required."
        )
    if len(y) > 2 * FEW_CLASSES and counts.max() == 1:
        raise InputError(
            f"The target {target!r} is distinct in every row, like an identifier; "
            "choose another column, or --task regression for numbers."
        )
