"""Tables drawn as plots: layout first, then drawing.

Positions are in points from the upper left corner. A table is laid out for a width and
a font size; a new figure has the height of the table, in given axes the font size
shrinks until it fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from clearwood.charts.style import QUIET, plain, text_width, wrapped

WIDTH, MARGIN, FONT = 9.0, 0.12, 9.5
"""Width and margin of a new figure, in inches; maximum font size, which is also that of
markers."""

POINTS = 72
"""Points per inch."""

INNER_WIDTH = POINTS * (WIDTH - 2 * MARGIN)
"""Inner width of a new figure, in points."""

SHRINK, SMALLEST = 0.95, 0.5
"""Factor from one font size to the next, and the minimum."""

LEADING, SMALL = 1.32, 0.87
"""Line height, and size of small text, relative to the font size."""

ROOM = 1.03
"""Tolerance of text widths: rendering to whole pixels may widen text by this factor."""

MARK, GAP = 1.9, 1.7
"""Spacing of a legend, relative to the font size: from a mark to its text, and from
this to the next mark."""

RULE = "#00000022"
"""Colour of thin lines between rows."""


class Text(NamedTuple):
    """Line of text and its position; ``y`` is its middle."""

    x: float
    y: float
    text: str
    align: str = "left"
    bold: bool = False
    quiet: bool = False
    small: bool = False
    rotation: int = 0


class Legend(NamedTuple):
    """Legend of marks.

    Attributes
    ----------
    marks : list of (float, float, dict)
        Left end, middle and style of each.
    texts : list of Text
    end : float
        Right end of the legend.
    """

    marks: list[tuple[float, float, dict[str, Any]]]
    texts: list[Text]
    end: float


def opened(ax: Any, lay_out: Callable[[float, float], Any]) -> tuple[Any, Any]:
    """Axes in points, and the table laid out to fit in.

    Parameters
    ----------
    ax : matplotlib Axes or None
        None: a new figure with the height of the table.
    lay_out : callable
        From a width and a font size to a table: a named tuple with ``width`` and
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
    """Table with the largest font size with which it fits into axes."""
    # A layout engine sets their size only now.
    ax.get_figure(root=True).draw_without_rendering()
    box, scale = ax.get_window_extent(), POINTS / ax.figure.dpi
    width, height, size = box.width * scale, box.height * scale, FONT
    table = lay_out(width, size)
    while table.height > height and size > SMALLEST:
        size *= SHRINK
        table = lay_out(width, size)
    return table._replace(height=max(height, table.height))


def measures(size: float) -> tuple[Callable[[str], float], ...]:
    """Functions that measure plain, bold and small text, in points."""
    size *= ROOM
    return text_width(size), text_width(size, "bold"), text_width(SMALL * size)


def block(
    x: float, middle: float, lines: Sequence[str], size: float, **look: Any
) -> list[Text]:
    """Lines of text around a middle."""
    first = middle - LEADING * size * (len(lines) - 1) / 2
    return [
        Text(x, first + LEADING * size * i, text, **look)
        for i, text in enumerate(lines)
    ]


def legend_of(
    entries: Sequence[tuple[str, dict[str, Any]]], y: float, width: float, size: float
) -> Legend:
    """Legend entries side by side, in as many lines as needed.

    Parameters
    ----------
    entries : sequence of (str, dict)
        Label and style of the mark.
    y : float
        Middle of the first line.
    width, size : float
        Width of the table and font size.
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
    """Draw texts at their positions, in a font size."""
    for text in texts:
        ax.text(
            text.x, text.y, plain(text.text), ha=text.align, va="center_baseline",
            fontsize=SMALL * size if text.small else size,
            fontweight="bold" if text.bold else "normal",
            color=QUIET if text.quiet else "black", rotation=text.rotation,
            rotation_mode="anchor", zorder=5,
        )  # fmt: skip


def draw_rules(ax: Any, heights: Sequence[float], width: float) -> None:
    """Draw horizontal lines across the table."""
    ax.hlines(heights, 0, width, color=RULE, linewidth=0.7)


def closed(ax: Any) -> None:
    """Prevent layout engines from shrinking the axes' content."""
    for artist in ax.get_children():
        artist.set_in_layout(False)
