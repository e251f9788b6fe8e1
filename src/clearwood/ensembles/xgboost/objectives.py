"""Links of XGBoost's objectives, by the object that predicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NoReturn

import numpy as np

from clearwood._kernels.ensembles import log_float32
from clearwood.codec.documents import Place, shown
from clearwood.ensembles.links import Link

Predictor = Literal["booster", "classifier", "regressor"]
"""Object that predicts, as the same scores may have different links."""

LEAST_SHARE = np.float32(1e-6)
"""Distance from 0 and 1 to which XGBoost clips a probability before its logit."""


def _identity(base_score: np.float32) -> np.float32:
    return base_score


def _logarithm(base_score: np.float32) -> np.float32:
    return np.float32(log_float32(base_score)) if base_score > 0 else np.float32(np.nan)


def _logit(base_score: np.float32) -> np.float32:
    one = np.float32(1)
    share = min(max(base_score, LEAST_SHARE), one - LEAST_SHARE)
    return np.float32(-log_float32(one / share - one))


@dataclass(frozen=True)
class Objective:
    """Initial raw score and link of an objective.

    Parameters
    ----------
    margin : callable
        Maps the stored base score to the initial raw score.
    link : str
        See ``links.response``.
    decision : {"raw", "probability"}
        See ``TreeEnsemble``.
    notes : tuple of str
        Notes for the user.
    """

    margin: Callable[[np.float32], np.float32]
    link: Link
    decision: Literal["raw", "probability"] = "raw"
    notes: tuple[str, ...] = ()


VALUE = Objective(_identity, "identity")
POSITIVE = Objective(_logarithm, "exp")
OBJECTIVES = {
    "reg:squarederror": VALUE,
    "reg:squaredlogerror": VALUE,
    "reg:pseudohubererror": VALUE,
    "reg:absoluteerror": VALUE,
    "reg:quantileerror": VALUE,
    "reg:logistic": Objective(_logit, "sigmoid"),
    "reg:gamma": POSITIVE,
    "reg:tweedie": POSITIVE,
    "count:poisson": POSITIVE,
    "binary:logistic": Objective(_logit, "logistic", "probability"),
    "binary:logitraw": Objective(
        _identity,
        "logistic",
        "raw",
        (
            "The model predicts raw scores (binary:logitraw); the probabilities and "
            "classes here are those that their logistic function gives.",
        ),
    ),
    "multi:softmax": Objective(_identity, "softmax", "raw"),
    "multi:softprob": Objective(_identity, "softmax", "probability"),
    "rank:pairwise": VALUE,
    "rank:ndcg": VALUE,
    "rank:map": VALUE,
}
REFUSED = {
    "survival:": "it predicts survival times, some of them censored",
    "binary:hinge": "it predicts a class without a probability",
    "": "it is none of those that Clearwood knows",
}


def objective_of(name: Place, predictor: Predictor, n_outputs: int) -> Objective:
    """Objective as interpreted by the object that predicts.

    Parameters
    ----------
    name : Place
        The objective's name.
    predictor : {"booster", "classifier", "regressor"}
        Object that predicts: a Booster, or an estimator.
    n_outputs : int
        Raw scores per row.

    Returns
    -------
    Objective

    Raises
    ------
    ModelFormatError
        It is not supported; the message has the reason and the remedy.

    Examples
    --------
    >>> place = Place("binary:logistic", "model.json: learner.objective.name")
    >>> objective_of(place, "classifier", 1).link
    'logistic'
    >>> objective_of(place, "regressor", 1).link
    'sigmoid'
    """
    text = name.text()
    objective = OBJECTIVES.get(text)
    if objective is None:
        reason = next(why for start, why in REFUSED.items() if text.startswith(start))
        name.refuse(
            f"the objective {shown(text)}, as {reason}",
            f"Fit the model with one of {', '.join(OBJECTIVES)}",
        )
    is_multi = text.startswith("multi:")
    if n_outputs > 1 and not is_multi:
        name.fail(f"{shown(text)} with {n_outputs} outputs", "one output")
    if predictor == "regressor" and is_multi:
        _refuse(name, "an XGBRegressor predicts one column per class with it")
    if predictor == "regressor" and objective.link == "logistic":
        # A regressor returns the probability, or the raw score, as a value.
        if text == "binary:logitraw":
            return VALUE
        return Objective(objective.margin, "sigmoid")
    if predictor == "classifier":
        return _of_classifier(name, objective, n_outputs)
    return objective


def _of_classifier(name: Place, objective: Objective, n_outputs: int) -> Objective:
    if name.value == "reg:logistic":
        return OBJECTIVES["binary:logistic"]
    if name.value == "binary:logitraw" or objective.link not in ("logistic", "softmax"):
        _refuse(name, "an XGBClassifier takes what it predicts for a probability")
    if name.value == "multi:softprob" and n_outputs == 2:
        return replace(
            objective,
            notes=(
                "With multi:softprob and two classes, XGBClassifier.predict returns "
                "two columns; predict here gives the label of the larger probability.",
            ),
        )
    return objective


def _refuse(name: Place, reason: str) -> NoReturn:
    name.refuse(
        f"the objective {shown(name.value)} of this estimator, as {reason}",
        "Pass its booster, model.get_booster(), or a file that the booster saved",
    )
