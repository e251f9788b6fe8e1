"""The points of a comparison on a canvas: numbers here, drawing in SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from clearwood._words.labels import printable
from clearwood.charts.marks import SHAPES
from clearwood.charts.scale import Scale, log_ticks, round_ticks
from clearwood.charts.style import COLOURS
from clearwood.comparison.display import FrontierDisplay, has_bar, marker
from clearwood.comparison.frontier import Frontier, FrontierPoint
from clearwood.outcomes import Outcome

REACH, CORNERS = 28.0, 16
"""How far from a point a click may be, and corners of its ground where it is alone."""

Place = tuple[float, float]


class Canvas(NamedTuple):
    """Its size, and the room of the axes on it."""

    name: str
    width: float
    height: float
    left: float
    right: float
    top: float
    bottom: float


WIDE = Canvas("wide", 720.0, 400.0, 56.0, 640.0, 34.0, 344.0)
NARROW = Canvas("narrow", 360.0, 400.0, 40.0, 298.0, 34.0, 344.0)
"""For screens, and for those of telephones."""


def charts_of(frontier: Frontier) -> list[dict[str, Any]]:
    """The chart for wide and for narrow screens; none where no error is known."""
    if not any(math.isfinite(point.error) for point in frontier.points):
        return []
    display = FrontierDisplay.from_frontier(frontier)
    return [_chart(display, frontier, canvas) for canvas in (WIDE, NARROW)]


def _chart(
    display: FrontierDisplay, frontier: Frontier, canvas: Canvas
) -> dict[str, Any]:
    """Points, stairs and ticks on a canvas."""
    across, up = display.scales

    def at(place: tuple[float, float]) -> tuple[float, float]:
        return (
            canvas.left + (canvas.right - canvas.left) * across.share(place[0]),
            canvas.bottom - (canvas.bottom - canvas.top) * up.share(place[1]),
        )

    shown = frontier.outcome.figure
    points = _points(display, frontier, at)
    model = display.model_error
    return {
        **canvas._asdict(),
        "x_name": display.labels[0] + ", log scale" * across.is_log,
        "y_name": display.labels[1] + ", log scale" * up.is_log,
        "x_ticks": [
            (f"{tick:,.0f}", at((tick, 1.0))[0])
            for tick in _ticks(across, 10)
            if tick == int(tick) and tick >= 1
        ],
        "y_ticks": [(shown(tick, 4), at((1.0, tick))[1]) for tick in _ticks(up, 6)],
        "stairs": _stairs([at(place) for place in display.stairs], canvas.right),
        "model": None
        if math.isnan(model)
        else {
            "says": shown(model),
            "y": at((1.0, model))[1],
            "is_below": model < up.low,
        },
        "methods": [
            {"name": printable(method), **_look(position)}
            for position, method in enumerate(display.methods)
        ],
        "points": points,
        "places": {point["number"]: (point["x"], point["y"]) for point in points},
    }


def _points(
    display: FrontierDisplay, frontier: Frontier, at: Any
) -> list[dict[str, Any]]:
    """The points; those of the frontier come last and so lie on top."""
    places = [at(place) for place in display.places]
    methods = display.methods
    number_of = {id(point): k for k, point in enumerate(frontier.points)}
    points = []
    for point, (x, y), (across, _) in zip(display.points, places, display.places):
        spread = point.error_spread if has_bar(point) else 0.0
        ends = [at((across, point.error + sign * spread))[1] for sign in (-1, 1)]
        points.append(
            {
                "number": number_of[id(point)],
                "x": x,
                "y": y,
                "ends": ends if has_bar(point) else None,
                "ground": " ".join(
                    f"{a:.1f},{b:.1f}" for a, b in ground((x, y), places)
                ),
                "is_best": point.on_frontier,
                "says": _says(frontier.outcome, point),
                **_look(methods.index(point.method)),
            }
        )
    return sorted(points, key=lambda point: point["is_best"])


def ground(place: Place, places: Sequence[Place]) -> list[Place]:
    """Where a click means a point: a polygon of what is nearer to it than to others.

    Points may lie closer together than a finger is wide; so each has its own ground.

    Examples
    --------
    >>> left = ground((0.0, 0.0), [(0.0, 0.0), (2.0, 0.0)])
    >>> max(x for x, y in left)
    1.0
    """
    turn = 2 * math.pi / CORNERS
    polygon = [
        (place[0] + REACH * math.cos(k * turn), place[1] + REACH * math.sin(k * turn))
        for k in range(CORNERS)
    ]
    for other in places:
        if other != place and math.dist(place, other) < 2 * REACH:
            polygon = _nearer(polygon, place, other)
    return polygon


def _nearer(polygon: list[Place], place: Place, other: Place) -> list[Place]:
    """The part of a polygon on this side of the middle between two places."""
    along = (other[0] - place[0], other[1] - place[1])
    middle = ((other[0] + place[0]) / 2, (other[1] + place[1]) / 2)
    beyond = [
        (x - middle[0]) * along[0] + (y - middle[1]) * along[1] for x, y in polygon
    ]
    kept = []
    for k, corner in enumerate(polygon):
        before, after = beyond[k - 1], beyond[k]
        if before * after < 0:
            share = before / (before - after)
            start = polygon[k - 1]
            kept.append(
                (
                    start[0] + share * (corner[0] - start[0]),
                    start[1] + share * (corner[1] - start[1]),
                )
            )
        if after <= 0:
            kept.append(corner)
    return kept


def _says(outcome: Outcome, point: FrontierPoint) -> str:
    lines = f"{point.n_rules} line{'s' * (point.n_rules != 1)}"
    words = f"{printable(point.method)}, {lines}, error {outcome.figure(point.error)}"
    return words + ", on the frontier" * point.on_frontier


def _look(position: int) -> dict[str, Any]:
    return {"colour": position % len(COLOURS), "shape": SHAPES[marker(position)]}


def _ticks(scale: Scale, most: int) -> list[float]:
    if scale.is_log:
        return log_ticks(scale)
    return round_ticks(scale.low, scale.high, most)


def _stairs(places: list[tuple[float, float]], end: float) -> str:
    """Along each level to the next point, then down to it; the last to the end."""
    path = "".join(f"H{x:.1f}V{y:.1f}" for x, y in places[1:])
    (x, y) = places[0]
    return f"M{x:.1f} {y:.1f}{path}H{end:.1f}"
