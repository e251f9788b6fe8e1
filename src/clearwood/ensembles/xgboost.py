"""Reader of XGBoost: estimators and boosters in memory, JSON and UBJSON files.

All of them come down to one document, the one that ``save_model`` writes. XGBoost
computes in float32 throughout; so does what is read here, sum by sum.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood.ensembles.documents import (
    MOST_CLASSES,
    MOST_TREES,
    Place,
    parse_json,
    plain_integer,
    shown,
)
from clearwood.ensembles.nodes import join_trees
from clearwood.ensembles.tree_ensemble import TreeEnsemble
from clearwood.ensembles.ubjson import parse_ubjson
from clearwood.ensembles.xgboost_features import feature_names, read_features
from clearwood.ensembles.xgboost_objectives import Objective, Predictor, objective_of
from clearwood.ensembles.xgboost_trees import Tree, read_tree
from clearwood.exceptions import ModelError, ModelFormatError

READERS: dict[str, Predictor] = {
    "Booster": "booster",
    "XGBClassifier": "classifier",
    "XGBRFClassifier": "classifier",
    "XGBRegressor": "regressor",
    "XGBRFRegressor": "regressor",
}


class Booster(NamedTuple):
    """The parts of a document that all steps of reading need."""

    learner: Place
    model: Place
    kind: str
    weights: Place | None
    n_outputs: int
    n_features: int


# Models in memory


def read(model: Any) -> TreeEnsemble:
    """Read a fitted XGBoost model.

    Parameters
    ----------
    model : Booster, XGBClassifier, XGBRegressor, XGBRFClassifier or XGBRFRegressor

    Returns
    -------
    TreeEnsemble
        Predicts what the object predicts: an estimator leaves out the trees after the
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
        document = parse_ubjson(bytes(booster.save_raw("ubj")), name)
        return _ensemble(
            Place(document, name),
            predictor,
            source=name,
            classes=getattr(model, "classes_", None),
            missing=getattr(model, "missing", np.nan),
        )
    except ModelFormatError as error:
        raise ModelError(str(error)) from None


