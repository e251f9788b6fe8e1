"""A tree as a picture of nodes and lines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from clearwood._html import count_text
from clearwood.charts.display import Display, axes_of
from clearwood.charts.style import COLOURS, QUIET, colour, plain
from clearwood.rules.drawn.layout import (
    EDGE,
    GAP,
    LINE,
    SHARES,
    STRIP,
    STRIP_HEIGHT,
    Drawing,
    PlacedNode,
    lay_out,
)
from clearwood.rules.drawn.nodes import DrawnTree, draw_tree

PER_INCH = 80.0
PALE, WAY = "#C9D0DA", "#1C2430"


@dataclass(eq=False, repr=False)
class TreeDisplay(Display):
    """A tree, or a list read as a chain of questions, as nodes and lines.

    Rows go up where what stands beside a node holds, and down where it does not. Lines
    are the thicker the more rows take them. Beside each question stands the feature in
    the rows that come there, in the colours of their classes (of values: their number,
    and dots for the means), and a line at the cut; beside each leaf what it says.

    Make one with :meth:`from_estimator`.

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
    >>> from clearwood import DistilledTreeClassifier, TreeDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> tree = DistilledTreeClassifier(n_rules=3, random_state=0).fit(X, y)
    >>> TreeDisplay.from_estimator(tree, X, y, row=X[:1]).plot().tree.has_way
    True
    """

    tree: DrawnTree

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, y: Any = None, *, row: Any = None
    ) -> TreeDisplay:
        """Of a fitted estimator with a tree or with an ordered list of rules.

        Parameters
        ----------
        estimator : fitted estimator, Tree or RuleList
            Such as DistilledTreeClassifier, ProjectedTreeRegressor or
            RuleListClassifier.
        X : array-like or frame of shape (n_samples, n_features), optional
            Rows whose features are shown where they are cut, and which are counted.
        y : array-like of shape (n_samples,), optional
            Their classes or values; by default what the tree says of them.
        row : array-like or frame of shape (1, n_features), optional
            A row whose way through the tree is shown dark.

        Returns
        -------
        TreeDisplay
        """
        return cls(draw_tree(estimator, X, y, row=row))

    def _draw(self, ax: Any) -> list[Any]:
        place = lay_out(self.tree)
        foot = place.height + 30.0
        ax = axes_of(ax, place.width / PER_INCH, foot / PER_INCH)
        ax.set(xlim=(0, place.width), ylim=(foot, 0))
        ax.axis("off")
        for node in place.nodes:
            _draw_link(ax, node)
        for node in place.nodes:
            _draw_node(ax, node, place)
        _draw_foot(ax, place)
        return [ax]


def _draw_link(ax: Any, placed: PlacedNode) -> None:
    if placed.link is None:
        return
    (x, y), dark = placed.link, placed.node.on_way
    ax.plot(
        [x, x, placed.x], [y, placed.y, placed.y], color=WAY if dark else PALE,
        linewidth=0.8 * placed.thickness, solid_joinstyle="round",
        solid_capstyle="round", zorder=2 if dark else 1,
    )  # fmt: skip
    answer, at = ("yes", y - LINE) if placed.is_yes else ("no", y + LINE)
    ax.text(x - 3, at, answer, fontsize=6, color=QUIET, ha="right", va="center")


def _draw_node(ax: Any, placed: PlacedNode, place: Drawing) -> None:
    tree = place.tree
    node, is_leaf = placed.node, placed.node.rule is not None
    faded = tree.has_way and not node.on_way
    ink = QUIET if faded else "black"
    ax.plot(
        [placed.x], [placed.y], marker="o" if is_leaf else "s", markersize=5,
        markeredgecolor=WAY, markerfacecolor=WAY if is_leaf else "white", zorder=4,
    )  # fmt: skip
    for strip in placed.strips:
        _draw_strip(ax, strip, tree)
        words = plain(*strip.lines)
        ax.text(strip.text_x, strip.y, words, fontsize=8.5, va="center", color=ink)
    for k, left, width in placed.shares:
        _bar(ax, left, placed.y - 5, width, 10, colour(k))
    if placed.dot is not None:
        left = placed.x + GAP
        ax.hlines(placed.y, left, left + SHARES, color=PALE, linewidth=1)
        ax.plot([placed.dot], [placed.y], "o", markersize=5, color=COLOURS[0])
    if is_leaf:
        words = plain(*placed.lines)
        ax.text(placed.text_x, placed.y, words, fontsize=8.5, va="center",
                weight="bold", color=ink)  # fmt: skip
    if node.rows == node.rows:
        _quiet(ax, place.width - EDGE, placed.y, count_text(node.rows), "right")


def _draw_strip(ax: Any, strip: Any, tree: DrawnTree) -> None:
    for k, left, top, width, height in strip.rects:
        _bar(ax, left, top, width, height, colour(k) if tree.classes else PALE)
    if strip.dots:
        ax.plot(*zip(*strip.dots), "o", markersize=1.8, color=COLOURS[0])
    if strip.rects:
        y = strip.y + 0.5 * STRIP_HEIGHT
        ax.hlines(y, strip.x, strip.x + STRIP, color=QUIET, linewidth=0.5)
        ax.vlines(strip.cuts, y - STRIP_HEIGHT - 2, y + 2, color="black", linewidth=1.2)


def _quiet(ax: Any, x: float, y: float, words: str, align: str) -> None:
    ax.text(x, y, words, fontsize=8, ha=align, va="center", color=QUIET)


def _bar(ax: Any, left: float, top: float, wide: float, high: float, ink: str) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((left, top), wide, high, facecolor=ink, linewidth=0))


def _draw_foot(ax: Any, place: Drawing) -> None:
    """What the colours mean."""
    from matplotlib.patches import Patch

    ax.text(
        place.width - EDGE, 3, "rows", fontsize=8, ha="right", va="center", color=QUIET
    )
    classes = place.tree.classes
    if not classes:
        low, high = place.tree.ends
        words = f"axes of values and dots: from {low:.4g} to {high:.4g}"
        _quiet(ax, EDGE, place.height + 15, words, "left")
        return
    marks = [Patch(color=colour(k), label=plain(str(c))) for k, c in enumerate(classes)]
    ax.legend(
        handles=marks, loc="lower left", ncols=min(len(marks), 6), fontsize=8,
        frameon=False, bbox_to_anchor=(0, 0), borderpad=0,
    )  # fmt: skip
