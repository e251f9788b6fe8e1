"""Splits as in the papers, and forests selected as by their authors' programs."""

import warnings
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks._data import SIZES_2018, is_classes, load

SIZES_2016 = {"xor": (1000, 1000), "energy": (384, 384), "higgs": (10_000, 10_000)}
N_TREES_2016 = {"xor": 10, "energy": 10, "higgs": 30}
SETS_2018 = ("synthetic1", "synthetic2", "spambase", "higgs", "energy")
SETS_2016 = tuple(SIZES_2016)

FORESTS = {
    ("2016", "regression"): ((5, 10, 20, 30), (8, 32, 128)),
    ("2016", "classes"): ((50, 100, 150), (16, 32, 64)),
    ("2018", "regression"): ((10, 50, 100, 150), (16, 32, 64, 128)),
    ("2018", "classes"): ((10, 50, 100, 150), (16, 32, 64, 128)),
}
"""Values that the authors' programs try for their forests, with selection by the
out-of-bag error: minimum rows of a split node, and most leaves. The papers do not state
it."""


class Case(NamedTuple):
    """One forest on one split.

    Attributes
    ----------
    X, y, X_test, y_test : ndarray
    model : fitted forest
    is_class : bool
    seed : int
    """

    X: np.ndarray
    y: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray
    model: Any
    is_class: bool
    seed: int


@lru_cache(maxsize=1)
def make_case(paper, name, split):
    """Load, split and train as in one of the papers."""
    sizes = SIZES_2016 if paper == "2016" else SIZES_2018
    X, y, X_test, y_test = load(name, split, sizes[name])
    is_class = is_classes(name)
    n_trees = N_TREES_2016[name] if paper == "2016" else 100
    model = best_forest(X, y, is_class, paper, n_trees, split)
    return Case(X, y, X_test, y_test, model, is_class, split)


def best_forest(X, y, is_class, paper, n_trees, seed):
    """The forest with the smallest out-of-bag error."""
    least_rows, most_leaves = FORESTS[paper, "classes" if is_class else "regression"]
    tried = []
    for rows in least_rows:
        for leaves in most_leaves:
            model = forest(is_class, n_trees, seed, rows, leaves)
            with warnings.catch_warnings():
                # With ten trees, some rows are in every bag.
                warnings.simplefilter("ignore")
                tried.append(model.fit(X, y))
    return max(tried, key=lambda model: model.oob_score_)


def forest(is_class, n_trees, seed, least_rows, most_leaves):
    """A forest that draws features as R's randomForest does."""
    from sklearn import ensemble

    settings = {
        "n_estimators": n_trees,
        "random_state": seed,
        "min_samples_split": least_rows + 1,
        "max_leaf_nodes": most_leaves,
        "oob_score": True,
    }
    if is_class:
        return ensemble.RandomForestClassifier(**settings)
    return ensemble.RandomForestRegressor(max_features=1 / 3, **settings)
