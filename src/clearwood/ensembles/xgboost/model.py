"""Reader of XGBoost: estimators and boosters in memory, JSON and UBJSON files.

All of them become one document, the one that ``save_model`` writes. XGBoost computes in
float32 throughout; so does the ensemble that is read here, sum by sum.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.codec.documents import Place, plain_number, shown
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.ensembles.nodes import join_trees
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.ensembles.xgboost.boosting import (
    booster_of,
    rounds_of,
    rounds_used,
    start_of,
    trees_of,
)
from clearwood.ensembles.xgboost.features import feature_names, read_features
from clearwood.ensembles.xgboost.objectives import Objective, Predictor, objective_of
from clearwood.ensembles.xgboost.ubjson import parse_ubjson
from clearwood.exceptions import ModelError

READERS: dict[str, Predictor] = {
    "Booster": "booster",
    "XGBClassifier": "classifier",
    "XGBRFClassifier": "classifier",
    "XGBRegressor": "regressor",
    "XGBRFRegressor": "regressor",
    "XGBRanker": "regressor",
}

TYPES: dict[str, Predictor] = {
    "booster": "booster",
    "classifier": "classifier",
    "regressor": "regressor",
    "ranker": "regressor",
}
"""Object that predicts, by scikit-learn's type of estimator."""

NOT_STORED = {"missing=": "not stored: here no number but NaN counts as missing"}
"""Properties of the estimator that files and boosters do not store."""


# Models in memory


def read(model: Any) -> TreeEnsemble:
    """Read a fitted XGBoost model.

    Parameters
    ----------
    model : Booster, XGBClassifier, XGBRegressor, XGBRFClassifier or XGBRFRegressor

    Returns
    -------
    TreeEnsemble
        With the predictions of the object: an estimator leaves out the trees after the
        best round of early stopping, a Booster does not.

    Raises
    ------
    ModelError
        The model is not fitted or of a kind that cannot be read.
    """
    name = f"{type(model).__module__.partition('.')[0]}.{type(model).__qualname__}"
    predictor = _predictor_of(model, name)
    booster = model if predictor == "booster" else model.get_booster()
    try:
        data = bytes(booster.save_raw("ubj"))
    except ValueError as error:
        # XGBoost's own error is a page long; the first line suffices.
        reason = str(error).partition("\n")[0]
        raise ModelError(f"{name} cannot be saved, is it trained? {reason}") from None
    return _ensemble(
        Place(parse_ubjson(data, name), name),
        predictor,
        source=name,
        classes=getattr(model, "classes_", None),
        missing=getattr(model, "missing", None),
    )


def _predictor_of(model: Any, name: str) -> Predictor:
    kinds = [
        base.__name__
        for base in type(model).__mro__
        if base.__name__ in READERS and base.__module__.startswith("xgboost.")
    ]
    if not kinds:
        raise ModelError(
            f"Cannot read {name}; of XGBoost these can be read: {', '.join(READERS)}. "
            "Of a model fitted with Dask or Spark pass the booster."
        )
    predictor = READERS[kinds[0]]
    if predictor == "booster":
        return predictor
    if not model.__sklearn_is_fitted__():
        raise ModelError(f"{name} is not fitted; call fit first.")
    if callable(model.objective):
        raise ModelError(
            f"Cannot read {name} with a custom objective: the meaning of its raw "
            "scores is unknown. Fit it with a built-in objective, or pass "
            "model.get_booster(), which is read by the objective that XGBoost stores "
            "with the trees."
        )
    return predictor


# Files


def read_ubjson(data: bytes, name: str) -> TreeEnsemble:
    """Read a model file in UBJSON.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelFormatError
        The file is damaged or holds a model of a kind that cannot be read.
    """
    return read_document(Place(parse_ubjson(data, name), name))


