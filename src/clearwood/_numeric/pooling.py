"""Weighted least-squares fit of values under order constraints."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pool_values(
    wanted: Sequence[float], weights: Sequence[float], kinds: Sequence[int]
) -> list[float]:
    """Fit the nearest values, in weighted least squares, under order constraints.

    From last to first, a value that must be no less than all later ones is pooled with
    the largest of them until the constraint holds; the pooled mean is then an upper
    bound for these. This is exact: an order of "above all later" and "below all later"
    constraints is optimal if its last part is, and a bound on that part clips its
    values.

    Parameters
    ----------
    wanted : sequence of float
        One per rule of a list.
    weights : sequence of float
        Nonnegative. If all are zero, values move as little as the constraints require,
        each to one of the later ones.
    kinds : sequence of int
        1 where a value must be no less than any later one, -1 where no more, 0 where
        unconstrained.

    Returns
    -------
    list of float

    Examples
    --------
    >>> pool_values([1.0, 5.0, 3.0], [1.0, 1.0, 1.0], [1, 0, 0])
    [3.0, 3.0, 3.0]
    >>> pool_values([1.0, 5.0, 3.0], [1.0, 1.0, 1.0], [0, -1, 0])
    [1.0, 4.0, 4.0]
    """
    values = np.array(wanted, dtype=np.float64)
    weight = np.array(weights, dtype=np.float64)
    for k in range(len(values) - 2, -1, -1):
        if kinds[k] == 0:
            continue
        # "Below all" is "above all" with the sign reversed.
        turned = values[k:] * kinds[k]
        top, total = turned[0], weight[k]
        for i in 1 + np.argsort(-turned[1:], kind="stable"):
            if turned[i] <= top:
                break
            total += weight[k + i]
            share = weight[k + i] / total if total > 0 else 1.0
            top += share * (turned[i] - top)
        turned[0] = top
        values[k:] = np.minimum(turned, top) * kinds[k]
    # Changing signs creates negative zeros.
    return (values + 0.0).tolist()
