"""The ground of each point of a chart: where a click means this point."""

from __future__ import annotations

import math
from collections.abc import Sequence

CORNERS = 16
Point = tuple[float, float]


def cells(points: Sequence[Point], radius: float) -> list[list[Point]]:
    """For each point a polygon around it: what is near it, and nearer than to others.

    Points may lie closer together than a finger is wide; so each has its own ground.

    Parameters
    ----------
    points : sequence of (float, float)
    radius : float
        How far the ground of a point reaches.

    Returns
    -------
    list of list of (float, float)
        Corners in order. Points at the same place have the same ground.

    Examples
    --------
    >>> left, right = cells([(0.0, 0.0), (2.0, 0.0)], 5.0)
    >>> max(x for x, y in left), min(x for x, y in right)
    (1.0, 1.0)
    """
    return [_cell(point, points, radius) for point in points]


def _cell(point: Point, points: Sequence[Point], radius: float) -> list[Point]:
    x, y = point
    turn = 2 * math.pi / CORNERS
    polygon = [
        (x + radius * math.cos(k * turn), y + radius * math.sin(k * turn))
        for k in range(CORNERS)
    ]
    for other in points:
        if other != point and math.dist(point, other) < 2 * radius:
            polygon = _nearer(polygon, point, other)
    return polygon


def _nearer(polygon: list[Point], point: Point, other: Point) -> list[Point]:
    """The part of a polygon on this side of the middle between two points."""
    along = (other[0] - point[0], other[1] - point[1])
    middle = ((other[0] + point[0]) / 2, (other[1] + point[1]) / 2)

    def beyond(corner: Point) -> float:
        return sum((c - m) * a for c, m, a in zip(corner, middle, along))

    kept = []
    for one, two in zip(polygon, polygon[1:] + polygon[:1]):
        before, after = beyond(one), beyond(two)
        if before <= 0:
            kept.append(one)
        if before * after < 0:
            share = before / (before - after)
            kept.append(
                (one[0] + share * (two[0] - one[0]), one[1] + share * (two[1] - one[1]))
            )
    return kept
