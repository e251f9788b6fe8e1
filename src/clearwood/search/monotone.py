"""Lists that are monotone in some features.

From the last line upwards: if what follows a box rises with a feature, then so does
the list from the box on, where the box

- does not ask the feature, or
- has a lower bound on it alone, and says no less than all that follows, or
- has an upper bound on it alone, and says no more than all that follows.

So every box is of one **kind**: 1 (it has to top all behind it), -1 (it has to stay
below), or 0. A feature in which the list shall fall takes the bounds the other way
round. Missing values are compared with nothing: whether a box holds them is free.

These conditions suffice; exact ones would look at which boxes meet. They can say
every monotone step function (its highest level first), and still hold when literals
are dropped and bounds rounded, which makes boxes meet that did not.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._kernels import search_lists as _kernels
from clearwood.search.grid import Grid, contains


def kind_of(grid: Grid, signs: np.ndarray, box: np.ndarray) -> int:
    """Whether a box has to top all behind it (1), to stay below (-1), or neither (0).

    Parameters
    ----------
    grid : Grid
    signs : ndarray of shape (n_features,)
        1 where the list shall rise with the feature, -1 where it shall fall, else 0.
    box : ndarray of bool of shape (total number of bins,)

    Examples
    --------
    >>> grid = Grid.of(np.array([[0]]), np.array([4]), np.array([False]))
    >>> box = np.array([False, True, True, False])
    >>> kind_of(grid, np.array([1]), box), kind_of(grid, np.array([-1]), box)
    (1, -1)
    """
    return int(_kernels.kind_of_box(grid, signs, box))


def bounds_of(signs: np.ndarray, kind: int) -> np.ndarray:
    """Which features may have a lower bound, and an upper one, in a box of a kind."""
    return np.array([(signs == 0) | (signs == kind), (signs == 0) | (signs == -kind)])


def opened(
    grid: Grid, signs: np.ndarray, box: np.ndarray, bounds: np.ndarray
) -> np.ndarray:
    """The box without the bounds that it may not have."""
    box = box.copy()
    _kernels.open_box(grid, signs, box, bounds)
    return box


def opened_pool(grid: Grid, signs: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Every box of a pool as one of kind 1 and as one of kind -1, where they differ."""
    both = [
        opened(grid, signs, box, bounds_of(signs, kind))
        for box in pool
        for kind in (1, -1)
    ]
    if not both:
        return pool
    stacked = np.array(list({box.tobytes(): box for box in both}.values()))
    return stacked[~contains(grid, stacked).all(axis=1)]


def value_range(
    said: Sequence[Any], kinds: Sequence[int], position: int, kind: int
) -> tuple[Any, Any]:
    """The least and the largest that a box may say between other lines.

    Parameters
    ----------
    said : sequence
        What the other lines say, ``otherwise`` last.
    kinds : sequence of int
        Kinds of their boxes.
    position : int
        How many of them stand before the box.
    kind : int
        Of the box itself.

    Examples
    --------
    >>> value_range([9, 5, 7], [1, 0], 1, 0), value_range([9, 5, 7], [1, 0], 1, 1)
    ((-inf, 9), (7, 9))
    """
    earlier = list(zip(said[:position], kinds))
    low = max((value for value, k in earlier if k == -1), default=-np.inf)
    high = min((value for value, k in earlier if k == 1), default=np.inf)
    if kind == 1:
        low = max(low, *said[position:])
    elif kind == -1:
        high = min(high, *said[position:])
    return low, high
