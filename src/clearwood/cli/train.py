"""Training of an ensemble on a part of a table, with held-out rows for its scores."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from sklearn import ensemble, tree
from sklearn.model_selection import GroupShuffleSplit, train_test_split

from clearwood._numeric.fold_roles import check_groups
from clearwood._tables.csv_file import reason_of
from clearwood._tables.target import is_text
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.exceptions import InputError

MODELS = {
    "random-forest": (
        ensemble.RandomForestClassifier,
        ensemble.RandomForestRegressor,
    ),
    "extra-trees": (ensemble.ExtraTreesClassifier, ensemble.ExtraTreesRegressor),
    "gradient-boosting": (
        ensemble.GradientBoostingClassifier,
        ensemble.GradientBoostingRegressor,
    ),
    "hist-gradient-boosting": (
        ensemble.HistGradientBoostingClassifier,
        ensemble.HistGradientBoostingRegressor,
    ),
    "decision-tree": (tree.DecisionTreeClassifier, tree.DecisionTreeRegressor),
}
READS_TEXT = "hist-gradient-boosting"
MOST_CATEGORIES = 255


class Split(NamedTuple):
    """Training rows and held-out rows."""

    X: pd.DataFrame
    y: np.ndarray
    X_test: pd.DataFrame
    y_test: np.ndarray
    task: str
    groups: np.ndarray | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of both kinds of rows, for summaries."""
        return {"training": len(self.y), "held_out": len(self.y_test)}

    @property
    def held_out(self) -> dict[str, Any]:
        """Held-out rows, as arguments of pages."""
        return {"X": self.X_test, "y": self.y_test}


def prepare(X: pd.DataFrame, name: str) -> pd.DataFrame:
    """Convert columns to types that the named ensemble accepts, or raise.

    Text columns become categorical, if the ensemble accepts these.
    """
    text = [c for c in X.columns if is_text(X[c])]
    many = [c for c in text if X[c].nunique() > MOST_CATEGORIES]
    if many:
        raise InputError(
            f"Column(s) {many} hold more than {MOST_CATEGORIES} distinct texts, too "
            f"many categories; leave them out (--drop {','.join(many)}) or group "
            "their values."
        )
    empty = [c for c in X.columns if X[c].isna().all()]
    if empty:
        raise InputError(f"Column(s) {empty} are empty in every row; leave them out.")
    incomplete = [c for c in X.columns if X[c].isna().any()]
    if incomplete and name == "gradient-boosting":
        raise InputError(
            f"Column(s) {incomplete} have missing values, which {name} does not "
            f"accept; use --train {READS_TEXT} or random-forest, or impute them."
        )
    check_finite(X)
    return X.astype(dict.fromkeys(text, "category")) if name == READS_TEXT else X


def check_finite(X: pd.DataFrame) -> None:
    """Raise on infinite numbers, while rows still have their numbers in the file."""
    for name, column in X.select_dtypes("number").items():
        infinite = np.isinf(column.to_numpy(np.float64, na_value=np.nan))
        if infinite.any():
            raise InputError(
                f"Column {name!r} is infinite in row {infinite.argmax() + 1} "
                "(counted from 1); correct the cell, or leave it empty."
            )


def hold_out(
    X: pd.DataFrame,
    y: np.ndarray,
    task: str,
    share: float,
    seed: int,
    groups: np.ndarray | None = None,
) -> Split:
    """Split rows at random, stratified by class where there are enough rows.

    Or split groups of rows at random.
    """
    n_test = int(np.ceil(share * len(y)))
    if n_test < 1 or len(y) - n_test < 2:
        raise InputError(
            f"{len(y)} row(s) are too few to hold out a fraction of {share:g} "
            "(--test-size) and train on the rest; provide more rows."
        )
    if groups is not None:
        parts = GroupShuffleSplit(1, test_size=share, random_state=seed)
        kept, held = next(parts.split(X, y, check_groups(groups, len(y))))
        found = Split(X.iloc[kept], y[kept], X.iloc[held], y[held], task, groups[kept])
        return _with_classes(found)
    by_class = None
    if task == "classification":
        classes, counts = np.unique(y, return_counts=True)
        if counts.min() >= 2 and len(classes) <= min(n_test, len(y) - n_test):
            by_class = y
    X, X_test, y, y_test = train_test_split(
        X, y, test_size=n_test, stratify=by_class, random_state=seed
    )
    return _with_classes(Split(X, y, X_test, y_test, task))


def _with_classes(split: Split) -> Split:
    if split.task == "classification" and len(np.unique(split.y)) < 2:
        raise InputError(
            "All training rows are of one class; provide more rows of the others, or "
            "hold out fewer (--test-size)."
        )
    return split


def make_model(name: str, task: str, seed: int, jobs: int | None) -> Any:
    """Unfitted ensemble with scikit-learn's default settings."""
    model = MODELS[name][task == "regression"](random_state=seed)
    if "n_jobs" in model.get_params():
        model.set_params(n_jobs=jobs)
    return model


def train(name: str, split: Split, seed: int, jobs: int | None, **settings: Any) -> Any:
    """Train an ensemble with scikit-learn's default settings, but for those given."""
    model = make_model(name, split.task, seed, jobs).set_params(**settings)
    try:
        return fit_to_table(model, split.X, split.y)
    except ValueError as error:
        raise InputError(
            f"Cannot train {name} on this table: {reason_of(error.__cause__ or error)}."
        ) from error