def read_document(top: Place) -> TreeEnsemble:
    """Read the document of a model file.

    A file that an estimator saved is read as that estimator, loaded, predicts; any
    other as a Booster does.

    Parameters
    ----------
    top : Place
        Content of the file; its trees are consumed.

    Returns
    -------
    TreeEnsemble

    Raises
    ------
    ModelFormatError
        The document is damaged or of a kind that cannot be read.

    Examples
    --------
    A stump that adds -1 or 1 to 0.5:

    >>> stump = {
    ...     "id": 0, "tree_param": {"num_nodes": "3"},
    ...     "left_children": [1, -1, -1], "right_children": [2, -1, -1],
    ...     "split_indices": [0, 0, 0], "split_conditions": [2.5, -1.0, 1.0],
    ...     "default_left": [1, 0, 0],
    ... }
    >>> model = {
    ...     "gbtree_model_param": {"num_trees": "1"}, "tree_info": [0],
    ...     "trees": [stump],
    ... }
    >>> learner = {
    ...     "learner_model_param": {
    ...         "base_score": "5E-1", "num_class": "0", "num_feature": "1"
    ...     },
    ...     "objective": {"name": "reg:squarederror"},
    ...     "gradient_booster": {"name": "gbtree", "model": model},
    ... }
    >>> document = {"version": [3, 2, 0], "learner": learner}
    >>> ensemble = read_document(Place(document, "stump.json"))
    >>> ensemble.predict([[2.0], [2.5], [None]])
    array([-0.5,  1.5, -0.5])
    """
    attributes = top["learner"].get("attributes")
    saved_by = None if attributes is None else attributes.get("scikit_learn")
    if saved_by is None:
        return _ensemble(top, "booster")
    return _ensemble(top, _estimator_type(saved_by.parsed()))


def _estimator_type(saved_by: Place) -> Predictor:
    if "_estimator_type" not in saved_by and "type" in saved_by:
        # XGBoost 1.0 and 1.1 write the name of the class.
        kind, types = saved_by["type"], READERS
    else:
        kind, types = saved_by["_estimator_type"], dict(TYPES)
    predictor = types.get(kind.text(), "booster")
    if predictor == "booster":
        kind.refuse(
            f"an estimator of the type {shown(kind.value)}",
            "Save its booster: model.get_booster().save_model(path)",
        )
    return predictor


# The document


def _ensemble(
    top: Place,
    predictor: Predictor,
    source: str | None = None,
    classes: Any = None,
    missing: float | None = None,
) -> TreeEnsemble:
    learner = top["learner"]
    booster = booster_of(learner)
    name = learner["objective"]["name"]
    objective = objective_of(name, predictor, booster.n_outputs)
    names = feature_names(learner, booster.n_features)
    rounds = rounds_of(booster)
    used, notes = rounds_used(learner, rounds, predictor)
    base_score = start_of(learner, booster.n_outputs, objective)
    trees = trees_of(booster, int(rounds[used]), base_score, predictor)
    cats = booster.model.get("cats")
    space, category_notes = read_features(
        learner, cats, trees, booster.n_features, names, missing
    )
    nodes = join_trees([tree.nodes for tree in trees])
    # All trees at once, which is faster than one small tree after the other.
    nodes["cut"] = float64_cut_of_float32_test(nodes["cut"], strict=True)
    version = _version(top)
    return TreeEnsemble(
        features=space,
        **_task(objective, booster.n_outputs, classes, learner),
        **nodes,
        base_score=base_score,
        sum_dtype="float32",
        link=objective.link,
        decision=objective.decision,
        allows_missing=True,
        # A DMatrix, which a Booster predicts from, refuses infinite values.
        allows_infinite=predictor != "booster",
        input_dtype="float32",
        source=source or f"XGBoost {version} ({name.value})",
        details={
            "library": "XGBoost",
            "version": version,
            "objective": name.value + _level(learner["objective"]),
            "booster": booster.kind,
            "rounds": used,
            **(NOT_STORED if missing is None else {}),
        },
        notes=(*notes, *objective.notes, *category_notes),
    )


def _level(objective: Place) -> str:
    """Level of a single quantile, if the file has it."""
    settings = objective.get("quantile_loss_param")
    level = None if settings is None else settings.get("quantile_alpha")
    text = "" if level is None else str(level.value).strip("[]")
    number = plain_number(text)
    return "" if number is None else f", alpha={number:g}"


def _version(top: Place) -> str:
    version = top.get("version")
    if version is None:
        return "of unknown version"
    return ".".join(str(part) for part in version.integers(low=0).tolist()[:3])


def _task(
    objective: Objective, n_outputs: int, classes: Any, learner: Place
) -> dict[str, Any]:
    if objective.link not in ("logistic", "softmax"):
        return {"task": "regression"}
    n_classes = 2 if objective.link == "logistic" else n_outputs
    # An estimator fitted to one class has a model of two nevertheless.
    known = classes is not None and len(classes) > 1
    labels = np.asarray(classes) if known else np.arange(n_classes)
    if labels.shape != (n_classes,):
        learner.fail(f"trees for {n_classes} classes", f"{labels.size}, as in classes_")
    return {"task": "classification", "classes": labels}
