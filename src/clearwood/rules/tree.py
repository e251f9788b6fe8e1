"""Small decision trees, and their leaves as rules."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.sparse_tables import is_sparse
from clearwood.outcomes import Outcome, outcome_of
from clearwood.results import Result
from clearwood.rules.building.lists import build_rule_list
from clearwood.rules.building.shorten import rounded
from clearwood.rules.conditions import (
    CategorySet,
    Condition,
    Interval,
    combine_literals,
    region_conditions,
)
from clearwood.rules.rule import TEXT_WIDTH, Rule, rule_says
from clearwood.rules.rule_kinds import RuleList
from clearwood.rules.training import Training
from clearwood.search.trees.nodes import GrownNode

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Question:
    """Inner node of a tree.

    Attributes
    ----------
    yes, no : Interval or CategorySet
        A row goes to the first child if it satisfies ``yes``, to the second if it
        satisfies ``no``. Both are on one feature, and no row satisfies both. Missing
        values or unknown categories that were absent from training satisfy neither and
        are predicted by the tree's last leaf.
    if_yes, if_no : Question or Rule
        The children. A leaf is a rule whose conditions are those on the path to it.
    """

    yes: Condition
    no: Condition
    if_yes: Question | Rule
    if_no: Question | Rule


@dataclass(frozen=True, repr=False)
class Tree(Result):
    """Decision tree with rules as leaves.

    Attributes
    ----------
    root : Question or Rule
        Root node.
    features : FeatureSpace
        Columns of the data.
    classes : tuple
        Class labels in order; empty in regression.
    outcome : Outcome
        Type of the target; by default derived from ``classes``.

    Examples
    --------
    >>> warm, cold = Interval(0, low=37.5), Interval(0, high=37.5)
    >>> tree = Tree(
    ...     Question(warm, cold, Rule((warm,), 2.0), Rule((cold,), 1.0)),
    ...     FeatureSpace(("temperature",), (None,)))
    >>> print(tree)
    temperature > 37.5
      1. then 2
    temperature <= 37.5
      2. then 1
    >>> tree.predict([[36.9], [39.0]])
    array([1., 2.])
    """

    _display = "clearwood.rules.drawn.display:TreeDisplay"

    root: Question | Rule
    features: FeatureSpace
    classes: tuple[Any, ...] = ()
    outcome: Outcome = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        outcome = outcome_of(self.classes, self.outcome)
        object.__setattr__(self, "outcome", outcome)

    @property
    def leaves(self) -> tuple[Rule, ...]:
        """The leaves in printed order."""
        return tuple(_leaves(self.root))

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return len(self.leaves)

    @property
    def depth(self) -> int:
        """Largest number of splits on the path to a leaf."""
        return _depth(self.root)

    def apply(self, X: Any) -> np.ndarray:
        """Find the leaf of each row, as a position in printed order.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of int of shape (n_samples,)
        """
        if is_sparse(X):
            return self.to_rules().apply(X)
        used = {c.feature for leaf in self.leaves for c in leaf.conditions}
        encoded = self.features.encode(X, used)
        decided = np.full(len(encoded), self.n_leaves - 1)
        number = 0
        todo = [(self.root, np.arange(len(encoded)))]
        while todo:
            node, rows = todo.pop()
            if isinstance(node, Rule):
                decided[rows] = number
                number += 1
                continue
            column = encoded[rows, node.yes.feature]
            # A stack: the first child is popped first.
            todo.append((node.if_no, rows[node.no.matches(column)]))
            todo.append((node.if_yes, rows[node.yes.matches(column)]))
        return decided

    def predict(self, X: Any) -> np.ndarray:
        """Predict with the leaf of each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
            Class labels, or values.
        """
        return np.array([leaf.prediction for leaf in self.leaves])[self.apply(X)]

    def way_encoded(self, row: np.ndarray) -> tuple[Condition, ...]:
        """Conditions on an encoded row's path from the root, as far as it is defined.

        Parameters
        ----------
        row : ndarray of shape (n_features,)
            As encoded by ``features.encode``.

        Returns
        -------
        tuple of Interval or CategorySet
        """
        met: list[Condition] = []
        node = self.root
        while isinstance(node, Question):
            column = row[node.yes.feature : node.yes.feature + 1]
            if node.yes.matches(column)[0]:
                met.append(node.yes)
                node = node.if_yes
            elif node.no.matches(column)[0]:
                met.append(node.no)
                node = node.if_no
            else:
                # No child is defined for such a value: the last leaf predicts.
                break
        return tuple(met)

    def in_columns(self, features: FeatureSpace, place: Mapping[int, int]) -> Tree:
        """Copy of the tree with features at other positions."""

        def moved(node: Question | Rule) -> Question | Rule:
            if isinstance(node, Rule):
                return node.in_columns(place)
            yes, no = (
                replace(c, feature=place[c.feature]) for c in (node.yes, node.no)
            )
            return Question(yes, no, moved(node.if_yes), moved(node.if_no))

        return replace(self, root=moved(self.root), features=features)

    def to_rules(self) -> RuleList:
        """One rule per leaf, the last as default rule; predictions are the same."""
        *first, last = self.leaves
        return RuleList(
            tuple(first),
            replace(last, conditions=()),
            self.features,
            self.classes,
            outcome=self.outcome,
        )

    def to_frame(self) -> pd.DataFrame:
        """One leaf per row, as :meth:`~clearwood.RuleSet.to_frame`."""
        return self.to_rules().to_frame()

    def with_leaves(self, rules: RuleList) -> Tree:
        """The same splits, with the rules of a list as leaves.

        Parameters
        ----------
        rules : RuleList
            One rule per leaf, as returned by :meth:`to_rules`.
        """
        leaves = iter(
            replace(rule, conditions=leaf.conditions)
            for rule, leaf in zip(rules, self.leaves, strict=True)
        )
        return replace(self, root=_with_leaves(self.root, leaves))

    def __str__(self) -> str:
        number, leaves = iter(range(1, self.n_leaves + 1)), self.leaves
        lines: list[str] = []

        def draw(node: Question | Rule, depth: int) -> None:
            if isinstance(node, Rule):
                says = f"{next(number)}. then {rule_says(node, self.outcome, leaves)}"
                lines.extend(_indented(says, depth))
                return
            for condition, child in ((node.yes, node.if_yes), (node.no, node.if_no)):
                lines.extend(_indented(condition.text(self.features), depth))
                draw(child, depth + 1)

        draw(self.root, 0)
        return "\n".join(lines)


def _indented(text: str, depth: int) -> list[str]:
    space = "  " * depth
    return textwrap.wrap(
        text, max(TEXT_WIDTH, len(space) + 40), initial_indent=space,
        subsequent_indent=space + "     ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _leaves(node: Question | Rule) -> Iterator[Rule]:
    if isinstance(node, Rule):
        yield node
    else:
        yield from _leaves(node.if_yes)
        yield from _leaves(node.if_no)


def _depth(node: Question | Rule) -> int:
    if isinstance(node, Rule):
        return 0
    return 1 + max(_depth(node.if_yes), _depth(node.if_no))


class BinSplit(NamedTuple):
    """Split in terms of bins; None stands for a leaf.

    Attributes
    ----------
    feature : int
    goes_left : ndarray of bool of shape (number of bins of the feature,)
    left, right : BinSplit or None
    """

    feature: int
    goes_left: np.ndarray
    left: BinSplit | None
    right: BinSplit | None


def print_tree(
    tree: GrownNode, training: Training, *, round_thresholds: bool = True
) -> Tree:
    """Convert a tree grown on ``training.grid`` to thresholds and categories.

    Parameters are those of :func:`build_tree`.
    """

    def split(node: GrownNode) -> BinSplit | None:
        if node.goes_left is None:
            return None
        left, right = node.children
        feature = int(training.used_features[node.feature])
        return BinSplit(feature, node.goes_left, split(left), split(right))

    return build_tree(split(tree), training, round_thresholds=round_thresholds)


def build_tree(
    root: BinSplit | None, training: Training, *, round_thresholds: bool = True
) -> Tree:
    """Convert a tree of bins to thresholds and categories.

    The child with fewer leaves comes first. A leaf predicts the mean of the fitted
    target over its rows (in classification, the most probable class).

    Parameters
    ----------
    root : BinSplit or None
    training : Training
        Rows and the target to fit; each leaf holds some real rows. Synthetic rows count
        for bounds and for predictions of leaves, but not in statistics.
    round_thresholds : bool, default=True
        Replace bounds by the shortest decimals that split the rows of a node in the
        same way, and values by short ones, as in :func:`build_rule_set`.

    Returns
    -------
    Tree
    """
    bins = training.bins

    def sides(split: BinSplit, encoded: np.ndarray) -> list[tuple[Condition, Any]]:
        part = slice(
            bins.bin_start[split.feature],
            bins.bin_start[split.feature] + bins.n_bins[split.feature],
        )
        found = []
        both = ((split.goes_left, split.left), (~split.goes_left, split.right))
        for allowed_here, child in both:
            allowed = np.ones(len(training.seen), dtype=bool)
            allowed[part] = allowed_here
            conditions = region_conditions(bins, allowed, training.seen)
            # Both children hold rows, so that each has a condition.
            assert conditions
            if round_thresholds:
                conditions = rounded(conditions, encoded, bins.features)
            found += [(conditions[0], child)]
        return sorted(found, key=lambda side: _size(side[1]))

    def questions(
        node: BinSplit | None, rows: np.ndarray, way: tuple[Condition, ...]
    ) -> Any:
        if node is None:
            return None
        conditions, below = [], []
        column = training.encoded[rows, node.feature]
        # The column of the split is broadcast to all columns: nothing is copied.
        encoded = np.broadcast_to(
            column[:, None], (len(rows), bins.features.n_features)
        )
        for condition, child in sides(node, encoded):
            conditions.append(_still_open(condition, way))
            there = rows[condition.matches(column)]
            below.append(questions(child, there, combine_literals((*way, condition))))
        return Question(conditions[0], conditions[1], below[0], below[1])

    root = questions(root, np.arange(len(training)), ())
    ways = list(_ways(root, ()))
    rules = build_rule_list(ways[:-1], training, round_thresholds=round_thresholds)
    # Values and statistics are those of the rules; literals that training rows do not
    # need are kept, so that no row at all is in two leaves.
    return tree_of_questions(root, rules)


def tree_of_questions(root: Any, rules: RuleList) -> Tree:
    """Assemble a tree from its splits and the rules of its leaves.

    Parameters
    ----------
    root : Question or None
        None stands for a leaf.
    rules : RuleList
        One rule per leaf, as returned by :meth:`Tree.to_rules`.
    """
    leaves = iter(
        replace(rule, conditions=way)
        for rule, way in zip(rules, _ways(root, ()), strict=True)
    )
    return Tree(
        _with_leaves(root, leaves), rules.features, rules.classes, rules.outcome
    )


def _size(node: BinSplit | None) -> int:
    return 1 if node is None else _size(node.left) + _size(node.right)


def _ways(node: Any, way: tuple[Condition, ...]) -> Iterator[tuple[Condition, ...]]:
    """Conditions on the path to each leaf, one per feature."""
    if node is None:
        yield tuple(_only_missing(condition) for condition in way)
    else:
        yield from _ways(node.if_yes, combine_literals((*way, node.yes)))
        yield from _ways(node.if_no, combine_literals((*way, node.no)))


def _still_open(condition: Condition, way: tuple[Condition, ...]) -> Condition:
    """Drop from a condition what the path already excludes: missing, categories."""
    known = next((c for c in way if c.feature == condition.feature), None)
    if isinstance(condition, CategorySet):
        both = (condition,) if known is None else (known, condition)
        return combine_literals(both)[0]
    missing = condition.missing and (known is None or known.missing)
    return replace(condition, missing=missing)


def _only_missing(condition: Condition) -> Condition:
    """Replace an interval without numbers by "is missing"."""
    # A threshold at minus infinity leaves that one value.
    if isinstance(condition, Interval) and condition.low >= condition.high > -np.inf:
        return Interval(condition.feature, low=np.inf, missing=condition.missing)
    return condition


def _with_leaves(node: Any, leaves: Iterator[Rule]) -> Question | Rule:
    if not isinstance(node, Question):
        return next(leaves)
    if_yes = _with_leaves(node.if_yes, leaves)
    return replace(node, if_yes=if_yes, if_no=_with_leaves(node.if_no, leaves))
