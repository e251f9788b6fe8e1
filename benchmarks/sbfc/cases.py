"""Data, folds and methods that the studies of Bayesian forests share."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import softmax

from benchmarks._data import LEFT_OUT, SHARED

FIGURE_3 = {
    "breast": (97.3, 96.6, 97.0, 96.5, 97.1),
    "corral": (86.9, 98.8, 96.9, 86.2, 100.0),
    "crx": (86.2, 86.5, 86.3, 86.4, 87.2),
    "flare": (79.8, 82.5, 81.9, 82.6, 82.7),
    "glass2": (84.9, 85.2, 79.8, 80.0, 85.5),
    "heart": (83.7, 82.4, 84.1, 82.7, 82.4),
    "hepatitis": (84.4, 82.5, 81.7, 76.3, 83.1),
    "iris": (94.1, 94.3, 94.4, np.nan, 94.5),
    "lymphography": (82.0, 80.0, 85.4, np.nan, 83.6),
    "pima": (78.0, 78.9, 77.8, 78.3, 78.9),
    "vote": (90.3, 94.2, 96.0, 95.5, 93.7),
    "mofn_3_7_10": (86.4, 92.1, 92.4, 100.0, 86.2),
    "waveform21": (80.4, 74.9, 83.2, np.nan, 80.6),
    "chess": (88.0, 92.5, 99.1, 97.7, 92.6),
    "shuttle_small": (99.7, 99.7, 99.9, np.nan, 99.9),
    "satimage": (82.4, 87.6, 91.2, np.nan, 88.3),
    "arcene": (69.0, np.nan, 71.8, 52.0, 72.2),
    "madelon": (59.8, 54.2, 67.1, 60.0, 63.4),
    "letter": (74.4, 87.2, 96.3, np.nan, 85.3),
}
"""The thesis' accuracies: naive Bayes, TAN, random forest, logistic regression and its
own; from ``mofn_3_7_10`` on with one split, before that by cross-validation."""

SPLIT = tuple(FIGURE_3)[11:]
AVERAGE = {"calibration": None, "binning": "mdlp"}
"""The average over graphs as it is, on the levels of its rivals."""
SETTINGS = {
    "thesis": {"prior": "paper"},
    "balanced": {"prior": "balanced"},
    "balanced, lambda_x = 2": {"prior": "balanced", "lambda_x": 2.0},
    "balanced, lambda_y = 2": {"prior": "balanced", "lambda_y": 2.0},
    "thesis, Dirichlet means": {"prior": "paper", "smoothing": "dirichlet"},
    "thesis, lambda_y = 2": {"prior": "paper", "lambda_y": 2.0},
}
"""What of ours is compared. With two classes, an edge in the signal costs the same
under the first and the third; in the third all others cost as much."""

N_FOLDS = 5
MOST_FOR_TAN = 1000
"""Features; beyond, a table of all pairs of levels fits no memory."""


class Fold(NamedTuple):
    """Rows to learn and rows to predict."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


@lru_cache(maxsize=2)
def folds(name):
    """The split of the thesis, or five folds; rows with missing cells left out."""
    from sklearn.model_selection import StratifiedKFold

    file = "shuttle" if name == "shuttle_small" else name
    frame = pd.read_csv(SHARED / "uci" / f"{file}.csv.gz")
    frame = frame.drop(columns=LEFT_OUT.get(name, []))
    if name in SPLIT:
        split = pd.read_csv(SHARED / "uci" / "splits.csv.gz")
        split = split[split.dataset == name]
        # Of shuttle's classes one is in no row of its sample.
        frame = frame.iloc[split.row]
        part = split.part.to_numpy()
        rows = [tuple(np.flatnonzero(part == name) for name in ("train", "test"))]
    else:
        frame = frame.dropna(ignore_index=True)
        cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        rows = list(cut.split(frame, frame.target))
    y = np.unique(frame.pop("target"), return_inverse=True)[1]
    return [Fold(frame.iloc[a], y[a], frame.iloc[b], y[b]) for a, b in rows]


def binned(fold):
    """Levels of both parts, found on the rows to learn; unseen ones become the first.

    Columns with one level are left out, but for one where there is no other.
    """
    from clearwood.discretize import LevelCoder

    n_classes = int(fold.y.max()) + 1
    coder = LevelCoder.fit(fold.X, fold.y, np.ones(len(fold.y)), n_classes)
    varies = np.flatnonzero(coder.n_levels > 1)
    varies = varies if len(varies) else np.array([0])
    train, test = (
        np.maximum(coder.codes(part)[:, varies], 0) for part in (fold.X, fold.X_test)
    )
    return train, test, coder.n_levels[varies]


