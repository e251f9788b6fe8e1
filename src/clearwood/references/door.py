"""The factory function of reference models."""

from __future__ import annotations

import inspect
import warnings
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np

from clearwood._warned_once import users_level
from clearwood._words.spelling import suggestion
from clearwood.columns.cells import unwrapped
from clearwood.ensembles.read import as_predictor, needs_fit
from clearwood.exceptions import InputError, ModelError, OwnPredictionsWarning
from clearwood.references.arviz_draws import arviz_reference
from clearwood.references.bart import BartReference
from clearwood.references.base import Reference, fitted_clone
from clearwood.references.checks import (
    check_laws,
    method_of_its_own,
    warn_of_labels,
)
from clearwood.references.forests import BayesianBootstrapForest, ForestReference
from clearwood.references.functions import FunctionReference, dropout_reference
from clearwood.references.gaussian import GaussianProcessReference, LinearReference
from clearwood.references.given import GivenDraws
from clearwood.references.predictors import PipelineReference, PredictorReference

OF_MODEL: dict[str, Any] = {
    "GaussianProcessRegressor": GaussianProcessReference,
    "BayesianRidge": LinearReference,
    "ARDRegression": LinearReference,
    "RandomForestClassifier": ForestReference,
    "RandomForestRegressor": ForestReference,
    "ExtraTreesClassifier": ForestReference,
    "ExtraTreesRegressor": ForestReference,
}
"""Classes of scikit-learn that have more than one draw."""

WRAPPERS = {"BaseSearchCV": "best_estimator_", "FrozenEstimator": "estimator"}
"""Classes of scikit-learn around a model, and the attribute that holds it."""

ELSEWHERE: dict[tuple[str, str], Any] = {
    ("torch", "Module"): dropout_reference,
    ("arviz", "InferenceData"): arviz_reference,
    ("xarray", "DataTree"): arviz_reference,
}
"""Classes of other libraries, which need not be installed."""


def reference(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    n_draws: int | None = None,
    task: str | None = None,
    random_state: Any = None,
    **settings: Any,
) -> Reference:
    """Make a reference model (draws of predictions) from a model of any kind.

    Parameters
    ----------
    model : model, function, array of draws, "bart" or None
        - None: a :class:`~clearwood.BayesianBootstrapForest`;
        - "bart": :class:`~clearwood.references.BartReference`, of the extra ``bart``;
        - scikit-learn's GaussianProcessRegressor, BayesianRidge and ARDRegression, also
          last in a pipeline: functions drawn from their posterior;
        - its random forests and extra trees: their trees, which are not a posterior;
        - a torch network with dropout:
          :func:`~clearwood.references.dropout_reference`;
        - ArviZ's InferenceData, or xarray's DataTree:
          :func:`~clearwood.references.arviz_reference`;
        - an array (n_draws, n_samples) or (n_draws, n_samples, n_classes): draws at the
          rows X, :class:`~clearwood.references.GivenDraws`;
        - any other model with ``predict``, or the path of a model file: one draw;
        - a function (X, l): :class:`~clearwood.references.FunctionReference`;
        - a :class:`~clearwood.Reference`: itself.

        A scikit-learn estimator that is not fitted is cloned and fitted to X and y.
    X : array-like or frame of shape (n_samples, n_features), optional
        Rows to fit to; for a fitted model its training rows; for a function example
        rows. The first of them are predicted to validate the draws.
    y : array-like of shape (n_samples,), optional
        Their targets, to estimate the noise variance where the model does not give it.
    n_draws : int, optional
        Number of draws. Not for forests and single models, whose draws are all used.
    task : {"regression", "classification", "ordinal", "counts"}, optional
        For models that do not define it themselves.
    random_state : int, Generator, RandomState or None, default=None
        Seed, where draws are random.
    **settings
        Further parameters of that kind of reference: ``noise_variance``, ``classes``,
        ``n_trees``, ...

    Returns
    -------
    Reference

    Raises
    ------
    InputError
        An argument is missing, a setting is unknown, or the draws are invalid.
    ModelError
        No reference can be made from a model of this kind.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import BayesianRidge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> ref = reference(BayesianRidge(), X, y, n_draws=100, random_state=0)
    >>> ref
    <LinearReference: BayesianRidge, 100 draws>
    >>> ref.draws(X).shape
    (100, 442)
    """
    if n_draws is not None and not (isinstance(n_draws, Integral) and n_draws > 0):
        raise InputError(
            f"n_draws must be a whole number from 1 on, found {n_draws!r}."
        )
    if n_draws is not None:
        settings["n_draws"] = n_draws
    model, X, y = unwrapped(model), unwrapped(X), unwrapped(y)
    if model is not None and _is_unfitted(model):
        if X is None or y is None:
            raise InputError(
                f"{type(model).__name__} is not fitted: pass X and y, too."
            )
        model = fitted_clone(model, X, y)
    kind, sources = _kind_of(model, X, y)
    settings = _known_to(kind, settings, {"task": task, "random_state": random_state})
    if kind in OF_MODEL.values() and sources[0] is not _last_step(sources[0]):
        settings["kind"], kind = kind, PipelineReference
    found = kind(*sources, **settings)
    # Ordinal is classification to all but BART, which has checked its task.
    if task not in (None, found.task) and kind is not BartReference:
        raise InputError(f"{found} is for {found.task}, but task is {task!r}.")
    if X is not None:
        check_laws(found, X)
        warn_of_labels(found, X)
        # An existing reference keeps the rows that it was made with.
        if found.rows is None:
            found.rows, found.targets = X, y
    return found


