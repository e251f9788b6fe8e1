"""Tree diagrams for pages, and as nested lists of text."""

from __future__ import annotations

from typing import Any

from clearwood.charts.chart import keys, svg
from clearwood.rules.drawn.display import TreeDisplay
from clearwood.rules.drawn.nodes import DrawnTree


def summarize_tree(tree: DrawnTree) -> dict[str, Any]:
    """Data of the template ``rules/drawn/tree.html``."""
    chart = TreeDisplay(tree).chart()
    return {
        "svg": svg(chart, "drawn", "The same as text is below."),
        "colours": keys(chart),
        "outline": [_outline(tree, tree.root)],
        "has_way": tree.has_way,
        "has_strips": any(one.strip for node in tree.nodes for one in node.conditions),
        "dots": tree.dots,
    }


def _outline(tree: DrawnTree, position: int) -> dict[str, Any]:
    """Text of a node, and of those below it."""
    node = tree.nodes[position]
    below = [_outline(tree, child) for child in node.children]
    return {"words": tree.words(node), "below": below}
