"""Tables drawn as pictures: first all is given a place, then it is drawn there.

Places are in points from the upper left corner. A table is laid out for a width and a
size of letters; in a figure of its own it is as high as it must be, in axes that are
given the letters shrink until it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from clearwood.charts.style import QUIET, plain, text_width, wrapped

WIDTH, MARGIN, FONT = 9.0, 0.12, 9.5
"""Width of a new figure and the white around it, in inches; size of the letters where
there is room, beside which markers are as large."""

POINTS = 72
"""Per inch."""

INNER_WIDTH = POINTS * (WIDTH - 2 * MARGIN)
"""Of a new figure, in points."""

SHRINK, SMALLEST = 0.95, 0.5
"""From one size of letters to the next, and where that ends."""

LEADING, SMALL = 1.32, 0.87
"""Height of a line of text, and of small letters, over the size of letters."""

ROOM = 1.03
"""Pictures move letters to whole pixels: texts may be as much wider than measured."""

MARK, GAP = 1.9, 1.7
"""Of a legend, over the size of letters: from a mark to its text, and from this to the
next mark."""

RULE = "#00000022"
"""Colour of thin lines between rows."""


class Text(NamedTuple):
    """A line of text and its place; ``y`` is its middle."""

    x: float
    y: float
    text: str
    align: str = "left"
    bold: bool = False
    quiet: bool = False
    small: bool = False
    rotation: int = 0


class Legend(NamedTuple):
    """What marks mean.

    Attributes
    ----------
    marks : list of (float, float, dict)
        Left end and middle of each, and how it looks.
    texts : list of Text
    end : float
        Where the legend ends.
    """

    marks: list[tuple[float, float, dict[str, Any]]]
    texts: list[Text]
    end: float


def opened(ax: Any, lay_out: Callable[[float, float], Any]) -> tuple[Any, Any]:
    """Axes whose units are points, and the table that is laid out to fit in.

    Parameters
    ----------
    ax : matplotlib Axes or None
        None: a new figure, as high as the table is.
    lay_out : callable
        From a width and a size of letters to a table: a named tuple with ``width`` and
        ``height``.
    """
    if ax is None:
        table = lay_out(INNER_WIDTH, FONT)
        ax = _new_axes(table.height)
        ax.axis("off")
    else:
        ax.axis("off")
        table = _fitted(ax, lay_out)
    ax.set(xlim=(0, table.width), ylim=(table.height, 0))
    return ax, table


def _new_axes(height: float) -> Any:
    import matplotlib.pyplot as plt

    high = height / POINTS + 2 * MARGIN
    figure = plt.figure(figsize=(WIDTH, high))
    x, y = MARGIN / WIDTH, MARGIN / high
    return figure.add_axes((x, y, 1 - 2 * x, 1 - 2 * y))


def _fitted(ax: Any, lay_out: Callable[[float, float], Any]) -> Any:
    """The table with the largest letters with which it fits into axes."""
    # A layout engine gives them their size only now.
    ax.get_figure(root=True).draw_without_rendering()
    box, scale = ax.get_window_extent(), POINTS / ax.figure.dpi
    width, height, size = box.width * scale, box.height * scale, FONT
    table = lay_out(width, size)
    while table.height > height and size > SMALLEST:
        size *= SHRINK
        table = lay_out(width, size)
    return table._replace(height=max(height, table.height))


def measures(size: float) -> tuple[Callable[[str], float], ...]:
    """What measures plain, bold and small texts, in points."""
    size *= ROOM
    return text_width(size), text_width(size, "bold"), text_width(SMALL * size)


def block(
    x: float, middle: float, lines: Sequence[str], size: float, **look: Any
) -> list[Text]:
    """Several lines of text about a middle."""
    first = middle - LEADING * size * (len(lines) - 1) / 2
    return [
        Text(x, first + LEADING * size * i, text, **look)
        for i, text in enumerate(lines)
    ]


def legend_of(
    entries: Sequence[tuple[str, dict[str, Any]]], y: float, width: float, size: float
) -> Legend:
    """Entries side by side, in as many lines as they need.

    Parameters
    ----------
    entries : sequence of (str, dict)
        What is meant, and how its mark looks.
    y : float
        Middle of the first line.
    width, size : float
        Of the table and of its letters.
    """
    *_, measure = measures(size)
    marks, texts = [], []
    x, leading = 0.0, LEADING * SMALL * size
    lines_of_row = 0
    for name, look in entries:
        lines = wrapped([name], width - MARK * size, measure)
        wide = MARK * size + max(map(measure, lines))
        if x > 0 and x + wide > width:
            x, y, lines_of_row = 0.0, y + leading * (lines_of_row + 0.2), 0
        marks.append((x, y, look))
        texts += [
            Text(x + MARK * size, y + leading * i, line, quiet=True, small=True)
            for i, line in enumerate(lines)
        ]
        x += wide + GAP * size
        lines_of_row = max(lines_of_row, len(lines))
    return Legend(marks, texts, y + leading * max(lines_of_row - 0.5, 0))


def draw_texts(ax: Any, texts: Sequence[Text], size: float) -> None:
    """Write texts where they stand, in letters of a size."""
    for text in texts:
        ax.text(
            text.x, text.y, plain(text.text), ha=text.align, va="center_baseline",
            fontsize=SMALL * size if text.small else size,
            fontweight="bold" if text.bold else "normal",
            color=QUIET if text.quiet else "black", rotation=text.rotation,
            rotation_mode="anchor", zorder=5,
        )  # fmt: skip


def draw_rules(ax: Any, heights: Sequence[float], width: float) -> None:
    """Thin lines from side to side."""
    ax.hlines(heights, 0, width, color=RULE, linewidth=0.7)


def closed(ax: Any) -> None:
    """Keep layout engines from making what stands within the axes smaller."""
    for artist in ax.get_children():
        artist.set_in_layout(False)
