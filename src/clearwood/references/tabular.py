"""Tables in the form that each kind of reference reads."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from clearwood._estimators import take_rows
from clearwood.columns.cells import unwrapped
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.validation import FEW_CLASSES, check_target
from clearwood.exceptions import InputError

FLOAT32 = float(np.finfo(np.float32).max)
"""Largest number that scikit-learn's trees read."""


def count_rows(X: Any) -> int:
    """Number of rows of a table."""
    return X.shape[0] if hasattr(X, "shape") else len(X)


def row_blocks(X: Any, size: int) -> Iterator[Any]:
    """Blocks of ``size`` rows of a table; the table itself if one suffices."""
    n_rows, size = count_rows(X), max(size, 1)
    if n_rows <= size:
        yield X
        return
    for start in range(0, n_rows, size):
        yield take_rows(X, slice(start, start + size))


# Columns


def columns_read_by(model: Any, X: Any = None) -> FeatureSpace | None:
    """Columns that a fitted model reads: those that it names, else those of X."""
    own = getattr(model, "features", None)
    if isinstance(own, FeatureSpace):
        return own
    width = getattr(model, "n_features_in_", None)
    if width is not None:
        return FeatureSpace.numeric(width, getattr(model, "feature_names_in_", None))
    if X is None:
        return None
    names = list(X.columns) if is_frame(X) else []
    named = names and all(isinstance(name, str) for name in names)
    return FeatureSpace.numeric(np.shape(X)[1], names if named else None)


def as_fitted(X: Any, features: FeatureSpace | None) -> Any:
    """Convert a table to the form that a model was fitted to.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
    features : FeatureSpace or None
        Columns of the model, selected by name if it has names; None to leave the table
        as it is.

    Returns
    -------
    ndarray or frame
    """
    X = unwrapped(X)
    if features is None:
        return X
    if is_frame(X) and features.named:
        import narwhals as nw

        names = list(features.as_in(X).names)
        if names == list(X.columns):
            return X
        return nw.from_native(X, eager_only=True).select(names).to_native()
    table = np.asarray(X)
    if table.dtype.kind == "U" and not hasattr(X, "dtype"):
        # In a list of text and numbers, all would have become text.
        table = np.asarray(X, dtype=object)
    if table.ndim != 2 or table.shape[1] != features.n_features:
        raise InputError(
            f"X has shape {table.shape}, but the reference requires "
            f"{features.n_features} features: {', '.join(features.names)}. Pass the "
            "columns it was made with."
        )
    if not features.named:
        return table
    import pandas as pd

    return pd.DataFrame(table, columns=list(features.names)).infer_objects()


def as_numbers(X: Any, features: FeatureSpace) -> np.ndarray:
    """Convert a table to numbers, with one-hot encoded categories.

    Examples
    --------
    >>> import pandas as pd
    >>> from clearwood.columns.schema import features_of
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "hue": ["red", "blue"]})
    >>> as_numbers(frame, features_of(frame))
    array([[1.5, 0. , 1. ],
           [2. , 1. , 0. ]])
    """
    columns = []
    for labels, column in zip(features.categories, features.encode(X).T):
        codes = np.arange(1 if labels is None else len(labels))
        columns.append(column[:, None] if labels is None else column[:, None] == codes)
    return np.column_stack(columns).astype(np.float64)


def check_cells(
    rows: np.ndarray,
    kind: str,
    features: FeatureSpace,
    *,
    largest: float,
    may_be_empty: bool = True,
) -> np.ndarray:
    """Check that a kind of model can read all cells, and return the rows.

    Parameters
    ----------
    rows : ndarray of float of shape (n_rows, n_columns)
    kind : str
        Kind of model, for messages.
    features : FeatureSpace
        Features of the columns: one column each, or one per category.
    largest : float
        Largest number that it reads.
    may_be_empty : bool, default=True
        Whether it reads missing values.

    Raises
    ------
    InputError
        Names the first row that it cannot read, and a remedy.
    """
    # Comparisons with missing values are false.
    bad = np.abs(rows) > largest
    found = "infinity or a number near it; correct or omit this row."
    if not may_be_empty:
        bad |= np.isnan(rows)
        found = (
            "a missing value or infinity; impute it, or use a Bayesian bootstrap "
            "forest (None), which accepts missing values."
        )
    if bad.any():
        row = int(bad.any(axis=1).argmax())
        name = _names_of_columns(rows.shape[1], features)[bad[row].argmax()]
        raise InputError(
            f"{kind} requires finite numbers, but row {row} of X holds, in column "
            f"{name!r}, {found}"
        )
    return rows


