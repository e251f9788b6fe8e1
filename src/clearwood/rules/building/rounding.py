"""Short numbers that split the rows alike, or say nearly the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from clearwood.rules.conditions import Condition, Interval, shortest_between


def rounded(
    conditions: Sequence[Condition], encoded: np.ndarray
) -> tuple[Condition, ...]:
    """The same conditions with the shortest bounds that split the rows alike.

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
            low = _rounded_cut(condition.low, column, beyond=-math.inf)
            high = _rounded_cut(condition.high, column, beyond=math.inf)
            # Without bounds it must still say something: "missing or not" does not.
            if not (condition.missing and low == -math.inf and high == math.inf):
                condition = replace(condition, low=low, high=high)
            values = column[~np.isnan(column)]
            if condition.missing and not condition.matches(values).any():
                # Where zero counts as missing, LightGBM cuts at 1e-35.
                condition = replace(condition, low=math.inf, high=math.inf)
        result.append(condition)
    return tuple(result)


def _rounded_cut(cut: float, column: np.ndarray, beyond: float) -> float:
    """The shortest bound between two rows; ``beyond`` where it parts none of them.

    A bound that parts no values may still keep out missing ones: then the condition
    says so, rather than naming a bound below the lowest number a library can hold.
    """
    below, above = column[column <= cut], column[column > cut]
    if math.isinf(cut) or len(below) + len(above) == 0:
        return cut
    if len(below) == 0 or len(above) == 0:
        keeps_all = len(above) > 0 if beyond < 0 else len(below) > 0
        return beyond if keeps_all else cut
    low, high = float(below.max()), float(above.min())
    if math.isinf(low) or math.isinf(high):
        return cut
    return shortest_between(low, high, near=cut)


def short_value(value: float, step: float) -> float:
    """The shortest number within a step; the value itself without a step.

    Examples
    --------
    >>> short_value(12.3456, 0.1), short_value(12.3456, 0.0)
    (12.3, 12.3456)
    """
    if not 0 < step < math.inf:
        return value
    return shortest_between(value - step, value + step, near=value)
