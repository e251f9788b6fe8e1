"""Lines over one axis, as text for ``chart.svg``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._html.chart import LEFT, RIGHT, WIDTH, round_ticks

TOP, HEIGHT, MOST_POINTS = 20.0, 150.0, 120
"""Of the charts, and points along the steps."""


def line_chart(
    across: np.ndarray,
    first: Sequence[float],
    second: Sequence[float],
    *,
    labels: Sequence[tuple[str, float]],
    marks: Sequence[tuple[str, float]] = (),
) -> dict[str, Any]:
    """Two lines, from nothing on, or from below where they go below.

    Parameters
    ----------
    across : ndarray
        Places of the points, from 0 to 1.
    first, second : sequence of float
    labels : sequence of (str, float)
        Below the axis, and their places.
    marks : sequence of (str, float)
        Names of heights.
    """
    heights = [*first, *second, *(value for _, value in marks)]
    least, most = min(0.0, *heights), max(1e-12, *heights)

    def height(value: float) -> float:
        return TOP + HEIGHT * (1 - (value - least) / (most - least))

    return {
        "width": WIDTH,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": TOP + HEIGHT,
        "ticks": [(f"{tick:g}", height(tick)) for tick in round_ticks(least, most)],
        "marks": [(name, height(value)) for name, value in marks],
        "lines": {
            style: " ".join(
                f"{_at(x):.1f},{height(value):.1f}" for x, value in zip(across, values)
            )
            for style, values in (("first", first), ("second", second))
        },
        "labels": [(label, _at(x)) for label, x in labels],
    }


def surprise_chart(first: np.ndarray, second: np.ndarray) -> dict[str, Any] | None:
    """Means of two lines along the steps; None of one step, and of infinite surprise.

    Parameters
    ----------
    first, second : ndarray of shape (n_steps,)
    """
    n = len(first)
    if n < 2 or not np.isfinite([first, second]).all():
        return None
    parts = np.array_split(np.arange(n), min(MOST_POINTS, n))
    middle = np.array([(part[0] + part[-1] + 1) / 2 for part in parts]) / n
    return line_chart(
        middle,
        [float(first[part].mean()) for part in parts],
        [float(second[part].mean()) for part in parts],
        labels=[(f"{tick:,.0f}", tick / n) for tick in round_ticks(0, n, 6)],
    )


def _at(share: float) -> float:
    return LEFT + (WIDTH - LEFT - RIGHT) * float(share)
