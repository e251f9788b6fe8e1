"""Marks of charts in data units, for SVG and matplotlib.

A mark has the numbers it needs on the axes (``numbers``), an SVG writer on a
:class:`Surface` (``svg``), and a matplotlib artist (``draw``). Colours are names of
styles: of CSS on pages, so that light, dark and print have their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from markupsafe import Markup

from clearwood._words.labels import visible
from clearwood.charts.style import COLOURS, QUIET, in_lines

INK = {"first": COLOURS[0], "second": COLOURS[1], "quiet": QUIET, "ink": "black"} | {
    f"c{k}": ink for k, ink in enumerate(COLOURS)
}
"""Matplotlib colours of styles; ``page.css`` has the same names."""

DASHES = {"--": ' stroke-dasharray="7 5"', ":": ' stroke-dasharray="2 3"'}
LEADING = 14.5
"""Line height of text, in pixels."""
MOST_POINTS = 720
"""Maximum number of points of a line in SVG: more would not be visible."""
LEAST_DOT = 2.0

SHAPES = {
    "o": "M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0z",
    "^": "M0 -6.5L6.5 5.5L-6.5 5.5z",
    "s": "M-5.3 -5.3H5.3V5.3H-5.3z",
    "D": "M0 -7L7 0L0 7L-7 0z",
    "v": "M0 6.5L6.5 -5.5L-6.5 -5.5z",
    "P": "M-2.3 -6.5H2.3V-2.3H6.5V2.3H2.3V6.5H-2.3V2.3H-6.5V-2.3H-2.3z",
    "X": "M-3.4 -6.6L0 -3.2L3.4 -6.6L6.6 -3.4L3.2 0L6.6 3.4L3.4 6.6L0 3.2"
    "L-3.4 6.6L-6.6 3.4L-3.2 0L-6.6 -3.4z",
    "*": "M0 -8L1.9 -2.6L7.6 -2.5L3 1L4.7 6.5L0 3.2L-4.7 6.5L-3 1L-7.6 -2.5L-1.9 -2.6z",
}
"""Matplotlib's markers as paths around the origin."""


class Surface(NamedTuple):
    """Position of a panel on the canvas: its bounds in pixels, and its scales."""

    left: float
    right: float
    top: float
    bottom: float
    across: Callable[[float], float]
    up: Callable[[float], float]

    def x(self, value: float) -> float:
        """Pixels from the left of the canvas."""
        return self.left + (self.right - self.left) * self.across(value)

    def y(self, value: float) -> float:
        """Pixels from the top of the canvas."""
        return self.bottom - (self.bottom - self.top) * self.up(value)

    def points(self, x: Any, y: Any) -> str:
        """Points of a line or an area, for SVG."""
        return " ".join(f"{self.x(a):.1f},{self.y(b):.1f}" for a, b in zip(x, y))


class Mark:
    """Base class of marks; ``layer`` is the stacking order on pages."""

    layer: ClassVar[int] = 2

    @property
    def is_named_above(self) -> bool:
        """Whether its label is above the panel."""
        return False

    def numbers(self, axis: str) -> Sequence[float]:
        """Numbers that the limits of the axis ``"x"`` or ``"y"`` must include."""
        return ()

    def svg(self, place: Surface) -> Iterator[Markup]:
        """SVG elements."""
        raise NotImplementedError

    def draw(self, ax: Any) -> None:
        """Draw the mark on axes of matplotlib."""
        raise NotImplementedError


