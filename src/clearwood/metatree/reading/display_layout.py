"""Where the parts of the picture of a tree stand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from clearwood.metatree.reading.annotated_tree import (
    AnnotatedTree,
    TreeNode,
    notes,
    said_text,
    shown_nodes,
    small_text,
)
from clearwood.plotting.style import COLOURS, QUIET, colour, text_width, wrapped
from clearwood.rules.render import prediction_text

SURE, PALE, VALUE = "#465264", "#E6EBF2", COLOURS[0]
"""Colours of probabilities of nodes, which are no class's, and of values."""


class Line(NamedTuple):
    """One node: where it stands, and its texts."""

    node: TreeNode
    parent: int | None
    number: str
    question: list[str]
    says: list[str]
    x: float
    y: float


class Place(NamedTuple):
    """Where all things stand, in points from the upper left corner."""

    size: float
    width: float
    height: float
    says: float
    shares: tuple[float, float]
    rows: float
    sure: tuple[float, float]
    top: float
    end: float
    lines: list[Line]
    head: str
    legend: list[tuple[float, float, str, dict[str, Any]]]
    notes: list[tuple[float, str]]


def lay_out(tree: AnnotatedTree, width: float, size: float) -> Place:
    """The places of all lines for a width and a size of letters, in points."""
    sure = (width - 9.0 * size, width)
    rows = sure[0] - 1.4 * size
    shares = (rows - 13.0 * size, rows - 4.6 * size)
    says = shares[0] - 8.4 * size
    shown = shown_nodes(tree)
    lines: list[Line] = []
    deepest = max(node.depth for node, _ in shown)
    step = min(1.5 * size, 0.4 * says / max(deepest, 1))
    measure, bold = text_width(size), text_width(size, "bold")
    y, number = 2.6 * size, 0
    last: dict[int, int] = {}
    for node, condition in shown:
        last[node.depth] = len(lines)
        number += node.feature is None and not node.stopped
        x = node.depth * step + 0.7 * size
        room = max(says - x - 2.2 * size, 3 * size)
        question = _cut(condition or "all rows", room, measure)
        label = said_text(node)
        says_lines = _cut(label, shares[0] - says - 2.4 * size, bold)
        high = 1.3 * size * max(len(question), len(says_lines))
        lines.append(
            Line(
                node,
                last.get(node.depth - 1) if node.depth else None,
                f"{number}." if node.feature is None and not node.stopped else "",
                question,
                says_lines,
                x,
                y + 0.5 * high,
            )
        )
        y += high + 0.5 * size
    small = text_width(0.85 * size)
    says_of = _cut(f"says of {tree.target}", rows - says - 4.0 * size, small)
    head = says_of[0] + "…" * (len(says_of) > 1)
    legend, below = _flow(_legend_of(tree), y + 1.9 * size, width, size, small)
    words = f"posterior probability of this tree: {small_text(tree.log_probability)}"
    foot = []
    for note in [words, *notes(tree)]:
        for line in _cut(note, width, small):
            foot.append((below, line))
            below += 1.2 * size
    return Place(
        size, width, below, says, shares, rows, sure, 2.2 * size, y, lines, head,
        legend, foot,
    )  # fmt: skip


def _legend_of(tree: AnnotatedTree) -> list[tuple[str, dict[str, Any]]]:
    classes = [
        (prediction_text(label), look_of_class(k))
        for k, label in enumerate(tree.classes)
    ]
    return [
        *classes,
        ("a tree has the node", {"facecolor": PALE, "edgecolor": QUIET}),
        ("and asks nothing there", {"facecolor": SURE}),
    ]


def _flow(
    entries: list[tuple[str, dict[str, Any]]],
    y: float,
    width: float,
    size: float,
    measure: Callable[[str], float],
) -> tuple[list[tuple[float, float, str, dict[str, Any]]], float]:
    """Entries of the legend side by side, in as many lines as they need."""
    x, placed = 0.0, []
    for text, look in entries:
        text = text if len(text) <= 24 else text[:23] + "…"
        wide = 1.6 * size + measure(text)
        if x > 0 and x + wide > width:
            x, y = 0.0, y + 1.3 * size
        placed.append((x, y, text, look))
        x += wide + 1.6 * size
    return placed, y + 1.9 * size


def _cut(text: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Text in lines, at most four; the rest of a long set of categories is cut."""
    lines = wrapped(text.split(" "), width, measure)
    return lines if len(lines) <= 4 else [*lines[:3], lines[3][:-1] + "…"]


def look_of_class(k: int) -> dict[str, Any]:
    """Colours, then the same with a pattern."""
    look = {"facecolor": colour(k), "edgecolor": "white", "linewidth": 0.5}
    if k >= len(COLOURS):
        look["hatch"] = ("....", "////", "xxxx")[(k // len(COLOURS) - 1) % 3]
    return look
