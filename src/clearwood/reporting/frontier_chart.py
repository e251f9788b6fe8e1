"""The points of a comparison on a canvas: numbers here, drawing in SVG."""

from __future__ import annotations

import math
from typing import Any

from clearwood._features import printable
from clearwood._html import percent_text, significant_text
from clearwood.reporting.cells import cells
from clearwood.reporting.history import round_ticks
from clearwood.simplifiers.comparison.frontier import Frontier, FrontierPoint
from clearwood.simplifiers.displays.frontier import FrontierDisplay, marker
from clearwood.simplifiers.displays.scale import Scale, log_ticks
from clearwood.simplifiers.displays.style import COLOURS

WIDTH, HEIGHT = 720.0, 430.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 632.0, 34.0, 372.0
REACH = 28.0
"""How far from a point a click may be."""
SHAPES = {
    "o": "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
    "^": "M0 -6.5L6.5 5.5L-6.5 5.5z",
    "s": "M-5.3 -5.3H5.3V5.3H-5.3z",
    "D": "M0 -7L7 0L0 7L-7 0z",
    "v": "M0 6.5L6.5 -5.5L-6.5 -5.5z",
    "P": "M-2.3 -6.5H2.3V-2.3H6.5V2.3H2.3V6.5H-2.3V2.3H-6.5V-2.3H-2.3z",
    "X": "M-3.4 -6.6L0 -3.2L3.4 -6.6L6.6 -3.4L3.2 0L6.6 3.4L3.4 6.6L0 3.2"
    "L-3.4 6.6L-6.6 3.4L-3.2 0L-6.6 -3.4z",
}
"""Matplotlib's markers as paths around the origin."""


def chart_of(frontier: Frontier) -> dict[str, Any] | None:
    """Points, stairs and ticks on a canvas; None where no error is known."""
    if not any(math.isfinite(point.error) for point in frontier.points):
        return None
    display = FrontierDisplay.from_frontier(frontier)
    across, up = display.scales

    def at(place: tuple[float, float]) -> tuple[float, float]:
        return (
            LEFT + (RIGHT - LEFT) * across.share(place[0]),
            BOTTOM - (BOTTOM - TOP) * up.share(place[1]),
        )

    shown = percent_text if frontier.task == "classification" else _number_text
    model = display.model_error
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "top": TOP,
        "bottom": BOTTOM,
        "x_name": display.labels[0] + " (log scale)" * across.is_log,
        "y_name": f"held-out {display.labels[1]}" + ", log scale" * up.is_log,
        "x_ticks": [
            (f"{tick:,.0f}", at((tick, 1.0))[0])
            for tick in _ticks(across, 10)
            if tick == int(tick) and tick >= 1
        ],
        "y_ticks": [(shown(tick), at((1.0, tick))[1]) for tick in _ticks(up, 6)],
        "stairs": _stairs([at(place) for place in display.stairs]),
        "model": None if math.isnan(model) else (shown(model), at((1.0, model))[1]),
        "methods": [
            {"name": printable(method), **_look(position)}
            for position, method in enumerate(display.methods)
        ],
        "points": _points(display, frontier, at),
    }


def _points(display: FrontierDisplay, frontier: Frontier, at: Any) -> list[dict]:
    """The points; those of the frontier come last and so lie on top."""
    places = [at(place) for place in display.places]
    grounds = cells(places, REACH)
    methods = display.methods
    number_of = {id(point): k for k, point in enumerate(frontier.points)}
    points = []
    for point, (x, y), (across, _), ground in zip(
        display.points, places, display.places, grounds
    ):
        ends = [
            at((across, point.error + sign * point.error_spread))[1] for sign in (-1, 1)
        ]
        points.append(
            {
                "number": number_of[id(point)],
                "x": x,
                "y": y,
                "ends": ends if point.error_spread > 0 else None,
                "ground": " ".join(f"{a:.1f},{b:.1f}" for a, b in ground),
                "is_best": point.on_frontier,
                "says": _says(frontier.task, point),
                **_look(methods.index(point.method)),
            }
        )
    return sorted(points, key=lambda point: point["is_best"])


def _says(task: str, point: FrontierPoint) -> str:
    shown = percent_text if task == "classification" else significant_text
    lines = f"{point.n_rules} line{'s' * (point.n_rules != 1)}"
    words = f"{printable(point.method)}, {lines}, error {shown(point.error)}"
    return words + ", on the frontier" * point.on_frontier


def _look(position: int) -> dict[str, Any]:
    return {"colour": position % len(COLOURS), "shape": SHAPES[marker(position)]}


def _ticks(scale: Scale, most: int) -> list[float]:
    if scale.is_log:
        return log_ticks(scale)
    return round_ticks(scale.low, scale.high, most)


def _stairs(places: list[tuple[float, float]]) -> str:
    """Along each level to the next point, then down to it; the last to the end."""
    path = "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    (x, y) = places[0]
    return f"M{x:.1f} {y:.1f}{path}H{RIGHT:.1f}"


def _number_text(value: float) -> str:
    return f"{value:,.4g}" if abs(value) < 1e6 else f"{value:.3g}"
