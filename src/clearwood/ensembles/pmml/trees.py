"""One TreeModel of PMML as binary splits.

A node has any number of children with predicates, of which the first that holds is
taken. A *place* is a node and the number of the child whose predicate is next; each
becomes a split, unless the predicate of the next child is the opposite.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from clearwood.codec.documents import shown
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.ensembles.nodes import TreeNodes
from clearwood.ensembles.pmml.elements import Element

STRATEGIES = ("none", "defaultChild", "lastPrediction", "nullPrediction")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"|(\S+)')
PREDICATES = ("SimplePredicate", "SimpleSetPredicate", "CompoundPredicate")
MOST_COPIES = 8
"""Most splits per node of the file."""

Place = tuple[Element, int]


@dataclass
class TreeInputs:
    """Fields that trees may split on.

    Parameters
    ----------
    place : dict of str to int
        Position of each field, also by the names of its casts.
    single : set of str
        Fields and casts of type float.
    codes : list of (dict of str to int, or None)
        Codes of the categories of each field; None if it is continuous.
    no_missing : set of int
        Fields whose missing values lead to no prediction.
    """

    place: dict[str, int]
    single: set[str]
    codes: list[dict[str, int] | None]
    no_missing: set[int] = field(default_factory=set)


class Test(NamedTuple):
    """A predicate as a split; rows on one of its sides satisfy it."""

    feature: int
    cut: float
    left_set: tuple[bool, ...] | None
    holds_left: bool
    of_missing: bool


def read_tree(
    model: Element, columns: TreeInputs, classes: dict[str, int] | None
) -> tuple[TreeNodes, bool]:
    """Convert a tree, and return whether its leaves have probabilities.

    Parameters
    ----------
    model : Element
    columns : TreeInputs
        Fields without predictions for missing values are added.
    classes : dict of str to int, or None
        Positions of the classes; None for a regression.

    Returns
    -------
    TreeNodes
    bool
    """
    strategy = model.get("missingValueStrategy", "none")
    if strategy not in STRATEGIES:
        model.refuse(f"missingValueStrategy={shown(strategy)}")
    tree = _Tree(model, columns, classes, strategy)
    tree.grow((model.need("Node"), 0))
    width = 1 if classes is None else len(classes)
    nodes = TreeNodes(
        feature=np.array(tree.feature),
        cut=np.array(tree.cut),
        left=np.array(tree.left),
        right=np.array(tree.right),
        missing_left=np.array(tree.missing_left),
        value=np.array(tree.value).reshape(-1, width),
        categories_left=tree.sets,
        # Sets of all categories separate missing values.
        unseen_left=np.array(
            [i in tree.sets and tree.sets[i].all() for i in range(len(tree.feature))]
        ),
    )
    return nodes, tree.has_probabilities


class _Tree:
    """Splits of a tree, in the order of their places."""

    def __init__(
        self,
        model: Element,
        columns: TreeInputs,
        classes: dict[str, int] | None,
        strategy: str,
    ) -> None:
        self.model, self.columns, self.classes = model, columns, classes
        self.strategy = strategy
        end = model.get("noTrueChildStrategy", "returnNullPrediction")
        self.ends_in_last = end == "returnLastPrediction"
        self.zero = [0.0] * (1 if classes is None else len(classes))
        self.feature: list[int] = []
        self.cut: list[float] = []
        self.left: list[int] = []
        self.right: list[int] = []
        self.missing_left: list[bool] = []
        self.value: list[list[float]] = []
        self.sets: dict[int, np.ndarray] = {}
        self.has_probabilities = False
        self.n_nodes = 0

    def grow(self, root: Place) -> None:
        """Convert all places, parents before children."""
        pending = [(root, -1, False)]
        while pending:
            place, parent, is_left = pending.pop()
            node, i = self._decided(place)
            here = self._add()
            if parent >= 0:
                (self.left if is_left else self.right)[parent] = here
            if i < 0:
                self.value[here] = self._score(node)
                continue
            split = self._test(_children(node)[i])
            holds, fails, missing = self._targets(node, i, split)
            if missing is not None and missing not in (holds, fails):
                # A split of its own for missing values: all numbers go left.
                self._fill(here, split._replace(cut=math.inf, left_set=None), False)
                if split.left_set is not None:
                    self.sets[here] = np.ones(len(split.left_set), bool)
                pending.append((missing, here, False))
                below = self._add()
                self.left[here], here, missing = below, below, holds
            sides = (holds, fails) if split.holds_left else (fails, holds)
            self._fill(here, split, missing == sides[0])
            pending += [(sides[1], here, False), (sides[0], here, True)]

    def _add(self) -> int:
        here = len(self.feature)
        if here > MOST_COPIES * (self.n_nodes + 16):
            # Default children among many siblings, again and again.
            self.model.refuse("a tree with many default children")
        for values in (self.feature, self.left, self.right):
            values.append(-1)
        self.cut.append(0.0)
        self.missing_left.append(False)
        self.value.append(self.zero)
        return here

    def _fill(self, here: int, split: Test, missing_left: bool) -> None:
        self.feature[here], self.cut[here] = split.feature, split.cut
        self.missing_left[here] = missing_left
        if split.left_set is not None:
            self.sets[here] = np.array(split.left_set)

    def _decided(self, place: Place) -> Place:
        """The next place with a test; number -1 for the score of the node."""
        node, i = place
        while i >= 0:
            children = _children(node)
            self.n_nodes += 1
            if not children:
                return node, -1
            if i >= len(children):
                if not self.ends_in_last:
                    node.refuse("a node without a prediction for some rows")
                return node, -1
            if children[i].first("True") is not None:
                node, i = children[i], 0
            elif children[i].first("False") is not None:
                i += 1
            else:
                return node, i
        return node, i

    def _targets(
        self, node: Element, i: int, split: Test
    ) -> tuple[Place, Place, Place | None]:
        """Places of rows for which a test holds, fails, or is unknown."""
        children = _children(node)
        holds, fails, after = (children[i], 0), (node, i + 1), (node, i + 1)
        is_last = i + 2 == len(children)
        if is_last and children[i + 1].first(*PREDICATES) is not None:
            other = self._test(children[i + 1])
            if split in _opposites(other):
                fails, after = (children[i + 1], 0), (node, i + 2)
        if split.of_missing:
            return holds, fails, fails if split.holds_left else holds
        compound = children[i].first("CompoundPredicate")
        missing: Place | None = None
        if compound is None and self.strategy == "none":
            missing = after
            if after[1] >= len(children) and not self.ends_in_last:
                missing = None
        elif compound is None and self.strategy == "lastPrediction":
            missing = node, -1
        elif compound is None and self.strategy == "defaultChild":
            default = node.get("defaultChild", "")
            named = [child for child in children if child.get("id", "") == default]
            missing = (named[0], 0) if named and default else None
        if missing is None:
            self.columns.no_missing.add(split.feature)
        return holds, fails, missing

    def _score(self, node: Element) -> list[float]:
        if self.classes is None:
            return [node.number("score")]
        shares = node.all("ScoreDistribution")
        value = [0.0] * len(self.classes)
        if shares and all("probability" in one.attributes for one in shares):
            key, total = "probability", 1.0
        else:
            key, total = "recordCount", sum(one.number("recordCount") for one in shares)
        if total > 0 and shares:
            self.has_probabilities = True
            for one in shares:
                value[self._class(one, "value")] = one.number(key) / total
        else:
            value[self._class(node, "score")] = 1.0
        return value

    def _class(self, element: Element, key: str) -> int:
        label, known = element.get(key), self.classes or {}
        if label not in known:
            element.fail(f"{key}={shown(label)}", "one of the classes")
        return known[label]

    # Predicates

    def _test(self, node: Element) -> Test:
        predicate = node.need(*PREDICATES)
        if predicate.tag == "CompoundPredicate":
            if predicate.get("booleanOperator") != "surrogate":
                kind = shown(predicate.get("booleanOperator"))
                predicate.refuse(f"predicates combined by {kind}")
            # Missing values, for which surrogates stand in, are refused.
            predicate = predicate.need("SimplePredicate", "SimpleSetPredicate")
        name = predicate.get("field")
        if name not in self.columns.place:
            predicate.refuse(f"a split on {shown(name)}, which is no input of the file")
        feature = self.columns.place[name]
        codes = self.columns.codes[feature]
        if predicate.tag == "SimpleSetPredicate":
            labels = _listed(predicate.need("Array"))
            operator = predicate.get("booleanOperator")
        else:
            operator = predicate.get("operator")
            if operator in ("isMissing", "isNotMissing"):
                every = None if codes is None else (True,) * len(codes)
                is_not = operator == "isNotMissing"
                return Test(feature, math.inf, every, is_not, True)
            labels = [predicate.get("value")]
        if codes is None:
            return self._numeric(predicate, operator, feature, name)
        if operator not in ("isIn", "isNotIn", "equal", "notEqual"):
            predicate.refuse(f"the operator {shown(operator)} on categories")
        for label in labels:
            if label not in codes:
                predicate.fail(shown(label), f"a category of {name!r}")
        left = tuple(label in labels for label in codes)
        return Test(feature, 0.0, left, operator in ("isIn", "equal"), False)

    def _numeric(
        self, predicate: Element, operator: str, feature: int, name: str
    ) -> Test:
        operators = ("lessOrEqual", "lessThan", "greaterThan", "greaterOrEqual")
        if operator not in operators:
            predicate.refuse(f"the operator {shown(operator)} on the number {name!r}")
        strict = operator in ("lessThan", "greaterOrEqual")
        cut = predicate.number("value")
        if name in self.columns.single:
            with np.errstate(over="ignore"):
                single = np.float32(cut)
            cut = float(float64_cut_of_float32_test(single, strict=strict))
        elif strict:
            cut = float(np.nextafter(cut, -np.inf))
        return Test(feature, cut, None, operator.startswith("less"), False)


def _opposites(test: Test) -> list[Test]:
    """The same split with the other side, or with the other categories."""
    sides = [test._replace(holds_left=not test.holds_left)]
    if test.left_set is not None and not test.of_missing:
        rest = tuple(not is_left for is_left in test.left_set)
        sides.append(test._replace(left_set=rest))
    return sides


def _children(node: Element) -> list[Element]:
    if node.read is None:
        node.read = node.all("Node")
    found: list[Element] = node.read
    return found


def _listed(array: Element) -> list[str]:
    """Entries of an array: quoted texts, or words."""
    found = QUOTED.findall(array.text)
    return [re.sub(r"\\(.)", r"\1", quoted) or word for quoted, word in found]
