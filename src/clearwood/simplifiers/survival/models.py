"""Survival models of several libraries as functions: table -> mean survival."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import expit, ndtr

from clearwood.columns.cells import unwrapped
from clearwood.exceptions import InputError, ModelError
from clearwood.outcomes.kaplan_meier import at_times

BLOCK_ROWS = 1000
"""Rows that a model predicts curves for at once."""

ERRORS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "normal": ndtr,
    "logistic": expit,
    "extreme": lambda z: -np.expm1(-np.exp(z)),
}
"""Distribution functions of the error of log times in XGBoost's AFT models."""


@dataclass(frozen=True)
class MeanSurvival:
    """Mean of the survival probabilities that a model predicts at the horizons.

    Parameters
    ----------
    model : object
        What was passed; its class names the function.
    survival : callable
        Function of a table and the horizons that returns probabilities, of shape
        (n_rows, n_horizons).
    horizons : tuple of float
    """

    model: Any
    survival: Callable[[Any, tuple[float, ...]], np.ndarray]
    horizons: tuple[float, ...]

    @property
    def __name__(self) -> str:
        """Name of the model, as rules state it."""
        name = getattr(self.model, "__name__", "")
        kind = type(self.model)
        return name or f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}"

    def __call__(self, X: Any) -> np.ndarray:
        """Mean survival of each row."""
        take = X.iloc if hasattr(X, "iloc") else X
        parts = [np.empty((0, len(self.horizons)))]
        parts += [
            self.survival(take[i : i + BLOCK_ROWS], self.horizons)
            for i in range(0, X.shape[0], BLOCK_ROWS)
        ]
        return np.concatenate(parts).mean(axis=1)


def mean_survival(
    model: Any, horizons: tuple[float, ...], X: Any, y: np.ndarray
) -> MeanSurvival:
    """Find out what a model predicts.

    Parameters
    ----------
    model : fitted model or callable
        With ``predict_survival_function`` as in scikit-survival; a model of XGBoost
        with the objective survival:cox or survival:aft; or ``predict``, or a function,
        that returns survival probabilities of shape (n_rows, n_horizons), or a risk
        score per row. Risk scores become probabilities by a proportional-hazards model
        with the score as its covariate, fitted to these rows.
    horizons : tuple of float
    X : array-like or frame of shape (n_rows, n_features)
    y : structured array of shape (n_rows,)
        With ``event`` and ``time``.
    """
    if hasattr(model, "predict_survival_function"):
        return MeanSurvival(model, Curves(model), horizons)
    objective = _xgboost_objective(model)
    if objective.get("name") == "survival:aft":
        own = objective["aft_loss_param"]
        error, scale = own["aft_loss_distribution"], own["aft_loss_distribution_scale"]
        aft = AcceleratedFailure(predictor_of(model), error, float(scale))
        return MeanSurvival(model, aft, horizons)
    predict = predictor_of(model)
    predicted = predicted_by(predict, X)
    if predicted.ndim == 2 and predicted.shape == (len(y), len(horizons)):
        _check_curves(predicted, model)
        return MeanSurvival(model, Probabilities(predict), horizons)
    if predicted.shape != (len(y),) or not np.isfinite(predicted).all():
        raise ModelError(
            f"The model returned an array of shape {predicted.shape} for {len(y)} rows "
            f"and the horizons {list(horizons)}; expected a risk score per row, or "
            f"survival probabilities of shape {(len(y), len(horizons))}, finite. If y "
            "holds two targets and no survival times, pass it as an array."
        )
    is_ratio = objective.get("name") == "survival:cox"
    hazards = ProportionalHazards.fitted(predict, predicted, y, is_ratio)
    return MeanSurvival(model, hazards, horizons)


def with_encoder(model: Any, X: Any) -> Any:
    """A model that reads a table with texts: a pipeline that encodes them one-hot."""
    from sklearn.compose import make_column_transformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    from clearwood._tables.target import is_text

    names = X.columns if hasattr(X, "iloc") else []
    text = [name for name in names if is_text(X[name])]
    if not text:
        return model
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    columns = make_column_transformer((encoder, text), remainder="passthrough")
    return make_pipeline(columns, model)


