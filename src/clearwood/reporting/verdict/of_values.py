"""How rules that say values stand beside the model and the truth."""

from __future__ import annotations

import math

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.reporting.verdict.rivals import nearer
from clearwood.reporting.verdict.saying import (
    CANNOT,
    DOUBTED,
    MAY,
    MAY_HAVE_LEARNT,
    NOT_SHOWN,
    UNKNOWN,
    WhatAllSay,
    of_rows,
)
from clearwood.rules import RuleSet
from clearwood.rules.decisions.in_words import rows_in_words

TENTH = 10
"""Of fewer rows nine in ten are no number of rows."""


def near_the_model(answers: WhatAllSay, new_to: str | None, doubted: bool) -> str:
    """Whether rules may stand in for the model, and how far off it they are."""
    model = answers.model
    if model is None:
        return UNKNOWN
    apart, n = np.abs(answers.rules - model), len(model)
    rows = of_rows(n, new_to)
    if not apart.any():
        told = f"they say the same as the model of all {rows}"
    else:
        told = (
            f"in half of {rows} they are at most {short_text(float(np.median(apart)))} "
            f"from what the model says, {_most_apart(apart)}"
        )
    if doubted:
        return f"{DOUBTED}: {told}."
    is_one = (model == model[0]).all()
    beaten = 1 if is_one else nearer(answers.rules, model.mean(), model)
    if beaten < 0:
        return f"{CANNOT}: {told}, and one number for all rows comes nearer to it."
    if beaten == 0:
        return (
            f"{NOT_SHOWN}: {told}, and one number for all rows comes as near to it, as "
            "far as they can tell."
        )
    if not apart.any():
        return f"{MAY}: {told}."
    return f"{MAY} where such differences do no harm: {told}."


def _most_apart(apart: np.ndarray) -> str:
    if len(apart) < TENTH:
        return f"in all at most {short_text(float(apart.max()))}"
    return f"in nine of ten at most {short_text(float(np.quantile(apart, 0.9)))}"


def near_the_truth(answers: WhatAllSay, new_to: str | None) -> list[str]:
    """How far off the truth rules are, beside the model and beside one number."""
    truth, model, said = answers.truth, answers.model, answers.rules
    if truth is None:
        return [
            "How far they are off the truth is not known: the true values were not "
            "handed in."
        ]
    told = f"Their typical error is {_typical(said - truth)}"
    if model is not None and new_to != "rules":
        n = rows_in_words(len(truth))
        told += (
            f", the model's {_typical(model - truth)}"
            + {
                1: ": they are nearer to the truth",
                -1: ": the model is nearer to the truth",
                0: f"; {n} cannot tell which is nearer to the truth",
            }[nearer(said, model, truth)]
        )
    if (truth == truth[0]).all():
        sentences = [f"{told}. All these rows have one true value."]
    else:
        off = _typical(truth - truth.mean())
        one = (
            f"One number for all rows would be off by {off}"
            + {
                1: ".",
                -1: ", less than they.",
                0: ": nothing shows that they are better than that.",
            }[nearer(said, truth.mean(), truth)]
        )
        sentences = [f"{told}. {one}"]
    if model is not None and new_to == "rules":
        sentences.append(MAY_HAVE_LEARNT)
    return sentences


def as_learnt(agreement: float) -> str:
    """How near rules come to the model on the rows of their fit."""
    return f"they follow the model to an R² of {short_text(agreement)} (1 is all)"


def on_new_rows(expected: float) -> list[str]:
    """Nothing: what is expected is the mean of the target, and no figure of merit."""
    return []


def numbers_of(rules: RuleSet, values: np.ndarray) -> np.ndarray:
    """The values as they are."""
    return values


def beside_one_question(
    said: np.ndarray, alone: np.ndarray, model: np.ndarray
) -> tuple[int, str]:
    """Whether rules come nearer to the model than one question does."""
    return nearer(said, alone, model), "come as near to what the model says"


def never_said(rules: RuleSet, answers: WhatAllSay) -> list[str]:
    """Nothing: any value may be said."""
    return []


def _typical(errors: np.ndarray) -> str:
    return short_text(math.sqrt(float(np.mean(errors**2))))
