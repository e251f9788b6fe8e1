"""Paired comparisons with baselines on the same rows, at the 95 % level."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import bdtr

from clearwood.outcomes import Outcome
from clearwood.outcomes.intervals import LEVEL, mean_of
from clearwood.rules.evaluation.statistics import FEW_ROWS

ROUNDING = 1e-12
"""Difference, in units of the largest value, that is treated as zero."""


class Predictions(NamedTuple):
    """Predictions of all for the given rows; None if unknown."""

    rules: np.ndarray
    model: np.ndarray | None
    truth: np.ndarray | None


def better(one: np.ndarray, other: np.ndarray) -> int:
    """Compare two classifiers on the same rows (sign test).

    Only rows on which they differ count. By chance these would be split as unevenly, to
    either side, in less than 5 % of cases: the complement of 95 % intervals.

    Returns
    -------
    int
        1, -1, or 0 if the difference is not significant.

    Examples
    --------
    >>> right = np.ones(6, dtype=bool)
    >>> better(right, ~right), better(~right, right), better(right[:3], ~right[:3])
    (1, -1, 0)
    """
    won, lost = int((one & ~other).sum()), int((other & ~one).sum())
    if 2 * bdtr(min(won, lost), won + lost, 0.5) > 1 - LEVEL:
        return 0
    return 1 if won > lost else -1


def nearer(one: Any, other: Any, truth: np.ndarray) -> int:
    """Compare two regressors as :func:`better`, by the mean squared error difference.

    Examples
    --------
    >>> truth = np.arange(9.0)
    >>> nearer(truth, 4.0, truth), nearer(4.0, truth, truth), nearer(4.0, 4.0, truth)
    (1, -1, 0)
    """
    # The squares of the largest values may overflow.
    unit = max(np.abs(truth).max(), np.abs(one).max(), np.abs(other).max()) or 1.0
    one, other, truth = one / unit, other / unit, truth / unit
    gain = (other - truth) ** 2 - (one - truth) ** 2
    found = mean_of(gain, np.ones(len(gain)))
    return int(found.low > ROUNDING) - int(found.high < -ROUNDING)


def best_stump(
    columns: np.ndarray, model: np.ndarray, outcome: Outcome
) -> tuple[int, np.ndarray]:
    """Find the decision stump that best predicts the model, with its predictions.

    Categories are ordered by code, and missing values come last.

    Parameters
    ----------
    columns : ndarray of shape (n_rows, n_features)
    model : ndarray of shape (n_rows,)
        The model's predictions: values, or positions of classes from 0 on; not
        constant.
    outcome : Outcome

    Returns
    -------
    feature : int
    predicted : ndarray of shape (n_rows,)
        The most frequent class, or the mean, of each side.

    Examples
    --------
    >>> columns = np.array([[5.0, 1.0], [4.0, 1.0], [5.0, 2.0], [4.0, 2.0]] * 4)
    >>> from clearwood.outcomes import Mean
    >>> feature, predicted = best_stump(columns, columns[:, 1] * 10, Mean())
    >>> feature, predicted[:4].tolist()
    (1, [10.0, 10.0, 20.0, 20.0])
    """
    # Ranks: the cells themselves may be missing, or too large for scikit-learn.
    ranks = np.column_stack([np.unique(c, return_inverse=True)[1] for c in columns.T])
    stump = outcome.tree_class()(
        max_depth=1, min_samples_leaf=FEW_ROWS + 1, random_state=0
    )
    # In units in which differences do not vanish for scikit-learn.
    stump.fit(ranks, model if outcome.is_share else model / np.abs(model).max())
    leaves = stump.apply(ranks)
    predicted = np.empty(len(model), dtype=model.dtype)
    for leaf in np.unique(leaves):
        rows = leaves == leaf
        predicted[rows] = outcome.constant_of(model[rows])
    return max(int(stump.tree_.feature[0]), 0), predicted
