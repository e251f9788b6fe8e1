"""Simplification of rules: fewer literals and shorter numbers.

Literals are dropped as in Hara & Hayashi 2016, section 3.2. Both variants use the
training rows only and leave a rule from which no further literal can be dropped.
Literals that exclude few rows are tried first, so that the most important ones are
kept.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._words.numbers import shortest_between
from clearwood.columns.dates import DATES, plain_date
from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules.conditions import (
    Condition,
    Interval,
    combine_literals,
    matches_all,
)
from clearwood.rules.rule import first_match


def prune_by_coverage(
    conditions: Sequence[Condition], encoded: np.ndarray
) -> tuple[Condition, ...]:
    """Drop literals that do not change the rows satisfying the rule.

    Parameters
    ----------
    conditions : sequence of Interval or CategorySet
        The rule's conditions.
    encoded : ndarray of shape (n_samples, n_features)
        Training rows.

    Returns
    -------
    tuple of Interval or CategorySet
        The conditions of a minimal rule: dropping any literal would change N_R,
        the number of rows in the region.

    Examples
    --------
    >>> import numpy as np
    >>> from clearwood.rules import Interval
    >>> rows = np.array([[1.0], [2.0], [3.0]])
    >>> prune_by_coverage([Interval(0, low=1.5, high=9.0)], rows)
    (Interval(feature=0, low=1.5, high=inf, missing=False),)
    """
    return _drop_literals(conditions, encoded, _may_not_enter_any)


def prune_by_prediction(
    rules: Sequence[Sequence[Condition]],
    predictions: Sequence[Any],
    otherwise: Any,
    encoded: np.ndarray,
) -> list[tuple[Condition, ...]]:
    """Drop literals that do not change the list's predictions of training rows.

    Parameters
    ----------
    rules : sequence of sequences of conditions
        An ordered list; the first rule that a row satisfies predicts.
    predictions : sequence
        One per rule.
    otherwise : object
        Prediction where no rule holds.
    encoded : ndarray of shape (n_samples, n_features)
        Training rows.

    Returns
    -------
    list of tuple of conditions
    """
    pruned = [tuple(conditions) for conditions in rules]
    predicted = np.array([*predictions, otherwise])
    matches = np.empty((len(encoded), len(pruned)), dtype=bool)
    for r, conditions in enumerate(pruned):
        matches[:, r] = matches_all(conditions, encoded)
    for r in range(len(pruned)):
        earlier = matches[:, :r].any(axis=1)
        without = first_match(np.delete(matches, r, axis=1))
        predicted_without = np.delete(predicted, r)[without]
        # A row may enter the rule if an earlier rule predicts it anyway, or if its
        # present prediction is that of this rule.
        harmless = earlier | (predicted_without == predicted[r])

        def entering_changes(
            entering: np.ndarray, harmless: np.ndarray = harmless
        ) -> bool:
            return not harmless[entering].all()

        pruned[r] = _drop_literals(pruned[r], encoded, entering_changes)
        matches[:, r] = matches_all(pruned[r], encoded)
    return pruned


def _drop_literals(
    conditions: Sequence[Condition], encoded: np.ndarray, changes: Any
) -> tuple[Condition, ...]:
    literals = [part for condition in conditions for part in condition.literals()]
    violated = [~part.matches(encoded[:, part.feature]) for part in literals]
    n_violated = np.sum(violated, axis=0, dtype=np.int64)
    kept = dict(enumerate(literals))
    for i in sorted(kept, key=lambda i: int(violated[i].sum())):
        # Dropping literal i adds exactly the rows that violate it alone.
        entering = violated[i] & (n_violated == 1)
        if not changes(entering):
            del kept[i]
            n_violated = n_violated - violated[i]
    return combine_literals(kept.values())


def _may_not_enter_any(entering: np.ndarray) -> bool:
    return bool(entering.any())


def rounded(
    conditions: Sequence[Condition],
    encoded: np.ndarray,
    features: FeatureSpace | None = None,
) -> tuple[Condition, ...]:
    """Replace bounds by the shortest ones that split the rows in the same way.

    For dates, the shortest are the starts of years, months, days.

    Examples
    --------
    >>> import numpy as np
    >>> rounded([Interval(0, high=1.2345)], np.array([[1.15], [1.9]]))
    (Interval(feature=0, low=-inf, high=1.2, missing=False),)
    """
    result: list[Condition] = []
    for condition in conditions:
        if isinstance(condition, Interval):
            column = encoded[:, condition.feature]
            d = condition.feature
            kind = "number" if features is None else features.info[d].kind
            low = _rounded_cut(condition.low, column, -math.inf, kind)
            high = _rounded_cut(condition.high, column, math.inf, kind)
            # Without bounds it must still be a condition: "missing or not" is none.
            if not (condition.missing and low == -math.inf and high == math.inf):
                condition = replace(condition, low=low, high=high)
            if condition.missing:
                values = column[~np.isnan(column)]
                if not condition.matches(values).any():
                    # Where zero encodes missing, LightGBM has a threshold at 1e-35.
                    condition = replace(condition, low=math.inf, high=math.inf)
        result.append(condition)
    return tuple(result)


def _rounded_cut(cut: float, column: np.ndarray, beyond: float, kind: str) -> float:
    """Shortest bound between two rows; ``beyond`` if it separates none.

    A bound that separates no values may still exclude missing ones: then the condition
    is printed as such, not with a bound below the smallest number of a library.
    """
    if math.isinf(cut):
        return cut
    is_below, is_above = column <= cut, column > cut
    if not (is_below.any() and is_above.any()):
        keeps_all = (is_above if beyond < 0 else is_below).any()
        return beyond if keeps_all else cut
    low = float(np.where(is_below, column, -math.inf).max())
    high = float(np.where(is_above, column, math.inf).min())
    if math.isinf(low) or math.isinf(high):
        return cut
    if kind in DATES:
        return plain_date(low, high, cut, kind)
    return shortest_between(low, high, near=cut)
