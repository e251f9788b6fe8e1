"""One pruning of T_max in readable form, with posterior probabilities.

First the tree itself, then its text and HTML forms.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._html.disclosure import FEW, OfRows
from clearwood._words.labels import prediction_text
from clearwood._words.numbers import probability_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.outcomes import outcome_of
from clearwood.results import Result
from clearwood.rules.conditions import CategorySet, Condition, Interval
from clearwood.rules.rule import Rule, statistics_text, wrapped
from clearwood.rules.rule_kinds import RuleList

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TreeNode:
    """Node of a tree, or the end of the rows that stop at one.

    Attributes
    ----------
    number : int
        Number of the node in T_max.
    parent : int
        Position of the parent in ``AnnotatedTree.nodes``; -1 at the root.
    depth : int
        Number of splits above it.
    condition : Interval or CategorySet, or None
        Condition under which rows come here from the parent; None at the root.
    rule : Rule
        Prediction of the node by itself, with its training rows.
    reach : float
        Posterior probability that a tree has this node.
    leaf : float
        Posterior probability that a tree has it as a leaf.
    feature : int or None
        Feature of the split; None at the ends of the tree.
    stopped : bool
        Whether these are the rows that stop at the parent: a missing value without a
        branch of its own, or an unseen category. They get the prediction of the parent;
        ``number``, ``reach`` and ``leaf`` are the parent's.
    """

    number: int
    parent: int
    depth: int
    condition: Condition | None
    rule: Rule
    reach: float
    leaf: float
    feature: int | None = None
    stopped: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class AnnotatedTree(Result):
    """One pruning in readable form, with the posterior probabilities of its nodes.

    Obtained from ``map_tree_``, ``top_trees`` or ``sample_trees`` of a fitted
    estimator, or from :func:`read_tree`.

    Attributes
    ----------
    nodes : tuple of TreeNode
        In printed (depth-first) order: parents first, descendants right after.
    features : FeatureSpace
        Columns of the table.
    classes : tuple
        Class labels in order; empty in regression.
    target : str
        Name of the target.
    log_probability : float
        Log posterior probability of this tree.
    """

    _display = "clearwood.metatree.reading.display:MetaTreeDisplay"

    nodes: tuple[TreeNode, ...]
    features: FeatureSpace
    classes: tuple[Any, ...] = ()
    target: str = "y"
    log_probability: float = math.nan

    @property
    def probability(self) -> float:
        """Posterior probability of this tree."""
        return math.exp(self.log_probability)

    @cached_property
    def leaves(self) -> tuple[TreeNode, ...]:
        """Leaves that some row can reach, in printed order."""
        ends = (n for n in self.nodes if n.feature is None and not n.stopped)
        return tuple(end for end in ends if _is_reachable(end))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @cached_property
    def ends(self) -> tuple[TreeNode, ...]:
        """All ends of rows: the leaves, then the inner nodes at which rows stop."""
        stopped = [node for node in self.nodes if node.stopped]
        # The root's comes last: it predicts where nothing at all is known.
        return (*self.leaves, *stopped)

    @cached_property
    def lines(self) -> tuple[TreeNode, ...]:
        """Ends that are rules of ``rules``, in their order.

        For classes, an end for rows that stop, of which there were none, is left out
        where the default rule predicts the same class.
        """
        last = self.ends[-1]
        if not self.classes:
            return self.ends
        predicted, shares = last.rule.prediction, np.array(last.rule.probabilities)
        if _is_empty(last):
            # No row satisfies two ends, so that any of them may come last: here the one
            # of this class with the most similar probabilities.
            same = (e for e in self.ends if e.rule.prediction == predicted)
            last = min(
                (e for e in same if not _is_empty(e)),
                key=lambda end: float(np.abs(shares - end.rule.probabilities).sum()),
                default=last,
            )
        first = (
            end
            for end in self.ends
            if not _is_empty(end) or end.rule.prediction != predicted
        )
        return (*(end for end in first if end is not last), last)

    @cached_property
    def rules(self) -> RuleList:
        """Rule list with one rule per end, the last as the default; predicts the same.

        The only exception are rows with values unseen at a split, which get the
        probabilities of the default rule, for the same class.
        """
        return self._list_of(self.lines)

    @cached_property
    def _rule_per_end(self) -> RuleList:
        return self._list_of(self.ends)

    def _list_of(self, lines: Sequence[TreeNode]) -> RuleList:
        *first, last = [end.rule for end in lines]
        return RuleList(
            tuple(first),
            replace(last, conditions=()),
            self.features,
            self.classes,
            self.target,
        )

    def number_of(self, node: TreeNode) -> int | None:
        """Number of the rule of a leaf; None for other nodes."""
        return None if node.stopped else self._numbers.get(id(node))

    @cached_property
    def _numbers(self) -> dict[int, int]:
        return {id(end): number for number, end in enumerate(self.lines, start=1)}

    def apply(self, X: Any) -> np.ndarray:
        """End of each row, as a position in ``ends``."""
        return self._rule_per_end.apply(X)

    def predict(self, X: Any) -> np.ndarray:
        """Prediction at the end of each row: class labels, or values."""
        return self._rule_per_end.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities at the end of each row."""
        return self._rule_per_end.predict_proba(X)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the children of each node."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for position, node in enumerate(self.nodes):
            if node.parent >= 0:
                found[node.parent].append(position)
        return tuple(map(tuple, found))

    def __str__(self) -> str:
        return tree_text(self)

    def _page(self) -> tuple[str, dict[str, Any]]:
        return "metatree/reading/tree.html", {"tree": summarize_tree(self)}

    def to_frame(self) -> pd.DataFrame:
        """Condition, prediction and posterior probabilities, one node per row."""
        import pandas as pd

        return pd.DataFrame(
            {
                "node": node.number,
                "depth": node.depth,
                "condition": ""
                if node.condition is None
                else node.condition.text(self.features),
                "prediction": node.rule.prediction,
                "rows": node.rule.statistics.support,
                "reach": node.reach,
                "leaf": node.leaf,
            }
            for node in self.nodes
        )


