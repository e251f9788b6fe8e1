"""Tables as a learner, or a model that is there already, reads them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
import pandas as pd

from clearwood.cli.tables.cells import (
    as_it_reads,
    numbers_of,
    times_of,
    value_by_cell,
    warn_of_words,
)
from clearwood.cli.tables.csv_file import CsvFile, CsvForm, is_parquet, read_parquet
from clearwood.columns.cells import EXACT
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError


def read_table(
    path: str,
    *,
    drop: Sequence[str] = (),
    categories: Sequence[str] = (),
    missing: Sequence[str] = (),
    form: CsvForm | None = None,
) -> pd.DataFrame:
    """Read a CSV or Parquet file.

    Parameters
    ----------
    path : str
        Parquet where the name ends in ``.parquet`` or ``.pq``, else CSV.
    drop : sequence of str, default=()
        Columns to leave out.
    categories : sequence of str, default=()
        Columns of categories, also where all that they hold looks like numbers.
    missing : sequence of str, default=()
        Cells that are missing, besides empty ones.
    form : CsvForm, optional
        Separator and encoding of CSV; found if not given.

    Returns
    -------
    DataFrame

    Raises
    ------
    InputError
        It is no table, or a column of numbers holds something else.
    """
    if is_parquet(path):
        frame = read_parquet(path, missing)
        _check_known(frame, drop, "--drop")
        _check_known(frame, categories, "--categories")
        return frame.drop(columns=list(drop)).astype(
            dict.fromkeys(categories, "category")
        )
    file = CsvFile.opened(path, missing, form)
    frame = file.read(as_text=categories)
    _check_known(frame, drop, "--drop")
    _check_known(frame, categories, "--categories")
    frame = frame.drop(columns=list(drop))
    for name in frame.columns.difference(categories, sort=False):
        frame[name] = as_it_reads(frame[name], file)
    warn_of_words(frame.drop(columns=list(categories), errors="ignore"))
    numbers = frame.columns.difference(categories, sort=False)
    for name, values in _exact(frame, numbers, file).items():
        # Different ones that become the same are refused by whoever learns from them.
        if values.nunique() > frame[name].nunique():
            frame[name] = values
    return frame.astype(dict.fromkeys(categories, "category"))


def read_table_of(
    features: FeatureSpace,
    path: str,
    *,
    asked: Collection[int] | None = None,
    missing: Sequence[str] = (),
    target: str | None = None,
    task: str = "classification",
    form: CsvForm | None = None,
) -> pd.DataFrame:
    """Read a file as a model, or its rules, read a table.

    A category is a text or a number: whether "01" is 1, whether "True" is true, only
    the model knows. A column is read as the one of which the model knows more cells.

    Parameters
    ----------
    features : FeatureSpace
    path : str
        As in :func:`read_table`.
    asked : set of int, optional
        Features that the table must have; all by default.
    missing : sequence of str, default=()
        As in :func:`read_table`.
    target : str, optional
        A column that the model does not read.
    task : {"classification", "regression"}, default="classification"
        Whether the target must hold numbers.
    form : CsvForm, optional
        As in :func:`read_table`.

    Returns
    -------
    DataFrame
    """
    if is_parquet(path):
        return read_parquet(path, missing)
    file = CsvFile.opened(path, missing, form)
    frame = file.read()
    table = frame.drop(columns=target or [], errors="ignore")
    own = features.as_in(table, asked).names
    doubtful = []
    described = zip(own, features.categories, features.lookup, features.info)
    for d, (name, labels, how, info) in enumerate(described):
        if name not in frame or (asked is not None and d not in asked):
            continue
        if info.is_time:
            frame[name] = times_of(frame[name], info.kind, file)
        elif labels is not None and how != "integer":
            doubtful.append((name, labels, how))
        else:
            frame[name] = numbers_of(frame[name], file, only=labels is None)
    if target in frame and target not in own:
        frame[target] = numbers_of(frame[target], file, only=task == "regression")
    texts = file.read([name for name, _, _ in doubtful]) if doubtful else frame
    others = frame.columns.difference([*own, target], sort=False)
    frame = frame.assign(**_exact(frame, others, file))
    for name, labels, how in doubtful:
        space = FeatureSpace((name,), (labels,), lookup=(how,))
        values = value_by_cell(texts[name])
        known, known_as_text = (
            # Only a trial: of what is unknown, whoever predicts warns.
            np.count_nonzero(space.encode_column(column.to_numpy(object), 0) >= 0)
            for column in (values, texts[name])
        )
        frame[name] = texts[name] if known_as_text > known else values
        warn_of_words(texts[[name]][~texts[name].isin(labels)])
    return frame


def _exact(
    frame: pd.DataFrame, names: Sequence[str], file: CsvFile
) -> dict[str, pd.Series]:
    """Columns of large whole numbers, which beside empty cells are floats to pandas."""
    floats = [name for name in names if frame[name].dtype.kind == "f"]
    large = [name for name in floats if (frame[name].abs() >= EXACT).any()]
    texts = file.read(as_text=large) if large else frame
    return {name: value_by_cell(texts[name]) for name in large}


def _check_known(frame: pd.DataFrame, names: Sequence[str], option: str) -> None:
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        raise InputError(
            f"{option} names {unknown}, which the table does not have; it has "
            f"{list(frame.columns)}."
        )
