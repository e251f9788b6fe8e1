"""One pruning of T_max as a person reads it, with what the posterior says of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.rules.conditions import CategorySet, Condition
from clearwood.rules.kinds import RuleList
from clearwood.rules.rule import Rule
from clearwood.rules.tree import Question, Tree


@dataclass(frozen=True)
class TreeNode:
    """A node of a tree, or the end of the rows that cannot go on from one.

    Attributes
    ----------
    number : int
        The node in T_max.
    parent : int
        Position of the parent in ``AnnotatedTree.nodes``; -1 at the root.
    depth : int
        Number of questions above it.
    condition : Interval or CategorySet, or None
        What brings a row here from the parent; None at the root.
    rule : Rule
        What the node says by itself, and its training rows.
    reach : float
        Posterior probability that a tree has this node.
    leaf : float
        Posterior probability that a tree has it and asks nothing there.
    feature : int or None
        What is asked; None at the ends of the tree.
    stopped : bool
        Whether these are the rows that cannot go on from the parent: a missing value
        without a branch of its own, a category never seen. They get what the parent
        says; ``number``, ``reach`` and ``leaf`` are the parent's.
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


@dataclass(frozen=True, eq=False)
class AnnotatedTree:
    """One pruning, in words, with the posterior probabilities of its nodes.

    It comes from ``map_tree_``, ``top_trees`` or ``sample_trees`` of a fitted
    estimator, or from :func:`read_tree`.

    Attributes
    ----------
    nodes : tuple of TreeNode
        As they are printed: parents first, all below a node right after it.
    features : FeatureSpace
        The columns that are asked about.
    classes : tuple
        Class labels in order; empty in regression.
    target : str
        Name of what is predicted.
    log_probability : float
        Of this very tree in the posterior.
    """

    nodes: tuple[TreeNode, ...]
    features: FeatureSpace
    classes: tuple[Any, ...] = ()
    target: str = "y"
    log_probability: float = math.nan

    @property
    def probability(self) -> float:
        """Posterior probability of this very tree."""
        return math.exp(self.log_probability)

    @cached_property
    def leaves(self) -> tuple[TreeNode, ...]:
        """Where the tree asks nothing, in printed order."""
        return tuple(n for n in self.nodes if n.feature is None and not n.stopped)

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @cached_property
    def ends(self) -> tuple[TreeNode, ...]:
        """All places where a row can end: the leaves, then where it cannot go on."""
        stopped = [node for node in self.nodes if node.stopped]
        # The root's comes last: it says what is said where nothing at all is known.
        return (*self.leaves, *stopped)

    @cached_property
    def rules(self) -> RuleList:
        """One rule per end, the last as ``otherwise``; they predict the same."""
        *first, last = [end.rule for end in self.ends]
        return RuleList(
            tuple(first),
            replace(last, conditions=()),
            self.features,
            self.classes,
            self.target,
        )

    def apply(self, X: Any) -> np.ndarray:
        """The end of each row, as a position in ``ends``."""
        return self.rules.apply(X)

    def predict(self, X: Any) -> np.ndarray:
        """What is said at the end of each row: class labels, or values."""
        return self.rules.predict(X)

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities at the end of each row."""
        return self.rules.predict_proba(X)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the nodes right below each node."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for position, node in enumerate(self.nodes):
            if node.parent >= 0:
                found[node.parent].append(position)
        return tuple(map(tuple, found))

    def to_tree(self) -> Tree:
        """The same as a :class:`~clearwood.Tree`, whose questions have two answers.

        A node with more children becomes several questions.
        """
        said: dict[int, Question | Rule] = {}
        for position in range(len(self.nodes) - 1, -1, -1):
            children = self.children[position]
            if not children:
                said[position] = self.nodes[position].rule
                continue
            answers = [self.nodes[child].condition for child in children]
            below = said[children[-1]]
            for i in range(len(children) - 2, -1, -1):
                yes, no = answers[i], _either(answers[i + 1 :])
                assert yes is not None
                below = Question(yes, no, said[children[i]], below)
            said[position] = below
        return Tree(said[0], self.features, self.classes)

    def __str__(self) -> str:
        from clearwood.metatree.reading.tree_text import tree_text

        return tree_text(self)

    def _repr_html_(self) -> str:
        from clearwood.metatree.reading.tree_text import tree_html

        return tree_html(self)


def _either(conditions: Sequence[Any]) -> Condition:
    """What satisfies one of several conditions on a feature."""
    if isinstance(conditions[0], CategorySet):
        return CategorySet(
            conditions[0].feature,
            tuple(sorted(code for c in conditions for code in c.codes)),
            any(c.missing for c in conditions),
            any(c.unseen for c in conditions),
        )
    # Neighbouring intervals; "is missing" has no numbers between its bounds.
    numbers = [c for c in conditions if c.low < math.inf] or conditions
    return replace(
        conditions[0],
        low=min(c.low for c in numbers),
        high=max(c.high for c in numbers),
        missing=any(c.missing for c in conditions),
    )
