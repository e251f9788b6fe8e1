"""Lists that are monotone in some features.

By induction from the last rule upwards: if the rules after a box rise with a feature,
then so does the list from the box on, if the box

- does not restrict the feature, or
- has only a lower bound on it, and predicts no less than all rules after it, or
- has only an upper bound on it, and predicts no more than all rules after it.

So every box is of one **kind**: 1 (predicts no less than all after it), -1 (no more),
or 0. For a feature with which the list is to fall, the bounds are swapped. Missing
values are not ordered: whether a box contains them is free.

These conditions are sufficient; exact ones depend on which boxes overlap. They can
express every monotone step function (its highest level first), and still hold when
literals are dropped and bounds rounded, after which more boxes overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._kernels import search_lists as _kernels
from clearwood.search.grid import Grid, contains


def kind_of(grid: Grid, signs: np.ndarray, box: np.ndarray) -> int:
    """Kind of a box: no less than all after it (1), no more (-1), or neither (0).

    Parameters
    ----------
    grid : Grid
    signs : ndarray of shape (n_features,)
        1 to rise with the feature, -1 to fall, else 0.
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
    """The box without bounds that its kind does not allow."""
    box = box.copy()
    _kernels.open_box(grid, signs, box, bounds)
    return box


def opened_pool(grid: Grid, signs: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Every candidate box as kind 1 and as kind -1, if they differ."""
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
    values: Sequence[Any], kinds: Sequence[int], position: int, kind: int
) -> tuple[Any, Any]:
    """Minimum and maximum of the prediction of a box between other rules.

    Parameters
    ----------
    values : sequence
        Predictions of the other rules, the default rule last.
    kinds : sequence of int
        Kinds of their boxes.
    position : int
        Number of them before the box.
    kind : int
        Kind of the box itself.

    Examples
    --------
    >>> value_range([9, 5, 7], [1, 0], 1, 0), value_range([9, 5, 7], [1, 0], 1, 1)
    ((-inf, 9), (7, 9))
    """
    earlier = list(zip(values[:position], kinds))
    low = max((value for value, k in earlier if k == -1), default=-np.inf)
    high = min((value for value, k in earlier if k == 1), default=np.inf)
    if kind == 1:
        low = max(low, *values[position:])
    elif kind == -1:
        high = min(high, *values[position:])
    return low, high
