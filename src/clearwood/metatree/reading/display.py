"""Plot of a tree with the posterior probabilities of its nodes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from clearwood._words.labels import type_text
from clearwood.charts.display import Display
from clearwood.charts.style import QUIET
from clearwood.charts.table import (
    FONT,
    Text,
    closed,
    draw_rules,
    draw_texts,
    opened,
)
from clearwood.exceptions import InputError
from clearwood.metatree.reading.annotated_tree import (
    AnnotatedTree,
    shown_nodes,
)
from clearwood.metatree.reading.display_layout import (
    PALE,
    SURE,
    VALUE,
    Line,
    TreeLayout,
    lay_out,
    look_of_class,
)


@dataclass(eq=False, repr=False)
class MetaTreeDisplay(Display):
    """Plot of one tree with the posterior probabilities of its nodes.

    The nodes are drawn below each other as in the text, each with the condition that
    leads to it. Links are the thicker and darker the more probable it is that a tree
    has the node. A bar shows this probability, and its filled part that the tree has
    the node as a leaf: a bar that is hardly filled means that the tree almost surely
    splits here, a full bar that it surely stops. Between them is the prediction of the
    node by itself: class probabilities, or a value with one standard deviation of the
    target in each direction.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    tree : AnnotatedTree

    Attributes
    ----------
    ax_ : matplotlib Axes
        Its units are points.
    figure_ : matplotlib Figure

    Examples
    --------
    >>> import matplotlib; matplotlib.use("agg")
    >>> from clearwood.metatree import BernoulliBeta, MetaTree, given, read_tree
    >>> learned = MetaTree(given([0], n_values=2), BernoulliBeta())
    >>> tree = read_tree(learned.update([[0], [1]], [0, 1]), classes=("ill", "well"))
    >>> MetaTreeDisplay(tree).plot().tree.n_leaves
    2
    """

    tree: AnnotatedTree

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> MetaTreeDisplay:
        """Plot the most probable tree of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator with ``map_tree_``, or AnnotatedTree
            Such as MetaTreeClassifier, or one of its ``top_trees``.
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        MetaTreeDisplay
        """
        tree = getattr(estimator, "map_tree_", estimator)
        if not isinstance(tree, AnnotatedTree):
            raise InputError(
                f"estimator is {type_text(estimator)} without a map_tree_; pass "
                "a fitted MetaTreeClassifier or MetaTreeRegressor, or one of its trees."
            )
        return cls(tree).plot(ax)

    def _draw(self, ax: Any) -> list[Any]:
        # The bars beside the texts need width too.
        ax, place = opened(
            ax, lambda width, size: lay_out(self.tree, width, min(size, width / 45))
        )
        draw_texts(ax, place.texts, place.size)
        draw_rules(ax, place.rules, place.width)
        _draw_links(ax, place)
        scale = _scale_of(self.tree)
        for line in place.lines:
            _draw_line(ax, self.tree, line, place, scale)
        _draw_foot(ax, place, scale)
        closed(ax)
        return [ax]


def _draw_links(ax: Any, place: TreeLayout) -> None:
    for line in place.lines:
        if line.parent is None:
            continue
        above = place.lines[line.parent]
        sure = line.node.reach
        ax.plot(
            [above.x, above.x, line.x], [above.y, line.y, line.y],
            color=_shade(sure), linewidth=(0.6 + 2.6 * sure) * place.size / FONT,
            linestyle=":" if line.node.stopped else "-", solid_joinstyle="round",
            solid_capstyle="round", zorder=1 + sure,
        )  # fmt: skip


def _shade(p: float) -> tuple[float, float, float]:
    grey = 0.82 - 0.5 * p
    return (grey, grey, grey + 0.06)


def _draw_line(
    ax: Any,
    tree: AnnotatedTree,
    line: Line,
    place: TreeLayout,
    scale: tuple[float, ...],
) -> None:
    node, size = line.node, place.size
    is_end = node.feature is None
    ax.plot(
        [line.x], [line.y], marker="o" if is_end else "s", zorder=4,
        markersize=0.62 * size, markeredgecolor=_shade(1.0), markeredgewidth=1.0,
        markerfacecolor=SURE if is_end else "white",
    )  # fmt: skip
    if tree.classes:
        _draw_shares(ax, line, place)
    else:
        _draw_value(ax, line, place, scale)
    if not node.stopped:
        _draw_sure(ax, line, place)


def _bar(ax: Any, x: float, y: float, width: float, high: float, **look: Any) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(Rectangle((x, y - 0.5 * high), width, high, **look))


def _draw_shares(ax: Any, line: Line, place: TreeLayout) -> None:
    left, right = place.shares
    x = left
    for k, share in enumerate(line.node.rule.probabilities):
        width = share * (right - left)
        _bar(ax, x, line.y, width, 0.75 * place.size, **look_of_class(k))
        x += width


def _scale_of(tree: AnnotatedTree) -> tuple[float, ...]:
    """Smallest and largest value with its standard deviation."""
    if tree.classes:
        return ()
    rules = [node.rule for node, _ in shown_nodes(tree)]
    known = [rule.statistics.std for rule in rules]
    spread = [0.0 if math.isnan(s) else s for s in known]
    values = [(r.prediction, s) for r, s in zip(rules, spread)]
    values = [(v, s) for v, s in values if math.isfinite(v)] or [(0.0, 1.0)]
    low = min(v - s for v, s in values)
    high = max(v + s for v, s in values)
    return (low, high) if low < high else (low - 0.5, high + 0.5)


def _draw_value(
    ax: Any, line: Line, place: TreeLayout, scale: tuple[float, ...]
) -> None:
    """Value as a dot, with the standard deviation of the target in each direction."""
    (left, right), (low, high) = place.shares, scale
    rule = line.node.rule
    unit = (right - left) / (high - low)
    ax.hlines(line.y, left, right, color="#00000018", linewidth=0.7)
    if not math.isfinite(rule.prediction):
        return
    x = left + unit * (rule.prediction - low)
    if not math.isnan(spread := rule.statistics.std):
        width = unit * spread
        ax.hlines(line.y, x - width, x + width, color=VALUE, alpha=0.45, linewidth=3)
    ax.plot([x], [line.y], marker="o", markersize=0.55 * place.size, color=VALUE)


def _draw_sure(ax: Any, line: Line, place: TreeLayout) -> None:
    left, right = place.sure
    wide, high, node = 0.58 * (right - left), 0.75 * place.size, line.node
    _bar(ax, left, line.y, node.reach * wide, high, facecolor=PALE,
         edgecolor=QUIET, linewidth=0.8)  # fmt: skip
    _bar(ax, left, line.y, node.leaf * wide, high, facecolor=SURE, linewidth=0)


def _draw_foot(ax: Any, place: TreeLayout, scale: tuple[float, ...]) -> None:
    """Ends of the axis of values, and the legend of colours."""
    size, (_, end) = place.size, place.rules
    texts = [
        Text(x, end + 0.8 * size, f"{value:.3g}", align, quiet=True, small=True)
        for x, value, align in zip(place.shares, scale, ("left", "right"))
    ]
    draw_texts(ax, texts, size)
    for x, y, look in place.legend.marks:
        _bar(ax, x, y, 1.1 * size, 0.75 * size, **look)
