"""Layout of tree diagrams, for pages and figures.

Units are pixels of the page, from the upper left corner.
"""

from __future__ import annotations

from typing import NamedTuple

from clearwood.rules.drawn.nodes import DrawnNode, DrawnTree
from clearwood.rules.drawn.strips import Bar

WIDTH, NARROWEST, LEFT, EDGE = 720.0, 360.0, 24.0, 10.0
"""Maximum and minimum width, and left and right margin."""
STRIP, STRIP_HEIGHT = 112.0, 22.0
"""Height of the histogram of a feature."""

LETTER, LINE = 7.2, 16.0
"""Approximate width of a letter and height of a line of text."""

GAP = 9.0
SHARES = 84.0
"""Width of the bar of probabilities, or of the axis of values, beside a leaf."""

ROWS = 64.0
"""Width of the column of numbers of rows."""

STEPS = (26.0, 130.0)
"""Largest step between a node and its children, and maximum width of all steps, so that
long chains fit a mobile screen."""

THIN, THICK = 1.2, 9.0
"""Width of links that no row, and that all rows, take."""


class PlacedStrip(NamedTuple):
    """Histogram, with the text of the condition on its feature."""

    x: float
    y: float
    text_x: float
    lines: list[str]
    rects: list[tuple[int, float, float, float, float]]
    dots: list[tuple[float, float]]
    cuts: list[float]


class PlacedNode(NamedTuple):
    """Node with its position; ``link`` is the line from its parent."""

    node: DrawnNode
    x: float
    y: float
    strips: list[PlacedStrip]
    shares: list[tuple[int, float, float]]
    dot: float | None
    lines: list[str]
    text_x: float
    link: tuple[float, float] | None
    is_yes: bool
    thickness: float


class Drawing(NamedTuple):
    """All nodes, and the size of the diagram."""

    tree: DrawnTree
    nodes: list[PlacedNode]
    width: float
    height: float


def lay_out(tree: DrawnTree) -> Drawing:
    """Compute positions of all nodes, each on lines of its own.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> from clearwood.rules.drawn.nodes import draw_tree
    >>> rules = RuleList((Rule((Interval(0, low=37.5),), 1.0),), Rule((), 0.0),
    ...     FeatureSpace.numeric(1, ["temperature"]))
    >>> [node.y for node in lay_out(draw_tree(rules)).nodes]
    [22.0, 50.0, 78.0]
    """
    deepest = max(node.depth for node in tree.nodes)
    step = min(STEPS[0], STEPS[1] / max(deepest, 1))
    xs = [LEFT + step * node.depth for node in tree.nodes]
    ys, bodies, y = [], [], 8.0
    for node, x in zip(tree.nodes, xs):
        strips, lines, height = _body(node, x, y, tree)
        bodies.append((strips, lines))
        ys.append(y + 0.5 * height)
        y += height
    above = {
        child: (parent, child == node.children[0])
        for parent, node in enumerate(tree.nodes)
        for child in node.children
    }
    placed = []
    for i, node in enumerate(tree.nodes):
        parent, is_yes = above.get(i, (None, False))
        link = None if parent is None else (xs[parent], ys[parent])
        shares, dot = _shares(node, xs[i] + GAP, tree)
        share = node.rows / tree.n_rows if tree.n_rows > 0 else 0.0
        placed.append(
            PlacedNode(
                node, xs[i], ys[i], bodies[i][0], shares, dot, bodies[i][1],
                xs[i] + 2 * GAP + SHARES, link, is_yes,
                THIN + (THICK - THIN) * share,
            )
        )  # fmt: skip
    ends = [
        text_x + LETTER * len(line)
        for node in placed
        for text_x, lines in [
            (node.text_x, node.lines), *((s.text_x, s.lines) for s in node.strips)
        ]
        for line in lines
    ]  # fmt: skip
    width = min(max([*ends, NARROWEST - ROWS]) + ROWS, WIDTH)
    return Drawing(tree, placed, width, y + 8.0)


def _body(
    node: DrawnNode, x: float, y: float, tree: DrawnTree
) -> tuple[list[PlacedStrip], list[str], float]:
    """Histograms and text beside a node, and their height."""
    if node.rule is not None:
        text = f"{node.first + 1}. then {tree.text_of(node.rule)}"
        lines = _lines(text, WIDTH - ROWS - x - 2 * GAP - SHARES)
        return [], lines, 12.0 + LINE * len(lines)
    strips, top = [], y + 4.0
    for one in node.conditions:
        has_strip = one.strip is not None
        text_x = x + GAP + (STRIP + GAP) * has_strip
        lines = _lines(one.text, WIDTH - ROWS - text_x)
        height = max(LINE * len(lines), (STRIP_HEIGHT + 2) * has_strip)
        middle = top + 0.5 * height
        rects, dots, cuts = [], [], []
        if one.strip is not None:
            rects = _rects(one.strip.bars, x + GAP, middle + 0.5 * STRIP_HEIGHT)
            dots = _dots(one.strip.bars, x + GAP, middle + 0.5 * STRIP_HEIGHT, tree)
            cuts = [x + GAP + STRIP * cut for cut in one.strip.cuts]
        strips.append(PlacedStrip(x + GAP, middle, text_x, lines, rects, dots, cuts))
        top += height + 4.0
    return strips, [], max(top + 4.0 - y, 28.0)


def _lines(text: str, room: float) -> list[str]:
    """One line, truncated if too long: the node's text has all of it."""
    most = max(int(room / LETTER), 12)
    return [text if len(text) <= most else text[: most - 1] + "…"]


def _rects(
    bars: tuple[Bar, ...], x: float, bottom: float
) -> list[tuple[int, float, float, float, float]]:
    """Class, and left, top, width and height of its part of each bar."""
    # Rows may be of classes that are not among the tree's.
    unit = STRIP_HEIGHT / max(1.0, *(sum(bar.rows) for bar in bars))
    rects = []
    for bar in bars:
        left, width = x + STRIP * bar.left, STRIP * (bar.right - bar.left)
        top = bottom
        for k, rows in enumerate(bar.rows):
            if rows > 0:
                top -= unit * rows
                rects.append((k, left, top, max(width - 0.8, 0.8), unit * rows))
    return rects


def _dots(
    bars: tuple[Bar, ...], x: float, bottom: float, tree: DrawnTree
) -> list[tuple[float, float]]:
    """Mean of each bar, scaled to the range of predicted values."""
    return [
        (
            x + 0.5 * STRIP * (bar.left + bar.right),
            bottom - STRIP_HEIGHT * value_share(bar.mean, tree),
        )
        for bar in bars
        if bar.mean == bar.mean
    ]


def value_share(value: float, tree: DrawnTree) -> float:
    """Position of a value in the range of predicted values, from 0 to 1."""
    low, high = tree.ends
    if not low < high:
        return 0.5
    return min(max((value - low) / (high - low), 0.0), 1.0)


def _shares(
    node: DrawnNode, x: float, tree: DrawnTree
) -> tuple[list[tuple[int, float, float]], float | None]:
    """Class, left and width of each probability; or position of the value."""
    if node.rule is None:
        return [], None
    if not tree.classes:
        return [], x + SHARES * value_share(node.rule.prediction, tree)
    shares, left = [], x
    for k, p in enumerate(node.rule.probabilities):
        shares.append((k, left, SHARES * p))
        left += SHARES * p
    return shares, None
