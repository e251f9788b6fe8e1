"""Tables from files, and what kind of target a column is."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from clearwood._features import FeatureSpace
from clearwood._files import plain_file
from clearwood.exceptions import InputError

FEW_CLASSES = 20
"""An integer target with at most so many distinct values is taken for classes."""


class Labelled(NamedTuple):
    """A table without its target, the target, and what is to be done with it."""

    X: pd.DataFrame
    y: np.ndarray
    task: str
    reason: str


def read_table_of(features: FeatureSpace, path: str) -> pd.DataFrame:
    """Read a file as a model, or its rules, read a table.

    A category is a text or a number: whether "01" is 1, whether "True" is true, only
    the model knows. A column is read as the one of which the model knows more cells.

    Parameters
    ----------
    features : FeatureSpace
    path : str
        As in :func:`read_table`.

    Returns
    -------
    DataFrame
    """
    with plain_file(path) as plain:
        return _read_table_of(features, plain)


def _read_table_of(features: FeatureSpace, path: str) -> pd.DataFrame:
    table = read_table(path)
    columns = zip(features.categories, features.lookup)
    doubtful = [
        d for d, (labels, how) in enumerate(columns) if labels and how != "integer"
    ]
    if not doubtful or not features.named:
        return table
    names = features.as_in(table).names
    texts = read_table(path, tuple(names[d] for d in doubtful))
    for d in doubtful:
        name, how = names[d], features.lookup[d]
        space = FeatureSpace((name,), (features.categories[d],), lookup=(how,))
        known, known_as_text = (
            # Only a trial: of what is unknown, whoever predicts warns.
            np.count_nonzero(space.encode(read[[name]], asked=()) >= 0)
            for read in (table, texts)
        )
        if known_as_text > known:
            table[name] = texts[name]
    return table


def read_table(path: str, as_text: tuple[str, ...] = ()) -> pd.DataFrame:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : str
        Parquet where the name ends in ``.parquet`` or ``.pq``, else CSV.
    as_text : tuple of str, default=()
        Columns to be read as text even where they look like numbers.

    Returns
    -------
    DataFrame
    """
    with plain_file(path) as plain:
        return _read_table(plain, as_text)


def _read_table(path: str, as_text: tuple[str, ...]) -> pd.DataFrame:
    try:
        if Path(path).suffix.lower() in (".parquet", ".pq"):
            frame = pd.read_parquet(path)
        else:
            types: Mapping[Any, Any] = dict.fromkeys(as_text, str)
            frame = pd.read_csv(path, dtype=types, low_memory=False)
            _refuse_equal_names(path)
    except ImportError:
        raise InputError(
            f"Cannot read {path!r}: Parquet files need pyarrow. Install it "
            "(pip install 'clearwood[parquet]'), or save the table as CSV."
        ) from None
    except InputError:
        raise
    except ValueError as error:  # what pandas raises for a file it cannot parse
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"Cannot read {path!r} as a table: {reason}. Expected CSV with one "
            "header line, or Parquet."
        ) from None
    except OSError as error:
        reason = error.strerror or " ".join(str(error).split())
        raise InputError(f"Cannot read {path!r}: {reason}.") from None
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _refuse_equal_names(path: str) -> None:
    # pandas would rename the second "age" to "age.1" without a word.
    with open(path, newline="", encoding="utf-8-sig", errors="replace") as file:
        header = next(csv.reader(file), [])
    twice = sorted({name for name in header if header.count(name) > 1})
    if twice:
        raise InputError(
            f"{path!r} has more than one column named {twice}; rename them, so that "
            "the rules can say which one they mean."
        )


def drop_columns(frame: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    """The table without the columns that ``--drop`` names."""
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise InputError(
            f"--drop names {unknown}, which the table does not have; it has "
            f"{list(frame.columns)}."
        )
    return frame.drop(columns=names)


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
        raise InputError(
            f"The target {target!r} holds {column.iloc[0]!r}, but regression needs "
            "numbers; use --task classification."
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
