"""Bisection for monotone conditions, as in quantiles of mixtures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def bisect(
    reached: Callable[[np.ndarray], np.ndarray], low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """The smallest numbers that satisfy a monotone condition, to the last bit.

    Parameters
    ----------
    reached : callable
        From an array of numbers to booleans; true at ``high``, false at ``low``.
    low, high : ndarray

    Examples
    --------
    >>> bisect(lambda y: y * y >= 2.0, np.zeros(1), np.full(1, 2.0))
    array([1.41421356])
    """
    while True:
        middle = low + 0.5 * (high - low)
        open_ = (low < middle) & (middle < high)
        if not open_.any():
            return high
        there = reached(middle)
        high = np.where(open_ & there, middle, high)
        low = np.where(open_ & ~there, middle, low)


def bisect_whole(reached: Any, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """The smallest integers that satisfy a monotone condition.

    Parameters
    ----------
    reached : callable
        From an array of integers to booleans; true at ``high``.
    low, high : ndarray

    Examples
    --------
    >>> import numpy as np
    >>> bisect_whole(lambda y: y * y >= 50, np.zeros(1), np.full(1, 64.0))
    array([8.])
    """
    while (low < high).any():
        middle = np.floor(low + 0.5 * (high - low))
        there = reached(middle)
        open_ = low < high
        high = np.where(open_ & there, middle, high)
        low = np.where(open_ & ~there, middle + 1.0, low)
    return high
