"""The model to explain: fitted, fitted here, read as trees, or by predictions only."""

from __future__ import annotations

import warnings
from copy import deepcopy
from typing import Any

import numpy as np

from clearwood._warned_once import users_level
from clearwood.ensembles import read_ensemble
from clearwood.ensembles.black_box import BlackBox, predicts, task_of, wrap_model
from clearwood.ensembles.own_predictions import DifferentPredictions, as_it_predicts
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.ensembles.read import as_predictor, needs_fit, read_trees
from clearwood.ensembles.sklearn.inside import questions_inside
from clearwood.exceptions import InputError, ModelError, OwnPredictionsWarning
from clearwood.simplifiers._common.own_cuts import with_own_cuts_in
from clearwood.simplifiers._common.predictions import Model


def fitted_model(
    estimator: Any,
    default: Any,
    X: Any,
    y: np.ndarray | None,
    sample_weight: np.ndarray | None,
    task: str,
) -> tuple[Any, Model]:
    """Use a fitted model unchanged, fit an unfitted one, read anything else.

    Parameters
    ----------
    estimator : estimator, callable, TreeEnsemble or None
        As passed to the meta-estimator; None means ``default``.
    default : estimator
        Fitted if ``estimator`` is None.
    X, y, sample_weight
        Training data for an unfitted estimator.
    task : {"classification", "regression"}
        Task of the rules.

    Returns
    -------
    model : estimator, or the object passed in
    ensemble : TreeEnsemble or BlackBox
        The same model, for rows in the format of X.
    """
    model = estimator
    if needs_fit(estimator):
        if y is None:
            raise InputError(
                "The estimator is not fitted yet: this fit requires y to be passed, "
                "but the target y is None. Pass y, or a fitted model."
            )
        if task == "classification" and len(np.unique(y)) < 2:
            raise InputError(
                f"y holds one class only ({y.tolist()[0]!r}); classification needs at "
                "least two classes."
            )
        # CatBoost copies a list of cat_features, which scikit-learn's clone rejects.
        model = deepcopy(default if estimator is None else estimator)
        model = fit_to_table(model, X, y, sample_weight)
    ensemble = read_model(model, X, y, task=task)
    if ensemble.task != task:
        other = {"classification": "Classifier", "regression": "Regressor"}
        raise InputError(
            f"The model ({ensemble.source}) is for {ensemble.task}, these rules are "
            f"for {task}; use the {other[ensemble.task]} of the same name."
        )
    if ensemble.classes is not None and len(ensemble.classes) < 2:
        raise InputError(
            f"The model has a single class ({ensemble.classes.tolist()[0]!r}); rules "
            "need at least two."
        )
    return model, ensemble


def as_given(model: Any) -> Any:
    """Validate a model: one that can be fitted, read, or evaluated."""
    if model is None:
        raise ModelError(
            "The model is None; pass a model, fitted or not, such as "
            "HistGradientBoostingClassifier(), or use RuleListClassifier(), which has "
            "a default."
        )
    return as_predictor(model) if predicts(model) else read_ensemble(model)


def read_model(
    model: Any,
    X: Any,
    y: np.ndarray | None = None,
    *,
    task: str | None = None,
    rows: np.ndarray | slice = slice(None),
) -> Model:
    """Read a model's trees if they alone decide; else use its predictions.

    Parameters
    ----------
    model : fitted model, callable, path, TreeEnsemble or BlackBox
    X : ndarray or frame
        Rows in the format that it predicts for.
    y : ndarray of shape (n_rows,), optional
        Names the classes of models that do not name them.
    task : {"classification", "regression"}, optional
        Task of a callable, if it cannot be inferred.
    rows : ndarray or slice
        Rows of X in which rules may find their own thresholds.

    Returns
    -------
    TreeEnsemble or BlackBox
    """
    if isinstance(model, BlackBox):
        return model
    try:
        ensemble = read_trees(model)
        if ensemble is not model and hasattr(model, "predict"):
            ensemble = as_it_predicts(ensemble, model, X)
        return ensemble.as_in(X)
    except ModelError as error:
        if not predicts(model):
            raise
        reason = error
    says = task_of(model, X) if hasattr(model, "predict") or task is None else task
    try:
        black_box = wrap_model(model, X, y, says)
    except ModelError as error:
        # Of a function nothing could be read anyway.
        known = f". {reason}" if hasattr(model, "predict") else ""
        raise ModelError(f"{str(error).rstrip('.')}{known or '.'}") from error
    differs = isinstance(reason, DifferentPredictions)
    if differs:
        warnings.warn(
            f"{reason} It is treated as a black box.",
            OwnPredictionsWarning,
            stacklevel=users_level(),
        )
    try:
        inside = questions_inside(model, X, black_box.features)
        black_box = black_box.with_questions(
            inside, "those of the trees inside the model"
        )
    except ModelError:
        return with_own_cuts_in(black_box, X, rows)
    # What decides besides the trees may use any column.
    return with_own_cuts_in(black_box, X, rows) if differs else black_box


def require_trees(model: Model, method: str) -> None:
    """Raise an error for methods that take their rules from trees."""
    if isinstance(model, BlackBox):
        raise ModelError(
            f"{method} takes its rules from the trees of a model, and {model.source} "
            "has none that can be read. Pass a tree ensemble; or use a method that "
            "needs predictions only, such as RuleListClassifier or "
            'DistilledTreeClassifier (method="list", "tree").'
        )
