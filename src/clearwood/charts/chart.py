"""Charts: stacked panels of marks, written as SVG or drawn by matplotlib.

:func:`svg` writes a chart for pages, without matplotlib; :func:`draw` draws the same
marks, with the same axis limits, with matplotlib.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from clearwood._words.labels import visible
from clearwood.charts.marks import (
    LEADING,
    Key,
    Linked,
    Mark,
    Points,
    Surface,
    points_per_unit,
    stroke,
    text,
)
from clearwood.charts.scale import Scale, linear_scale, log_ticks, round_ticks, scale_of
from clearwood.charts.style import QUIET, in_lines, plain, text_width, wrapped

WIDTH, RIGHT = 720.0, 20.0
"""Width of the canvas, and of its right margin, in pixels."""
MANY, LINE = 40, 120
"""Minimum number of ticks with small labels; characters per line below a plot."""
SMALL, BELOW = 9.0, 36.0
"""Font size of a matplotlib legend, and its distance below a panel, in points."""
NAME, GAP, FOOTER = 18.0, 18.0, 48.0
"""Space for names of levels above a panel, between panels, and below the last."""
LETTER, BOLD, LEAST_LEFT, MOST_LEFT = 7.4, 10.5, 52.0, 0.34
"""Width of a character, and of a bold one on phones; left margin for labels, in pixels,
and its maximum as a share of the width."""


@dataclass(frozen=True)
class Axis:
    """Horizontal or vertical axis.

    Attributes
    ----------
    label : str
    low, high : float or None
        Limits; if None those of the marks, with a margin. The axis is inverted if
        ``low`` is the larger.
    is_log : bool or None
        Whether the axis is logarithmic; None: if the numbers span a large ratio.
    is_whole : bool
        Whether ticks are integers.
    ticks : sequence of (float, str) or None
        Round numbers by default.
    shown : callable, optional
        Formatter of tick numbers.
    """

    label: str = ""
    low: float | None = None
    high: float | None = None
    is_log: bool | None = False
    is_whole: bool = False
    ticks: Sequence[tuple[float, str]] | None = None
    shown: Callable[[float], str] | None = None

    def scale(self, numbers: Sequence[float]) -> Scale:
        """Scale for the numbers of marks."""
        known = [float(x) for x in numbers if math.isfinite(x)] or [0.0]
        found = (linear_scale if self.is_log is False else scale_of)(known)
        low = found.low if self.low is None else self.low
        high = found.high if self.high is None else self.high
        is_log = found.is_log if self.is_log is None else self.is_log
        return Scale(low, high if high != low else low + 1.0, is_log)

    def ticks_on(self, scale: Scale, most: int) -> list[tuple[float, str]]:
        """Numbers and labels of approximately this many ticks."""
        if self.ticks is not None:
            return list(self.ticks)
        low, high = sorted(scale[:2])
        ticks = log_ticks(scale) if scale.is_log else round_ticks(low, high, most)
        if self.is_whole:
            ticks = [t for t in ticks if t == int(t)] or [math.ceil(low)]
        return [(t, (self.shown or "{:,.10g}".format)(t)) for t in ticks]

    def name(self, scale: Scale) -> str:
        """Label on pages, in one line."""
        return self.label.replace("\n", " ") + ", log scale" * scale.is_log

    def draw(self, axis: Any, scale: Scale) -> None:
        """Configure a matplotlib axis, whose number of ticks depends on its size."""
        from matplotlib.ticker import FixedLocator, MaxNLocator, NullLocator

        name = axis.axis_name
        if scale.is_log:
            axis.axes.set(**{f"{name}scale": "log"})
            axis.set_minor_locator(NullLocator())
            ticks = self.ticks_on(scale, 0)
            axis.set_major_locator(FixedLocator([tick for tick, _ in ticks]))
            axis.set_major_formatter("{x:g}")
        elif self.ticks is not None:
            places = [place for place, _ in self.ticks]
            axis.set_ticks(places, [plain(label) for _, label in self.ticks])
            size = "small" if len(places) > MANY else "medium"
            axis.axes.tick_params(axis=name, length=0, labelsize=size)
        elif self.is_whole:
            axis.set_major_locator(MaxNLocator("auto", integer=True, min_n_ticks=1))
        if self.shown is not None and self.ticks is None:
            axis.set_major_formatter(lambda value, _: self.shown(value))
        axis.axes.set(**{f"{name}lim": scale[:2], f"{name}label": in_lines(self.label)})


@dataclass(frozen=True)
class Panel:
    """Panel of marks on two axes.

    Attributes
    ----------
    marks : sequence of Mark
    x, y : Axis
    height : float
        In pixels on pages; in matplotlib panels share the height in proportion.
    legend : str or None
        Position in matplotlib, ``"below"`` the panel or within it; pages describe marks
        beside a chart.
    grid : {"x", "y", "both", ""}
        Axes with grid lines at the ticks.
    is_square : bool
        Whether both axes have the same scale.
    is_bare : bool
        Whether to draw marks only, on the whole canvas.
    is_named_beside : bool
        Whether the y label is on the left of the axis, not above it.
    above, below : str
        Text above it; text below it, in matplotlib only.
    """

    marks: Sequence[Mark]
    x: Axis = field(default_factory=Axis)
    y: Axis = field(default_factory=Axis)
    height: float = 150.0
    legend: str | None = "best"
    grid: str = "y"
    is_square: bool = False
    is_bare: bool = False
    is_named_beside: bool = False
    above: str = ""
    below: str = ""

    def scales(self, among: Sequence[Panel] = ()) -> tuple[Scale, Scale]:
        """Scales of the axes: x from all panels, y from this one."""
        across = [
            n for own in among or [self] for m in own.marks for n in m.numbers("x")
        ]
        up = [n for mark in self.marks for n in mark.numbers("y")]
        return self.x.scale(across), self.y.scale(up)

    @property
    def letter(self) -> float:
        """Width of a character of its labels on pages."""
        return BOLD if self.is_named_beside else LETTER

    @property
    def header(self) -> float:
        """Height of its header on pages, in pixels."""
        if self.is_bare:
            return 0.0
        named = bool(self.above) or any(mark.is_named_above for mark in self.marks)
        name = 0.0 if self.is_named_beside else 30.0 if self.y.label else 10.0
        return name + NAME * named

    def draw(
        self, ax: Any, scales: tuple[Scale, Scale], ground: Sequence[Mark] = ()
    ) -> None:
        """Draw the panel on axes of matplotlib."""
        if self.above:
            ax.set_title(plain(self.above), fontsize=SMALL, color=QUIET, loc="left")
        keys = [mark for mark in self.marks if isinstance(mark, Key)]
        if self.is_bare:
            self._draw_around(ax, scales, keys)
        for mark in (*ground, *self.marks):
            if not isinstance(mark, Key):
                mark.draw(ax)
        if not self.is_bare:
            self._draw_axes(ax, scales)

    def _draw_around(
        self, ax: Any, scales: tuple[Scale, Scale], keys: Sequence[Key]
    ) -> None:
        """Draw a legend and text below, without axes, leaving space for the marks."""
        ax.axis("off")
        ax.set(xlim=scales[0][:2], ylim=scales[1][:2], aspect="equal", anchor="W")
        for mark in keys:
            mark.draw(ax)
        if keys:
            ax.legend(
                loc="upper left", ncols=min(len(keys), 6), fontsize=SMALL,
                frameon=False, bbox_to_anchor=(0, 0), borderpad=0,
            )  # fmt: skip
        if self.below:
            # Only now the size of a pixel of the page is known.
            ax.get_figure(root=True).draw_without_rendering()
            ax.text(
                0, 0, plain(*wrapped([self.below], LINE, len)), color=QUIET, va="top",
                fontsize=min(SMALL - 1, SMALL * points_per_unit(ax)),
                transform=ax.transAxes,
            )  # fmt: skip
        ax.get_figure(root=True).draw_without_rendering()

    def _draw_axes(self, ax: Any, scales: tuple[Scale, Scale]) -> None:
        self.x.draw(ax.xaxis, scales[0])
        self.y.draw(ax.yaxis, scales[1])
        if self.is_square:
            ax.set(aspect="equal")
        ax.spines[["top", "right"]].set_visible(False)
        if self.grid:
            ax.grid(axis=self.grid, color="#00000018")
        if self.is_named_beside:
            ax.yaxis.label.set(rotation=0, ha="right", va="center")
        labels = ax.get_legend_handles_labels()[1]
        if self.legend == "below" and labels:
            # As many columns as fit.
            width = max(map(text_width(SMALL), labels)) + 4.5 * SMALL
            box, scale = ax.bbox, 72 / ax.figure.dpi
            room, down = box.width * scale, BELOW / (box.height * scale)
            ax.legend(
                ncols=max(1, int(room / width)), fontsize=SMALL, frameon=False,
                loc="upper center", bbox_to_anchor=(0.5, -down),
            )  # fmt: skip
        elif self.legend and labels:
            # On white, so that no line crosses the text.
            ax.legend(
                loc=self.legend, fontsize=SMALL, facecolor="white", edgecolor="none"
            )


@dataclass(frozen=True)
class Chart:
    """Chart of stacked panels with a common x axis.

    Attributes
    ----------
    title : str
        What it shows.
    panels : sequence of Panel
    width : float
        In pixels, on pages.
    size : tuple of float
        Of a matplotlib figure, in inches.
    right : float
        Right margin beside panels on pages, in pixels.
    ground : sequence of Mark
        Background behind all panels.
    least : float
        Minimum width in pixels, below which a page scrolls; 0: the chart shrinks.
    """

    title: str
    panels: Sequence[Panel]
    width: float = WIDTH
    size: tuple[float, float] = (6.4, 4.0)
    right: float = RIGHT
    ground: Sequence[Mark] = ()
    least: float = 0.0


def svg(chart: Chart, name: str, words: str = "", *, look: str = "") -> Markup:
    """Write a chart as an SVG element of a page.

    Parameters
    ----------
    chart : Chart
    name : str
        Id prefix of its title and description on the page.
    words : str
        Text alternative of the chart.
    look : str
        Additional CSS classes.

    Examples
    --------
    >>> from clearwood.charts.marks import Points
    >>> print(svg(Chart("Growth", [Panel([Points([0, 1], [0, 2])])]), "growth")[:40])
    <svg class="chart" viewBox="0 0 720 208"
    """
    scales = [panel.scales(chart.panels) for panel in chart.panels]
    up = [p.y.ticks_on(s[1], int(p.height / 30)) for p, s in zip(chart.panels, scales)]
    beside = [panel.y.label for panel in chart.panels if panel.is_named_beside]
    labels = [label for ticks in up for _, label in ticks] + beside
    longest = max(map(len, labels), default=0)
    letter = max(panel.letter for panel in chart.panels)
    left = min(max(LEAST_LEFT, 18 + letter * longest), MOST_LEFT * chart.width)
    elements, top, right = list[Markup](), 0.0, chart.width - chart.right
    is_bare = chart.panels[0].is_bare
    if is_bare:
        left, right = 0.0, chart.width
    for panel, (across, upward), ticks in zip(chart.panels, scales, up):
        top += panel.header
        ends = top, top + panel.height
        place = Surface(left, right, *ends, across.share, upward.share)
        wide = LETTER * len(f"{across.high:,.0f}") + 20 if panel.x.is_whole else 70.0
        x_ticks = panel.x.ticks_on(across, int((right - left) / wide))
        if panel.is_bare:
            elements.append(text(0, 12, panel.above))
        else:
            elements.append(text(left, top - 6, panel.above))
            elements += _axes(panel, place, panel.y.name(upward), x_ticks, ticks)
        for mark in sorted(panel.marks, key=lambda mark: mark.layer):
            elements += mark.svg(place)
        top = place.bottom + GAP
    behind = Surface(left, right, 0.0, place.bottom, across.share, upward.share)
    elements = [part for mark in chart.ground for part in mark.svg(behind)] + elements
    for tick, label in x_ticks:
        elements.append(text(place.x(tick), place.bottom + 20, label, "middle"))
    middle = (left + right) / 2
    elements.append(text(middle, place.bottom + 40, panel.x.name(across), "middle"))
    height = place.bottom + FOOTER * (not is_bare)
    links = any(isinstance(mark, Linked) for own in chart.panels for mark in own.marks)
    ids = f"{name}-title" + f" {name}-desc" * bool(words)
    size = f"min-width: {chart.least:.0f}px; max-width: {chart.width:.0f}px"
    style = f' style="{size}"' if chart.least else ""
    start = Markup(
        f'<svg class="{f"chart {look}".strip()}"{style} viewBox="0 0 {chart.width:g} '
        f'{height:g}" role="{"group" if links else "img"}" '
        f'aria-labelledby="{ids}">\n'
    )
    about = [_about("title", name, chart.title)]
    about += [_about("desc", name, words)] if words else []
    lines = [*about, *(element for element in elements if element)]
    return start + Markup("\n").join(lines) + Markup("\n</svg>")


def _about(tag: str, name: str, words: str) -> Markup:
    """Title or description element."""
    return Markup(f'<{tag} id="{name}-{tag}">') + visible(words) + Markup(f"</{tag}>")


def _axes(
    panel: Panel,
    place: Surface,
    name: str,
    across: Sequence[tuple[float, str]],
    up: Sequence[tuple[float, str]],
) -> list[Markup]:
    """Grid lines, y tick labels, and the y label."""
    found, most = list[Markup](), int((place.left - 14) / panel.letter)
    for tick, _ in across if panel.grid in ("x", "both") else ():
        x = place.x(tick)
        found.append(stroke(x, x, place.top, place.bottom, "grid"))
    middle = (place.top + place.bottom) / 2

    def beside(y: float, words: str, look: str = "") -> Markup:
        short = words if len(words) <= most else f"{words[: most - 1]}…"
        return text(place.left - 10, y + 4, short, "end", look)

    for tick, label in up:
        y = place.y(tick)
        if panel.grid in ("y", "both"):
            found.append(stroke(place.left, place.right, y, y, "grid"))
        if not panel.is_named_beside or abs(y - middle) > LEADING:
            found.append(beside(y, label))
    if panel.is_named_beside:
        return [*found, beside(middle, name, "panel")]
    return [*found, text(0, place.top - panel.header + 12, name, look="panel")]


def keys(chart: Chart) -> list[tuple[Markup, str]]:
    """Legend: a small image of every labelled mark, and the label."""
    marks = [mark for panel in chart.panels for mark in panel.marks]
    found, end = [], Markup("</svg>")
    start = Markup('<svg class="chart key" viewBox="0 0 32 18" aria-hidden="true">')
    for mark in marks:
        if isinstance(mark, Key):
            ground = f'<rect class="{mark.look}" x="8" width="16" height="16"/>'
            found.append((start + Markup(ground) + end, mark.label))
        elif isinstance(mark, Points) and mark.label:
            # A line across the panel, or a dot.
            x = [0.0, 1.0] if mark.look else [0.5]
            place = Surface(0.0, 32.0, 0.0, 18.0, float, float)
            drawn = replace(mark, x=x, y=[0.5] * len(x)).svg(place)
            found.append((Markup("").join([start, *drawn, end]), mark.label))
    return found


def draw(chart: Chart, ax: Any = None) -> list[Any]:
    """Draw a chart on axes of matplotlib.

    Parameters
    ----------
    chart : Chart
    ax : matplotlib Axes, optional
        Divided if there are several panels; by default those of a new figure.

    Returns
    -------
    list of matplotlib Axes
        One for each panel.
    """
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=chart.size, layout="constrained")
    parts = _divided(ax, [panel.height for panel in chart.panels])
    for panel, part in zip(chart.panels, parts):
        panel.draw(part, panel.scales(chart.panels), chart.ground)
    return parts


def _divided(ax: Any, heights: Sequence[float]) -> list[Any]:
    """Stacked axes in place of one."""
    if len(heights) == 1:
        return [ax]
    ax.axis("off")
    gap = min(0.07, 0.3 / len(heights))
    scale = (1 - gap * (len(heights) - 1)) / sum(heights)
    ends = 1 - np.cumsum([height * scale + gap for height in heights]) + gap
    parts: list[Any] = []
    for height, bottom in zip(heights, ends):
        share = parts[0] if parts else None
        parts.append(ax.inset_axes((0, bottom, 1, height * scale), sharex=share))
    for part in parts[:-1]:
        part.tick_params(labelbottom=False)
        part.xaxis.label.set_visible(False)
    return parts
