"""Single trees of a posterior in readable form, with probabilities, and rules."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._kernels.metatree_posterior import sum_up
from clearwood._words.numbers import short_value
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.meta_tree import MetaTree
from clearwood.metatree.posterior.posterior import Posterior, PrunedTree
from clearwood.metatree.reading.annotated_tree import AnnotatedTree, TreeNode
from clearwood.metatree.reading.branches import (
    STOP,
    branches,
    reading_features,
    still_open,
)
from clearwood.outcomes.intervals import LEVEL, share_interval
from clearwood.rules.conditions import Condition
from clearwood.rules.evaluation.statistics import RuleStatistics
from clearwood.rules.rule import Rule
from clearwood.rules.rule_set import RuleSet


class MapTreeMixin:
    """Mixin of estimators with a ``meta_tree_``: readable trees and rules."""

    meta_tree_: MetaTree
    _target_name = "y"

    @property
    def target_name(self) -> str:
        """Name of the target: that of ``y`` in ``fit``, unless it is set."""
        return self._target_name

    @target_name.setter
    def target_name(self, name: str) -> None:
        self._target_name = name

    @property
    def map_tree_(self) -> AnnotatedTree:
        """Most probable tree; among equally probable ones the smallest."""
        return self._read([self.meta_tree_.posterior().map_tree()])[0]

    @property
    def rules_(self) -> RuleSet:
        """Rules of the most probable tree."""
        return self.map_tree_.rules

    def top_trees(self, k: int = 5) -> list[AnnotatedTree]:
        """The ``k`` most probable trees, best first.

        Parameters
        ----------
        k : int, default=5
            Number of trees; there may be fewer.

        Returns
        -------
        list of AnnotatedTree
        """
        return self._read(self.meta_tree_.posterior().top_trees(k))

    def sample_trees(self, n: int = 1, random_state: Any = None) -> list[AnnotatedTree]:
        """Draw trees from the posterior.

        Parameters
        ----------
        n : int, default=1
        random_state : int, Generator or RandomState, optional

        Returns
        -------
        list of AnnotatedTree
            Equal draws are one object.
        """
        posterior = self.meta_tree_.posterior()
        drawn = posterior.sample_trees(n, random_state)
        asks, which = np.unique(drawn, axis=0, return_inverse=True)
        trees = self._read([posterior.pruned(row) for row in asks])
        return [trees[i] for i in which.ravel()]

    def _read(self, trees: Sequence[PrunedTree]) -> list[AnnotatedTree]:
        classes = tuple(np.asarray(getattr(self, "classes_", ())).tolist())
        says = _NodeRules(self.meta_tree_, classes)
        return [_read_tree(says, tree, self.target_name) for tree in trees]


def read_tree(
    meta_tree: MetaTree,
    tree: PrunedTree | None = None,
    *,
    classes: Sequence[Any] = (),
    target: str = "y",
) -> AnnotatedTree:
    """Convert one pruning to readable form.

    The prediction of a leaf is its own predictive mean (or class probabilities) given
    its rows; values are rounded within half a percent of the standard deviation.

    Parameters
    ----------
    meta_tree : MetaTree
    tree : PrunedTree, optional
        By default the most probable.
    classes : sequence, default=()
        Class labels; empty for regression.
    target : str, default="y"
        Name of the target.

    Returns
    -------
    AnnotatedTree

    Examples
    --------
    >>> from clearwood.metatree import BernoulliBeta, given
    >>> learned = MetaTree(given([0], n_values=2), BernoulliBeta())
    >>> rows, y = [[0], [0], [0], [1], [1], [1]], [0, 0, 0, 1, 1, 1]
    >>> print(read_tree(learned.update(rows, y), classes=("ill", "well")))
    posterior probability 0.952
    root: ill 0.5  [reached 1, leaf 0.048]
    x0 is 0  [reached 0.952, leaf 0.952]
      2. then ill 0.875  (3 rows, precision 100 % [44, 100])
    x0 is 1  [reached 0.952, leaf 0.952]
      1. then well 0.875  (3 rows, precision 100 % [44, 100])
    The number after a class is its probability.
    A row that stops at an inner node (missing, never seen) gets the prediction of that
         node.
    """
    posterior = meta_tree.posterior()
    tree = posterior.map_tree() if tree is None else tree
    return _read_tree(_NodeRules(meta_tree, tuple(classes)), tree, target)


def _read_tree(says: _NodeRules, tree: PrunedTree, target: str) -> AnnotatedTree:
    posterior, s = says.posterior, says.posterior.structure
    asks = np.zeros(s.n_nodes, dtype=bool)
    asks[tree.inner] = True
    nodes: list[TreeNode] = []
    # Node, position of its parent, printed condition, and all conditions of the path.
    Open = tuple[int, int, Condition | None, dict[int, Condition], bool]
    todo: list[Open] = [(0, -1, None, {}, False)]
    while todo:
        number, parent, condition, way, stopped = todo.pop()
        conditions = tuple(way[d] for d in sorted(way))
        inner = bool(asks[number]) and not stopped
        nodes.append(
            TreeNode(
                number,
                parent,
                0 if parent < 0 else nodes[parent].depth + 1,
                condition,
                says.rule(number, conditions, stopped),
                float(posterior.reach[number]),
                float(posterior.leaf[number]),
                int(s.feature[number]) if inner else None,
                stopped,
            )
        )
        if not inner:
            continue
        below: list[Open] = []
        for branch, child in branches(s, number):
            found = still_open(branch, way)
            if found is not None:
                further = {**way, branch.feature: found[1]}
                to = number if child == STOP else int(s.first_child[number]) + child
                below.append((to, len(nodes) - 1, found[0], further, child == STOP))
        todo += reversed(below)
    return AnnotatedTree(
        tuple(nodes),
        reading_features(s),
        says.classes,
        target,
        tree.log_probability,
    )


class _NodeRules:
    """Predictions of nodes, with their statistics on the learned rows."""

    def __init__(self, meta_tree: MetaTree, classes: tuple[Any, ...]) -> None:
        posterior = meta_tree.posterior()
        model = posterior.model
        if model.reads_features:
            raise InputError(
                f"{type(model).__name__} has linear leaves, so its trees cannot be "
                "printed as rules; use NormalNormalGamma for constant leaves."
            )
        self.posterior, self.classes = posterior, classes
        total, own = posterior.total, meta_tree.rows
        # Where the number of rows is unknown, the weight replaces it.
        self.own_rows = model.weight_of(posterior.own) if own is None else own
        self.rows = model.weight_of(total)
        if own is not None:
            counts = own[:, None].astype(np.float64)
            self.rows = sum_up(counts, posterior.structure.parent)[:, 0]
        if classes:
            self.answers = model.probabilities(posterior.known)  # type: ignore[attr-defined]
        else:
            with np.errstate(invalid="ignore"):
                spread = math.sqrt(float(model.variance(total[0])))
            self.answers = model.mean(posterior.known)
            self.step = 0.005 * spread if math.isfinite(spread) else 0.0

    def rule(
        self, node: int, conditions: tuple[Condition, ...], stopped: bool = False
    ) -> Rule:
        """Rule of a node, with the statistics of its rows, or of those that stop."""
        posterior, answer = self.posterior, self.answers[node]
        stats = (posterior.own if stopped else posterior.total)[node]
        # Unlearning all rows of a node may leave a rounding error below zero.
        support = max(float(posterior.model.weight_of(stats)), 0.0)
        rows = max(float((self.own_rows if stopped else self.rows)[node]), 0.0)
        if not self.classes:
            shares, prediction = (), short_value(float(answer), self.step)
            is_one = posterior.model.n_columns == 1
            quality = _moments(posterior, stats, node) if is_one else {}
            if rows <= 1:
                quality.pop("std", None)
        else:
            best = int(answer.argmax())
            shares, prediction = tuple(answer.tolist()), self.classes[best]
            quality = _precision(float(stats[best]), support)
        known = RuleStatistics(
            support, support, rows=rows, rows_assigned=rows, **quality
        )
        return Rule(conditions, prediction, shares, statistics=known)


def _precision(right: float, support: float) -> dict[str, float]:
    """Share of the rows of the predicted class, and its interval."""
    if support <= 0:
        return {}
    share = min(right / support, 1.0)
    low, high = share_interval(share, support)
    return {"precision": share, "precision_assigned": share, "low": low, "high": high}


def _moments(posterior: Posterior, stats: np.ndarray, node: int) -> dict[str, float]:
    """Standard deviation of the target, and the credible interval of its mean.

    The interval is of all rows that the prediction is estimated from, those that the
    parent lends included.
    """
    weight, _, squares = stats.tolist()
    if weight <= 0:
        return {}
    spread = {"std": math.sqrt(max(squares, 0.0) / weight)}
    if not posterior.kept[0]:
        return spread
    model: Any = posterior.model
    low, high = model.mean_interval(posterior.known[node], LEVEL)
    return {**spread, "low": low, "high": high}
