"""Nodes of a tree diagram, from top to bottom.

Every node has a line of its own, between those of the child that satisfies its
condition and those of the other. The space to the right of each is therefore free for
the condition and the histogram of its feature, whatever the number of nodes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood._html import count_text
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import percent_text, share_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.conditions import Condition
from clearwood.rules.drawn.strips import Strip, make_strip
from clearwood.rules.rule import Rule, predicted_probability, unlikely_text
from clearwood.rules.rule_kinds import RuleList
from clearwood.rules.rule_set import rules_of
from clearwood.rules.tree import Question, Tree

PREDICTED_DOTS = "mean prediction of {}"
"""What dots show of rows without true values."""

MOST_LEAVES = 100
"""Maximum number of nodes in a diagram."""


class Fork(NamedTuple):
    """Inner node: whether all of some conditions hold."""

    conditions: tuple[Condition, ...]
    against: str
    if_yes: Fork | Rule
    if_no: Fork | Rule


class SplitText(NamedTuple):
    """One condition in words, with the histogram of its feature if rows are known."""

    text: str
    strip: Strip | None


class DrawnNode(NamedTuple):
    """Node, with its text and statistics.

    Attributes
    ----------
    depth : int
        Number of splits above it.
    answer : str
        The condition at the parent that its rows satisfy, in words; empty at the root.
    conditions : tuple of SplitText
        Conditions to go up; empty for a leaf.
    against : str
        Condition of the rows that go down, in words.
    children : tuple of int
        Positions of the upper and the lower child; empty for a leaf.
    first, last : int
        Range of the leaves below it, counted from 0.
    rule : Rule or None
        Prediction of a leaf.
    rows : float
        Number of rows of the node; NaN where unknown.
    on_way : bool
        Whether the node is on the highlighted path.
    """

    depth: int
    answer: str
    conditions: tuple[SplitText, ...]
    against: str
    children: tuple[int, ...]
    first: int
    last: int
    rule: Rule | None
    rows: float
    on_way: bool


@dataclass(frozen=True)
class DrawnTree:
    """All nodes of a tree, from the top of the diagram to the bottom.

    Attributes
    ----------
    nodes : tuple of DrawnNode
    root : int
        Position of the root.
    classes : tuple
        Class labels; empty in regression.
    target : str
        Name of the target, or of what is predicted of it.
    ends : (float, float)
        Smallest and largest predicted value; 0 and 1 in classification.
    has_way : bool
        Whether the path of a row is highlighted.
    dots : str
        The statistic of the rows that the dots show; empty for classes.
    """

    nodes: tuple[DrawnNode, ...]
    root: int
    classes: tuple[Any, ...]
    target: str
    ends: tuple[float, float]
    has_way: bool
    dots: str

    @property
    def n_rows(self) -> float:
        """Number of rows; NaN where unknown."""
        return self.nodes[self.root].rows

    def text_of(self, rule: Rule) -> str:
        """Prediction of a leaf in words, with the probability of a class."""
        predicted, p = (
            prediction_text(rule.prediction),
            predicted_probability(rule, self.classes),
        )
        return predicted if p is None else f"{predicted} ({share_text(p)})"

    def words(self, node: DrawnNode) -> str:
        """Node in one sentence, as a text alternative to the diagram."""
        parts = [f"if {node.answer}"] if node.answer else []
        if node.rule is not None:
            leaves = [one.rule for one in self.nodes if one.rule is not None]
            why = unlikely_text(node.rule, self.classes, leaves)
            parts.append(
                f"leaf {node.first + 1} predicts {self.text_of(node.rule)}{why}"
            )
        else:
            texts = " and ".join(one.text for one in node.conditions)
            parts.append(f"split: {texts}")
        if node.rows == node.rows:
            rows = f"{count_text(node.rows)} row{'s' * (node.rows != 1)}"
            share = node.rows / max(self.n_rows, 1)
            parts.append(f"{rows}, {percent_text(share)} of all")
        if node.on_way:
            parts.append("on the path of the row shown")
        return "; ".join(parts)


def tree_of(result: Any) -> Tree | RuleList | None:
    """The tree of a result, else its list; None for other rules."""
    tree = getattr(result, "tree_", result)
    if isinstance(tree, Tree):
        return tree if tree.n_leaves <= MOST_LEAVES else None
    rules = rules_of(result)
    if isinstance(rules, RuleList) and rules.n_rules <= MOST_LEAVES:
        return rules
    return None


def draw_tree(result: Any, X: Any = None, y: Any = None, *, row: Any = None) -> Any:
    """Compute the nodes of a tree or list, with text and statistics.

    Parameters
    ----------
    result : fitted estimator, Tree or RuleList
    X : array-like or frame of shape (n_samples, n_features), optional
        Rows for the histograms of features and the counts of nodes.
    y : array-like of shape (n_samples,), optional
        Their classes or values; by default the predictions of the tree.
    row : array-like or frame of shape (1, n_features), optional
        The row whose path is highlighted.

    Returns
    -------
    DrawnTree

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList((Rule((Interval(0, low=37.5),), 1.0),), Rule((), 0.0),
    ...     FeatureSpace.numeric(1, ["temperature"]))
    >>> drawn = draw_tree(rules, [[36.9], [38.2], [39.0]])
    >>> print(drawn.words(drawn.nodes[0]))
    if temperature > 37.5; leaf 1 predicts 1; 2 rows, 66.7 % of all
    """
    tree = tree_of(result)
    if tree is None:
        raise InputError(
            f"Only a tree, or an ordered list of rules, of at most {MOST_LEAVES} lines "
            "can be drawn; rules that add up, or of which an average is taken, are no "
            "tree: print them, or make a report."
        )
    rules = tree if isinstance(tree, RuleList) else tree.to_rules()
    decided = encoded = known = None
    if X is not None:
        decided, encoded = tree.apply(X), rules.encode(X)
        predicted = rules.predictions[decided]
        truth = predicted if y is None else rules.check_target(y, len(decided), "y")
        known = rules.outcome.codes(truth)
    elif y is not None:
        raise InputError("y was given without X; give the rows that it belongs to.")
    makes = _Maker(rules, decided, encoded, known, _leaf_of(tree, row))
    start = _fork_of_tree(tree.root, tree.features) if isinstance(tree, Tree) else None
    root = makes.add(start or _fork_of_list(rules), 0, "")
    target = getattr(result, "rules_", rules).target
    ends = (0.0, 1.0)
    if not rules.classes:
        ends = (float(rules.predictions.min()), float(rules.predictions.max()))
    nodes = tuple(node for node in makes.nodes if node is not None)
    dots = rules.outcome.dots if y is not None else PREDICTED_DOTS
    dots = "" if rules.classes else dots.format(printable(target))
    named = rules.outcome.heading(target)
    return DrawnTree(nodes, root, rules.classes, named, ends, row is not None, dots)


def _leaf_of(tree: Tree | RuleList, row: Any) -> int | None:
    if row is None:
        return None
    leaves = tree.apply(row)
    if len(leaves) != 1:
        raise InputError(f"row has {len(leaves)} rows; the way of one can be shown.")
    return int(leaves[0])


def _fork_of_tree(node: Question | Rule, features: FeatureSpace) -> Fork | Rule:
    if isinstance(node, Rule):
        return node
    below = (_fork_of_tree(child, features) for child in (node.if_yes, node.if_no))
    return Fork((node.yes,), node.no.text(features), *below)


def _fork_of_list(rules: RuleList) -> Fork | Rule:
    """Chain of splits: each rule's conditions lead to its leaf or the next rule."""
    below: Fork | Rule = rules.otherwise
    for rule in reversed(rules.rules):
        below = Fork(rule.conditions, "otherwise", rule, below)
    return below


