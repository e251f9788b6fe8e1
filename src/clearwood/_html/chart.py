"""What all charts on pages share: their width, and round numbers on their axes."""

from __future__ import annotations

import math

WIDTH, LEFT, RIGHT = 720.0, 72.0, 20.0
"""Of the canvas, and of what is left free on it to both sides."""


def whole_ticks(n: int) -> list[tuple[str, float]]:
    """Whole numbers from 1 to n in words, and where they stand on the canvas."""
    width = WIDTH - LEFT - RIGHT
    steps = [t for t in round_ticks(1, n, 6) if t >= 1 and t == int(t)] or [1]
    return [
        (f"{int(t):,}", LEFT + width * (t - 1) / max(n - 1, 1))
        for t in ([1, *steps] if steps[0] > 1 else steps)
    ]


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
    power = math.floor(math.log10((high - low) / most))
    for exponent in (power, power + 1):
        for factor in (1, 2, 5):
            step = float(f"{factor}e{exponent}")
            first, last = math.ceil(low / step), math.floor(high / step)
            if last - first < most:
                # Through text, so that 3 * 0.1 reads 0.3.
                ticks = range(first, last + 1)
                return [float(f"{tick * step:.12g}") for tick in ticks]
    return [float(low)]
