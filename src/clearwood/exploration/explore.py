"""``explore``: overview of a table, readable models on held-out rows, anomalies."""

from __future__ import annotations

import shlex
import time
import warnings
from copy import deepcopy
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd

from clearwood._numeric import as_generator
from clearwood._tables.target import Labelled, split_target
from clearwood._warned_once import warned_once
from clearwood._words.labels import prediction_text, printable
from clearwood._words.sentences import listed, rows_in_words
from clearwood._words.spelling import suggests_parameters
from clearwood.circuits.estimators import MiniSPN
from clearwood.circuits.reading.anomalies import anomaly_scores, rows_of
from clearwood.circuits.reading.section import anomalous_rows
from clearwood.ensembles import TreeEnsemble
from clearwood.ensembles.black_box import wrap_model
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import ClearwoodError, InputError
from clearwood.exploration.contenders import Contender, contenders
from clearwood.exploration.contest import N_FOLDS, Task, fit_all
from clearwood.exploration.exploration import Exploration
from clearwood.exploration.overview import describe_columns
from clearwood.exploration.untidy import infer_reading, read_any, unusable
from clearwood.simplifiers._common.explained_model import as_given

MOST_ROWS = 20_000
"""Maximum number of rows that models are fitted to; a random sample of more."""

FEWEST_ROWS = 20
"""Rows below which no model is fitted."""