@dataclass
class _Maker:
    """Builder of nodes, from the top of the diagram to the bottom."""

    rules: RuleList
    decided: np.ndarray | None
    encoded: np.ndarray | None
    known: np.ndarray | None
    leaf: int | None

    def __post_init__(self) -> None:
        self.nodes: list[DrawnNode | None] = []
        self.n_leaves = 0

    def add(self, node: Fork | Rule, depth: int, answer: str) -> int:
        """Add a node and all below it; returns its position."""
        first = self.n_leaves
        features, children = self.rules.features, tuple[int, ...]()
        if isinstance(node, Fork):
            holds = " and ".join(c.text(features) for c in node.conditions)
            above = self.add(node.if_yes, depth + 1, holds or "always")
        position = len(self.nodes)
        self.nodes.append(None)
        if isinstance(node, Fork):
            children = (above, self.add(node.if_no, depth + 1, node.against))
        else:
            self.n_leaves += 1
        last = self.n_leaves - 1
        here = None
        if self.decided is not None:
            here = (first <= self.decided) & (self.decided <= last)
        fork = node if isinstance(node, Fork) else None
        self.nodes[position] = DrawnNode(
            depth,
            answer,
            () if fork is None else self._texts(fork.conditions, here),
            "" if fork is None else fork.against,
            children,
            first,
            last,
            None if isinstance(node, Fork) else node,
            self._rows(here, first, last),
            self.leaf is not None and first <= self.leaf <= last,
        )
        return position

    def _texts(
        self, conditions: tuple[Condition, ...], here: np.ndarray | None
    ) -> tuple[SplitText, ...]:
        features, texts = self.rules.features, []
        for condition in conditions:
            strip = None
            if self.encoded is not None and self.known is not None:
                strip = make_strip(
                    condition, self.encoded[here, condition.feature],
                    self.known[here], len(self.rules.classes), features,
                )  # fmt: skip
            texts.append(SplitText(condition.text(features), strip))
        return tuple(texts)

    def _rows(self, here: np.ndarray | None, first: int, last: int) -> float:
        if here is not None:
            return float(here.sum())
        return sum(
            rule.statistics.rows_assigned for rule in list(self.rules)[first : last + 1]
        )
