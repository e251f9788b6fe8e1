"""Predictions of a rule list under monotonicity constraints.

If the list after a rule rises with a feature, so does the list from this rule on if the
rule has no bound on the feature; a lower bound alone, and predicts at least all that
follows; or an upper bound alone, and predicts at most that.
``clearwood.search.monotone`` has the same in bins.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from clearwood._numeric import pool_values
from clearwood.exceptions import InputError
from clearwood.rules.conditions import Interval
from clearwood.rules.rule import Rule, first_match

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet
    from clearwood.rules.training import Training


def in_order(
    lines: Sequence[Rule],
    training: Training,
    signs: np.ndarray,
    shorten: Callable[[float], float],
) -> list[Rule]:
    """Adjust predictions of a list to the monotonicity constraints.

    Parameters
    ----------
    lines : sequence of Rule
        The default rule last.
    training : Training
        Rows; rules predict what is nearest to the means of those they cover. For two
        classes, or for values.
    signs : ndarray of shape (n_features,)
        1 where predictions (of two classes, the probability of the second) must rise
        with a feature, -1 where they must fall, else 0.
    shorten : callable
        Rounds a value of regression for printing.

    Returns
    -------
    list of Rule
    """
    kinds = [_kind(line, signs) for line in lines]
    first = first_match(np.array([line.matches(training.encoded) for line in lines]).T)
    weights = np.bincount(first, training.weight, minlength=len(lines))
    classes = training.classes
    target = training.target[:, 1] if classes else training.target
    sums = np.bincount(first, training.weight * target, minlength=len(lines))
    # The default rule may be left without rows.
    whole = np.full(len(lines), np.average(target, weights=training.weight))
    means = np.divide(sums, weights, out=whole, where=weights > 0)
    predicted = pool_values(means.tolist(), weights.tolist(), kinds)
    if classes:
        both = [(1.0 - p, p) for p in predicted]
        # As for every rule, the first of two classes of equal probability.
        return [
            replace(line, prediction=classes[k], probabilities=p)
            for line, p, k in zip(lines, both, training.point(np.array(both)))
        ]
    # Rounding may change the order of neighbours: restore it.
    predicted = pool_values(
        [shorten(v) for v in predicted], [0.0] * len(predicted), kinds
    )
    return [replace(line, prediction=value) for line, value in zip(lines, predicted)]


def expected_in_order(rules: RuleSet, signs: np.ndarray) -> RuleSet:
    """Adjust the expected shares of the second of two classes to the constraints.

    Parameters
    ----------
    rules : RuleList
        For two classes; its rules satisfy the constraints but for their probabilities.
    signs : ndarray of shape (n_features,)
        As in :func:`in_order`.
    """
    lines = list(rules)
    pooled = pool_values(
        [line.probabilities[1] for line in lines],
        [line.statistics.assigned for line in lines],
        [_kind(line, signs) for line in lines],
    )
    for i, (line, p) in enumerate(zip(lines, pooled)):
        both = (1.0 - p, p)
        expected = both[rules.classes.index(line.prediction)]
        lines[i] = replace(line, probabilities=both)
        if (known := line.statistics).is_expected:
            low, high = min(known.low, expected), max(known.high, expected)
            known = replace(known, expected=expected, low=low, high=high)
            lines[i] = replace(lines[i], statistics=known)
    return rules.with_lines(lines)


def _kind(rule: Rule, signs: np.ndarray) -> int:
    """1 if a rule must predict no less than all after it, -1 no more, 0 neither."""
    found = set()
    for condition in rule.conditions:
        if isinstance(condition, Interval) and signs[condition.feature]:
            sign = int(signs[condition.feature])
            if condition.low == math.inf:
                continue  # Only missing values, which are not ordered.
            found |= {sign} if condition.low > -math.inf else set()
            found |= {-sign} if condition.high < math.inf else set()
    if len(found) > 1:
        raise InputError(
            "A region is bounded on both sides where the list must rise or fall."
        )
    return found.pop() if found else 0
