"""From a table to the structure of a CART: features, categories, missing values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._features import FeatureSpace, is_frame, is_missing
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.structure import Structure

MOST_VALUES = 256
"""Of one feature, where a node has one child per value."""


def features_of(X: Any, counted: np.ndarray) -> FeatureSpace:
    """Names of a table's columns, and the categories of those that hold labels.

    Parameters
    ----------
    X : ndarray or frame of shape (n_rows, n_features)
    counted : ndarray of bool of shape (n_rows,)
        Rows whose categories count as seen.

    Returns
    -------
    FeatureSpace

    Raises
    ------
    InputError
        A column holds dates. As labels every new one would be unknown.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"size": [1.5, 2.0], "hue": ["red", None]})
    >>> features_of(frame, np.array([True, True])).categories
    (None, ('red',))
    """
    if not is_frame(X):
        return FeatureSpace.numeric(X.shape[1])
    import narwhals as nw

    frame = nw.from_native(X, eager_only=True)
    columns = [frame.get_column(name) for name in X.columns]
    dates = [column.name for column in columns if column.dtype.is_temporal()]
    if dates:
        raise InputError(
            f"Column(s) {dates} hold dates or times, whose order trees cannot read; "
            "turn them into numbers (days since a day, the month) or leave them out."
        )
    return FeatureSpace(
        tuple(str(name) for name in X.columns),
        tuple(
            None
            if column.dtype.is_numeric() or column.dtype == nw.Boolean
            else _labels(column.to_list(), counted)
            for column in columns
        ),
    )


def _labels(cells: list[Any], counted: np.ndarray) -> tuple[Hashable, ...] | None:
    """The distinct labels in order; None where all are numbers."""
    labels = {
        cell for cell, counts in zip(cells, counted) if counts and not is_missing(cell)
    }
    numbers = all(isinstance(cell, int | float) for cell in labels)
    if labels and numbers:
        return None
    return tuple(sorted(labels, key=lambda label: (str(label), str(type(label)))))


def count_values(encoded: np.ndarray, features: FeatureSpace) -> np.ndarray:
    """How many values each feature has: its categories, or whole numbers from 0 on.

    Examples
    --------
    >>> count_values(np.array([[0.0, 2.0], [1.0, 0.0]]), FeatureSpace.numeric(2))
    array([2, 3])
    """
    wrong = ~((encoded >= 0) & (encoded == np.floor(encoded)) & (encoded < MOST_VALUES))
    if wrong.any():
        row, d = np.argwhere(wrong)[0]
        raise InputError(
            f"Feature {features.names[d]!r} holds {encoded[row, d]} in row {row}; the "
            f"sum over all trees reads labels, or whole numbers from 0 to "
            f"{MOST_VALUES - 1}, none missing. Bin the feature first."
        )
    found = [
        len(labels) if labels is not None else int(column.max()) + 1
        for labels, column in zip(features.categories, encoded.T)
    ]
    return np.maximum(found, 2)


def grow_ensemble(
    encoded: np.ndarray,
    features: FeatureSpace,
    target: np.ndarray,
    weight: np.ndarray,
    model: Any,
) -> TreeEnsemble:
    """Let scikit-learn grow trees, by category sets where features have categories.

    Categories are put in the order of what the target says of them, which for one
    question is as good as trying all sets for two classes and for squared error.

    Parameters
    ----------
    encoded : ndarray of shape (n_rows, n_features)
        Made by ``features.encode``.
    features : FeatureSpace
    target : ndarray of shape (n_rows,)
        Class numbers, or values.
    weight : ndarray of shape (n_rows,)
    model : estimator
        A tree or forest of scikit-learn's; it is fitted.

    Returns
    -------
    TreeEnsemble
        Missing values go where scikit-learn sends them.
    """
    columns, ranks = encoded.copy(), {}
    values: np.ndarray = target[:, None].astype(np.float64)
    if hasattr(model, "predict_proba"):
        values = np.eye(int(target.max()) + 1)[target.astype(int)]
    for d, labels in enumerate(features.categories):
        if labels is None:
            continue
        known = ~np.isnan(encoded[:, d])
        code = encoded[known, d].astype(int)
        ranks[d] = _ranks(code, values[known], weight[known], len(labels))
        columns[known, d] = ranks[d][code]
    ensemble = read_ensemble(model.fit(columns, target, weight))
    return _with_category_sets(ensemble, features, ranks)


def _ranks(
    code: np.ndarray, values: np.ndarray, weight: np.ndarray, n: int
) -> np.ndarray:
    """Rank of every category along the direction in which their means differ most."""
    total = np.bincount(code, weight, minlength=n)
    sums = [np.bincount(code, weight * value, minlength=n) for value in values.T]
    mean = np.stack(sums, axis=1) / total[:, None]
    gap = mean - np.average(mean, axis=0, weights=total) if n else mean
    if values.shape[1] > 1 and n:
        # Coppersmith, Hong and Hosking (1999): the first principal component.
        direction = np.linalg.svd(np.sqrt(total)[:, None] * gap)[2][0]
        # The larger part positive: the sign of a component means nothing.
        gap = gap @ (direction * np.sign(direction[np.abs(direction).argmax()]))
    rank = np.empty(n, dtype=int)
    rank[np.argsort(gap.ravel(), kind="stable")] = np.arange(n)
    return rank


def _with_category_sets(
    ensemble: TreeEnsemble, features: FeatureSpace, ranks: dict[int, np.ndarray]
) -> TreeEnsemble:
    """Cuts in the ranks of categories as sets of categories."""
    by_set = np.isin(ensemble.feature, list(ranks))
    nodes = np.flatnonzero(by_set)
    number = np.full(ensemble.n_nodes, -1)
    number[nodes] = np.arange(len(nodes))
    sets = [ranks[ensemble.feature[s]] <= ensemble.cut[s] for s in nodes]
    return replace(
        ensemble,
        features=features,
        category_set=number,
        category_offsets=np.cumsum([0, *map(len, sets)]),
        categories_left=np.concatenate([np.zeros(0, dtype=bool), *sets]),
        cut=np.where(by_set, np.nan, ensemble.cut),
        unseen_left=np.zeros(ensemble.n_nodes, dtype=bool),
    )


def stop_unseen(structure: Structure) -> Structure:
    """The same structure; categories never seen stop at the nodes that ask for them."""
    goes_to = structure.goes_to.copy()
    asks = np.flatnonzero(structure.table_start >= 0)
    last = structure.coder.n_codes[structure.feature[asks]] - 1
    goes_to[structure.table_start[asks] + last] = -1
    return replace(structure, goes_to=goes_to)
