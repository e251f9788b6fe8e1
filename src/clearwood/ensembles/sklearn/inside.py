"""Trees inside models whose predictions are not the sum of their leaves.

Calibration, voting, stacking or a transformed target changes the prediction for a row,
but not the partition of the rows, which is that of the trees inside.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.ensembles.flat_trees import CategoricalSplit, NumericSplits, Splits
from clearwood.ensembles.read import read_trees
from clearwood.ensembles.sklearn.pipeline import carry_back
from clearwood.ensembles.sklearn.which_class import kind_of, public_name
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.exceptions import ModelError


def ensembles_inside(model: Any) -> list[TreeEnsemble]:
    """All tree ensembles whose leaves alone determine a fitted model's predictions.

    Raises
    ------
    ModelError
        It contains a model that is no tree ensemble, or reads columns besides.

    Examples
    --------
    >>> from sklearn.ensemble import VotingRegressor
    >>> from sklearn.tree import DecisionTreeRegressor
    >>> vote = VotingRegressor([(name, DecisionTreeRegressor()) for name in "ab"])
    >>> [e.n_splits for e in ensembles_inside(vote.fit([[0.0], [1.0]], [5.0, 7.0]))]
    [1, 1]
    """
    kind = kind_of(model, INSIDE)
    if kind is None:
        return [read_trees(model)]
    return [found for part in INSIDE[kind](model) for found in ensembles_inside(part)]


def _stacked(model: Any) -> list[Any]:
    if model.passthrough:
        raise ModelError(f"{public_name(model)} hands columns on to its last model")
    return list(model.estimators_)


INSIDE: dict[str, Callable[[Any], list[Any]]] = {
    "CalibratedClassifierCV": lambda m: [
        c.estimator for c in m.calibrated_classifiers_
    ],
    "VotingClassifier": lambda m: m.estimators_,
    "VotingRegressor": lambda m: m.estimators_,
    "StackingClassifier": _stacked,
    "StackingRegressor": _stacked,
    "TransformedTargetRegressor": lambda m: [m.regressor_],
    "FixedThresholdClassifier": lambda m: [m.estimator_],
    "TunedThresholdClassifierCV": lambda m: [m.estimator_],
    "OneVsRestClassifier": lambda m: m.estimators_,
    "BaseSearchCV": lambda m: [m.best_estimator_],
    "FrozenEstimator": lambda m: [m.estimator],
}


def questions_inside(model: Any, X: Any, features: FeatureSpace) -> Splits:
    """Splits of the trees inside a model, on the columns of a table.

    Parameters
    ----------
    model : estimator
        Fitted.
    X : ndarray or frame
    features : FeatureSpace
        Feature space of the table.

    Returns
    -------
    Splits
        The model predicts the same for two rows that no split separates.

    Raises
    ------
    ModelError
        As in :func:`ensembles_inside`, or the trees read a column other than by its
        numbers or categories.
    """
    numeric: list[tuple[int, int, float, bool]] = []
    by_set = []
    for ensemble in _behind_steps(model):
        names = ensemble.as_in(X).features.names
        place = [features.names.index(name) for name in names]
        own = ensemble.features
        for j in range(own.n_features):
            if own.lookup[j] != "exact" or own.missing_at[j] is not None:
                raise ModelError("the trees inside read a column in a way of their own")
        splits = ensemble.splits()
        for _, j, cut, missing in zip(*splits.numeric):
            numeric.append((0, place[j], float(cut), bool(missing)))
        for split in splits.categorical:
            d, known = place[split.feature], own.categories[split.feature] or ()
            left = {known[code] for code in split.codes_left}
            labels = features.categories[d]
            if labels is None:
                numeric += _between_labels(d, known, left, split.missing_left)
                continue
            codes = {
                code
                for code, label in enumerate(labels)
                if (label in left if label in known else split.unseen_left)
            }
            by_set.append(
                CategoricalSplit(
                    0, d, frozenset(codes), split.missing_left, split.unseen_left
                )
            )
    columns = [np.array(part) for part in zip(*numeric)] or [
        np.zeros(0, kind) for kind in (int, int, float, bool)
    ]
    return Splits(NumericSplits(*columns), tuple(by_set))


def _behind_steps(model: Any) -> list[TreeEnsemble]:
    kind = kind_of(model, ("Pipeline",))
    if kind is None:
        inner = kind_of(model, ("BaseSearchCV", "FrozenEstimator"))
        if inner is None:
            return ensembles_inside(model)
        (model,) = INSIDE[inner](model)
        return _behind_steps(model)
    found = _behind_steps(model.steps[-1][1])
    return [carry_back(model, ensemble) for ensemble in found]


def _between_labels(
    d: int, known: tuple[Any, ...], left: set[Any], missing_left: bool
) -> list[tuple[int, int, float, bool]]:
    """Thresholds between numbers that a tree splits on as categories."""
    numbers = sorted(float(label) for label in known)
    left = {float(label) for label in left}
    return [
        (0, d, (a + b) / 2, missing_left)
        for a, b in zip(numbers, numbers[1:])
        if (a in left) != (b in left)
    ]
