"""Annotated trees as text and as HTML."""

from __future__ import annotations

import math
from typing import Any

from clearwood.metatree.annotated_tree import AnnotatedTree, TreeNode
from clearwood.rules.render import prediction_text, rule_says, statistics_text, wrapped

UNANSWERED = (
    "A row without an answer (missing, never seen) gets what is said where it stops."
)


def probability_text(p: float) -> str:
    """A probability in three decimals, never 0 or 1 where it is neither.

    Examples
    --------
    >>> [probability_text(p) for p in (1.0, 0.99999, 0.5, 0.12345, 1e-9, 0.0)]
    ['1', '>0.999', '0.5', '0.123', '<0.001', '0']
    """
    if 0.9995 <= p < 1.0:
        return ">0.999"
    if 0.0 < p < 0.0005:
        return "<0.001"
    return f"{round(p, 3):g}"


def small_text(log_p: float) -> str:
    """A probability that may be too small for a float.

    Examples
    --------
    >>> small_text(math.log(0.25)), small_text(-11.0), small_text(-5000.0)
    ('0.25', '1.67e-05', '1e-2172')
    """
    if log_p > math.log(0.0005):
        return probability_text(min(math.exp(log_p), 1.0))
    if log_p > -600.0:
        return f"{math.exp(log_p):.3g}"
    return f"1e{math.floor(log_p / math.log(10)):d}"


def tree_text(tree: AnnotatedTree) -> str:
    """A tree as plain text: questions indented, leaves numbered as their rules."""
    lines = [f"posterior probability {small_text(tree.log_probability)}"]
    number = 0
    for node in shown_nodes(tree):
        space = "  " * (node.depth - 1)
        if node.condition is None:
            asks = f": {prediction_text(node.rule.prediction)}"
            lines.append(f"root{asks * (node.feature is not None)}  {_known(node)}")
        else:
            says = "" if node.feature is None else f": {_said(node)}"
            known = "" if node.stopped else f"  {_known(node)}"
            lines.append(f"{space}{node.condition.text(tree.features)}{says}{known}")
        if node.feature is None:
            number += not node.stopped
            # Rows that stop are told by the node at which they do.
            label = "-" if node.stopped else f"{number}."
            lines.append(f"{space}  {label} then {rule_says(tree.rules, node.rule)}")
    if hidden_ends(tree):
        lines.append(UNANSWERED)
    return "\n".join(wrapped(line) for line in lines)


def _said(node: TreeNode) -> str:
    return prediction_text(node.rule.prediction)


def _known(node: TreeNode) -> str:
    return (
        f"[reached {probability_text(node.reach)}, leaf {probability_text(node.leaf)}]"
    )


def shown_nodes(tree: AnnotatedTree) -> list[TreeNode]:
    """All nodes, without the ends of rows that cannot go on where there were none."""
    return [n for n in tree.nodes if not n.stopped or n.rule.support > 0]


def hidden_ends(tree: AnnotatedTree) -> bool:
    """Whether there are ends that `shown_nodes` leaves out."""
    return len(shown_nodes(tree)) < len(tree.nodes)


def summarize_tree(tree: AnnotatedTree) -> dict[str, Any]:
    """All that the HTML table shows, as plain data."""
    root = tree.nodes[0].rule.support
    number, lines = 0, []
    for node in shown_nodes(tree):
        is_leaf = node.feature is None and not node.stopped
        number += is_leaf
        condition = node.condition
        lines.append(
            {
                "depth": node.depth,
                "condition": "" if condition is None else condition.text(tree.features),
                "number": number if is_leaf else None,
                "is_end": node.feature is None,
                "says": _said(node),
                "known": ", ".join(statistics_text(tree.rules, node.rule)[1:]),
                "rows": node.rule.support,
                "share": node.rule.support / root if root else 0.0,
                "reach": None if node.stopped else node.reach,
                "reach_text": probability_text(node.reach),
                "leaf": None if node.stopped else node.leaf,
                "leaf_text": probability_text(node.leaf),
            }
        )
    return {
        "target": tree.target,
        "probability": small_text(tree.log_probability),
        "n_leaves": tree.n_leaves,
        "note": UNANSWERED if hidden_ends(tree) else "",
        "lines": lines,
    }


def tree_html(tree: AnnotatedTree) -> str:
    """A tree as an HTML table; names and labels are escaped."""
    from clearwood._html import render

    return render("metatree/tree.html", tree=summarize_tree(tree))
