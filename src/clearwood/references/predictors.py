"""References of single fitted models, with one draw, and of pipelines."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import issparse

from clearwood.columns.validation import check_target
from clearwood.ensembles.statistics import objective_of, statistic_of
from clearwood.exceptions import InputError
from clearwood.references.base import ModelReference, out_of_fold_noise
from clearwood.references.checks import check_draws
from clearwood.references.tabular import (
    as_fitted,
    count_rows,
    task_with,
)


class PredictorReference(ModelReference):
    """Reference of one fitted model, with its predictions as the only draw.

    Parameters
    ----------
    model : fitted model
        With ``predict``; a classifier also with ``predict_proba`` and ``classes_``.
    X, y : optional
        In regression, its training rows, to estimate the noise variance: the
        out-of-fold mean squared error of clones. Without them, or where the model
        cannot be cloned, the noise is unknown, and zero.
    task : {"regression", "classification", "counts"}, optional
        By default that of the model; "counts" if it predicts rates.
    noise_variance : float, optional
        The noise variance in place of this estimate.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import LinearRegression
    >>> X, y = load_diabetes(return_X_y=True)
    >>> PredictorReference(LinearRegression().fit(X, y), X, y)
    <PredictorReference: LinearRegression, one draw (not a posterior)>
    """

    is_posterior = False
    n_draws = 1

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        *,
        task: str | None = None,
        noise_variance: float | None = None,
    ) -> None:
        known = getattr(model, "classes_", getattr(model, "classes", None))
        self.task, self.classes = task_with(known, task)
        self._keep(model, X, task=task, noise_variance=noise_variance)
        statistic = "" if known is not None else statistic_of(objective_of(model))
        name = ", of ".join(filter(None, (type(model).__name__, statistic)))
        self.description = f"{name}, one draw (not a posterior)"
        if self.task == "classification":
            if not hasattr(model, "predict_proba"):
                raise InputError(
                    f"{type(model).__name__} predicts classes without probabilities; "
                    "fit it inside sklearn.calibration.CalibratedClassifierCV."
                )
        elif self.task == "regression" and noise_variance is None:
            self.learns_noise = hasattr(model, "get_params")
        if self.learns_noise and y is not None:
            target = check_target(y, count_rows(X), numeric=True)
            fit = PredictorReference(model, noise_variance=0.0).refit
            noise_variance = out_of_fold_noise(fit, X, target, seed=0)
        self.noise = noise_variance or 0.0

    def draws(self, X: Any) -> np.ndarray:
        """Predictions of the model; see :meth:`~clearwood.Reference.draws`."""
        ask = self.model.predict if self.classes is None else self.model.predict_proba
        return check_draws([ask(as_fitted(X, self.features))], self, count_rows(X))


class PipelineReference(ModelReference):
    """Reference of the last step of a pipeline, after the preceding steps.

    Parameters
    ----------
    model : Pipeline
        Fitted.
    X, y : optional
        Its training rows.
    kind : type
        Kind of reference of the last step.
    **settings
        Parameters of that kind.
    """

    def __init__(
        self, model: Any, X: Any = None, y: Any = None, *, kind: Any, **settings: Any
    ) -> None:
        self._keep(model, X)
        rows = None if X is None else self._before(X)
        self.last = last = kind(model[-1], rows, y, **settings)
        # Including the seed of the last step's reference.
        self.settings = {"kind": kind, **last.settings}
        self.task, self.classes = last.task, last.classes
        self.n_draws, self.is_posterior = last.n_draws, last.is_posterior
        self.description = last.description

    def _before(self, X: Any) -> Any:
        rows = as_fitted(X, self.features)
        if len(self.model) > 1:
            rows = self.model[:-1].transform(rows)
        return rows.toarray() if issparse(rows) else rows

    def draws(self, X: Any) -> np.ndarray:
        """Draws of the last step; see :meth:`~clearwood.Reference.draws`."""
        return self.last.draws(self._before(X))

    def noise_variance(self, X: Any) -> np.ndarray:
        """Noise of the last step; see :meth:`~clearwood.Reference.noise_variance`."""
        return self.last.noise_variance(self._before(X))
