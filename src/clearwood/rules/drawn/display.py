"""Tree diagram of nodes and links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from clearwood._html import count_text
from clearwood._words.labels import printable
from clearwood.charts.chart import Chart
from clearwood.charts.display import Display
from clearwood.charts.marks import Key, Linked, Mark
from clearwood.charts.shapes import Disc, Shape, TextLine, box, drawing
from clearwood.charts.style import COLOURS, QUIET, colour
from clearwood.rules.drawn.layout import (
    EDGE,
    GAP,
    LINE,
    SHARES,
    STRIP,
    STRIP_HEIGHT,
    Drawing,
    PlacedNode,
    PlacedStrip,
    lay_out,
)
from clearwood.rules.drawn.nodes import DrawnTree, draw_tree

SMALLEST = 0.8
"""Scale limit for small figures: text shrinks from 13 pixels to 10, no further."""
LETTERS = 13.0
PALE, WAY = "#C9D0DA", "#1C2430"


@dataclass(eq=False, repr=False)
class TreeDisplay(Display):
    """Tree, or rule list as a chain of splits, as a diagram.

    Rows that satisfy the condition beside a node go up, others down. The width of a
    link increases with its rows. Beside each split is a histogram of the feature in the
    node's rows, coloured by class (in regression: counts, with dots for means), with a
    line at the threshold; beside each leaf its prediction.

    Construct with :meth:`from_estimator`.

    Parameters
    ----------
    tree : DrawnTree

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from sklearn.datasets import load_iris
    >>> from clearwood import DistilledTreeClassifier
    >>> from clearwood.rules import TreeDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DistilledTreeClassifier(n_rules=3, random_state=0).fit(X, y)
    >>> TreeDisplay.from_estimator(tree, X, y, row=X[:1]).tree.has_way
    True
    """

    tree: DrawnTree

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        row: Any = None,
        ax: Any = None,
    ) -> Self:
        """Diagram of a fitted estimator with a tree or an ordered rule list.

        Parameters
        ----------
        estimator : fitted estimator, Tree or RuleList
            Such as DistilledTreeClassifier, ProjectedTreeRegressor or
            RuleListClassifier.
        X : array-like or frame of shape (n_samples, n_features), optional
            Rows for the histograms of features and the counts of nodes.
        y : array-like of shape (n_samples,), optional
            Their classes or values; by default the predictions of the tree.
        row : array-like or frame of shape (1, n_features), optional
            A row whose path through the tree is highlighted.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        TreeDisplay
        """
        return cls(draw_tree(estimator, X, y, row=row)).plot(ax)

    @classmethod
    def of_result(cls, result: Any, /) -> Self:
        """Diagram of a result, without rows."""
        return cls(draw_tree(result))

    def chart(self) -> Chart:
        """Links behind nodes, and what is drawn beside each node."""
        tree, place = self.tree, lay_out(self.tree)
        marks = [mark for node in place.nodes for mark in _link(node)]
        marks.append(TextLine(place.width - EDGE, 6, "rows", "answer", "end", 10.0))
        for node in place.nodes:
            faded = tree.has_way and not node.node.on_way
            look = "node off" if faded else "node"
            marks.append(
                Linked(_parts(node, place, faded), tree.words(node.node), look=look)
            )
        keys = [
            Key(printable(str(label)), f"full {ink(k)}", colour(k))
            for k, label in enumerate(tree.classes)
        ]
        if not tree.classes:
            low, high = tree.ends
            name = printable(tree.target)
            axes = f"axes of {name}, and dots: from {low:.4g} to {high:.4g}"
            keys = [Key(axes, "full c0", COLOURS[0])]
        n_leaves = sum(node.rule is not None for node in tree.nodes)
        title = f"Tree of {n_leaves} leaves that predicts {printable(tree.target)}"
        least = SMALLEST * place.width
        return drawing(title, [*marks, *keys], place.width, place.height, least=least)


def ink(k: int) -> str:
    """Style of a class."""
    return f"c{k % len(COLOURS)}"


def _link(placed: PlacedNode) -> list[Mark]:
    """Link from the parent: vertical, then horizontal."""
    if placed.link is None:
        return []
    (x, y), dark = placed.link, placed.node.on_way
    corners = [(x, y), (x, placed.y), (placed.x, placed.y)]
    look, colour_of = ("link way", WAY) if dark else ("link", PALE)
    way = Shape([corners], look, colour_of, placed.thickness)
    answer, at = ("yes", y - LINE) if placed.is_yes else ("no", y + LINE)
    return [way, TextLine(x - 3, at, answer, "answer", "end", 10.0)]


def _parts(placed: PlacedNode, place: Drawing, faded: bool) -> list[Mark]:
    """A square with the split, or a dot with the prediction; and number of rows."""
    node, x, y = placed.node, placed.x, placed.y
    parts = [mark for strip in placed.strips for mark in _strip(strip, place, faded)]
    if node.rule is None:
        parts.append(Shape([box(x - 4, y - 4, 8, 8)], "question", "white", edge=WAY))
    else:
        parts.append(Disc(x, y, 4.0, "leaf", WAY, WAY))
    parts += [
        Shape([box(left, y - 5, width, 10)], f"full {ink(k)}", colour(k))
        for k, left, width in placed.shares
    ]
    if placed.dot is not None:
        ends = [(x + GAP, y), (x + GAP + SHARES, y)]
        parts.append(Shape([ends], "axis", PALE, 1.0))
        parts.append(Disc(placed.dot, y, 4.0, "full c0", COLOURS[0], COLOURS[0]))
    parts += _lines(placed.lines, placed.text_x, y, "strong" if faded else "panel")
    if node.rows == node.rows:
        rows = count_text(node.rows)
        parts.append(TextLine(place.width - EDGE, y, rows, "", "end", LETTERS))
    return parts


def _strip(strip: PlacedStrip, place: Drawing, faded: bool) -> list[Mark]:
    """Histogram of the feature in the node's rows, threshold and condition."""
    marks: list[Mark] = []
    for k in sorted({k for k, *_ in strip.rects}):
        bars = [box(*rect) for c, *rect in strip.rects if c == k]
        is_class = bool(place.tree.classes)
        look, fill = (f"full {ink(k)}", colour(k)) if is_class else ("count", PALE)
        marks.append(Shape(bars, look, fill))
    marks += [Disc(x, y, 1.8, "full c0", COLOURS[0], COLOURS[0]) for x, y in strip.dots]
    if strip.rects:
        y = strip.y + 0.5 * STRIP_HEIGHT
        marks.append(Shape([[(strip.x, y), (strip.x + STRIP, y)]], "axis", QUIET, 1.0))
        cuts = [[(x, y - STRIP_HEIGHT - 2), (x, y + 2)] for x in strip.cuts]
        marks.append(Shape(cuts, "cut", "black", 2.0))
    return marks + _lines(strip.lines, strip.text_x, strip.y, "" if faded else "says")


def _lines(lines: list[str], x: float, middle: float, look: str) -> list[Mark]:
    """Lines of text, centred vertically."""
    first = middle - LINE * (len(lines) - 1) / 2
    return [
        TextLine(x, first + LINE * k, line, look, "start", LETTERS)
        for k, line in enumerate(lines)
    ]
