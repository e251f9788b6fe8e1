"""How rules that say classes stand beside the model and the truth."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import share_text
from clearwood.outcomes.intervals import Rate, rate_of
from clearwood.reporting.verdict.rivals import better
from clearwood.reporting.verdict.saying import (
    CANNOT,
    DOUBTED,
    MAY,
    MAY_HAVE_LEARNT,
    NOT_SHOWN,
    UNKNOWN,
    WhatAllSay,
    listed,
    of_rows,
)
from clearwood.rules import RuleList, RuleSet
from clearwood.rules.decisions.in_words import rows_in_words


def near_the_model(answers: WhatAllSay, new_to: str | None, doubted: bool) -> str:
    """Whether rules may stand in for the model, and how often both say the same."""
    model = answers.model
    if model is None:
        return UNKNOWN
    same, n = answers.rules == model, len(model)
    rate = rate_of(same, np.ones(n))
    rows, hits = of_rows(n, new_to), int(same.sum())
    these = f"all {rows}" if hits == n > 1 else f"{hits:,} of {rows}"
    told = f"they say the same as the model of {these}{_sure(rate)}"
    if doubted:
        return f"{DOUBTED}: {told}."
    usual, n_usual = _commonest(model)
    # Of a model that says one thing of all rows, saying it is no excuse.
    beaten = 1 if n_usual == n else better(same, model == usual)
    rival = f"always saying {prediction_text(usual)} would do so of {n_usual:,}"
    if beaten < 0:
        return f"{CANNOT}: {told}, and {rival}."
    if beaten == 0:
        return f"{NOT_SHOWN}: {told}, and {rival}."
    if hits == n:
        return f"{MAY}: {told}."
    return f"{MAY} where it does no harm that some rows are told otherwise: {told}."


def _sure(rate: Rate) -> str:
    """A share and its interval for those who know no brackets.

    Examples
    --------
    >>> _sure(Rate(0.9, 0.596, 0.982, rows=10))
    ' (90 %; of many more rows like these most likely 60 to 98 %)'
    """
    told, _, ends = str(rate).partition(" [")
    low, high = ends.rstrip("]").split(", ")
    return f" ({told}; of many more rows like these most likely {low} to {high} %)"


def near_the_truth(answers: WhatAllSay, new_to: str | None) -> list[str]:
    """How often rules are right, beside the model and beside saying one thing."""
    truth, model = answers.truth, answers.model
    if truth is None:
        return [
            "How often they are right is not known: the true classes were not handed "
            "in."
        ]
    right, n = answers.rules == truth, len(truth)
    told = f"They are right in {share_text(float(right.mean()))} of these rows"
    if model is not None and new_to != "rules":
        model_right = model == truth
        if (right == model_right).all():
            told += ", the same ones as the model"
        else:
            of_model = share_text(float(model_right.mean()))
            told += (
                f", the model in {of_model}"
                + {
                    1: ": they are right more often",
                    -1: ": the model is right more often",
                    0: f"; {rows_in_words(n)} cannot tell which is right more often",
                }[better(right, model_right)]
            )
    usual, n_usual = _commonest(truth)
    sentences = [f"{told}. {_one_class(right, truth == usual, usual, n_usual / n)}"]
    if model is not None and new_to == "rules":
        sentences.append(MAY_HAVE_LEARNT)
    return sentences


def as_learnt(agreement: float) -> str:
    """How often rules say the same as the model of the rows of their fit."""
    return f"they say the same as the model of {share_text(agreement)}"


def on_new_rows(expected: float) -> list[str]:
    """How often rules are expected to be right, where that is known."""
    if math.isnan(expected):
        return []
    return [f"Of new rows they are expected to tell {share_text(expected)} right."]


def numbers_of(rules: RuleSet, labels: np.ndarray) -> np.ndarray:
    """Labels as numbers; a class that the rules do not know is the first."""
    return rules.codes_of(labels) + 1


def beside_one_question(
    said: np.ndarray, alone: np.ndarray, model: np.ndarray
) -> tuple[int, str]:
    """Whether rules say the same as the model more often than one question does."""
    same, same_alone = said == model, alone == model
    told = f"say the same as the model of {int(same_alone.sum()):,} of these rows"
    return better(same, same_alone), told


def _one_class(right: np.ndarray, one: np.ndarray, usual: Any, share: float) -> str:
    """The rules beside whoever says the commonest class of all rows."""
    told = (
        f"Always saying {prediction_text(usual)} would be right in {share_text(share)}"
    )
    if one.all():
        return f"{told}: there is no other class here."
    return (
        told
        + {
            1: ".",
            -1: ", more often than they.",
            0: ": nothing shows that they are better than that.",
        }[better(right, one)]
    )


def _commonest(labels: np.ndarray) -> tuple[Any, int]:
    return Counter(labels.tolist()).most_common(1)[0]


def never_said(rules: RuleSet, answers: WhatAllSay) -> list[str]:
    """Classes that the rules are no help for."""
    told = rules.about.get("warning", "")
    known = answers.model if answers.truth is None else answers.truth
    counts = Counter([] if known is None else known.tolist())
    said = set(answers.rules.tolist())
    if isinstance(rules, RuleList):
        said |= set(rules.predictions.tolist())
    else:
        # What several rules come to is known of these rows only.
        said |= {label for label in rules.classes if not counts[label]}
    absent = [label for label in (*rules.classes, *counts) if label not in said]
    left_out = [
        label for label in dict.fromkeys(absent) if prediction_text(label) not in told
    ]
    if not left_out:
        return []
    n = sum(counts[label] for label in left_out)
    names = [prediction_text(label) for label in left_out]
    whose = "the model says of" if answers.truth is None else "is true of"
    here = f", which {whose} {n:,} of these rows" if n else ""
    return [f"They are no help for {listed(names)}{here}: they never say so."]
