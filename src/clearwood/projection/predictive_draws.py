"""Predictive distributions of a reference model, draw by draw."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.special import logsumexp, ndtri, xlogy
from scipy.stats import norm, poisson
from sklearn.base import clone
from sklearn.utils import get_tags
from sklearn.utils.validation import has_fit_parameter

from clearwood._estimators import take_rows
from clearwood._numeric import bisect, bisect_whole
from clearwood._warned_once import users_level
from clearwood._words.labels import type_text
from clearwood.columns.schema import features_of
from clearwood.columns.validation import (
    check_range,
    check_table,
    check_target,
    check_weight,
)
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import InputError, SeenRowsWarning
from clearwood.outcomes.survival import OF_CAUSES, check_survival, shares_of
from clearwood.references import Reference, reference
from clearwood.references.tabular import count_rows
from clearwood.rules import Training

MAX_NUMBERS = 2e8
"""Maximum size of the draws held at a time, in numbers (1.6 GB)."""

EPS = float(np.finfo(float).eps)
"""Lower bound of probabilities where their logarithm must be finite."""

SMALLEST_VARIANCE = 1e-9
"""Least variance of an observation, in units of the variance of the predictions."""

NORMAL_ENDS = np.linspace(-2.5, 2.5, 21)
"""Levels of stored quantiles, as quantiles of the standard normal distribution."""


class PredictiveDraws(NamedTuple):
    """Predictive distributions of some rows, one per posterior draw.

    Attributes
    ----------
    draws : ndarray of shape (n_draws, n_rows) or (n_draws, n_rows, n_classes)
        Means, rates or class probabilities.
    noise : ndarray of shape (n_draws, n_rows) or None
        Variance of an observation around the mean; None for rates and classes.
    errors : ndarray of shape (n_rows, n_levels) or None
        Quantiles of an observation less the mean of the draws, at the levels of
        ``NORMAL_ENDS``, where they are estimated from observations.
    """

    draws: np.ndarray
    noise: np.ndarray | None
    errors: np.ndarray | None = None

    @property
    def n_draws(self) -> int:
        """Number of draws."""
        return len(self.draws)

    @property
    def mean(self) -> np.ndarray:
        """Mean over the draws: (n_rows,) or (n_rows, n_classes)."""
        return self.draws.mean(axis=0)

    @property
    def pooled(self) -> PredictiveDraws:
        """Merge all draws into one: their mean, and the total variance around it.

        The variance is sigma_ij^2 of equation (8): the noise plus the variance between
        the draws.
        """
        if self.noise is None:
            return PredictiveDraws(self.mean[None], None)
        variance = self.noise.mean(axis=0) + self.draws.var(axis=0)
        return PredictiveDraws(self.mean[None], variance[None])

    def take(self, rows: np.ndarray) -> PredictiveDraws:
        """Predictive distributions of some of the rows."""
        noise = None if self.noise is None else self.noise[:, rows]
        errors = None if self.errors is None else self.errors[rows]
        return PredictiveDraws(self.draws[:, rows], noise, errors)

    def draw(self, number: int) -> PredictiveDraws:
        """Predictive distributions of one draw."""
        noise = None if self.noise is None else self.noise[[number]]
        return PredictiveDraws(self.draws[[number]], noise)

    def baseline(self, weight: np.ndarray) -> float | None:
        """Baseline prediction without knowledge of the row; None for values.

        The mean rate of rows of these weights, or equal probabilities of all classes.
        """
        if self.noise is not None:
            return None
        if self.draws.ndim == 3:
            return 1 / self.draws.shape[2]
        return float(np.average(self.mean, weights=weight))

    def smoothed(self, n_rows: int, baseline: float | None) -> PredictiveDraws:
        """Shrink rates or probabilities of ``n_rows`` rows towards a baseline."""
        if baseline is None:
            return self
        return self._replace(draws=smoothed(self.draws, n_rows, baseline))

    @property
    def negative_entropy(self) -> np.ndarray:
        """Expected log likelihood of predictions under themselves, per draw and row.

        Subtracting that of a proxy gives the Kullback-Leibler divergence from the
        reference to the proxy. For rates log factorials are omitted, as for a proxy.
        """
        if self.noise is not None:
            return -0.5 * np.log(2 * np.pi * self.noise) - 0.5
        if self.draws.ndim == 3:
            return xlogy(self.draws, self.draws).sum(axis=2)
        return xlogy(self.draws, self.draws) - self.draws

    def log_density(self, y: np.ndarray) -> np.ndarray:
        """Log density of the observation of each row, over all draws.

        Parameters
        ----------
        y : ndarray of shape (n_rows,)
            Values, counts, or positions of classes.
        """
        if self.noise is not None:
            density = norm.logpdf(y, self.draws, np.sqrt(self.noise))
        elif self.draws.ndim == 2:
            density = poisson.logpmf(y, np.maximum(self.draws, EPS))
        else:
            probability = self.draws[:, np.arange(len(y)), y]
            # A probability of zero may be a rounded one.
            density = np.log(np.maximum(probability, EPS))
        return logsumexp(density, axis=0) - np.log(self.n_draws)

    def quantile(self, share: float) -> np.ndarray:
        """Quantiles of an observation of each row; for classes, of their probabilities.

        Returns
        -------
        ndarray of shape (n_rows,) or (n_rows, n_classes)
        """
        if self.errors is not None:
            # Linear where both are normal, also beyond the outermost level.
            error = make_interp_spline(NORMAL_ENDS, self.errors, k=1, axis=1)
            return self.mean + error(ndtri(share))
        if self.draws.ndim == 3:
            return np.quantile(self.draws, share, axis=0)
        if self.noise is None:
            return bisect_whole(
                lambda y: poisson.cdf(y, self.draws).mean(axis=0) >= share,
                poisson.ppf(share, self.draws.min(axis=0)),
                poisson.ppf(share, self.draws.max(axis=0)),
            )
        sd = np.sqrt(self.noise)
        # A quantile of a mixture lies between those of its components.
        ends = norm.ppf(share, self.draws, sd)
        return bisect(
            lambda y: norm.cdf(y, self.draws, sd).mean(axis=0) >= share,
            ends.min(axis=0),
            ends.max(axis=0),
        )


def smoothed(predicted: np.ndarray, n_rows: Any, baseline: float) -> np.ndarray:
    """Shrink rates or probabilities as if there were one more row at the baseline.

    An outcome that no row has is rare, but not impossible: otherwise a single outlying
    count or label would dominate the evaluation.

    Parameters
    ----------
    predicted : ndarray
    n_rows : int or ndarray
        Number of rows behind each number.
    baseline : float
        From :meth:`PredictiveDraws.baseline`.

    Examples
    --------
    >>> smoothed(np.array([0.0, 4.0]), 3, 2.0)
    array([0.5, 3.5])
    """
    return (n_rows * predicted + baseline) / (n_rows + 1)


def check_fit_rows(
    estimator: Any, X: Any, y: Any, sample_weight: Any, task: str
) -> tuple[Any, np.ndarray | None, np.ndarray]:
    """Validate the arguments of ``fit``, and drop rows of weight zero.

    Parameters
    ----------
    estimator : BaseEstimator
        Receives ``n_features_in_`` and, from a frame, ``feature_names_in_``.
    X, y, sample_weight
        As passed to ``fit``.
    task : {"regression", "classification", "survival"}

    Returns
    -------
    X : ndarray or frame
    y : ndarray of shape (n_rows,) or None
    weight : ndarray of shape (n_rows,)
    """
    X = check_table(estimator, X, reset=True)
    weight = check_weight(sample_weight, X.shape[0])
    if y is not None:
        if task == "survival":
            y = check_survival(y, X.shape[0], may_lack_events=True)
            if y.dtype == OF_CAUSES:
                raise InputError(
                    f"y has {y['cause'].max()} causes of events, but draws of survival "
                    f"have a single one; {type(estimator).__name__} does not support "
                    "several. Recode all causes as 1, or, if the draws are of cause 1 "
                    "alone, the others as 0 (censored)."
                )
        else:
            y = check_target(y, X.shape[0], numeric=task == "regression")
        if isinstance(estimator.reference, Reference):
            _warn_of_seen_rows(estimator.reference, X)
    counted = np.flatnonzero(weight > 0)
    if len(counted) < 2:
        raise InputError(
            f"Found {len(counted)} sample(s) of positive weight; a proxy requires at "
            "least two."
        )
    y = None if y is None else y[counted]
    if len(counted) < len(weight):
        X, weight = take_rows(X, counted), weight[counted]
    return X, y, weight


def _warn_of_seen_rows(source: Reference, X: Any) -> None:
    """Warn if rows are some of those that a reference was made with, as in a fold."""
    if source.rows is None or X.shape[0] >= count_rows(source.rows):
        return
    n_rows, n_fitted = X.shape[0], count_rows(source.rows)
    features = features_of(source.rows)
    try:
        with warnings.catch_warnings(action="ignore"):
            fitted = {row.tobytes() for row in features.encode(source.rows)}
            is_part = all(row.tobytes() in fitted for row in features.encode(X))
    except InputError:  # X has other columns.
        return
    if is_part:
        warnings.warn(
            f"The reference ({source.description}) was made with {n_fitted} rows, of "
            f"which this fit has {n_rows}. Scores on the others are too good: it has "
            "seen them. In cross-validation, pass a model that is not fitted, or None.",
            SeenRowsWarning,
            stacklevel=users_level(),
        )


def accepts_missing(given: Any) -> bool:
    """Whether the reference to be made accepts missing values."""
    if hasattr(given, "__sklearn_tags__"):
        return bool(get_tags(given).input_tags.allow_nan)
    return given is None or isinstance(given, Reference)


def find_reference(
    given: Any,
    X: Any,
    y: Any,
    weight: np.ndarray,
    task: str,
    generator: np.random.Generator,
) -> Reference:
    """Use a given reference, or make one and fit it to the rows.

    Parameters
    ----------
    given : Reference, estimator, ... or None
        Anything that :func:`clearwood.reference` accepts.
    X, y, weight
        Rows and their weights, for an unfitted one.
    task : {"regression", "classification", "survival"}
        Task of the proxy.
    generator : Generator

    Raises
    ------
    InputError
        The reference has another task.
    """
    # Drawn in any case, so that later draws do not depend on the kind.
    seed = int(generator.integers(2**31))
    if isinstance(given, Reference):
        source = given
    elif task == "survival":
        raise InputError(
            f"The reference is {type_text(given)}; pass draws of survival "
            "probabilities, as cw.reference(draws, X, horizons=[...]), of shape "
            "(n_draws, n_samples, n_horizons)."
        )
    else:
        source = _make_reference(given, X, y, weight, task, seed)
    is_class = source.task == "classification"
    if {"counts": "regression"}.get(source.task, source.task) != task:
        remedy = f"use the {'classifier' if is_class else 'regressor'}"
        if source.task == "survival":
            remedy = "use ProjectedTreeSurvival"
        if is_class and np.asarray(source.classes).dtype.kind in "iuf":
            remedy += (
                ", or, if its labels are values, make the reference with "
                "task='regression', and if they are counts, "
                "reference('bart', X, y, task='counts')"
            )
        raise InputError(
            f"The reference ({source.description}) is for {source.task}, this proxy "
            f"for {task}; {remedy}."
        )
    return source


def _make_reference(
    given: Any, X: Any, y: Any, weight: np.ndarray, task: str, seed: int
) -> Reference:
    """Reference for anything else: a model, fitted here if need be, or a name."""
    is_default = given is None or isinstance(given, str) and given == "bart"
    if y is None and (is_default or needs_fit(given)):
        raise InputError(
            "The reference is not fitted yet: this fit requires y to be passed, but "
            "the target y is None. Pass y, or a fitted reference."
        )
    # Models declare their task; from labels alone it can only be guessed.
    settings: dict[str, Any] = {"task": task} if is_default else {}
    if (weight != 1).any() and (is_default or needs_fit(given)):
        if given is None:
            settings["sample_weight"] = weight
        elif hasattr(given, "fit") and has_fit_parameter(given, "sample_weight"):
            given = clone(given).fit(X, y, sample_weight=weight)
        else:
            raise InputError(
                f"{given!r} cannot be fitted to rows with weights. Pass a fitted "
                "reference; the weights are then used for the proxy only."
            )
    source = reference(given, X, y, random_state=seed, **settings)
    if source.rows is X:  # the user's table, which may change later
        source.rows = take_rows(X, np.arange(X.shape[0]))
    return source


def predictive_draws(source: Reference, X: Any) -> PredictiveDraws:
    """Predictive distributions of a reference for some rows, draw by draw.

    Parameters
    ----------
    source : Reference
    X : array-like or frame of shape (n_rows, n_features)

    Raises
    ------
    InputError
        The draws of these rows do not fit in memory.
    """
    n_numbers = source.n_draws * X.shape[0] * source.n_outputs
    if n_numbers > MAX_NUMBERS:
        raise InputError(
            f"{source.n_draws} draws of {X.shape[0]} rows do not fit in memory; "
            "project on some of the rows, or make the reference with fewer draws."
        )
    draws = np.asarray(source.draws(X), dtype=np.float64)
    if source.task == "survival":
        return PredictiveDraws(shares_of(draws), None)
    if source.task != "regression":
        return PredictiveDraws(draws, None)
    check_range(draws, "The reference's prediction")
    noise = np.asarray(source.noise_variance(X), dtype=np.float64)
    # A reference without noise has no finite divergence to a proxy.
    least = SMALLEST_VARIANCE * (float(draws.var()) or 1.0)
    return PredictiveDraws(draws, np.maximum(noise, least))


def targets_of(source: Reference, training: Training) -> np.ndarray | None:
    """Observed numbers of the training rows, if passed here or to the reference."""
    if source.task != "regression":
        return None
    y = source.targets
    if training.labels is not None or y is None or len(y) != len(training):
        return training.labels
    rows = features_of(source.rows).encode(source.rows)
    is_same = np.array_equal(rows, training.encoded, equal_nan=True)
    return check_target(y, len(rows), numeric=True) if is_same else None
