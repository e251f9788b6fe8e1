"""The questions that an ensemble asks: what bins and statements are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from clearwood.ensembles.tree_ensemble import TreeEnsemble


class NumericSplits(NamedTuple):
    """The inner nodes that ask ``x <= cut``, in node order."""

    node: np.ndarray
    feature: np.ndarray
    cut: np.ndarray
    missing_left: np.ndarray


class CategoricalSplit(NamedTuple):
    """One inner node that asks whether a category code is in a set."""

    node: int
    feature: int
    codes_left: frozenset[int]
    missing_left: bool
    unseen_left: bool


class Splits(NamedTuple):
    """All questions that an ensemble asks; see ``TreeEnsemble.splits``."""

    numeric: NumericSplits
    categorical: tuple[CategoricalSplit, ...]


def splits_of(ensemble: TreeEnsemble) -> Splits:
    """All questions of an ensemble; see ``TreeEnsemble.splits``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> from clearwood.ensembles import read_ensemble
    >>> X = np.repeat([[7.0], [9.0]], 40, axis=0)
    >>> model = HistGradientBoostingRegressor(max_iter=1, categorical_features=[0])
    >>> model = model.fit(X, X[:, 0])
    >>> (split,) = splits_of(read_ensemble(model)).categorical
    >>> split.feature, split.codes_left  # code 1 is the category 9
    (0, frozenset({1}))
    """
    numeric = np.flatnonzero((ensemble.feature >= 0) & (ensemble.category_set < 0))
    return Splits(
        NumericSplits(
            numeric,
            ensemble.feature[numeric],
            ensemble.cut[numeric],
            ensemble.missing_left[numeric],
        ),
        tuple(
            _categorical_split(ensemble, int(node))
            for node in np.flatnonzero(ensemble.category_set >= 0)
        ),
    )


def _categorical_split(ensemble: TreeEnsemble, node: int) -> CategoricalSplit:
    start, stop = ensemble.category_offsets[ensemble.category_set[node] :][:2]
    codes = np.flatnonzero(ensemble.categories_left[start:stop])
    return CategoricalSplit(
        node,
        int(ensemble.feature[node]),
        frozenset(codes.tolist()),
        bool(ensemble.missing_left[node]),
        bool(ensemble.unseen_left[node]),
    )
