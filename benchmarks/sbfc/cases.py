"""Data, folds and methods that the studies of Bayesian forests share."""

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from benchmarks._data import LEFT_OUT, SHARED

UCI = SHARED / "uci"
FIGURE_3 = pd.read_csv(Path(__file__).with_name("figure_3.csv"), index_col="data")
"""The thesis' accuracies in percent: from ``mofn_3_7_10`` on with its own split,
otherwise by cross-validation."""
THESIS = (
    "breast", "corral", "crx", "flare", "glass2", "heart", "hepatitis", "iris",
    "lymphography", "pima", "vote", "mofn_3_7_10", "waveform21", "chess",
    "shuttle_small", "satimage", "arcene", "madelon", "letter",
)  # fmt: skip
"""The available sets of Figure 3."""
SPLIT = THESIS[11:]
PARTIAL = {"ad_998": "998 of 3,264 rows", "isolet_1560": "1,560 of 7,797 rows"}
"""Sets of which only a part is available, so that accuracies differ from the thesis."""
FILES = {"shuttle_small": "shuttle", "arcene_cv": "arcene"}

AVERAGE = {"calibration": None, "binning": "mdlp"}
"""The average over graphs without calibration, on the levels of the rivals."""
SETTINGS = {
    "default": {},
    "thesis": AVERAGE | {"prior": "paper"},
    "balanced": AVERAGE | {"prior": "balanced"},
    "balanced, lambda_x = 2": AVERAGE | {"prior": "balanced", "lambda_x": 2.0},
    "balanced, lambda_y = 2": AVERAGE | {"prior": "balanced", "lambda_y": 2.0},
    "thesis, Dirichlet means": AVERAGE | {"prior": "paper", "smoothing": "dirichlet"},
    "thesis, lambda_y = 2": AVERAGE | {"prior": "paper", "lambda_y": 2.0},
}
"""Compared settings of ours. With two classes, an edge in the signal has the same
cost with *thesis* and *balanced, lambda_x = 2*; in the latter all other edges have
it too."""

N_FOLDS = 5


class Fold(NamedTuple):
    """Training and test rows."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray


@lru_cache(maxsize=2)
def folds(name, folder=UCI):
    """The split of the thesis, or five folds; rows with missing cells omitted.

    The target of a CSV file is its column of that name, otherwise the last one.
    """
    from sklearn.model_selection import StratifiedKFold

    frame = pd.read_csv(next(folder.glob(f"{FILES.get(name, name)}.csv*")))
    frame = frame.drop(columns=LEFT_OUT.get(name, []))
    has_split = folder == UCI and name in SPLIT
    if has_split:
        split = pd.read_csv(UCI / "splits.csv.gz")
        split = split[split.dataset == name]
        # One of shuttle's classes is in no row of its sample.
        frame = frame.iloc[split.row]
    else:
        frame = frame.dropna(ignore_index=True)
    target = frame.pop("target" if "target" in frame else frame.columns[-1])
    y = np.unique(target, return_inverse=True)[1]
    if has_split:
        rows = [[np.flatnonzero(split.part == part) for part in ("train", "test")]]
    else:
        cut = StratifiedKFold(N_FOLDS, shuffle=True, random_state=0)
        rows = cut.split(frame, y)
    return [Fold(frame.iloc[a], y[a], frame.iloc[b], y[b]) for a, b in rows]


def binned(fold, keep_all=False):
    """Levels of both parts, found on training rows; unknown ones become the first.

    Columns with one level are omitted, except if ``keep_all``, or the first one if
    there are no others.
    """
    from clearwood.discretize import LevelCoder

    n_classes = int(fold.y.max()) + 1
    coder = LevelCoder.fit(fold.X, fold.y, np.ones(len(fold.y)), n_classes)
    varies = np.flatnonzero((coder.n_levels > 1) | keep_all)
    varies = varies if len(varies) else np.array([0])
    train, test = (
        np.maximum(coder.codes(part)[:, varies], 0) for part in (fold.X, fold.X_test)
    )
    return train, test, coder.n_levels[varies]


def ours(fold, setting):
    """Our estimator, with its own binning."""
    from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier as Make

    model = Make(random_state=0, **SETTINGS[setting]).fit(fold.X, fold.y)
    return model, model.predict_proba(fold.X_test)


def score(probability, y_test):
    """Accuracy and mean log loss, with probabilities of at least 1e-15.

    Without probabilities, as for an SVM, there is no log loss.
    """
    if (probability.max(axis=1) == 1.0).all():
        right = probability.argmax(axis=1) == y_test
        return {"accuracy": float(right.mean()), "loss": np.nan}
    p = np.maximum(probability[np.arange(len(y_test)), y_test], 1e-15)
    return {
        "accuracy": float((probability.argmax(axis=1) == y_test).mean()),
        "loss": float(-np.log(p).mean()),
    }


def problem_of(X, y, prior, **costs):
    """The input of the samplers, without constant columns."""
    from clearwood.sbfc import scores
    from clearwood.sbfc.samplers import GraphProblem

    X, n_columns = np.asarray(X), np.shape(X)[1]
    X = X[:, X.min(axis=0) != X.max(axis=0)]
    # Values are levels.
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
