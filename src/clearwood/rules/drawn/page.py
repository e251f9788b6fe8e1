"""A tree as a drawing for pages, and as a list in words."""

from __future__ import annotations

from typing import Any

from clearwood._html import count_text
from clearwood._words.labels import printable
from clearwood.charts.style import colour
from clearwood.rules.drawn.layout import (
    EDGE,
    GAP,
    SHARES,
    STRIP,
    STRIP_HEIGHT,
    lay_out,
)
from clearwood.rules.drawn.nodes import DrawnTree

SMALLEST = 0.8
"""How far a picture shrinks with its room: letters of 13 pixels to 10, no further."""


def summarize_tree(tree: DrawnTree) -> dict[str, Any]:
    """What the template ``rules/drawn/tree.html`` shows, as plain data."""
    place = lay_out(tree)
    low, high = tree.ends
    nodes = []
    for placed in place.nodes:
        node = placed.node
        rows = count_text(node.rows) if node.rows == node.rows else ""
        nodes.append({
            **placed._asdict(),
            "words": tree.words(node),
            "is_leaf": node.rule is not None,
            "on_way": node.on_way,
            "rows": rows,
        })  # fmt: skip
    return {
        "width": place.width,
        "height": place.height,
        "least": SMALLEST * place.width,
        "right": place.width - EDGE,
        "strip": (STRIP, STRIP_HEIGHT),
        "shares": SHARES,
        "gap": GAP,
        "nodes": nodes,
        "outline": [_outline(tree, tree.root)],
        "classes": [
            (printable(str(label)), colour(k)) for k, label in enumerate(tree.classes)
        ],
        "colours": [colour(k) for k in range(max(len(tree.classes), 1))],
        "ends": (f"{low:.4g}", f"{high:.4g}"),
        "has_way": tree.has_way,
        "has_strips": any(one.strip for node in tree.nodes for one in node.asked),
        "target": printable(tree.target),
        "n_leaves": sum(node.rule is not None for node in tree.nodes),
    }


def _outline(tree: DrawnTree, position: int) -> dict[str, Any]:
    """A node in words, and those below it."""
    node = tree.nodes[position]
    below = [_outline(tree, child) for child in node.children]
    return {"words": tree.words(node), "below": below}
