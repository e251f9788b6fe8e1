"""The course of the fit as a chart: numbers here, drawing in the template."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._html.chart import LEFT, RIGHT, WIDTH, round_ticks, whole_ticks
from clearwood._words.numbers import short_text

HEIGHT, MOST_POINTS = 110.0, 400
TOPS = (34.0, 200.0)


def summarize_history(history: Sequence[Any]) -> dict[str, Any] | None:
    """Bound and surviving components per iteration, laid out on a canvas.

    Parameters
    ----------
    history : sequence of records with ``bound`` and ``n_components``
        One per iteration.

    Returns
    -------
    dict or None
        None for an empty history.

    Examples
    --------
    >>> from collections import namedtuple
    >>> Step = namedtuple("Step", "bound n_components")
    >>> chart = summarize_history([Step(-10.0, 5), Step(-4.0, 3)])
    >>> chart["words"]
    'In 2 iterations the bound went from -10 to -4 and the components from 5 to 3.'
    """
    if not history:
        return None
    bound = np.array([step.bound for step in history], dtype=float)
    components = np.array([step.n_components for step in history], dtype=float)
    n = len(bound)
    # More points than the page is wide would not be seen.
    kept = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
    x = LEFT + (WIDTH - LEFT - RIGHT) * (kept / max(n - 1, 1))
    return {
        "words": (
            f"In {n:,} iteration{'s' * (n > 1)} the bound went from "
            f"{short_text(bound[0], 6)} to {short_text(bound[-1], 6)} and the "
            f"components from {components[0]:.0f} to "
            f"{components[-1]:.0f}."
        ),
        "width": WIDTH,
        "height": TOPS[-1] + HEIGHT + 46.0,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "panels": [
            _panel("Bound on the log evidence", "first", TOPS[0], x, bound[kept]),
            _panel("Components", "second", TOPS[1], x, components[kept], zero=True),
        ],
        "iterations": whole_ticks(n),
    }


def _panel(
    name: str,
    style: str,
    top: float,
    x: np.ndarray,
    values: np.ndarray,
    zero: bool = False,
) -> dict[str, Any]:
    finite = values[np.isfinite(values)]
    low = 0.0 if zero else float(finite.min(initial=math.inf))
    high = float(finite.max(initial=-math.inf))
    if not low < high:
        centre = high if math.isfinite(high) else 0.0
        low, high = centre - 1.0, centre + 1.0
    y = top + HEIGHT * (high - np.clip(values, low, high)) / (high - low)
    points = [(a, b) for a, b in zip(x, y) if math.isfinite(b)]
    return {
        "name": name,
        "style": style,
        "top": top,
        "bottom": top + HEIGHT,
        "points": " ".join(f"{a:.1f},{b:.1f}" for a, b in points),
        "end": points[-1] if points else None,
        "ticks": [
            (f"{tick:,.10g}", top + HEIGHT * (high - tick) / (high - low))
            for tick in round_ticks(low, high)
        ],
    }