def times_for(model: Any, y: np.ndarray) -> np.ndarray:
    """Survival times in the form that an unfitted model is fitted to."""
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not type(last).__module__.startswith("xgboost."):
        return y
    if _check_objective(str(last.objective)) == "survival:aft":
        raise InputError(
            f"{type(last).__name__} with survival:aft is not fitted to censored "
            "times by fit(X, y): pass the Booster of xgboost.train, of a DMatrix with "
            "label_lower_bound and label_upper_bound, or use survival:cox."
        )
    return np.where(y["event"], y["time"], -y["time"])


def _xgboost_objective(model: Any) -> dict[str, Any]:
    """Objective of a model of XGBoost and its parameters; empty for others."""
    booster = model.get_booster() if hasattr(model, "get_booster") else model
    if not hasattr(booster, "save_config"):
        return {}
    found: dict[str, Any] = json.loads(booster.save_config())["learner"]["objective"]
    _check_objective(found["name"])
    return found


def _check_objective(name: str) -> str:
    if name.partition(":")[0] != "survival":
        raise InputError(
            f"The model of XGBoost has the objective {name!r}; expected "
            "survival:cox or survival:aft, or a function that returns survival "
            "probabilities."
        )
    return name


def xgboost_of_file(path: str | Path) -> Any:
    """Model of XGBoost in a file, whose trees alone do not give survival."""
    try:
        from xgboost import Booster
        from xgboost.core import XGBoostError
    except ImportError:
        raise InputError(
            f"{path}: survival models in files are read by XGBoost, which is not "
            "installed; install the extra: pip install clearwood[xgboost]."
        ) from None
    try:
        return Booster(model_file=str(path))
    except XGBoostError as error:
        reason = str(error).splitlines()[0]
        raise ModelError(
            f"{path}: XGBoost cannot read it as a model: {reason}"
        ) from error


def predictor_of(model: Any) -> Any:
    """Function of a table that returns what a model predicts."""
    if hasattr(model, "inplace_predict"):  # XGBoost's Booster reads no table.
        return model.inplace_predict
    return model.predict if hasattr(model, "predict") else model


def predicted_by(predict: Callable[[Any], Any], X: Any) -> np.ndarray:
    """Predicted numbers for the rows of a table."""
    returned = np.asarray(unwrapped(predict(X)))
    try:
        found = returned.astype(np.float64)
    except (TypeError, ValueError):
        raise ModelError(
            f"The model returned predictions of type {returned.dtype}; expected "
            "numbers: a risk score per row, or survival probabilities at the horizons."
        ) from None
    return found[:, 0] if found.shape[1:] == (1,) and found.ndim == 2 else found


def _check_curves(survival: np.ndarray, model: Any) -> None:
    inside = (survival >= -1e-6) & (survival <= 1 + 1e-6)
    if not inside.all() or (np.diff(survival, axis=1) > 1e-6).any():
        raise ModelError(
            "The survival probabilities of the model are not between 0 and 1 and "
            "falling with time; expected a column per horizon, in ascending order."
        )


@dataclass(frozen=True)
class Curves:
    """Survival functions as scikit-survival's models predict them."""

    model: Any

    def __call__(self, X: Any, horizons: tuple[float, ...]) -> np.ndarray:
        """Survival probabilities, of shape (n_rows, n_horizons)."""
        # Before its first time a function is 1; after its last, constant.
        times = getattr(self.model, "unique_times_", None)
        if times is None:
            functions = self.model.predict_survival_function(X)
            return np.array([at_times(f.x, f.y, horizons, 1.0) for f in functions])
        values = self.model.predict_survival_function(X, return_array=True)
        place = np.searchsorted(times, horizons, side="right")
        return np.column_stack([np.ones(len(values)), values])[:, place]


@dataclass(frozen=True)
class Probabilities:
    """Survival probabilities at the horizons, by a function of the user."""

    predict: Callable[[Any], Any]

    def __call__(self, X: Any, horizons: tuple[float, ...]) -> np.ndarray:
        """Survival probabilities, of shape (n_rows, n_horizons)."""
        found = np.asarray(unwrapped(self.predict(X)), dtype=np.float64)
        return found.reshape(len(found), -1)


