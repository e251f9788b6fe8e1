"""Linear and logarithmic axis scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

LOG_RATIO = 20.0
"""Ratio of the largest to the smallest value from which an axis is logarithmic."""
MOST_TICKS = 8


class Scale(NamedTuple):
    """Limits of an axis, and its transformation."""

    low: float
    high: float
    is_log: bool = False

    def share(self, value: float) -> float:
        """Position of a value between the limits: 0 at the low one, 1 at the high."""
        low, high = self.low, self.high
        value = min(max(value, min(low, high)), max(low, high))
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        # Halves first: the difference of the largest floats overflows.
        return (value / 2 - low / 2) / (high / 2 - low / 2)


def scale_of(values: Sequence[float]) -> Scale:
    """Scale for some values, with a small margin at both ends.

    Parameters
    ----------
    values : sequence of float
        At least one, all finite.

    Returns
    -------
    Scale

    Examples
    --------
    >>> scale_of([1.0, 2.0, 11.0])
    Scale(low=0.5, high=11.5, is_log=False)
    >>> scale_of([1.0, 2.0, 1000.0]).is_log
    True
    """
    low, high = min(values), max(values)
    if low > 0 and high > LOG_RATIO * low:
        room = 10 ** (0.05 * (math.log10(high) - math.log10(low)))
        return Scale(low / room, high * room, True)
    return linear_scale(values)


def linear_scale(values: Sequence[float]) -> Scale:
    """Like :func:`scale_of`, never logarithmic."""
    low, high = min(values), max(values)
    # Halves first: the sum of the largest floats overflows.
    room = 0.1 * (high / 2 - low / 2) or 0.05 * abs(high) or 0.5
    return Scale(low - room, high + room)


def log_ticks(scale: Scale) -> list[float]:
    """Ticks of a logarithmic axis: 1, 2 and 5, or integer powers of ten.

    Parameters
    ----------
    scale : Scale

    Returns
    -------
    list of float

    Examples
    --------
    >>> log_ticks(Scale(0.8, 60.0, True))
    [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]
    >>> log_ticks(Scale(0.8, 2000.0, True))
    [1.0, 10.0, 100.0, 1000.0]
    """
    powers = range(
        math.floor(math.log10(scale.low)), math.ceil(math.log10(scale.high)) + 1
    )
    for factors in ((1, 2, 5), (1,)):
        ticks = [float(f"{factor}e{power}") for power in powers for factor in factors]
        ticks = [tick for tick in ticks if scale.low <= tick <= scale.high]
        if len(ticks) <= MOST_TICKS:
            return ticks
    return ticks[:: math.ceil(len(ticks) / MOST_TICKS)]


def round_ticks(low: float, high: float, most: int = 4) -> list[float]:
    """Round numbers between two bounds, at steps of 1, 2 or 5 times a power of ten.

    Examples
    --------
    >>> round_ticks(0, 9)
    [0.0, 5.0]
    >>> round_ticks(0.0, 0.31)
    [0.0, 0.1, 0.2, 0.3]
    """
    if not high > low:
        return [float(low)]
    power = math.floor(math.log10(high / most - low / most))
    for exponent in (power, power + 1):
        for factor in (1, 2, 5):
            step = float(f"{factor}e{exponent}")
            first, last = math.ceil(low / step), math.floor(high / step)
            if last - first < most:
                # Through text, so that 3 * 0.1 reads 0.3.
                ticks = range(first, last + 1)
                return [float(f"{tick * step:.12g}") for tick in ticks]
    return [float(low)]
