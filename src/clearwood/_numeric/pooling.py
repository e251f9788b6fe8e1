"""Values of a list that obey an order, as near as can be to those wanted."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def pool_values(
    wanted: Sequence[float], weights: Sequence[float], kinds: Sequence[int]
) -> list[float]:
    """The nearest values, by weighted squares, that stand in the asked order.

    From the last value to the first, one that has to top all behind it takes in the
    largest of them until it does; their mean is then the most that any of these may
    be. This is exact: an order made only of "above all behind" and "below all behind"
    is optimal when its last part is, and a bound on that part clips its values.

    Parameters
    ----------
    wanted : sequence of float
        One per line of a list.
    weights : sequence of float
        Not negative. With zeros alone, values move as little as the order needs,
        each to one of those behind it.
    kinds : sequence of int
        1 where a value must be no less than any behind it, -1 where it must be no
        more, 0 where there is nothing to obey.

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
        # Below all is above all, turned round.
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
    # Turning makes negative zeros.
    return (values + 0.0).tolist()