@dataclass(frozen=True)
class Points(Mark):
    """Line or points; broken where a number is not finite.

    Attributes
    ----------
    x, y : sequence of float
    style, label : str
        The label is that of the legend.
    look : {"-", "--", ":", ""}
        Line style; empty for points only.
    dots : float
        Diameter of the points in pixels, 0 for none.
    shape : str
        A key of ``SHAPES``.
    width : float
    steps, hollow : bool
        Whether the line is a step function; whether points are hollow.
    alpha : float
        Opacity of the line.
    """

    x: Any
    y: Any
    style: str = "first"
    label: str = ""
    look: str = "-"
    dots: float = 0.0
    shape: str = "o"
    width: float = 1.8
    steps: bool = False
    hollow: bool = False
    alpha: float = 1.0

    def numbers(self, axis: str) -> Sequence[float]:
        """Numbers of its points."""
        points: Sequence[float] = self.x if axis == "x" else self.y
        return points

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Polyline of each unbroken part, followed by the points."""
        x, y = np.array(self.x, dtype=float), np.array(self.y, dtype=float)
        n = len(x)
        kept = np.unique(np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(int))
        x, y = x[kept], y[kept]
        known = np.isfinite(x) & np.isfinite(y)
        pieces = np.split(np.arange(len(x)), np.flatnonzero(np.diff(known)) + 1)
        for piece in pieces if self.look else ():
            if known[piece].all() and len(piece) > 1:
                a, b = x[piece], y[piece]
                if self.steps:
                    a, b = np.repeat(a, 2)[1:], np.repeat(b, 2)[:-1]
                more = f' opacity="{self.alpha:g}"' if self.alpha < 1 else ""
                yield Markup(
                    f'<polyline class="line {self.style}" stroke-width="{self.width:g}"'
                    f"{DASHES.get(self.look, '')}{more} "
                    f'points="{place.points(a, b)}"/>'
                )
        # A dot hardly wider than a line is visible only where there is no line.
        beside = np.concatenate([[False], known, [False]])
        alone = known & ~beside[:-2] & ~beside[2:]
        shown = known if self.dots >= LEAST_DOT or not self.look else alone
        for a, b in zip(x[shown], y[shown]) if self.dots else ():
            yield self._dot(place.x(a), place.y(b))

    def _dot(self, x: float, y: float) -> Markup:
        look = f"dot {self.style}{' hollow' * self.hollow}"
        if self.shape == "o":
            radius = f"{self.dots / 1.5:.2g}"
            return Markup(
                f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="{radius}"/>'
            )
        turned = f"translate({x:.1f} {y:.1f}) scale({self.dots / 9:.2g})"
        return Markup(
            f'<path class="{look}" transform="{turned}" d="{SHAPES[self.shape]}"/>'
        )

    def draw(self, ax: Any) -> None:
        """Draw one matplotlib line; without points it appears in the legend only."""
        ink = INK[self.style]
        ax.plot(
            self.x, self.y, color=ink, linestyle=self.look or "none",
            linewidth=self.width,
            marker=self.shape if self.dots else "", markersize=self.dots,
            markerfacecolor="white" if self.hollow else ink,
            drawstyle="steps-post" if self.steps else "default",
            solid_capstyle="butt", label=in_lines(self.label) or None, alpha=self.alpha,
            zorder=3 if self.dots and not self.look else 2,
        )  # fmt: skip


@dataclass(frozen=True)
class Area(Mark):
    """Area between two lines."""

    x: Any
    low: Any
    high: Any
    style: str = "second"
    label: str = ""
    layer: ClassVar[int] = 0

    def numbers(self, axis: str) -> Sequence[float]:
        """Numbers of both lines."""
        return self.x if axis == "x" else [*self.low, *self.high]

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Closed path along one line, and back along the other."""
        x, y = [*self.x, *self.x[::-1]], [*self.low, *self.high[::-1]]
        points = place.points(x, y)
        yield Markup(f'<polygon class="area {self.style}" points="{points}"/>')

    def draw(self, ax: Any) -> None:
        """Fill in a pale colour."""
        ax.fill_between(
            self.x, self.low, self.high, color=INK[self.style], alpha=0.2,
            linewidth=0, label=in_lines(self.label) or None,
        )  # fmt: skip


@dataclass(frozen=True)
class Span(Mark):
    """Vertical band between two x values.

    Attributes
    ----------
    first, last : float
    look : str
        CSS classes.
    ink : color of matplotlib
    alpha : float
        Opacity.
    says : str
        Tooltip, on pages.
    """

    first: float
    last: float
    look: str
    ink: Any
    alpha: float = 1.0
    says: str = ""

    def svg(self, place: Surface) -> Iterator[Markup]:
        """A rectangle."""
        x, width = place.x(self.first), place.x(self.last) - place.x(self.first)
        start = Markup(
            f'<rect class="{self.look}" opacity="{self.alpha:.2g}" x="{x:.1f}" '
            f'y="{place.top:.1f}" width="{width:.1f}" '
            f'height="{place.bottom - place.top:.1f}">'
        )
        yield start + title(self.says) + Markup("</rect>")

    def draw(self, ax: Any) -> None:
        """Draw behind all else."""
        ax.axvspan(
            self.first, self.last, color=self.ink, alpha=self.alpha, linewidth=0,
            zorder=0,
        )  # fmt: skip


@dataclass(frozen=True)
class Level(Mark):
    """Horizontal or vertical line across the panel.

    Attributes
    ----------
    at : float
    axis : {"x", "y"}
        The axis of the value ``at``.
    label : str
        Beside the line on pages; in matplotlib in the legend, unless ``is_beside``.
    style, look : str
        As for lines.
    is_beside : bool
    """

    at: float
    axis: str = "y"
    label: str = ""
    style: str = "ink"
    look: str = ":"
    is_beside: bool = False
    layer: ClassVar[int] = 1

    @property
    def is_named_above(self) -> bool:
        """Whether its label is above the panel."""
        return self.axis == "x" and bool(self.label)

    def numbers(self, axis: str) -> Sequence[float]:
        """Its value on the axis."""
        return (self.at,) if axis == self.axis else ()

    def svg(self, place: Surface) -> Iterator[Markup]:
        """The line, with its label beside it."""
        if self.axis == "y":
            y = place.y(self.at)
            yield stroke(place.left, place.right, y, y, self.style, self.look)
            yield text(place.left + 5, y - 4, self.label)
        else:
            x = place.x(self.at)
            yield stroke(x, x, place.top, place.bottom, self.style, self.look)
            anchor = "end" if x > place.right - 60 else "middle"
            yield text(x, place.top - 5, self.label, anchor)

    def draw(self, ax: Any) -> None:
        """Draw the line, with its label beside it if ``is_beside``."""
        words = in_lines(self.label)
        (ax.axhline if self.axis == "y" else ax.axvline)(
            self.at, color=INK[self.style], linewidth=1.0, linestyle=self.look,
            label=None if self.is_beside else words or None, zorder=1.5,
        )  # fmt: skip
        if self.is_beside:
            ax.annotate(
                words, (0.0, self.at), xycoords=("axes fraction", "data"),
                xytext=(2, 2), textcoords="offset points", fontsize=8, color=QUIET,
            )  # fmt: skip


