"""Reading of tables, for training or for an existing model."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from clearwood._tables.csv_file import (
    DETECTED,
    CsvFile,
    CsvForm,
    is_parquet,
    read_parquet,
)
from clearwood.cli.tables.cells import (
    infer_type,
    parse_cells,
    to_numbers,
    to_times,
    warn_of_missing_words,
)
from clearwood.columns.cells import EXACT
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError


def read_table(
    path: str,
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    as_read: Sequence[str | None] = (),
    form: CsvForm = DETECTED,
) -> pd.DataFrame:
    """Read a Parquet file (``.parquet``, ``.pq``) or, else, a CSV file.

    Parameters
    ----------
    path : str
    drop : sequence of str, default=()
        Columns to leave out.
    categories : sequence of str, default=()
        Categorical columns, also if all their values look like numbers.
    as_read : sequence of (str or None), default=()
        Columns that are not learned from, whose types are not inferred.
    form : CsvForm
        Format of CSV.

    Raises
    ------
    InputError
        It is not a table, or a column of numbers holds something else.
    """
    file = None if is_parquet(path) else CsvFile.from_path(path, form)
    frame = read_parquet(path, form) if file is None else file.read(categories)
    frame = _without(frame, drop, categories)
    if file is not None:
        others = frame.columns.difference([*categories, *as_read], sort=False)
        frame = _with_types(frame, others, file)
    return frame.astype(dict.fromkeys(categories, "category"))


def _without(
    frame: pd.DataFrame, drop: Sequence[str], categories: Sequence[str]
) -> pd.DataFrame:
    """Table without some columns, which it must have, and those of categories, too."""
    for option, names in (("--drop", drop), ("--categories", categories)):
        unknown = [name for name in names if name not in frame.columns]
        if unknown:
            raise InputError(
                f"{option} contains {unknown}, not columns of the table; it has "
                f"{list(frame.columns)}."
            )
    return frame.drop(columns=list(drop))


def _with_types(
    frame: pd.DataFrame, names: Sequence[str], file: CsvFile
) -> pd.DataFrame:
    """Table with the types of some columns inferred from their cells."""
    for name in names:
        frame[name] = infer_type(frame[name], file)
    warn_of_missing_words(frame[names])
    for name, values in _exact(frame, names, file).items():
        # Distinct values that become equal are rejected by the learner.
        if values.nunique() > frame[name].nunique():
            frame[name] = values
    return frame


def read_table_of(
    features: FeatureSpace,
    path: str,
    *,
    required: Collection[int] | None = None,
    target: str | None = None,
    task: str = "classification",
    form: CsvForm = DETECTED,
    drop: Sequence[str] = (),
    categories: Sequence[str] | None = None,
) -> pd.DataFrame:
    """Read a file with the column types of a model or its rules.

    A category is a text or a number: whether "01" is 1, or "True" is true, depends on
    the model. A column is read as the type with more cells known to the model.

    Parameters
    ----------
    features : FeatureSpace
    path : str
        As in :func:`read_table`.
    required : set of int, optional
        Features that the table must have; all by default.
    target : str, optional
        A column that is not a feature of the model.
    task : {"classification", "regression"}, default="classification"
        Whether the target must be numeric.
    form : CsvForm
        Format of CSV.
    drop : sequence of str, default=()
        Columns to leave out.
    categories : sequence of str, optional
        Those among the columns that are not features, whose types are then inferred as
        by :func:`read_table`; by default they are left as they are.
    """
    named = categories or ()
    file = None if is_parquet(path) else CsvFile.from_path(path, form)
    frame = read_parquet(path, form) if file is None else file.read(named)
    frame = _without(frame, drop, named)
    if file is None:
        return frame
    table = frame.drop(columns=target or [], errors="ignore")
    names = features.as_in(table, required).names
    doubtful = []
    described = zip(names, features.categories, features.lookup, features.info)
    for d, (name, labels, how, info) in enumerate(described):
        if name not in frame or (required is not None and d not in required):
            continue
        if info.is_time:
            frame[name] = to_times(frame[name], info.kind, file)
        elif labels is not None and how != "integer":
            doubtful.append((name, labels, how))
        else:
            frame[name] = to_numbers(frame[name], file, only=labels is None)
    if target in frame and target not in names:
        frame[target] = to_numbers(frame[target], file, only=task == "regression")
    texts = file.read([name for name, _, _ in doubtful]) if doubtful else frame
    others = frame.columns.difference([*names, target], sort=False)
    if categories is None:
        frame = frame.assign(**_exact(frame, others, file))
    else:
        frame = _with_types(frame, others.difference(named, sort=False), file)
    for name, labels, how in doubtful:
        space = FeatureSpace((name,), (labels,), lookup=(how,))
        values = parse_cells(texts[name])
        known, known_as_text = (
            # Only a trial: predictions warn of unknown categories.
            np.count_nonzero(space.encode_column(column.to_numpy(object), 0) >= 0)
            for column in (values, texts[name])
        )
        frame[name] = texts[name] if known_as_text > known else values
        warn_of_missing_words(texts[[name]][~texts[name].isin(labels)])
    return frame


def _exact(
    frame: pd.DataFrame, names: Sequence[str], file: CsvFile
) -> dict[str, pd.Series]:
    """Columns of large integers, which pandas reads as floats beside empty cells."""
    floats = [name for name in names if frame[name].dtype.kind == "f"]
    large = [name for name in floats if (frame[name].abs() >= EXACT).any()]
    texts = file.read(as_text=large) if large else frame
    return {name: parse_cells(texts[name]) for name in large}
