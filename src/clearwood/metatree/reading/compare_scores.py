"""Scores of the average over all prunings and of single trees on given rows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.posterior import Posterior
from clearwood.metatree.posterior.predictive import Predictive

COVERAGE = 0.9
"""Coverage of the evaluated intervals."""
LEAST = 1e-15
"""Lower bound of probabilities in scores, as a label may be new."""


def compare_scores(estimator: Any, X: Any, y: Any) -> dict[str, dict[str, float]]:
    """Compare scores of the average, of its most probable tree and of the full tree.

    The single trees predict by their leaves with the same prior, so that a leaf with
    one row gives no class with certainty.

    Parameters
    ----------
    estimator : fitted MetaTreeClassifier or MetaTreeRegressor
    X : array-like or frame of shape (n_samples, n_features)
    y : array-like of shape (n_samples,)

    Returns
    -------
    dict of str to dict of str to float
        ``"average"``, ``"map_tree"`` and ``"full_tree"``, each with ``n_leaves`` (of
        the average: expected), ``error`` and ``log_loss`` in classification, else
        ``rmse``, ``log_loss`` and ``coverage`` and mean ``width`` of 90 % intervals.

    Examples
    --------
    >>> from clearwood.metatree.estimators import MetaTreeRegressor
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [1.0, 1.2, 5.0, 5.1]
    >>> scores = compare_scores(MetaTreeRegressor(random_state=0).fit(X, y), X, y)
    >>> scores["full_tree"]["n_leaves"], scores["average"]["coverage"]
    (4.0, 1.0)
    """
    tree, read = estimator.meta_tree_, estimator.map_tree_
    if tree.model.reads_features:
        raise InputError("Trees with linear leaves are not compared.")
    s, posterior = tree.structure, tree.posterior()
    codes = s.encode(X)
    if len(codes) == 0:
        raise InputError("X has no rows; pass some, or omit X.")
    ends = s.route(codes)
    in_map = np.array([end.number for end in read.ends])[read.apply(X)]
    classes = list(getattr(estimator, "classes_", ()))
    y = check_target(y, len(codes), numeric=not classes)
    spoken = {
        "average": (tree.predictive(codes), float(posterior.leaf.sum())),
        "map_tree": (_of_nodes(posterior, in_map), float(read.n_leaves)),
        "full_tree": (_of_nodes(posterior, ends), float(s.is_leaf.sum())),
    }
    return {
        name: {"n_leaves": n_leaves}
        | (
            class_scores(predictive.probabilities(), y, classes)
            if classes
            else _value_scores(predictive, y)
        )
        for name, (predictive, n_leaves) in spoken.items()
    }


def _of_nodes(posterior: Posterior, nodes: np.ndarray) -> Predictive:
    """Predictive distributions of single nodes, without a mixture."""
    kept = posterior.kept[nodes][:, None]
    return Predictive(
        posterior.model, posterior.known[nodes][:, None], np.ones(kept.shape),
        np.arange(len(nodes)), kept=kept,
    )  # fmt: skip


def class_scores(p: np.ndarray, y: np.ndarray, classes: list[Any]) -> dict[str, float]:
    """Error and log loss of class probabilities."""
    place = {label: k for k, label in enumerate(classes)}
    truth = np.array([place.get(label, -1) for label in y.tolist()])
    true_p = np.where(truth < 0, 0.0, p[np.arange(len(y)), truth])
    return {
        "error": float((p.argmax(axis=1) != truth).mean()),
        "log_loss": float(-np.log(np.maximum(true_p, LEAST)).mean()),
    }


def _value_scores(predictive: Any, y: np.ndarray) -> dict[str, float]:
    tail = 0.5 - COVERAGE / 2
    interval = predictive.quantile([tail, 1 - tail])
    return value_scores(predictive.mean(), interval, predictive.log_density(y), y)


def value_scores(
    mean: np.ndarray, interval: np.ndarray, log_density: np.ndarray, y: np.ndarray
) -> dict[str, float]:
    """Error, log loss, and coverage and width of intervals of (low, high)."""
    low, high = interval.T
    return {
        "rmse": float(np.sqrt(((mean - y) ** 2).mean())),
        "log_loss": float(-np.maximum(log_density, math.log(LEAST)).mean()),
        "coverage": float(((low <= y) & (y <= high)).mean()),
        "width": float((high - low).mean()),
    }
