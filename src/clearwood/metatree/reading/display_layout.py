"""Layout of the plot of a tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from clearwood._html import count_text
from clearwood._words.labels import prediction_text
from clearwood._words.numbers import probability_text
from clearwood.charts.style import COLOURS, QUIET, colour, wrapped
from clearwood.charts.table import Legend, Text, block, legend_of, measures
from clearwood.metatree.reading.annotated_tree import (
    AnnotatedTree,
    TreeNode,
    notes,
    prediction_of,
    shown_nodes,
    small_text,
)

SURE, PALE, VALUE = "#465264", "#E6EBF2", COLOURS[0]
"""Colours of node probabilities, which are no class's, and of values."""


class Line(NamedTuple):
    """Node and its position."""

    node: TreeNode
    parent: int | None
    x: float
    y: float


class TreeLayout(NamedTuple):
    """Positions of all parts, in points from the upper left corner."""

    size: float
    width: float
    height: float
    shares: tuple[float, float]
    sure: tuple[float, float]
    rules: tuple[float, float]
    lines: list[Line]
    texts: list[Text]
    legend: Legend


def lay_out(tree: AnnotatedTree, width: float, size: float) -> TreeLayout:
    """Lay out all lines for a width and a font size, in points."""
    sure = (width - 9.0 * size, width)
    rows = sure[0] - 1.4 * size
    shares = (rows - 13.0 * size, rows - 4.6 * size)
    says = shares[0] - 8.4 * size
    shown = shown_nodes(tree)
    lines: list[Line] = []
    deepest = max(node.depth for node, _ in shown)
    step = min(1.5 * size, 0.4 * says / max(deepest, 1))
    measure, bold, small = measures(size)
    y = 2.6 * size
    texts: list[Text] = []
    last: dict[int, int] = {}
    for node, condition in shown:
        last[node.depth] = len(lines)
        is_end, number = node.feature is None, tree.number_of(node)
        x = node.depth * step + 0.7 * size
        room = max(says - x - 2.2 * size, 3 * size)
        question = _cut(condition or "all rows", room, measure)
        label = _cut(prediction_of(node), shares[0] - says - 2.4 * size, bold)
        high = 1.3 * size * max(len(question), len(label))
        middle = y + 0.5 * high
        parent = last.get(node.depth - 1) if node.depth else None
        lines.append(Line(node, parent, x, middle))
        quiet = not node.condition
        texts += block(x + 0.8 * size, middle, question, size, quiet=quiet)
        look = {"bold": is_end, "quiet": not is_end}
        texts += block(says + 1.7 * size, middle, label, size, **look)
        if number:
            texts.append(
                Text(says + 1.3 * size, middle, f"{number}.", "right", quiet=True)
            )
        support = count_text(node.rule.statistics.rows)
        texts.append(Text(rows, middle, support, "right", quiet=True))
        if not node.stopped:
            leaf = probability_text(node.leaf)
            texts.append(Text(width, middle, leaf, "right", quiet=True, small=True))
        y += high + 0.5 * size
    says_of = _cut(f"prediction of {tree.target}", rows - says - 4.0 * size, small)
    heads = [
        (0.0, "split", "left"),
        (says, says_of[0] + "…" * (len(says_of) > 1), "left"),
        (rows, "rows", "right"),
        (sure[0], "reached, leaf", "left"),
    ]
    texts += [Text(x, 0.9 * size, head, align, quiet=True, small=True)
              for x, head, align in heads]  # fmt: skip
    legend = legend_of(_legend_entries(tree), y + 1.9 * size, width, size)
    below = legend.end + 1.2 * size
    words = f"posterior probability of this tree: {small_text(tree.log_probability)}"
    for note in [words, *notes(tree)]:
        for line in _cut(note, width, small):
            texts.append(Text(0.0, below, line, quiet=True, small=True))
            below += 1.2 * size
    return TreeLayout(
        size, width, below, shares, sure, (0.82 * 2.2 * size, y), lines,
        [*texts, *legend.texts], legend,
    )  # fmt: skip


def _legend_entries(tree: AnnotatedTree) -> list[tuple[str, dict[str, Any]]]:
    classes = [
        (_short(prediction_text(label)), look_of_class(k))
        for k, label in enumerate(tree.classes)
    ]
    return [
        *classes,
        ("P(node in tree)", {"facecolor": PALE, "edgecolor": QUIET}),
        ("P(node is a leaf)", {"facecolor": SURE}),
    ]


def _short(text: str) -> str:
    return text if len(text) <= 24 else text[:23] + "…"


def _cut(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Wrap text in at most four lines; the rest of a long set of categories is cut."""
    lines = wrapped(text.split(" "), width, measure)
    return lines if len(lines) <= 4 else [*lines[:3], lines[3][:-1] + "…"]


def look_of_class(k: int) -> dict[str, Any]:
    """Colours, then the same with a pattern."""
    look = {"facecolor": colour(k), "edgecolor": "white", "linewidth": 0.5}
    if k >= len(COLOURS):
        look["hatch"] = ("....", "////", "xxxx")[(k // len(COLOURS) - 1) % 3]
    return look
