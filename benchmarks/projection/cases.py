"""Splits of the sets, and the reference of each: one fit serves all methods."""

import time
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from sklearn.model_selection import train_test_split

import clearwood as cw
from benchmarks._data import is_classes, table_of
from clearwood.references import BartReference

VALUES = ("bodyfat", "baseball", "autorisk", "autompg")
"""Of the paper's sets those that are to be had."""

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


@lru_cache(maxsize=1)
def make_case(name, run):
    """Three quarters of the rows to train on; of each class as many."""
    X, y = table_of(name, 0)
    is_class = is_classes(name)
    y = y if is_class else y.astype(float)
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
    settings = {"n_leaf_nodes": max(SIZES), "random_state": case.seed} | settings
    make = getattr(cw, f"ProjectedTree{kind}")
    return make(reference, **settings).fit(case.X, case.y)
