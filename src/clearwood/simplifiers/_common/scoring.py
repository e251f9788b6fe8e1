"""Scores of rules on held-out rows, and class weights.

Losses are per row, lower is better, so that their mean has a standard error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from clearwood._estimators import StrOptions
from clearwood.exceptions import InputError
from clearwood.rules import Training
from clearwood.search import Loss

SCORING: dict[str, list[Any]] = {
    "classification": [
        StrOptions({"auto", "log_loss", "agreement", "balanced"}),
        callable,
    ],
    "regression": [StrOptions({"auto", "agreement"}), callable],
}
"""Constraints of ``scoring``, by task."""

CLASS_WEIGHT: list[Any] = [StrOptions({"balanced"}), dict, None]
"""Constraint of ``class_weight``."""

FULL_PENALTY = 0.1
"""Loss of the best constant above which penalties apply in full. With a rare class the
loss is small, and full penalties would leave the constant."""


def search_loss(training: Training, scoring: Any, softness: float) -> Loss:
    """Loss that the search minimizes, given a scoring.

    Parameters
    ----------
    training : Training
    scoring : str or callable
    softness : float
        Weight of the squared error of probabilities added to the regret, unless classes
        are evaluated by log loss.

    Returns
    -------
    Loss
    """
    if scoring == "log_loss" and training.classes:
        return Loss.logarithmic(training.standardised, training.weight)
    return training.soft_loss(softness)


def at_stake(loss: Any) -> float:
    """Factor of penalties, by the loss of the best constant; at most 1.

    Parameters
    ----------
    loss : Loss

    Examples
    --------
    >>> from clearwood.search import Loss
    >>> target = np.array([[0.9, 0.1], [0.7, 0.3]])
    >>> round(at_stake(Loss.probabilities(target, np.ones(2), softness=0.5)), 3)
    0.1
    """
    predicted = loss.best_value(np.ones(len(loss.share), dtype=bool))
    return min(1.0, float(loss.rows(predicted).sum()) / FULL_PENALTY)


def losses_of(scoring: Any, rows: Training, predicted: np.ndarray) -> np.ndarray:
    """Loss of rules on each row.

    Parameters
    ----------
    scoring : {"auto", "log_loss", "agreement", "balanced"} or callable
    rows : Training
        Rows with their targets.
    predicted : ndarray of shape (n_rows,) or (n_rows, n_classes)
        Predictions of the rules, in units of the search.

    Returns
    -------
    ndarray of shape (n_rows,)
    """
    if not isinstance(scoring, str):
        return 1.0 - _scores_of(scoring, rows, predicted)
    outcome = rows.outcome
    if scoring in ("auto", "log_loss"):
        return outcome.proper_losses(rows.standardised, predicted)
    target = outcome.point(rows.standardised)
    wrong = outcome.losses(target, outcome.point(predicted)).astype(np.float64)
    if scoring == "balanced":
        # All classes that occur have equal weight.
        mass = np.bincount(target, rows.weight, len(rows.classes))
        wrong *= rows.weight.sum() / ((mass > 0).sum() * mass[target])
    return wrong


def _scores_of(
    scoring: Callable[..., Any], rows: Training, predicted: np.ndarray
) -> np.ndarray:
    """Scores by a user's function, of values in the units of the data."""
    predicted = predicted * rows.unit + rows.centre
    scores = np.asarray(scoring(rows.target, predicted), dtype=np.float64)
    if scores.shape != (len(rows),) or not np.isfinite(scores).all():
        raise InputError(
            f"scoring returned an array of shape {scores.shape} for {len(rows)} rows; "
            "expected one finite number per row, higher is better."
        )
    return scores


def class_weights(training: Training, given: Mapping[Any, float] | str) -> np.ndarray:
    """Weight of the probability of each class; 1 on average.

    Parameters
    ----------
    training : Training
    given : "balanced" or dict from label to weight
        "balanced": the weighted mean probabilities of all classes are equal. Labels
        that are left out have weight 1.

    Examples
    --------
    >>> from clearwood.rules import FeatureBins, FeatureSpace
    >>> bins = FeatureBins.from_splits(FeatureSpace.numeric(1), feature=[], cut=[])
    >>> target = np.array([[0.9, 0.1], [0.7, 0.3]])
    >>> rows = Training(
    ...     np.zeros((2, 1)), target, None, np.ones(2), np.zeros(2), bins, ("no", "yes")
    ... )
    >>> class_weights(rows, "balanced"), class_weights(rows, {"yes": 4.0})
    (array([0.625, 2.5  ]), array([0.625, 2.5  ]))
    """
    mean = np.average(training.target, axis=0, weights=training.weight)
    if isinstance(given, str):
        weights = np.divide(1.0, mean, out=np.ones_like(mean), where=mean > 0)
    else:
        weights = np.array([given.get(label, 1.0) for label in training.classes])
        unknown = [label for label in given if label not in training.classes]
        if unknown:
            raise InputError(
                f"class_weight names the class {unknown[0]!r}, which the model does "
                f"not have; its classes are {list(training.classes)}."
            )
        if not (np.isfinite(weights).all() and (weights > 0).all()):
            raise InputError(
                f"class_weight is {dict(given)}; expected finite numbers above 0."
            )
    return weights / (weights * mean).sum()
