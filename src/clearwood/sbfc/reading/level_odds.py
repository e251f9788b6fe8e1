"""How features matter: shares and odds of the classes at each of their levels.

If a feature is signal, its levels and the class have a joint Dirichlet posterior,
whatever the edges are: the pseudo-counts of the scores (2.3.1) add up, to
alpha / (levels * classes) in each cell. If it is noise, the class does not depend on
its level. So the posterior of a share, averaged over graphs, is a mixture of two beta
distributions, weighted by the probability that the feature is signal.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.special import betainc, betaincinv

from clearwood._numeric.bisection import bisect
from clearwood.columns.variables import positions_of
from clearwood.exceptions import InputError
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.reading.feature_graph import check_classifier

if TYPE_CHECKING:
    import pandas as pd

TAIL = 0.025
"""Probability on either side of an interval."""

COLUMNS = [
    "feature", "level", "class", "rows", "share", "low", "high", "odds_ratio",
    "predicted_low", "predicted_high", "direction",
]  # fmt: skip


class FeatureOdds(NamedTuple):
    """Levels of a feature and the classes: arrays of shape (n_levels, n_classes).

    Attributes
    ----------
    rows : ndarray of shape (n_levels,)
        Weight of the training rows.
    share, low, high : ndarray
        Posterior mean of each class's share, and its 95 % credible interval.
    odds_ratio : ndarray
        Odds of that mean, divided by those among all rows.
    predicted : tuple of two ndarrays
        Lowest and highest probability that is predicted within the level where nothing
        else is known; they differ where steps of the calibration cut the level.
    direction : tuple of str
        Of each class's share along a numeric feature: "rising", "falling" or "".
    """

    rows: np.ndarray
    share: np.ndarray
    low: np.ndarray
    high: np.ndarray
    odds_ratio: np.ndarray
    predicted: tuple[np.ndarray, np.ndarray]
    direction: tuple[str, ...]


def level_odds(
    estimator: Any, features: Iterable[int | str] | int | str | None = None
) -> pd.DataFrame:
    """How each level of a feature changes the odds of the classes.

    Shares are posterior, averaged over all graphs and their parameters, of the class
    given this feature alone. Predictions are those of ``predict_proba`` for a row in
    which only this feature is known: calibrated, unless ``calibration=None``. Neither
    is the effect of changing the feature.

    Parameters
    ----------
    estimator : SelectiveBayesianForestClassifier
        Fitted.
    features : iterable of int or str, int or str, optional
        Positions or names; by default the features that are signal with a probability
        of at least 1/2, the most probable first. Those of a single level have no rows.

    Returns
    -------
    DataFrame
        A row per ``feature``, ``level`` and ``class``: the weight of training ``rows``
        at the level, the posterior mean ``share`` of the class there, with its 95 %
        credible interval, ``low`` to ``high``; its ``odds_ratio`` to all rows;
        ``predicted_low`` and ``predicted_high``, between which the predictions are;
        and the ``direction`` along a numeric feature, "rising", "falling" or "".

    Examples
    --------
    >>> from clearwood import SelectiveBayesianForestClassifier
    >>> from clearwood.datasets import make_corral
    >>> X, y = make_corral(n_noise=2, random_state=0)
    >>> forest = SelectiveBayesianForestClassifier(random_state=0).fit(X, y)
    >>> odds = level_odds(forest, ["x5"])
    >>> odds[odds["class"] == 1][["level", "share", "odds_ratio"]].round(2)
           level  share  odds_ratio
    1  x5 <= 0.5   0.22        0.35
    3   x5 > 0.5   0.69        2.86
    """
    import pandas as pd

    estimator, found = check_classifier(estimator), []
    levels, classes = estimator.levels_, estimator.classes_
    for j in _positions(estimator, features):
        odds = odds_of(estimator, j)
        names = [(levels.features.names[j], level) for level in levels.names_of(j)]
        numbers = odds.share, odds.low, odds.high, odds.odds_ratio, *odds.predicted
        found += [
            (*names[i], label, odds.rows[i], *(x[i, k] for x in numbers), direction)
            for i in range(len(names))
            for k, (label, direction) in enumerate(zip(classes, odds.direction))
        ]
    return pd.DataFrame(found, columns=COLUMNS)


def _positions(
    estimator: Any, features: Iterable[int | str] | int | str | None
) -> list[int]:
    p, names = estimator.inclusion_probability_, estimator.levels_.features.names
    if features is None:
        order = np.argsort(-p, kind="stable")
        return [int(j) for j in order if p[j] >= 0.5]
    features = [features] if isinstance(features, str | int) else features
    found = [positions_of([one], names, "features").pop() for one in features]
    return [j for j in found if estimator.levels_.n_levels[j] > 1]


def odds_of(estimator: SelectiveBayesianForestClassifier, j: int) -> FeatureOdds:
    """Levels of one feature, of at least two."""
    if estimator._counts is None:
        raise InputError(
            "The classifier comes from a file without the counts of its levels, of an "
            "earlier version; fit it again."
        )
    n_levels = estimator.levels_.n_levels
    first = int(n_levels[:j].sum())
    counts = estimator._counts[first : first + n_levels[j]]
    p = float(estimator.inclusion_probability_[j])
    share, low, high = posterior_shares(counts, p, estimator.alpha)
    every = counts.sum(axis=0) + estimator.alpha / counts.shape[1]
    with np.errstate(divide="ignore", invalid="ignore"):  # of a single class
        ratio = share / (1 - share) * (every.sum() - every) / every
    return FeatureOdds(
        counts.sum(axis=1), share, low, high, ratio,
        _predicted(estimator, j), _direction(estimator, j, share),
    )  # fmt: skip


def posterior_shares(
    counts: np.ndarray, p: float, alpha: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Posterior means of the classes' shares at each level, and 95 % intervals.

    Parameters
    ----------
    counts : ndarray of shape (n_levels, n_classes)
    p : float
        Probability that the feature is signal.
    alpha : float
        Total pseudo-count.

    Examples
    --------
    >>> counts = np.array([[8.0, 2.0], [0.0, 10.0]])
    >>> [part[:, 1].round(2).tolist() for part in posterior_shares(counts, 1.0, 1.0)]
    [[0.21, 0.98], [0.04, 0.84], [0.49, 1.0]]
    """
    own = counts + alpha / counts.size
    every = np.broadcast_to(counts.sum(axis=0) + alpha / counts.shape[1], own.shape)
    parts = [
        (weight, cell, cell.sum(axis=1, keepdims=True) - cell)
        for weight, cell in ((p, own), (1 - p, every))
    ]
    mean = sum(weight * a / (a + b) for weight, a, b in parts)

    def quantile(q: float) -> np.ndarray:
        ends = [betaincinv(a, b, q) for _, a, b in parts]
        return bisect(
            lambda x: sum(weight * betainc(a, b, x) for weight, a, b in parts) >= q,
            np.minimum(*ends),
            np.maximum(*ends),
        )

    return mean, quantile(TAIL), quantile(1 - TAIL)


