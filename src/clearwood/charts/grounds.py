"""Clickable regions of points on pages, however close together points are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from clearwood.charts.marks import Mark, Surface

REACH, CORNERS = 28.0, 16
"""Maximum distance of a click from a point, and corners of an isolated region."""

Place = tuple[float, float]


@dataclass(frozen=True)
class ClickGround(Mark):
    """Clickable region of a point, and a ring around it; on pages only."""

    point: Place
    points: Sequence[Place]

    def svg(self, place: Surface) -> Iterator[Markup]:
        """SVG, made visible by ``page.css`` of the chart."""
        at, *others = [(place.x(x), place.y(y)) for x, y in (self.point, *self.points)]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in ground(at, others))
        yield Markup(f'<polygon class="ground" points="{corners}"/>')
        yield Markup(f'<circle class="ring" cx="{at[0]:.1f}" cy="{at[1]:.1f}" r="12"/>')

    def draw(self, ax: Any) -> None:
        """Draw nothing."""


def ground(place: Place, places: Sequence[Place]) -> list[Place]:
    """Polygon of the locations nearer to a point than to others.

    Points may be closer together than a fingertip; so each has a separate region.

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
    """Part of a polygon nearer to one place than to another."""
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
