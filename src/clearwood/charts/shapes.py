"""Marks of drawings without axes, such as graphs and trees.

Their units are pixels of the page, from the upper left corner of the drawing; in
matplotlib all of them, including text, scale with the axes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from clearwood.charts.chart import LINE, Axis, Chart, Panel
from clearwood.charts.marks import (
    ALIGN,
    Key,
    Mark,
    Surface,
    points_per_unit,
    text,
    title,
)
from clearwood.charts.style import QUIET, plain, wrapped

PER_INCH = 80.0
"""Pixels of a page per inch of a new figure."""
LETTER_SIZE, LETTERS = 12.0, 0.75
"""Font size, and its factor in matplotlib, whose letters are wider than browsers'."""

Place = tuple[float, float]


def drawing(
    title: str,
    marks: Sequence[Mark],
    width: float,
    height: float,
    above: str = "",
    below: str = "",
    least: float = 0.0,
) -> Chart:
    """A chart of marks in its own pixels, without axes."""
    across, up = Axis("", 0.0, width, ticks=()), Axis("", height, 0.0, ticks=())
    panel = Panel(
        marks, across, up, height, None, is_bare=True, above=above, below=below
    )
    # Text around it, and a legend, need height too.
    n_lines = len(wrapped([below], LINE, len)) * bool(below) + 2 * bool(above)
    n_lines += 2 * any(isinstance(mark, Key) for mark in marks)
    size = (width / PER_INCH, height / PER_INCH + 0.18 * n_lines)
    return Chart(title, [panel], width=width, size=size, least=least)


@dataclass(frozen=True)
class Shape(Mark):
    """Polylines, curves, or filled polygons.

    Attributes
    ----------
    parts : sequence of sequences of (float, float)
    look : str
        CSS classes.
    ink : color of matplotlib
    width : float
        Line width; 0 for closed and filled parts.
    edge : color of matplotlib
        Edge colour of filled parts.
    alpha : float
        Opacity of the fill.
    is_bent : bool
        Whether parts are Bézier curves, from the first point to the last.
    says : str
        Tooltip, on pages.
    """

    parts: Sequence[Sequence[Place]]
    look: str
    ink: Any
    width: float = 0.0
    edge: Any = "none"
    alpha: float = 1.0
    is_bent: bool = False
    says: str = ""

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Single path."""
        width = f' stroke-width="{self.width:.1f}"' if self.width else ""
        width += f' fill-opacity="{self.alpha:.3f}"' if self.alpha < 1 else ""
        way = "".join(self._part(part) for part in self.parts)
        start = Markup(f'<path class="{self.look}"{width} d="{way}">')
        yield start + title(self.says) + Markup("</path>")

    def _part(self, part: Sequence[Place]) -> str:
        first, *others = (f"{x:.1f} {y:.1f}" for x, y in part)
        letter = {2: "Q", 3: "C"}[len(others)] if self.is_bent else "L"
        return f"M{first}{letter}{' '.join(others)}{'' if self.width else 'Z'}"

    def draw(self, ax: Any) -> None:
        """Draw a single patch."""
        from matplotlib.colors import to_rgba
        from matplotlib.patches import PathPatch
        from matplotlib.path import Path

        points, codes = list[Place](), list[Any]()
        for part in self.parts:
            code = {3: Path.CURVE3, 4: Path.CURVE4}[len(part)] if self.is_bent else 2
            points += part
            codes += [Path.MOVETO, *[code] * (len(part) - 1)]
            if not self.width:
                points.append(part[0])
                codes.append(Path.CLOSEPOLY)
        fill = to_rgba(self.ink, self.alpha)
        look: dict[str, Any] = {"facecolor": fill, "edgecolor": self.edge}
        if self.width:
            look = {"fill": False, "edgecolor": self.ink, "joinstyle": "round"}
        width = (self.width or 1.0) * points_per_unit(ax)
        ax.add_patch(
            PathPatch(Path(points, codes), linewidth=width, clip_on=False, **look)
        )


def box(left: float, top: float, width: float, height: float) -> list[Place]:
    """Corners of a rectangle."""
    right, bottom = left + width, top + height
    return [(left, top), (right, top), (right, bottom), (left, bottom)]


@dataclass(frozen=True)
class Disc(Mark):
    """Circle, with CSS classes, and fill and edge colours of matplotlib."""

    x: float
    y: float
    radius: float
    look: str
    ink: Any
    edge: Any = QUIET
    says: str = ""

    def svg(self, place: Surface) -> Iterator[Markup]:
        """A circle."""
        start = Markup(
            f'<circle class="{self.look}" cx="{self.x:.1f}" cy="{self.y:.1f}" '
            f'r="{self.radius:.1f}">'
        )
        yield start + title(self.says) + Markup("</circle>")

    def draw(self, ax: Any) -> None:
        """Draw a circle that scales with the axes."""
        from matplotlib.patches import Circle

        place = self.x, self.y
        ax.add_patch(
            Circle(place, self.radius, facecolor=self.ink, edgecolor=self.edge)
        )


@dataclass(frozen=True)
class TextLine(Mark):
    """Line of text, vertically centred.

    Attributes
    ----------
    look : str
        CSS classes: ``strong`` is bold, ``says`` in the text colour, ``panel`` both,
        all else muted; a ``halo`` keeps lines from crossing the text.
    size : float
        Font size in pixels; 0: the default of charts.
    """

    x: float
    y: float
    words: str
    look: str = ""
    anchor: str = "middle"
    size: float = 0.0

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Text element."""
        size = self.size or LETTER_SIZE
        y = self.y + 0.35 * size
        yield text(self.x, y, self.words, self.anchor, self.look, self.size)

    def draw(self, ax: Any) -> None:
        """Draw the text."""
        looks, size = self.look.split(), self.size or LETTER_SIZE
        ground = {
            "boxstyle": "round,pad=0.1",
            "fc": "white",
            "ec": "none",
            "alpha": 0.8,
        }
        ax.text(
            self.x, self.y, plain(self.words), ha=ALIGN[self.anchor],
            fontsize=LETTERS * size * points_per_unit(ax), va="center_baseline",
            color="black" if {"panel", "says"} & set(looks) else QUIET,
            weight="bold" if {"panel", "strong"} & set(looks) else "normal",
            bbox=ground if "halo" in looks else None,
        )  # fmt: skip
