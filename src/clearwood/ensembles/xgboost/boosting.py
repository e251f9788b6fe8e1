"""Booster of an XGBoost model document: its rounds, initial values and trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood.codec.documents import Place, plain_integer, shown
from clearwood.ensembles.nodes import MOST_CLASSES, MOST_TREES
from clearwood.ensembles.xgboost.objectives import Objective, Predictor
from clearwood.ensembles.xgboost.trees import ParsedTree, read_tree


class Booster(NamedTuple):
    """Parts of a document that all steps of reading need.

    Parameters
    ----------
    learner, model : Place
        The learner, and the model of its booster with the trees.
    kind : {"gbtree", "dart"}
        The booster's name.
    weights : Place or None
        Weights of the trees of dart.
    n_outputs : int
        Raw scores per row.
    n_features : int
        Number of features.
    """

    learner: Place
    model: Place
    kind: str
    weights: Place | None
    n_outputs: int
    n_features: int


def booster_of(learner: Place) -> Booster:
    """Booster of a learner, with its numbers of outputs and features.

    Parameters
    ----------
    learner : Place

    Returns
    -------
    Booster

    Raises
    ------
    ModelFormatError
        It is damaged, not made of trees, or has several targets.
    """
    booster = learner["gradient_booster"]
    kind = booster["name"]
    if kind.text() not in ("gbtree", "dart"):
        kind.refuse(
            f"the booster {shown(kind.value)}, which is not made of trees",
            "Fit the model with booster='gbtree' or 'dart'",
        )
    param = learner["learner_model_param"]
    n_targets = param.get("num_target")
    if n_targets is not None and n_targets.integer(0, from_text=True) > 1:
        n_targets.refuse(
            f"a model of {shown(n_targets.value)} targets or quantiles",
            "Fit one model for each",
        )
    n_outputs = max(1, param["num_class"].integer(0, MOST_CLASSES, from_text=True))
    n_features = param["num_feature"].integer(1, 2**31 - 2, from_text=True)
    weights = None if kind.value == "gbtree" else booster["weight_drop"]
    trees = booster if kind.value == "gbtree" else booster["gbtree"]
    model = trees["model"]
    return Booster(learner, model, kind.value, weights, n_outputs, n_features)


# Rounds of boosting


def rounds_of(booster: Booster) -> np.ndarray:
    """Per round, the number of trees before it; at the end, the number of trees.

    Parameters
    ----------
    booster : Booster

    Returns
    -------
    ndarray of int64 of shape (n_rounds + 1,)
    """
    model = booster.model
    n_trees = model["trees"].size()
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


def rounds_used(
    learner: Place, rounds: np.ndarray, predictor: Predictor
) -> tuple[int, list[str]]:
    """Number of rounds used in prediction, and notes on early stopping.

    Parameters
    ----------
    learner : Place
    rounds : ndarray
        From ``rounds_of``.
    predictor : {"booster", "classifier", "regressor"}
        Object that predicts: an estimator stops after the best round.

    Returns
    -------
    n_rounds : int
    notes : list of str

    Examples
    --------
    >>> learner = Place({"attributes": {"best_iteration": "1"}}, "model.json: learner")
    >>> rounds_used(learner, np.array([0, 1, 2, 3, 4]), "regressor")[0]
    2
    >>> rounds_used(learner, np.array([0, 1, 2, 3, 4]), "booster")[0]
    4
    """
    n_rounds = rounds.size - 1
    attributes = learner.get("attributes")
    best = None if attributes is None else attributes.get("best_iteration")
    if best is None:
        return n_rounds, []
    if predictor == "booster":
        # Attributes may be set by users; a Booster ignores them in prediction.
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


def start_of(learner: Place, n_outputs: int, objective: Objective) -> np.ndarray:
    """Initial raw scores, as XGBoost computes them from the stored base score.

    Parameters
    ----------
    learner : Place
    n_outputs : int
    objective : Objective
        Defines whether the stored value is a raw score, or a transformed one.

    Returns
    -------
    ndarray of float32 of shape (n_outputs,)
    """
    place = learner["learner_model_param"]["base_score"]
    text = place.text()
    # A list in brackets since version 3.1, one number before.
    if text.startswith("["):
        stored = place.parsed().numbers()
    else:
        stored = np.array([place.number(from_text=True)])
    if stored.size not in (1, n_outputs):
        place.fail(f"{stored.size} numbers", f"1 or {n_outputs}, one per output")
    scores = [objective.margin(value) for value in _float32(stored, place)]
    if not np.isfinite(scores).all():
        place.fail(shown(text), "a score that the objective can start from")
    return np.resize(np.array(scores, np.float32), n_outputs)


def _float32(numbers: np.ndarray, place: Place) -> np.ndarray:
    with np.errstate(over="ignore"):
        return Place(numbers.astype(np.float32), place.where).numbers().astype("f4")


def trees_of(
    booster: Booster, n_used: int, base_score: np.ndarray, predictor: Predictor
) -> list[ParsedTree]:
    """Trees used in prediction, in the order in which their values are added.

    Parameters
    ----------
    booster : Booster
        Its trees are removed from the document.
    n_used : int
        Number of trees used in prediction.
    base_score : ndarray of float32
        From ``start_of``.
    predictor : {"booster", "classifier", "regressor"}
        Object that predicts: it affects the rounding of dart.

    Returns
    -------
    list of ParsedTree
    """
    model = booster.model
    places = _in_order(model["trees"])
    output = model["tree_info"].integers(len(places), low=0, high=booster.n_outputs - 1)
    trees = []
    for place, first in zip(places, output.tolist()):
        tree = read_tree(place, booster.n_features)
        tree.nodes.output = first
        trees.append(tree)
        # A tree and its document together would take twice the memory.
        place.value.clear()
    del trees[n_used:]
    if booster.weights is not None:
        weights = _float32(booster.weights.numbers(len(places)), booster.weights)
        for tree, weight in zip(trees, weights):
            tree.nodes.value = _weighted(tree, weight, base_score, predictor)
    return trees


def _in_order(trees: Place) -> list[Place]:
    """Trees in the order of their ids, as XGBoost places them."""
    places = trees.items()
    ordered: list[Place | None] = [None] * len(places)
    for place in places:
        number = place["id"].integer(0, len(places) - 1)
        if ordered[number] is not None:
            place["id"].fail(f"{number} again", "every number once")
        ordered[number] = place
    return [place for place in ordered if place is not None]


def _weighted(
    tree: ParsedTree, weight: np.float32, base_score: np.ndarray, predictor: Predictor
) -> np.ndarray:
    """Weighted values of a tree of dart, rounded as in the sum.

    An estimator predicts in place, where XGBoost adds the base score to the tree and
    subtracts it again; a Booster predicts from a DMatrix, where it does not.
    """
    value = tree.nodes.value
    with np.errstate(over="ignore", invalid="ignore"):
        if predictor != "booster":
            start = base_score[tree.nodes.output]
            value = (start + value) - start
        return value * weight
