"""Weighted averages of rules: what they say, and how they are built."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

LEAST_WEIGHT, LARGEST_WEIGHT, LARGEST_VALUE = 1e-100, 1e100, 1e150
"""Within these no product of a weight and a value is lost or infinite."""


def check_average(rules: Sequence[Rule], *, is_average: bool) -> None:
    """Refuse weights that have no meaning, or with which nothing can be computed."""
    for number, rule in enumerate(rules, start=1):
        weight = rule.weight
        if not is_average and weight != 1.0:
            raise InputError(
                f"Rule {number} has the weight {weight!r}; rules have weights only "
                "with combine='average'."
            )
        if weight != 0 and not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
            raise InputError(
                f"Rule {number} has the weight {weight!r}; expected 0, or a number "
                f"from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}."
            )
        value = 0.0 if rule.probabilities else rule.prediction
        if is_average and not abs(value) <= LARGEST_VALUE:
            raise InputError(
                f"Rule {number} says {value!r}; in an average it must say at most "
                f"{LARGEST_VALUE:g} in size, so that totals stay finite."
            )


def averages(rule_set: RuleSet, encoded: np.ndarray) -> np.ndarray:
    """What the rules that hold say on average: values, or class probabilities.

    Parameters
    ----------
    rule_set : RuleSet
        With ``combine="average"``.
    encoded : ndarray of shape (n_samples, n_features)

    Returns
    -------
    ndarray of shape (n_samples,) or (n_samples, n_classes)
    """
    lines = list(rule_set)
    said = np.array([r.probabilities or (r.prediction,) for r in lines], np.float64)
    total = np.repeat(lines[-1].weight * said[-1:], len(encoded), axis=0)
    weight = np.full(len(encoded), float(lines[-1].weight))
    # One rule after the other, in printed order, as a reader would add them.
    for rule, values in zip(rule_set.rules, said):
        rows = rule.matches(encoded)
        total[rows] += rule.weight * values
        weight[rows] += rule.weight
    nothing = weight == 0
    total[nothing], weight[nothing] = said[-1], 1.0
    mean = total / weight[:, None]
    return mean if rule_set.classes else mean[:, 0]
