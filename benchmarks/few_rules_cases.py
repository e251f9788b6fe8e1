"""The data sets, splits and ensembles of ``few_rules.py``."""

import os
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from common import ROOT

SETS = {
    "hepatitis": ("binary", "confirmed"),
    "heart": ("binary", "chosen"),
    "vote": ("binary", "confirmed"),
    "crx": ("binary", "confirmed"),
    "breast": ("binary", "confirmed"),
    "pima": ("binary", "chosen"),
    "synthetic1": ("binary", "synthetic"),
    "synthetic2": ("binary", "synthetic"),
    "chess": ("binary", "confirmed"),
    "spambase": ("binary", "chosen"),
    "higgs": ("binary", "confirmed"),
    "waveform21": ("multiclass", "chosen"),
    "shuttle": ("multiclass", "confirmed"),
    "satimage": ("multiclass", "confirmed"),
    "letter": ("multiclass", "confirmed"),
    "energy": ("regression", "chosen"),
    "autompg": ("regression", "chosen"),
    "bodyfat": ("regression", "chosen"),
    "autorisk": ("regression", "confirmed"),
    "baseball": ("regression", "confirmed"),
    "diabetes": ("regression", "confirmed"),
    "xor": ("regression", "synthetic"),
}
"""Task, and whether settings of the list were chosen on the set or only confirmed;
synthetic sets are made of few boxes (but for one), and stand apart."""

MOST_ROWS = 2000
"""Rows to train on, and to test on, at most; half of a smaller set each."""

LEAST_SHARE = 0.01
"""Classes with a smaller share of the rows are left out (four of shuttle's)."""

LEFT_OUT = {
    "autompg": ["name"],
    "breast": ["sample_code_number"],
    "energy": ["cooling_load"],
}
"""Columns that say which row it is, or the target in other words."""


class Case(NamedTuple):
    """One ensemble on one split.

    Attributes
    ----------
    X, y, X_test, y_test : ndarray
        Training and test rows; classes are 0, 1, ...
    model : fitted ensemble
    labels : ndarray
        What the ensemble says of the training rows: classes or values.
    output : ndarray
        Class probabilities, or the values again.
    said : ndarray
        What the ensemble says of the test rows.
    is_class : bool
    seed : int
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    model: Any
    labels: np.ndarray
    output: np.ndarray
    said: np.ndarray
    is_class: bool
    seed: int


@lru_cache(maxsize=1)
def make_case(name, kind, split):
    """Load, split and train."""
    is_class = SETS[name][0] != "regression"
    X, y, X_test, y_test = load(name, split)
    model = make_model(kind, is_class, split).fit(X, y)
    labels = model.predict(X)
    output = model.predict_proba(X) if is_class else labels
    return Case(
        X, y, X_test, y_test, model, labels, output, model.predict(X_test), is_class,
        split,
    )  # fmt: skip


def make_model(kind, is_class, seed):
    """A forest of 100 trees, XGBoost with its defaults, or ten trees of depth 3."""
    import xgboost
    from sklearn import ensemble

    name = "Classifier" if is_class else "Regressor"
    if kind == "xgboost":
        return getattr(xgboost, f"XGB{name}")(n_jobs=1, random_state=seed)
    size = {"forest": {"n_estimators": 100}, "small": SMALL}[kind]
    return getattr(ensemble, f"RandomForest{name}")(random_state=seed, **size)


SMALL = {"n_estimators": 10, "max_depth": 3}
"""The forest that te2rules can read in minutes; its own examples are of that size."""


def load(name, seed):
    """``X_train, y_train, X_test, y_test`` of one random split of one data set."""
    X, y = table_of(name, seed)
    rows = np.random.default_rng(seed).permutation(len(y))[: 2 * MOST_ROWS]
    train, test = np.array_split(rows, 2)
    return X[train], y[train], X[test], y[test]


def table_of(name, seed):
    """All rows, encoded; the seed makes the synthetic ones."""
    from sklearn.datasets import load_diabetes

    from clearwood import datasets

    made = {
        "synthetic1": datasets.make_synthetic1,
        "synthetic2": datasets.make_synthetic2,
        "xor": datasets.make_xor_regression,
    }
    if name in made:
        return made[name](2000, random_state=seed)
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    shared = Path(os.environ.get("CLEARWOOD_SHARED", ROOT.parent / "shared")) / "data"
    path = shared / "uci" / f"{name}.csv.gz"
    if not path.exists():
        path = shared / "tabular" / f"{name}.csv"
    frame = pd.read_csv(path).drop(columns=LEFT_OUT.get(name, []))
    target = "heating_load" if name == "energy" else frame.columns[-1]
    if SETS[name][0] != "regression":
        share = frame[target].map(frame[target].value_counts(normalize=True))
        frame = frame[share >= LEAST_SHARE]
    y = frame.pop(target)
    if SETS[name][0] != "regression":
        y = pd.factorize(y, sort=True)[0]
    return _numbers(frame), np.asarray(y)


def _numbers(frame):
    """Text becomes columns of 0 and 1 (one where there are two values), and missing
    numbers become medians: CART and the peers cannot do with less."""
    columns = []
    for _, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            columns.append(column.fillna(column.median()).to_numpy(np.float64)[:, None])
        else:
            pair = column.nunique() == 2 and not column.isna().any()
            dummies = pd.get_dummies(column, drop_first=pair)
            columns.append(dummies.to_numpy(np.float64))
    return np.hstack(columns)
