"""One ensemble on one split, and its predictions."""

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from benchmarks._data import is_classes, load, make_model


class Case(NamedTuple):
    """One ensemble on one split.

    Attributes
    ----------
    X, y, X_test, y_test : ndarray
        Training and test rows; classes are 0, 1, ...
    model : fitted ensemble
    labels : ndarray
        Predictions of the ensemble for the training rows: classes or values.
    output : ndarray
        Class probabilities, or the values again.
    predicted : ndarray
        Predictions of the ensemble for the test rows.
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
    predicted: np.ndarray
    is_class: bool
    seed: int


@lru_cache(maxsize=1)
def make_case(name, kind, split):
    """Load, split and train."""
    is_class = is_classes(name)
    X, y, X_test, y_test = load(name, split)
    model = make_model(kind, is_class, split).fit(X, y)
    labels = model.predict(X)
    output = model.predict_proba(X) if is_class else labels
    return Case(
        X, y, X_test, y_test, model, labels, output, model.predict(X_test), is_class,
        split,
    )  # fmt: skip