def _itself(reference: Reference) -> Reference:
    return reference


def _kind_of(model: Any, X: Any, y: Any) -> tuple[Any, tuple[Any, ...]]:
    """The class or function that makes the reference, and its arguments."""
    if isinstance(model, Reference):
        return _itself, (model,)
    if model is None:
        return BayesianBootstrapForest, (X, y)
    if isinstance(model, str) and model == "bart":
        return BartReference, (X, y)
    if isinstance(model, np.ndarray | list | tuple):
        return GivenDraws, (model, X)
    for base in type(model).__mro__:
        library = base.__module__.partition(".")[0]
        if (library, base.__name__) in ELSEWHERE:
            return ELSEWHERE[library, base.__name__], (model, X)
    if type(model).__module__.startswith("stochtree"):
        raise ModelError(
            'For BART pass "bart", with X and y, so that it can be refitted in folds. '
            "n_trees, thin and forest set the parameters of BARTModel."
        )
    given = model
    # Refits use the model inside a search, with the settings that it selected.
    for wrapper, inside in WRAPPERS.items():
        if _is_a(model, wrapper):
            model = getattr(model, inside)
    for name, kind in OF_MODEL.items():
        if _is_a(_last_step(model), name):
            found = method_of_its_own(given, X)
            if found is None:
                return kind, (model, X, y)
            warnings.warn(
                f"{type(given).__name__} does not predict as a {name} does, because of "
                f"{found}. Its predictions are used as the only draw.",
                OwnPredictionsWarning,
                stacklevel=users_level(),
            )
            return PredictorReference, (given, X, y)
    if isinstance(model, str) and _is_word(model):
        raise InputError(
            f"{model!r} is neither a known reference nor a model file; expected "
            '"bart", None (a Bayesian bootstrap forest), the path of a model file, or '
            "a model."
        )
    model = as_predictor(model)
    if hasattr(model, "predict"):
        return PredictorReference, (model, X, y)
    if callable(model):
        return FunctionReference, (model, X)
    raise ModelError(
        f"Cannot make a reference of {type(model).__name__}; expected a model that "
        'predicts, a function (X, draw), an array of draws, "bart", None or an object '
        "of a subclass of Reference."
    )


def _is_word(text: str) -> bool:
    """Whether a text is not a path: no folder, no suffix, and no such file."""
    path = Path(text)
    return path.name == text and not path.suffix and not path.exists()


def _is_a(model: Any, name: str) -> bool:
    return any(
        base.__name__ == name and base.__module__.startswith("sklearn.")
        for base in type(model).__mro__
    )


def _is_unfitted(model: Any) -> bool:
    # scikit-learn treats a Gaussian process as fitted even if it has only a prior.
    last = _last_step(model)
    only_prior = _is_a(last, "GaussianProcessRegressor") and not hasattr(last, "alpha_")
    return only_prior or needs_fit(model)


def _last_step(model: Any) -> Any:
    return model[-1] if _is_a(model, "Pipeline") else model


def _known_to(
    kind: Any, settings: dict[str, Any], common: dict[str, Any]
) -> dict[str, Any]:
    """Validate settings for a kind of reference; add the common ones that it has."""
    parameters = inspect.signature(kind).parameters.values()
    known_settings = {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}
    open_ended = any(p.kind is p.VAR_KEYWORD for p in parameters)
    unknown = sorted(set(settings) - set(known_settings))
    if unknown and not open_ended:
        known = ", ".join(sorted(known_settings)) or "none"
        raise InputError(
            f"{kind.__name__} has no parameter {unknown[0]!r}; expected one of: "
            f"{known}.{suggestion(unknown[0], known_settings)}"
        )
    for name, default in known_settings.items():
        if default is inspect.Parameter.empty and name not in settings:
            raise InputError(f"{kind.__name__} requires {name}: pass {name}=...")
    return settings | {name: common[name] for name in common if name in known_settings}