def _names_of_columns(n_columns: int, features: FeatureSpace) -> list[str]:
    """Per numeric column the name of the table's column that it encodes."""
    if n_columns == features.n_features:
        return list(features.names)
    sizes = [1 if labels is None else len(labels) for labels in features.categories]
    return np.repeat(features.names, sizes).tolist()


# Targets


def check_rows_of(kind: str, X: Any, y: Any, task: str | None) -> tuple[str, Any]:
    """Task and validated target of the rows that a reference is fitted to.

    Parameters
    ----------
    kind : str
        Kind of reference, for messages.
    X, y
        Training rows and targets.
    task : str or None
        If None, integers of few distinct values, booleans and text are labels, and
        other numbers a regression target.

    Returns
    -------
    task : str
    target : ndarray of shape (n_rows,)
    """
    if X is None or y is None:
        raise InputError(f"{kind} is fitted to rows: pass X and y, too.")
    if task is None:
        task = "regression" if _are_values(y) else "classification"
    target = check_target(y, count_rows(X), numeric=task in ("regression", "counts"))
    if task not in ("regression", "counts") and len(np.unique(target)) < 2:
        raise InputError(
            f"y is {target.tolist()[0]!r} in every row, but {kind} requires two or "
            "more classes."
        )
    return task, target


def _are_values(y: Any) -> bool:
    """Whether a target is for regression."""
    values = np.asarray(y)
    many = values.dtype.kind in "iu" and len(np.unique(values)) > FEW_CLASSES
    return many or values.dtype.kind == "f"


def times_of(horizons: Any, time_unit: Any) -> tuple[tuple[float, ...], str]:
    """Validated horizons of survival probabilities, none for None, and their unit."""
    if not isinstance(time_unit, str):
        raise InputError(
            f"time_unit is {time_unit!r}; expected the unit of the horizons as text, "
            'such as "years".'
        )
    if horizons is None and time_unit:
        raise InputError(
            f"time_unit={time_unit!r} is the unit of horizons, but horizons is None: "
            "pass horizons, or leave time_unit out."
        )
    if horizons is None:
        return (), ""
    try:
        times = np.atleast_1d(np.asarray(horizons, dtype=np.float64))
    except (TypeError, ValueError):
        times = np.zeros(1)
    rise = np.diff(times, prepend=0.0) > 0 if times.ndim == 1 else np.zeros(1)
    if not len(times) or not rise.all() or not np.isfinite(times).all():
        raise InputError(
            f"horizons is {horizons!r}; expected times above 0, ascending, in the "
            "order of the survival probabilities, such as [1, 2, 5]."
        )
    return tuple(times.tolist()), time_unit


def task_with(
    classes: Any, task: str | None, horizons: tuple[float, ...] = ()
) -> tuple[Any, np.ndarray | None]:
    """Task and validated classes of a reference."""
    if horizons:
        choose_task(task, ("survival",), "a reference with horizons")
        if classes is not None:
            raise InputError("A reference has classes or horizons; pass one of them.")
        return "survival", None
    if task == "survival":
        raise InputError(
            "Survival probabilities need their times: pass horizons=[...], in their "
            "order."
        )
    if classes is None and task == "classification":
        raise InputError(
            "Probabilities need the labels of the classes: pass classes=[...], in the "
            "order of the probabilities."
        )
    choices = ("regression", "counts") if classes is None else ("classification",)
    choose_task(task, choices, "this reference")
    if classes is None:
        return task or choices[0], None
    labels = np.asarray(classes)
    if labels.ndim != 1 or len(set(labels.tolist())) < max(len(labels), 2):
        raise InputError(
            f"classes are {labels.tolist()}; expected two or more distinct labels, in "
            "the order of the probabilities."
        )
    return task or choices[0], labels


def choose_task(task: str | None, choices: tuple[str, ...], kind: str) -> None:
    """Raise an error if a kind of reference does not have a task."""
    if task is not None and task not in choices:
        raise InputError(f"task of {kind} must be one of {choices}, found {task!r}.")
