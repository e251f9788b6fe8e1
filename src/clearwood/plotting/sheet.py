"""Tables drawn as pictures: in a figure of their own, or shrunk to fit into axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

WIDTH, MARGIN, FONT = 9.0, 0.12, 9.5
"""Width of a new figure and the white around it, in inches; size of the letters where
there is room, beside which markers are as large."""

POINTS = 72
"""Per inch."""

INNER_WIDTH = POINTS * (WIDTH - 2 * MARGIN)
"""Of a new figure, in points."""

SHRINK, SMALLEST = 0.95, 0.5
"""From one size of letters to the next, and where that ends."""


def new_axes(height: float) -> Any:
    """Axes of ``INNER_WIDTH`` and some height, in points, in a new figure."""
    import matplotlib.pyplot as plt

    high = height / POINTS + 2 * MARGIN
    figure = plt.figure(figsize=(WIDTH, high))
    x, y = MARGIN / WIDTH, MARGIN / high
    return figure.add_axes((x, y, 1 - 2 * x, 1 - 2 * y))


def size_in_points(ax: Any) -> tuple[float, float]:
    """Width and height of axes."""
    # A layout engine gives them their size only now.
    ax.figure.draw_without_rendering()
    box, scale = ax.get_window_extent(), POINTS / ax.figure.dpi
    return box.width * scale, box.height * scale


def fitted(lay_out: Callable[[float], Any], height: float, size: float) -> Any:
    """What is laid out with the largest letters with which it fits.

    Parameters
    ----------
    lay_out : callable
        From the size of letters to a named tuple with ``height``.
    height : float
        That there is.
    size : float
        Of the largest letters.
    """
    found = lay_out(size)
    while found.height > height and size > SMALLEST:
        size *= SHRINK
        found = lay_out(size)
    return found._replace(height=max(height, found.height))
