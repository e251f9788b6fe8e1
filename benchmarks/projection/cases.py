"""Splits of the sets, and the reference of each: fitted once for all methods."""

import time
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

import clearwood as cw
from benchmarks._data import is_classes, numbers, table_of
from clearwood.references import BartReference

VALUES = ("bodyfat", "baseball", "autorisk", "autompg")
"""The paper's sets that are available."""

CLASSES = ("heart", "breast", "pima")
N_RUNS = 50
TEST_SHARE = 0.25
SIZES = range(2, 21)


class Case(NamedTuple):
    """One split of one set.

    Attributes
    ----------
    X, y, X_test, y_test : ndarray
        Training and test rows; classes are 0, 1, ...
    is_class : bool
    seed : int
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    is_class: bool
    seed: int

    @property
    def task(self):
        return "classification" if self.is_class else "regression"


def sets_in(folder, is_class, sets):
    """Names of the sets with classes or with values: those given, or a folder's."""
    if not folder:
        return sets
    names = sorted(path.stem for path in Path(folder).glob("*.csv"))
    return [name for name in names if table(name, folder)[2] == is_class]


@lru_cache(maxsize=8)
def table(name, folder=""):
    """Rows, target, and whether it has classes, of a set or of a CSV file.

    The target of a file is its last column: classes if it is text, or of two values.
    """
    if not folder:
        X, y = table_of(name, 0)
        return X, y if is_classes(name) else y.astype(float), is_classes(name)
    frame = pd.read_csv(Path(folder) / f"{name}.csv")
    frame = frame.dropna(subset=frame.columns[-1])
    y = frame.pop(frame.columns[-1])
    if pd.api.types.is_numeric_dtype(y) and y.nunique() > 2:
        return numbers(frame), y.to_numpy(float), False
    return numbers(frame), pd.factorize(y, sort=True)[0], True


@lru_cache(maxsize=1)
def make_case(name, run, folder=""):
    """A split of a set."""
    return split_of(*table(name, folder), run)


def split_of(X, y, is_class, run):
    """Three quarters of the rows for training; stratified by class."""
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=TEST_SHARE, random_state=run, stratify=y if is_class else None
    )
    return Case(X, y, X_test, y_test, is_class, run)


def bart(case, n_trees=200, n_draws=500):
    """BART and its seconds; the draws come after 10 sweeps of grow-from-root."""
    begin = time.perf_counter()
    found = BartReference(
        case.X, case.y, task=case.task, n_trees=n_trees, n_draws=n_draws,
        random_state=case.seed,
    )  # fmt: skip
    return found, time.perf_counter() - begin


def projected(case, reference, **settings):
    """A projected tree of the library, fitted."""
    kind = "Classifier" if case.is_class else "Regressor"
    fixed = {"n_leaf_nodes": max(SIZES), "min_samples_leaf": 5}
    settings = fixed | {"random_state": case.seed} | settings
    make = getattr(cw, f"ProjectedTree{kind}")
    return make(reference, **settings).fit(case.X, case.y)