def _is_reachable(end: TreeNode) -> bool:
    """Whether some value satisfies each condition: none is beyond infinity."""
    return all(
        not isinstance(part, Interval) or part.has_values or part.missing
        for part in end.rule.conditions
    )


def _is_empty(end: TreeNode) -> bool:
    """Whether it is for rows that stop, and there were none."""
    return end.stopped and end.rule.statistics.support == 0


# Text and HTML


def small_text(log_p: float) -> str:
    """Format a probability that may be too small for a float.

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
    """Format a number of leaves; that of an average may be fractional.

    Examples
    --------
    >>> leaves_text(1), leaves_text(2.345)
    ('1 leaf', '2.35 leaves')
    """
    return "1 leaf" if n == 1 else f"{n:,.0f} leaves" if n >= 100 else f"{n:.3g} leaves"


def tree_text(tree: AnnotatedTree) -> str:
    """Tree as plain text: splits indented, leaves numbered as their rules."""
    lines = [f"posterior probability {small_text(tree.log_probability)}"]
    outcome = outcome_of(tree.classes)
    for node, condition in shown_nodes(tree):
        space = "  " * (node.depth - 1)
        says = "" if node.feature is None else f": {prediction_of(node)}"
        known = "" if node.stopped else f"  {_known(node)}"
        lines.append(f"{space}{condition or 'root'}{says}{known}")
        if node.feature is None:
            # Rows that stop are described by the node at which they do.
            number = tree.number_of(node)
            label = "-" if number is None else f"{number}."
            known = ", ".join(statistics_text(node.rule, outcome))
            lines.append(f"{space}  {label} then {prediction_of(node)}  ({known})")
    return "\n".join(wrapped(line) for line in [*lines, *notes(tree)])


def prediction_of(node: TreeNode) -> str:
    """Prediction of a node by itself; for a class with its probability."""
    rule = node.rule
    text = prediction_text(rule.prediction)
    if rule.probabilities:
        text += f" {probability_text(max(rule.probabilities))}"
    return text


def _known(node: TreeNode) -> str:
    return (
        f"[reached {probability_text(node.reach)}, leaf {probability_text(node.leaf)}]"
    )


def shown_nodes(tree: AnnotatedTree) -> list[tuple[TreeNode, str]]:
    """Nodes with their printed conditions, without what `notes` states for all.

    Ends of rows that stop are left out if there were none; that missing values go to
    the side with more rows is not repeated.
    """
    found = []
    for position, node in enumerate(tree.nodes):
        if _is_empty(node):
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
    """Whether missing values come to a node by the general rule of ``notes``."""
    node, condition = tree.nodes[position], tree.nodes[position].condition
    if node.stopped or condition is None or not condition.missing:
        return False
    if isinstance(condition, CategorySet):
        says_more = bool(condition.codes) and not condition.unseen
    else:
        says_more = math.isfinite(condition.low) or math.isfinite(condition.high)
    sisters = [tree.nodes[c] for c in tree.children[node.parent]]
    rows = [s.rule.statistics.support for s in sisters if not s.stopped]
    own, most = node.rule.statistics.support, max(rows)
    return says_more and own == most and rows.count(most) == 1


def _without_missing(condition: Condition) -> Condition:
    return replace(condition, missing=False)


def notes(tree: AnnotatedTree) -> list[str]:
    """Remarks that hold at all splits, and are not repeated at each."""
    notes = []
    if tree.classes:
        notes.append("The number after a class is its probability.")
    if any(_takes_missing_silently(tree, i) for i in range(len(tree.nodes))):
        notes.append(
            "Unless stated otherwise, missing values go to the side with more rows."
        )
    hidden = [n.condition for n in tree.nodes if _is_empty(n)]
    ends = [condition for condition in hidden if condition is not None]
    kinds = ["missing"] * any(condition.missing for condition in ends)
    if any(isinstance(c, CategorySet) and c.unseen for c in ends):
        kinds.append("never seen")
    if kinds:
        notes.append(
            f"A row that stops at an inner node ({', '.join(kinds)}) gets the "
            "prediction of that node."
        )
    return notes


def summarize_tree(tree: AnnotatedTree) -> dict[str, Any]:
    """Content of the HTML table, as plain data."""
    root, lines = tree.nodes[0].rule.statistics.rows, []
    outcome = outcome_of(tree.classes)
    for node, condition in shown_nodes(tree):
        known = node.rule.statistics
        line = {
            "depth": node.depth,
            "condition": condition,
            "number": tree.number_of(node),
            "is_end": node.feature is None,
            "prediction": prediction_of(node),
            "known": ", ".join(statistics_text(node.rule, outcome)[1:]),
            "rows": known.rows,
            "weight": known.weight_text,
            "share": known.rows / root if root else 0.0,
            "reach": None if node.stopped else node.reach,
            "reach_text": probability_text(node.reach),
            "leaf": None if node.stopped else node.leaf,
            "leaf_text": probability_text(node.leaf),
        }
        few = {"known": "", "rows": FEW, "weight": "", "share": 0.0}
        lines.append(OfRows(line, known.rows, instead=line | few))
    return {
        "target": tree.target,
        "probability": small_text(tree.log_probability),
        "n_leaves": tree.n_leaves,
        "notes": notes(tree),
        "lines": lines,
    }