@warned_once()
@suggests_parameters
def explore(
    frame: Any,
    target: str | None = None,
    model: Any = None,
    seconds: float = 30.0,
    *,
    held_out_from: str | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Exploration:
    """Take a first look at a table: its columns, readable models, anomalies.

    Numbers, dates and booleans that are written as text are parsed (percentages,
    decimal commas, units), codes such as 999 are read as missing, and columns that
    identify rows are set aside; each of these is reported. With a target, readable
    models that suit its type, and a gradient boosting, are fitted and scored on
    held-out rows. Of those that print in full in at most 30 literals or terms, the
    shortest is recommended whose loss exceeds the least by at most half a standard
    error of the difference. The scores reported for it are not those by which it was
    chosen: the choice is repeated for each fold without its rows.

    Parameters
    ----------
    frame : frame or path
        A frame of pandas or polars, or a CSV or Parquet file.
    target : str, optional
        Column to predict; without it there are no models.
    model : estimator, callable or path, optional
        A model that you have, scored next to the others on the same rows. An unfitted
        one is fitted in each fold; the scores of a fitted one are labelled as
        optimistic unless ``held_out_from`` is given. It receives the columns as they
        are in ``frame``.
    seconds : float, default=30.0
        Time for all: a model that would take longer is left out. The gradient boosting
        and one readable model are always fitted.
    held_out_from : {"model"}, optional
        State that the rows were held out from the training of the fitted ``model``.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    verbose : bool, default=False
        Show progress on stderr.

    Returns
    -------
    Exploration

    Raises
    ------
    InputError
        The table cannot be read, or has no such column; or a parameter is not valid.

    See Also
    --------
    compare : Methods and sizes of rules that approximate a model.
    simplify : Rules that approximate a model.

    Notes
    -----
    On Ctrl-C the result holds what was completed until then, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> table = load_iris(as_frame=True).frame.iloc[50:, 2:]
    >>> found = explore(table, target="target", seconds=1, random_state=0)
    >>> found.to_frame()["model"].tolist()[0]
    'linear model'
    """
    ends = time.monotonic() + _checked(seconds)
    if held_out_from not in (None, "model") or (held_out_from and model is None):
        raise InputError(
            f"held_out_from is {held_out_from!r}; expected None, or 'model' together "
            "with a fitted model that was not trained on these rows."
        )
    raw = read_any(frame)
    if target is not None and target not in raw:
        raise InputError(f"The table has no column {target!r}; it has {list(raw)}.")
    seed = random_state if isinstance(random_state, int) else _drawn(random_state)
    read, found = _read(raw, target)
    if len(read) > MOST_ROWS:
        read = read.sample(MOST_ROWS, random_state=seed).sort_index()
        found["sampled"] = len(read)
    found["table"] = read
    # Before the models, which then have all the time that is left.
    found |= _clusters(read, seed, found["notes"])
    if target is not None:
        found["target"] = target
        try:
            labelled = _labelled(read, target, found["notes"])
        except InputError as error:
            found["notes"].append(f"No models: {error}")
        else:
            models = contenders(labelled.task)
            if model is not None:
                rows = raw.drop(columns=target)
                models.insert(1, _own(model, rows, labelled.task, held_out_from))
            data = Task.from_labelled(labelled, target, seed)
            entries, notes = fit_all(data, models, seed, ends, verbose)
            found["notes"] += notes
            found |= {"task": labelled.task, "reason": labelled.reason}
            found |= {"data": data, "entries": entries}
    lines = _lines(frame, target, model, seconds, held_out_from, seed)
    return Exploration(**found | {"lines": lines, "notes": tuple(found["notes"])})


def _checked(seconds: Any) -> float:
    found = float(seconds) if isinstance(seconds, Real) else 0.0
    if not found > 0:
        raise InputError(f"seconds is {seconds!r}; expected a number above 0.")
    return found


def _drawn(random_state: Any) -> int:
    return int(as_generator(random_state).integers(2**31))


def _read(raw: pd.DataFrame, target: str | None) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Columns that can be used, as read, and what was found on the way."""
    columns, readings, aside = {}, {}, {}
    notes: list[str] = []
    for name in raw:
        reading, remarks = infer_reading(raw[name])
        columns[name] = reading.read(raw[name])
        notes += remarks
        why = "" if name == target else unusable(columns[name])
        if why:
            aside[name] = why
        elif name != target:
            readings[name] = reading
    notes += [f"Set aside: {printable(name)} ({why})." for name, why in aside.items()]
    frame = pd.DataFrame(columns, index=raw.index)
    found = {
        "n_rows": len(raw),
        "n_duplicates": int(frame.duplicated().sum()),
        "sampled": 0,
        "columns": describe_columns(frame),
        "readings": readings,
        "notes": notes,
    }
    return frame.drop(columns=list(aside)), found


def _labelled(read: pd.DataFrame, target: str, notes: list[str]) -> Labelled:
    """Rows with a target, of classes with enough of them; raise if there are none."""
    known = read[read[target].notna()]
    if len(known) < len(read):
        n = rows_in_words(len(read) - len(known))
        notes.append(f"Left out of the models: {n} without {printable(target)}.")
    if len(known) < FEWEST_ROWS:
        n = rows_in_words(len(known))
        raise InputError(f"{n} with a target; at least {FEWEST_ROWS} are required.")
    found = split_target(known, target, "auto")
    if found.task == "regression":
        return found
    classes, counts = np.unique(found.y, return_counts=True)
    rare = classes[counts < N_FOLDS]
    if len(classes) - len(rare) < 2:
        raise InputError(f"Fewer than two classes occur in {N_FOLDS} rows or more.")
    if not len(rare):
        return found
    labels = listed([prediction_text(label) for label in rare.tolist()], "and")
    notes.append(f"Left out of the models: classes with few rows ({labels}).")
    kept = ~np.isin(found.y, rare)
    return found._replace(X=found.X[kept], y=found.y[kept])


class _OnRawRows:
    """A model that receives rows of the table as it was given."""

    def __init__(self, model: Any, raw: pd.DataFrame) -> None:
        self.model, self.raw, self.classes = model, raw, model.classes

    def predict(self, X: pd.DataFrame) -> np.ndarray:
        """Values, or classes."""
        return np.asarray(self.model.predict(self.raw.loc[X.index]))

    def predict_proba(self, X: pd.DataFrame) -> np.ndarray:
        """Probabilities of the classes."""
        return np.asarray(self.model.predict_proba(self.raw.loc[X.index]))


def _own(
    model: Any, raw: pd.DataFrame, task: str, held_out_from: str | None
) -> Contender:
    """A model of the user, who alone knows what a fitted one was trained on."""
    given = as_given(model)
    is_held_out = held_out_from == "model" or needs_fit(given)
    name = "your model" if is_held_out else "your model (perhaps on training rows)"

    def fit(X: pd.DataFrame, y: pd.Series, *_: Any) -> _OnRawRows:
        rows, fitted = raw.loc[X.index], given
        if needs_fit(given):
            fitted = fit_to_table(deepcopy(given), rows, y)
        if not isinstance(fitted, TreeEnsemble):
            fitted = wrap_model(fitted, rows, y, task)
        return _OnRawRows(fitted, raw)

    return Contender(name, fit, is_held_out=is_held_out)


def _clusters(read: pd.DataFrame, seed: int, notes: list[str]) -> dict[str, Any]:
    """Density of all columns, and improbable rows."""
    if read.shape[1] == 0 or len(read) < FEWEST_ROWS:
        return {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            density = MiniSPN(random_state=seed).fit(read)
        except ClearwoodError as error:
            notes.append(f"No clusters: {error}")
            return {}
        values = rows_of(density, read)
    scores = anomaly_scores(density.circuit_, values)
    labels = [str(label) for label in read.index]
    anomalies = anomalous_rows(density.circuit_, values, scores, labels)
    return {"density": density, "anomalies": anomalies}


def _lines(
    frame: Any,
    target: str | None,
    model: Any,
    seconds: float,
    held_out_from: str | None,
    seed: int,
) -> tuple[str, ...]:
    """Python code, and the command, that repeat the exploration."""
    is_path = isinstance(frame, str | PathLike)
    given = [repr(str(frame)) if is_path else "frame"]
    given += [f"target={target!r}"] if target is not None else []
    given += ["model=model"] if model is not None else []
    given += [f"seconds={seconds:g}"] if seconds != 30 else []
    given += [f"held_out_from={held_out_from!r}"] if held_out_from else []
    lines = [
        "import clearwood as cw",
        f"found = cw.explore({', '.join(given)}, random_state={seed})",
    ]
    if is_path and model is None:
        command = ["clearwood", "explore", str(frame)]
        command += ["--target", target] if target is not None else []
        command += ["--seconds", f"{seconds:g}"] if seconds != 30 else []
        lines.append(shlex.join([*command, "--random-state", str(seed)]))
    return tuple(lines)
