"""Charts of two lines, such as of a network and its surrogate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.marks import Mark, Points
from clearwood.charts.style import MARKERS

MOST_PARTS = 120
"""Maximum number of points along the steps on a page."""


def two_lines(
    title: str,
    x: Any,
    lines: Sequence[Any],
    names: Sequence[str],
    axes: tuple[Axis, str],
    *,
    dots: float = 0.0,
    marks: Sequence[Mark] = (),
) -> Chart:
    """Chart of two lines, with a y axis from 0, or from below for negative values.

    ``axes`` are the x axis and the label of the other, ``dots`` the diameter of points.
    """
    own = [
        Points(x, y, style, name, look, dots, shape, 1.5)
        for y, name, style, look, shape in zip(
            lines, names, ("first", "second"), ("-", "--"), MARKERS
        )
    ]
    above = all(np.min(mark.numbers("y"), initial=0.0) >= 0 for mark in [*own, *marks])
    up = Axis(axes[1], low=0.0 if above else None)
    return Chart(title, [Panel([*own, *marks], axes[0], up)])


def surprisal_chart(
    title: str, lines: tuple[np.ndarray, np.ndarray], across: str
) -> Chart | None:
    """Means of two lines over steps; None for a single step, and infinite surprisal."""
    n = len(lines[0])
    if n < 2 or not np.isfinite(lines).all():
        return None
    size = -(-n // MOST_PARTS)
    parts = [np.arange(k, min(k + size, n)) for k in range(0, n, size)]
    means = [[float(line[part].mean()) for part in parts] for line in lines]
    middle = [(part[0] + part[-1]) / 2 for part in parts]
    axis = Axis(across, -0.5, n - 0.5, is_whole=True)
    return two_lines(title, middle, means, ("", ""), (axis, "surprisal, nats"))
