"""Rules judged on rows that took no part in their search (cross-fitting)."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from clearwood.rules import RuleSum, Training
from clearwood.rules.expectation import Caution, Judged, judge, learn_caution

if TYPE_CHECKING:
    from clearwood.simplifiers._common.base import RulesFromEnsemble

N_FOLDS = 3
"""Parts of the rows, each of which is left out once."""

MOST_ROWS = 10_000
"""Of more rows a random part says how careful to be."""


def cross_fit(
    method: RulesFromEnsemble, training: Training, generator: np.random.Generator
) -> Caution | None:
    """How careful to be with what a method finds, or None where nothing tells.

    The rules themselves come from all rows; here, rules like them are found three times
    on two thirds of the rows and judged on the third that is left out.

    Parameters
    ----------
    method : estimator with ``rules_`` and ``find_again``
    training : Training
        All rows, with labels; without synthetic ones.
    generator : numpy.random.Generator
    """
    if isinstance(method.rules_, RuleSum) or len(training) < N_FOLDS:
        return None
    order = generator.permutation(len(training))[:MOST_ROWS]
    seeds = generator.integers(2**63, size=N_FOLDS).tolist()
    judged: list[Judged] = []
    with warnings.catch_warnings():
        # They are of rules that nobody reads.
        warnings.simplefilter("ignore")
        for left_out, seed in zip(np.array_split(order, N_FOLDS), seeds):
            fitted = training.take(np.sort(np.setdiff1d(order, left_out)))
            rules = method.find_again(fitted, np.random.default_rng(seed))
            judged.append(judge(rules, fitted, training.take(np.sort(left_out))))
    return learn_caution(judged, bool(training.classes))