@dataclass(frozen=True)
class AcceleratedFailure:
    """XGBoost's accelerated failure time model: it predicts the scale of the time."""

    predict: Callable[[Any], Any]
    error: str
    scale: float

    def __call__(self, X: Any, horizons: tuple[float, ...]) -> np.ndarray:
        """Survival probabilities, of shape (n_rows, n_horizons)."""
        time = predicted_by(self.predict, X)[:, None]
        z = (np.log(horizons) - np.log(time)) / self.scale
        return 1.0 - ERRORS[self.error](z)


@dataclass(frozen=True)
class ProportionalHazards:
    """Survival by a risk score: ``exp(-baseline(t) * exp(slope * score))``.

    Attributes
    ----------
    predict : callable
    is_ratio : bool
        Whether it predicts hazard ratios, whose logarithms are scores.
    centre, slope : float
    times, baseline : ndarray of shape (n_times,)
        Breslow's estimate of the cumulative hazard.
    """

    predict: Callable[[Any], Any]
    is_ratio: bool
    centre: float
    slope: float
    times: np.ndarray
    baseline: np.ndarray

    @classmethod
    def fitted(
        cls,
        predict: Callable[[Any], Any],
        predicted: np.ndarray,
        y: np.ndarray,
        is_ratio: bool,
    ) -> ProportionalHazards:
        """Estimate slope (one for hazard ratios) and baseline from some rows."""
        score = np.log(predicted) if is_ratio else predicted
        centre, spread = float(score.mean()), float(score.std())
        slope, z = 1.0, score - centre
        if not is_ratio:
            slope = cox_slope(z / spread, y) / spread if spread > 0 else 0.0
        times, hazard = breslow(slope * z, y)
        return cls(predict, is_ratio, centre, slope, times, hazard)

    def __call__(self, X: Any, horizons: tuple[float, ...]) -> np.ndarray:
        """Survival probabilities, of shape (n_rows, n_horizons)."""
        score = predicted_by(self.predict, X)
        score = np.log(score) if self.is_ratio else score
        hazard = at_times(self.times, self.baseline, horizons, 0.0)
        return np.exp(-np.exp(self.slope * (score - self.centre))[:, None] * hazard)


def breslow(log_risk: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Breslow's estimate of the cumulative baseline hazard: times and values.

    Examples
    --------
    >>> y = np.array([(True, 1.0), (True, 2.0)], [("event", bool), ("time", float)])
    >>> breslow(np.zeros(2), y)[1]
    array([0.5, 1.5])
    """
    times, deaths = np.unique(y["time"][y["event"]], return_counts=True)
    (total,) = _at_risk(np.exp(log_risk)[None], y, times)
    return times, np.cumsum(deaths / total)


def cox_slope(z: np.ndarray, y: np.ndarray, n_steps: int = 25) -> float:
    """Slope of a proportional-hazards model with one covariate, by Newton's method.

    The partial likelihood of Breslow, with a weak normal prior (a tenth of an event)
    so that it has a maximum.
    """
    died, slope = y["event"], 0.0
    times, place = np.unique(y["time"][died], return_inverse=True)
    for _ in range(n_steps):
        risk = np.exp(np.clip(slope * z, -50, 50))
        total, first, second = _at_risk(
            np.array([risk, risk * z, risk * z**2]), y, times
        )
        mean = (first / total)[place]
        gradient = (z[died] - mean).sum() - 0.1 * slope
        curvature = ((second / total)[place] - mean**2).sum() + 0.1
        step = float(np.clip(gradient / curvature, -1, 1))
        slope += step
        if abs(step) < 1e-10:
            break
    return slope


def _at_risk(values: np.ndarray, y: np.ndarray, times: np.ndarray) -> np.ndarray:
    """Sums of values over the rows at risk at some times."""
    order = np.argsort(-y["time"], kind="stable")
    sums = np.cumsum(values[:, order], axis=1)
    n_at_risk = np.searchsorted(-y["time"][order], -times, side="right")
    return sums[:, n_at_risk - 1]
