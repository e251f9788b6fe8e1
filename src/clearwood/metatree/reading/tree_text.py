"""Annotated trees as text and as HTML."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from clearwood.metatree.reading.annotated_tree import AnnotatedTree, TreeNode
from clearwood.rules.conditions import CategorySet, Condition
from clearwood.rules.render import prediction_text, rule_says, statistics_text, wrapped


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


def leaves_text(n: float) -> str:
    """A number of leaves; of an average it may be fractional.

    Examples
    --------
    >>> leaves_text(1), leaves_text(2.345)
    ('1 leaf', '2.35 leaves')
    """
    return "1 leaf" if n == 1 else f"{n:,.0f} leaves" if n >= 100 else f"{n:.3g} leaves"


def tree_text(tree: AnnotatedTree) -> str:
    """A tree as plain text: questions indented, leaves numbered as their rules."""
    lines = [f"posterior probability {small_text(tree.log_probability)}"]
    number = 0
    for node, condition in shown_nodes(tree):
        space = "  " * (node.depth - 1)
        says = "" if node.feature is None else f": {said_text(node)}"
        known = "" if node.stopped else f"  {_known(node)}"
        lines.append(f"{space}{condition or 'root'}{says}{known}")
        if node.feature is None:
            number += not node.stopped
            # Rows that stop are told by the node at which they do.
            label = "-" if node.stopped else f"{number}."
            lines.append(f"{space}  {label} then {rule_says(tree.rules, node.rule)}")
    return "\n".join(wrapped(line) for line in [*lines, *notes(tree)])


def said_text(node: TreeNode) -> str:
    """What a node says by itself."""
    return prediction_text(node.rule.prediction)


def _known(node: TreeNode) -> str:
    return (
        f"[reached {probability_text(node.reach)}, leaf {probability_text(node.leaf)}]"
    )


def shown_nodes(tree: AnnotatedTree) -> list[tuple[TreeNode, str]]:
    """Nodes and their conditions in words, without what `notes` says of all.

    Left out are the ends of rows that cannot go on where there were none, and that a
    missing value goes to the side with more rows.
    """
    found = []
    for position, node in enumerate(tree.nodes):
        if node.stopped and node.rule.support == 0:
            continue
        condition = node.condition
        if condition is None:
            found.append((node, ""))
            continue
        if _takes_missing_silently(tree, position):
            condition = _without_missing(condition)
        found.append((node, condition.text(tree.features)))
    return found


def _takes_missing_silently(tree: AnnotatedTree, position: int) -> bool:
    """Whether it goes without saying that missing values come to a node."""
    node, condition = tree.nodes[position], tree.nodes[position].condition
    if node.stopped or condition is None or not condition.missing:
        return False
    if isinstance(condition, CategorySet):
        says_more = bool(condition.codes) and not condition.unseen
    else:
        says_more = math.isfinite(condition.low) or math.isfinite(condition.high)
    sisters = [tree.nodes[c] for c in tree.children[node.parent]]
    rows = [s.rule.support for s in sisters if not s.stopped]
    return says_more and node.rule.support == max(rows) and rows.count(max(rows)) == 1


def _without_missing(condition: Condition) -> Condition:
    return replace(condition, missing=False)


def notes(tree: AnnotatedTree) -> list[str]:
    """What holds at all questions, and is not said at each."""
    said = []
    if any(_takes_missing_silently(tree, i) for i in range(len(tree.nodes))):
        said.append(
            "Where nothing is said of them, missing values go to the side with more "
            "rows."
        )
    hidden = [n.condition for n in tree.nodes if n.stopped and n.rule.support == 0]
    ends = [condition for condition in hidden if condition is not None]
    kinds = ["missing"] * any(condition.missing for condition in ends)
    if any(isinstance(c, CategorySet) and c.unseen for c in ends):
        kinds.append("never seen")
    if kinds:
        said.append(
            f"A row without an answer ({', '.join(kinds)}) gets what is said where it "
            "stops."
        )
    return said


def summarize_tree(tree: AnnotatedTree) -> dict[str, Any]:
    """All that the HTML table shows, as plain data."""
    root = tree.nodes[0].rule.support
    number, lines = 0, []
    for node, condition in shown_nodes(tree):
        is_leaf = node.feature is None and not node.stopped
        number += is_leaf
        lines.append(
            {
                "depth": node.depth,
                "condition": condition,
                "number": number if is_leaf else None,
                "is_end": node.feature is None,
                "says": said_text(node),
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
        "notes": notes(tree),
        "lines": lines,
    }


def tree_html(tree: AnnotatedTree) -> str:
    """A tree as an HTML table; names and labels are escaped."""
    from clearwood._html import render

    return render("metatree/reading/tree.html", tree=summarize_tree(tree))