@dataclass(frozen=True)
class Note(Mark):
    """Lines of text beside a point, ``away`` pixels to the right and up.

    Several lines, and text with ``is_middle``, are vertically centred on it.
    """

    x: float
    y: float
    words: str
    away: tuple[float, float] = (0.0, 0.0)
    anchor: str = "start"
    is_middle: bool = False
    layer: ClassVar[int] = 3

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Text in the text colour."""
        x, y = place.x(self.x) + self.away[0], place.y(self.y) - self.away[1]
        lines = self.words.split("\n")
        if self._is_about:
            y -= LEADING * (len(lines) / 2 - 0.8)
        for i, line in enumerate(lines):
            yield text(x, y + LEADING * i, line, self.anchor, "panel")

    def draw(self, ax: Any) -> None:
        """An annotation."""
        ax.annotate(
            in_lines(self.words), (self.x, self.y), xytext=self.away, fontsize=9,
            textcoords="offset points", ha=ALIGN[self.anchor],
            va="center" if self._is_about else "baseline",
        )  # fmt: skip

    @property
    def _is_about(self) -> bool:
        return self.is_middle or "\n" in self.words


ALIGN = {"start": "left", "middle": "center", "end": "right"}


@dataclass(frozen=True)
class Linked(Mark):
    """Group of marks with a tooltip and an optional link on pages.

    Attributes
    ----------
    marks : sequence of Mark
    says : str
    to : str
        Target of the link.
    look : str
        CSS classes.
    """

    marks: Sequence[Mark]
    says: str
    to: str = ""
    look: str = ""
    layer: ClassVar[int] = 4

    def numbers(self, axis: str) -> Sequence[float]:
        """Numbers of its marks."""
        return [number for mark in self.marks for number in mark.numbers(axis)]

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Link, or focusable group."""
        inner = Markup("").join(part for mark in self.marks for part in mark.svg(place))
        look = f' class="{self.look}"' if self.look else ""
        tag, more = "a", Markup('href="{}"').format(self.to)
        if not self.to:
            tag, more = "g", Markup('tabindex="0" role="img"')
        start = Markup("<{}{} {}").format(tag, Markup(look), more)
        label = Markup(' aria-label="{}">').format(visible(self.says))
        yield start + label + title(self.says) + inner + Markup(f"</{tag}>")

    def draw(self, ax: Any) -> None:
        """Draw its marks."""
        for mark in self.marks:
            mark.draw(ax)


@dataclass(frozen=True)
class Key(Mark):
    """Legend entry of a colour, without a mark."""

    label: str
    look: str
    ink: Any

    def svg(self, place: Surface) -> Iterator[Markup]:
        """Empty; see :func:`~clearwood.charts.chart.keys`."""
        yield from ()

    def draw(self, ax: Any) -> None:
        """Draw an invisible artist."""
        from matplotlib.patches import Rectangle

        label = in_lines(self.label)
        ax.add_patch(Rectangle((0, 0), 0, 0, color=self.ink, label=label))


def points_per_unit(ax: Any) -> float:
    """Points per pixel of the page on axes of matplotlib."""
    return float(abs(ax.transData.get_matrix()[0, 0]) * 72 / ax.figure.dpi)


def title(says: str) -> Markup:
    """Tooltip element; empty for empty text."""
    return Markup("<title>{}</title>").format(visible(says)) if says else Markup("")


def text(
    x: float,
    y: float,
    words: str,
    anchor: str = "start",
    look: str = "",
    size: float = 0.0,
) -> Markup:
    """Element of a line of text; empty for empty text."""
    if not words:
        return Markup("")
    look = f' class="{look}"' if look else ""
    look += f' style="font-size: {size:.4g}px"' if size else ""
    start = Markup(f'<text{look} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">')
    return start + visible(words) + Markup("</text>")


def stroke(
    x1: float, x2: float, y1: float, y2: float, style: str, look: str = "-"
) -> Markup:
    """Element of a straight line."""
    return Markup(
        f'<line class="{style}" x1="{x1:.1f}" x2="{x2:.1f}" y1="{y1:.1f}" '
        f'y2="{y2:.1f}"{DASHES.get(look, "")}/>'
    )