def ours(fold, setting):
    """Our estimator, which bins by itself."""
    from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier as Make

    model = Make(random_state=0, **AVERAGE, **SETTINGS[setting]).fit(fold.X, fold.y)
    return model, model.predict_proba(fold.X_test)


def naive_bayes(fold, levels):
    from sklearn.naive_bayes import CategoricalNB

    train, test, n_levels = levels
    return CategoricalNB(min_categories=n_levels).fit(train, fold.y).predict_proba(test)


def random_forest(fold, levels):
    from sklearn.ensemble import RandomForestClassifier

    train, test, _ = levels
    model = RandomForestClassifier(100, random_state=0).fit(train, fold.y)
    return model.predict_proba(test)


def logistic(fold, levels):
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    train, test, _ = levels
    encoder = OneHotEncoder(drop="if_binary", handle_unknown="ignore")
    model = make_pipeline(encoder, LogisticRegression(max_iter=1000))
    return model.fit(train, fold.y).predict_proba(test)


def tan(fold, levels):
    """Friedman, Geiger and Goldszmidt (1997); every cell has one row more."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    train, test, n_levels = levels
    n_classes = int(fold.y.max()) + 1
    told = told_of_each_other(train, fold.y, n_levels)
    tree = minimum_spanning_tree(-np.where(np.eye(len(told)), 0.0, told + 1e-9))
    order, parent = breadth_first_order(tree, 0, directed=False)
    prior = np.bincount(fold.y, minlength=n_classes) + 1.0
    log = np.tile(np.log(prior / prior.sum()), (len(test), 1))
    for j in order:
        is_root = parent[j] < 0
        above, there = (
            np.zeros(len(part), dtype=int) if is_root else part[:, parent[j]]
            for part in (train, test)
        )
        counts = np.ones(
            (n_classes, 1 if is_root else n_levels[parent[j]], n_levels[j])
        )
        np.add.at(counts, (fold.y, above, train[:, j]), 1.0)
        share = np.log(counts / counts.sum(axis=2, keepdims=True))
        log += share[:, there, test[:, j]].T
    return softmax(log, axis=1)


def told_of_each_other(codes, y, n_levels):
    """Mutual information of every two features, given the class."""
    begin, rows = np.cumsum(n_levels) - n_levels, np.arange(len(codes))[:, None]
    one_hot = np.zeros((len(codes), int(n_levels.sum())))
    one_hot[rows, begin + codes] = 1.0
    told = np.zeros(one_hot.shape[1:] * 2)
    for label in np.unique(y):
        inside = one_hot[y == label]
        both, alone = inside.T @ inside, inside.sum(axis=0)
        apart = np.outer(alone, alone)
        ratio = both * len(inside) / np.maximum(apart, 1.0)
        told += both * np.log(np.where(both > 0, ratio, 1.0)) / len(codes)
    return np.add.reduceat(np.add.reduceat(told, begin, axis=0), begin, axis=1)


PEERS = {
    "naive Bayes": naive_bayes,
    "TAN": tan,
    "random forest": random_forest,
    "logistic": logistic,
}
"""From a fold and its levels to probabilities of the classes."""


def score(probability, y_test):
    """Accuracy and mean log loss, in which no probability is below 1e-15."""
    p = np.maximum(probability[np.arange(len(y_test)), y_test], 1e-15)
    return {
        "accuracy": float((probability.argmax(axis=1) == y_test).mean()),
        "loss": float(-np.log(p).mean()),
    }


def problem_of(X, y, prior, **costs):
    """What the samplers start from; constant columns set aside."""
    from clearwood.sbfc import scores
    from clearwood.sbfc.samplers import GraphProblem

    X, n_columns = np.asarray(X), np.shape(X)[1]
    X = X[:, X.min(axis=0) != X.max(axis=0)]
    # Values are levels as they are.
    found = [np.unique(column, return_inverse=True) for column in X.T]
    levels = np.array([len(values) for values, _ in found])
    codes = np.column_stack([codes for _, codes in found])
    label = np.unique(y, return_inverse=True)[1]
    n_classes = int(label.max()) + 1
    kind = np.min_scalar_type(int(levels.max()))
    table = scores.CodedTable(
        codes.astype(kind), levels, label, n_classes, None, n_columns
    )
    costs = {"lambda_x": 4.0, "lambda_y": 1.0} | costs
    penalty = scores.Penalty.of(
        prior, **costs, n_columns=n_columns, n_classes=n_classes
    )
    return GraphProblem.from_scores(scores.score(table), penalty)
