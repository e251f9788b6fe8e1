"""Doubly robust scores, whose means are estimates of mean treatment effects.

With ``m1`` and ``m0`` the expected outcome with and without treatment given the
features, and ``e`` the probability of treatment, the score of a row (augmented inverse
probability weighting; Robins, Rotnitzky and Zhao, 1994) is

    m1(x) - m0(x) + t * (y - m1(x)) / e(x) - (1 - t) * (y - m0(x)) / (1 - e(x))

All three are predicted for rows left out of their fits (Chernozhukov et al., 2018). The
mean is consistent if either the outcomes or the probabilities are estimated well.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.model_selection import StratifiedGroupKFold, StratifiedKFold

from clearwood._words.spelling import suggests_parameters
from clearwood.columns.schema import features_of
from clearwood.columns.validation import check_range, check_target, check_weight
from clearwood.exceptions import InputError
from clearwood.outcomes.effect import EffectScores

N_FOLDS = 5

BOOSTING: dict[str, Any] = {
    "max_iter": 60,
    "learning_rate": 0.1,
    "max_leaf_nodes": 8,
    "early_stopping": False,
}
"""Settings of the models of outcomes and of the treatment: shallow, as the scores only
need them to remove most of the variation and of the confounding."""

LEAST = 0.02
"""Bound of estimated probabilities of treatment away from 0 and 1."""


@suggests_parameters
def effect_scores(
    X: Any,
    y: Any,
    treatment: Any,
    *,
    propensity: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: int = 0,
) -> EffectScores:
    """Estimate the effect of a treatment in each row by doubly robust scores.

    Their mean over some rows is an estimate of the mean effect there. Rules for effects
    (:func:`simplify` with ``task="effect"``) are evaluated on the scores of new rows.

    Parameters
    ----------
    X : array-like or frame of shape (n_rows, n_features)
    y : array-like of shape (n_rows,)
        Outcomes, as numbers.
    treatment : array-like of shape (n_rows,)
        1, or True, for treated rows; 0, or False, for the others.
    propensity : float or array-like of shape (n_rows,), optional
        Probability of treatment, where known, as in a randomized trial; by default it
        is estimated.
    sample_weight : array-like of shape (n_rows,), optional
    groups : array-like of shape (n_rows,), optional
        Rows of a group are left out together.
    random_state : int, default=0
        Seed of the folds and of the models.

    Returns
    -------
    EffectScores of shape (n_rows,)
        An array of a type of its own, so that rules tell scores from outcomes;
        computations return plain arrays, which :class:`EffectScores` marks again.

    Raises
    ------
    InputError
        If fewer than 20 rows are treated, or are not.

    Examples
    --------
    >>> import numpy as np
    >>> import clearwood as cw
    >>> rng = np.random.default_rng(0)
    >>> X, t = rng.uniform(size=(400, 1)), rng.integers(0, 2, 400)
    >>> y = X[:, 0] + 2 * t
    >>> round(float(cw.effect_scores(X, y, t, propensity=0.5).mean()), 1)
    2.0
    """
    features = features_of(X, learned=True)
    columns = features.encode(X)
    n_rows = len(columns)
    y = check_target(y, n_rows, numeric=True)
    check_range(y, "y")
    t = _check_treatment(treatment, n_rows)
    e = None if propensity is None else _check_propensity(propensity, n_rows)
    weight = check_weight(sample_weight, n_rows)
    if groups is not None and len(np.unique(groups)) < N_FOLDS:
        raise InputError(
            f"groups has {len(np.unique(groups))} groups; estimates of effects leave "
            f"out a fifth of them in turn, and need at least {N_FOLDS}."
        )
    by_group = StratifiedKFold if groups is None else StratifiedGroupKFold
    folds = by_group(N_FOLDS, shuffle=True, random_state=random_state)
    scores = np.empty(n_rows)
    for kept, held in folds.split(columns, t, groups):
        m0, m1 = (
            _fitted(
                HistGradientBoostingRegressor, columns, y, weight, rows, random_state
            ).predict(columns[held])
            for rows in (kept[~t[kept]], kept[t[kept]])
        )
        if e is None:
            model = _fitted(
                HistGradientBoostingClassifier, columns, t, weight, kept, random_state
            )
            p = model.predict_proba(columns[held])[:, 1].clip(LEAST, 1 - LEAST)
        else:
            p = e[held]
        own, treated = y[held], t[held]
        off = np.where(treated, (own - m1) / p, (m0 - own) / (1 - p))
        scores[held] = m1 - m0 + off
    return scores.view(EffectScores)


def _fitted(
    kind: Any, X: np.ndarray, y: np.ndarray, weight: np.ndarray, rows: Any, seed: int
) -> Any:
    model = kind(**BOOSTING, random_state=seed)
    return model.fit(X[rows], y[rows], sample_weight=weight[rows])


def _check_treatment(treatment: Any, n_rows: int) -> np.ndarray:
    found = check_target(treatment, n_rows, numeric=False, name="treatment")
    if not np.isin(found, [0, 1]).all():
        labels = sorted(map(str, set(found.tolist())))
        raise InputError(
            f"treatment holds {labels[:5]}; expected 1 for treated rows and 0 for the "
            "others. Of several treatments, compare two at a time."
        )
    treated = found.astype(bool)
    fewest = min(treated.sum(), (~treated).sum())
    if fewest < 4 * N_FOLDS:
        raise InputError(
            f"{treated.sum()} of {n_rows} rows are treated; estimates of effects need "
            f"at least {4 * N_FOLDS} rows with and without treatment."
        )
    return treated


def _check_propensity(propensity: Any, n_rows: int) -> np.ndarray:
    found = np.asarray(propensity, dtype=np.float64)
    e = np.full(n_rows, found) if not found.ndim else found
    if e.shape != (n_rows,) or not ((e > 0) & (e < 1)).all():
        raise InputError(
            "propensity must be the probability of treatment of each row, between 0 "
            f"and 1, of shape {(n_rows,)}, or one number for all rows."
        )
    return e