def _predicted(
    estimator: SelectiveBayesianForestClassifier, j: int
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest predictions at each level, nothing else being known."""
    levels, calibration = estimator.levels_, estimator.calibration_
    coders = [levels] if calibration is None else [levels, calibration.parts]
    cuts = [own for coder in coders if (own := coder.cuts[j]) is not None]
    if cuts:  # The last number of each cell between all cuts.
        values = np.append(np.unique(np.concatenate(cuts)), np.inf)
    else:
        values = np.arange(len(levels.features.categories[j] or ()), dtype=float)
    if levels.has_missing[j]:
        values = np.append(values, np.nan)
    codes = [np.full((len(values), len(levels.cuts)), -1) for _ in coders]
    for own, coder in zip(codes, coders):
        own[:, j] = coder.codes_of(j, values, coder.n_levels[j])
    found = estimator._average.predict(codes[0])
    if calibration is not None:
        found = calibration.apply(found, estimator._average.log_class, codes[1])
    shape = int(levels.n_levels[j]), found.probability.shape[1]
    low, high = np.full(shape, np.inf), np.full(shape, -np.inf)
    np.minimum.at(low, codes[0][:, j], found.probability)
    np.maximum.at(high, codes[0][:, j], found.probability)
    return low, high


def _direction(
    estimator: SelectiveBayesianForestClassifier, j: int, share: np.ndarray
) -> tuple[str, ...]:
    cuts = estimator.levels_.cuts[j]
    if cuts is None:
        return ("",) * share.shape[1]
    steps = np.diff(share[: len(cuts) + 1], axis=0)
    return tuple(
        "rising" if (own > 0).all() else "falling" if (own < 0).all() else ""
        for own in steps.T
    )
