"""Reader of scikit-learn's histogram gradient boosting.

Its trees have the columns in another order, categorical ones first and as codes, and
store sets of categories as bits. There is no public access to its trees: the attributes
read here (``_predictors``, ``_baseline_prediction``, ``_preprocessor``) are private.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.nodes import TreeNodes, join_trees
from clearwood.exceptions import ModelError


def trees_and_columns(model: Any) -> dict[str, Any]:
    """Fields of a ``TreeEnsemble`` other than its link, task and source.

    Parameters
    ----------
    model : fitted HistGradientBoostingClassifier or HistGradientBoostingRegressor

    Returns
    -------
    dict of str to object

    Examples
    --------
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> model = HistGradientBoostingRegressor(max_iter=3).fit([[0.0], [1.0]], [1, 2])
    >>> trees_and_columns(model)["base_score"]
    array([1.5])
    """
    columns, known = _columns(model)
    trees = [
        _tree_nodes(predictor, output, columns, known)
        for predictors in model._predictors
        for output, predictor in enumerate(predictors)
    ]
    labels = [
        None if k is None else tuple(x for x in k if x is not None) for k in known
    ]
    names = getattr(model, "feature_names_in_", None)
    space = FeatureSpace.numeric(model.n_features_in_, names)
    return {
        "features": FeatureSpace(space.names, tuple(labels), space.named),
        **join_trees(trees),
        "base_score": np.ravel(model._baseline_prediction),
        "allows_missing": True,
        "allows_infinite": True,
        "input_dtype": "float64",
    }


def _columns(model: Any) -> tuple[np.ndarray, list[tuple[Hashable, ...] | None]]:
    """Per column of the trees its position in the data, and its known categories."""
    n = model.n_features_in_
    known: list[tuple[Hashable, ...] | None] = [None] * n
    if model.is_categorical_ is None:
        return np.arange(n), known
    categorical = np.asarray(model.is_categorical_)
    columns = np.concatenate(
        [np.flatnonzero(categorical), np.flatnonzero(~categorical)]
    )
    encoder = model._preprocessor.named_transformers_["encoder"]
    for column, labels in zip(columns, encoder.categories_):
        known[column] = _without_nan(labels.tolist(), column)
    return columns, known


def _without_nan(labels: list[Hashable], column: int) -> tuple[Hashable, ...]:
    """Known categories without NaN; None, at the end, is one of the encoder's."""
    kept = tuple(label for label in labels if label == label)
    if None in kept and len(kept) < len(labels):
        raise ModelError(
            f"Column {column} was fitted with two kinds of missing values, None and "
            "NaN, which the model sends to different sides; use one of them and refit."
        )
    return kept


def _tree_nodes(
    predictor: Any,
    output: int,
    columns: np.ndarray,
    known: list[tuple[Hashable, ...] | None],
) -> TreeNodes:
    nodes = predictor.nodes
    inner = nodes["is_leaf"] == 0
    feature = np.where(inner, columns[np.where(inner, nodes["feature_idx"], 0)], -1)
    missing_left = nodes["missing_go_to_left"].astype(bool)
    unseen_left = missing_left.copy()
    categories_left = {}
    for node in np.flatnonzero(inner & (nodes["is_categorical"] == 1)):
        labels = known[feature[node]]
        bits = predictor.raw_left_cat_bitsets[nodes["bitset_idx"][node]]
        goes_left = _bits(bits)[: len(labels)]
        if labels and labels[-1] is None:
            # None is a category of the model, and a missing value here.
            missing_left[node] = goes_left[-1]
            goes_left = goes_left[:-1]
        categories_left[int(node)] = goes_left
    return TreeNodes(
        feature=feature,
        cut=nodes["num_threshold"],
        left=nodes["left"].astype(np.int64),
        right=nodes["right"].astype(np.int64),
        missing_left=missing_left,
        value=nodes["value"][:, None],
        output=output,
        categories_left=categories_left,
        unseen_left=unseen_left,
    )


def _bits(words: np.ndarray) -> np.ndarray:
    """Bits of 32-bit words, lowest first, as booleans."""
    return (words[:, None] >> np.arange(32, dtype=np.uint32) & 1).astype(bool).ravel()