def _predictor_of(model: Any, name: str) -> Predictor:
    kinds = [
        base.__name__
        for base in type(model).__mro__
        if base.__name__ in READERS and base.__module__.startswith("xgboost.")
    ]
    if not kinds:
        raise ModelError(
            f"Cannot read {name}; of XGBoost these can be read: {', '.join(READERS)}. "
            "The scores of a ranking model only put rows in order. Of a model that was "
            "fitted with Dask or Spark hand in the booster."
        )
    predictor = READERS[kinds[0]]
    if predictor == "booster":
        if model.num_features() == 0:
            raise ModelError(f"{name} is not trained; use xgboost.train.")
        return predictor
    if not model.__sklearn_is_fitted__():
        raise ModelError(f"{name} is not fitted; call fit first.")
    if callable(model.objective):
        raise ModelError(
            f"Cannot read {name} with an objective of its own: what its raw scores "
            "mean is not known. Fit it with a built-in objective, or hand in "
            "model.get_booster(), which is read as the objective that XGBoost stores "
            "beside the trees says."
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
    """
    return read_document(Place(parse_ubjson(data, name), name))


def read_json(data: bytes, name: str) -> TreeEnsemble:
    """Read a model file in JSON.

    Parameters
    ----------
    data : bytes
    name : str
        The file's name, for messages.

    Returns
    -------
    TreeEnsemble
    """
    return read_document(Place(parse_json(data, name), name))


def read_document(top: Place) -> TreeEnsemble:
    """Read the document of a model file.

    A file that an estimator saved is read as that estimator, loaded, predicts; any
    other as a Booster does.

    Parameters
    ----------
    top : Place
        What stands in the file.

    Returns
    -------
    TreeEnsemble
    """
    attributes = top["learner"].get("attributes")
    saved_by = None if attributes is None else attributes.get("scikit_learn")
    if saved_by is None:
        return _ensemble(top, "booster")
    described = Place(
        parse_json(saved_by.text().encode(), saved_by.where), saved_by.where
    )
    kind = described["_estimator_type"]
    if kind.text() not in ("classifier", "regressor"):
        kind.fail(shown(kind.value), "'classifier' or 'regressor'; others are not read")
    return _ensemble(top, kind.value)


# The document


def _ensemble(
    top: Place,
    predictor: Predictor,
    source: str | None = None,
    classes: Any = None,
    missing: float = np.nan,
) -> TreeEnsemble:
    learner = top["learner"]
    booster = _booster(learner)
    name = learner["objective"]["name"]
    objective = objective_of(name, predictor, booster.n_outputs)
    names = feature_names(learner, booster.n_features)
    rounds = _rounds(booster)
    used, notes = _rounds_used(learner, rounds, predictor)
    base_score = _base_score(learner, booster.n_outputs, objective)
    trees = _trees(booster, int(rounds[used]), base_score, predictor)
    cats = booster.model.get("cats")
    space, category_notes = read_features(learner, cats, trees, names, missing)
    version = _version(top)
    return TreeEnsemble(
        features=space,
        **_task(objective, booster.n_outputs, classes, learner),
        **join_trees([tree.nodes for tree in trees]),
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
            "objective": name.value,
            "booster": booster.kind,
            "rounds": used,
        },
        notes=(*notes, *objective.notes, *category_notes),
    )


def _booster(learner: Place) -> Booster:
    """The booster, and how many outputs and features it has."""
    booster = learner["gradient_booster"]
    kind = booster["name"]
    if kind.text() not in ("gbtree", "dart"):
        kind.fail(
            f"{shown(kind.value)}, a model without trees"
            if kind.value == "gblinear"
            else shown(kind.value),
            "'gbtree' or 'dart'; fit one of these boosters",
        )
    param = learner["learner_model_param"]
    n_targets = param.get("num_target")
    if n_targets is not None and n_targets.integer(0, from_text=True) > 1:
        n_targets.fail(
            f"{shown(n_targets.value)} targets (several columns of y, or several "
            "quantiles), which are not read",
            "1; fit one model per target",
        )
    n_outputs = max(1, param["num_class"].integer(0, MOST_CLASSES, from_text=True))
    n_features = param["num_feature"].integer(1, 2**31 - 2, from_text=True)
    weights = None if kind.value == "gbtree" else booster["weight_drop"]
    trees = booster if kind.value == "gbtree" else booster["gbtree"]
    model = trees["model"]
    return Booster(learner, model, kind.value, weights, n_outputs, n_features)


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
    labels = np.arange(n_classes) if classes is None else np.asarray(classes)
    if labels.shape != (n_classes,):
        learner.fail(f"trees for {n_classes} classes", f"{labels.size}, as in classes_")
    return {"task": "classification", "classes": labels}


# Rounds of boosting


def _rounds(booster: Booster) -> np.ndarray:
    """Per round, how many trees there are before it; the number of trees at the end."""
    model = booster.model
    n_trees = len(model["trees"].items())
    if not 1 <= n_trees <= MOST_TREES:
        model["trees"].fail(f"{n_trees:,} trees", f"1 to {MOST_TREES:,}")
    param = model["gbtree_model_param"]
    counted = param["num_trees"]
    if counted.integer(from_text=True) != n_trees:
        counted.fail(shown(counted.value), f"{n_trees}, the number of trees")
    starts = model.get("iteration_indptr")
    if starts is not None:
        rounds = starts.integers(low=0, high=n_trees)
        whole = rounds.size > 0 and rounds[0] == 0 and rounds[-1] == n_trees
        if not whole or (np.diff(rounds) <= 0).any():
            starts.fail("other numbers", f"rising numbers from 0 to {n_trees}")
        return rounds
    # Before version 2, all rounds have the same number of trees.
    parallel = param.get("num_parallel_tree")
    forest = 1 if parallel is None else parallel.integer(0, n_trees, from_text=True)
    size = max(1, forest) * booster.n_outputs
    if n_trees % size:
        counted.fail(f"{n_trees} trees", f"a multiple of {size}, the trees of a round")
    return np.arange(0, n_trees + 1, size)


def _rounds_used(
    learner: Place, rounds: np.ndarray, predictor: Predictor
) -> tuple[int, list[str]]:
    """How many rounds predict, and what early stopping has to do with it."""
    n_rounds = rounds.size - 1
    attributes = learner.get("attributes")
    best = None if attributes is None else attributes.get("best_iteration")
    if best is None:
        return n_rounds, []
    if predictor == "booster":
        # Anybody may set attributes; a Booster does not look at them to predict.
        number = plain_integer(best.value) if isinstance(best.value, str) else None
        if number is None or not 0 <= number < n_rounds - 1:
            return n_rounds, []
        return n_rounds, [
            f"Early stopping chose round {number + 1} of {n_rounds}, but a Booster "
            "predicts with all of them, and so does this."
        ]
    used = best.integer(0, n_rounds - 1, from_text=True) + 1
    if used == n_rounds:
        return n_rounds, []
    return used, [
        f"Early stopping: of {n_rounds} rounds the first {used} predict; the trees of "
        "the others are left out."
    ]


# Raw scores


def _base_score(learner: Place, n_outputs: int, objective: Objective) -> np.ndarray:
    """What the raw scores start from, as XGBoost makes it from what it stores."""
    place = learner["learner_model_param"]["base_score"]
    text = place.text()
    # A list in brackets since version 3.1, one number before.
    if text.startswith("["):
        stored = Place(parse_json(text.encode(), place.where), place.where).numbers()
    else:
        stored = np.array([place.number(from_text=True)])
    if stored.size not in (1, n_outputs):
        place.fail(f"{stored.size} numbers", f"1 or {n_outputs}, one per output")
    with np.errstate(over="ignore"):
        scores = [objective.margin(value) for value in stored.astype(np.float32)]
    for score in scores:
        if not np.isfinite(score):
            place.fail(shown(text), "a score that the objective can start from")
    return np.resize(np.array(scores, np.float32), n_outputs)


def _trees(
    booster: Booster, n_used: int, base_score: np.ndarray, predictor: Predictor
) -> list[Tree]:
    """The trees that predict, in the order in which their values are added."""
    model = booster.model
    places = _in_order(model["trees"])
    output = model["tree_info"].integers(len(places), low=0, high=booster.n_outputs - 1)
    trees = [read_tree(place, booster.n_features) for place in places][:n_used]
    for tree, first in zip(trees, output.tolist()):
        tree.nodes.output = first
    if booster.weights is not None:
        weights = booster.weights.numbers(len(places)).astype(np.float32)
        for tree, weight in zip(trees, weights):
            tree.nodes.value = _weighted(tree, weight, base_score, predictor)
    return trees


def _in_order(trees: Place) -> list[Place]:
    """XGBoost puts each tree at the place that its id says."""
    places = trees.items()
    ordered: list[Place | None] = [None] * len(places)
    for place in places:
        number = place["id"].integer(0, len(places) - 1)
        if ordered[number] is not None:
            place["id"].fail(f"{number} again", "every number once")
        ordered[number] = place
    return [place for place in ordered if place is not None]


def _weighted(
    tree: Tree, weight: np.float32, base_score: np.ndarray, predictor: Predictor
) -> np.ndarray:
    """The values of a tree of dart, rounded as where they are added.

    An estimator predicts in place, where XGBoost adds the base score to the tree and
    takes it off again; a Booster predicts from a DMatrix, where it does not.
    """
    value = tree.nodes.value
    with np.errstate(over="ignore", invalid="ignore"):
        if predictor != "booster":
            start = base_score[tree.nodes.output]
            value = (start + value) - start
        return value * weight
