"""The optimal tree over given statements, of every size up to a depth.

The least cost of k leaves on some rows is the least, over all splits, of that of i
leaves on the left and k - i on the right. Rows that no statement separates are merged;
equal rows in boxes whose descriptions cost the same are solved once; and the last two
levels are solved at once from counts of pairs (``_optimal_kernels``).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from benchmarks.few_rules import _optimal_kernels as optimal
from clearwood._kernels.search_trees import leaf_loss
from clearwood.search.grid import Grid
from clearwood.search.trees.nodes import GrownNode, TreeProblem, inner_nodes, root_of

Statement = tuple[int, np.ndarray]
"""A feature, and the bins that go left."""


class PlannedSplit(NamedTuple):
    """A split and what follows on both sides; None stands for a leaf."""

    question: int
    position: int
    left: PlannedSplit | None
    right: PlannedSplit | None


Solution = tuple[np.ndarray, list["PlannedSplit | None"]]
"""Costs of 1, 2, ... leaves, infinite where there are none, and how to get them."""


def statements_of(trees: Iterable[GrownNode]) -> list[Statement]:
    """The distinct statements of some trees."""
    found = {}
    for tree in trees:
        for _, node in inner_nodes(tree):
            assert node.goes_left is not None
            key = node.feature, node.goes_left.tobytes()
            found[key] = node.feature, node.goes_left
    return list(found.values())


def all_cuts(grid: Grid) -> list[Statement]:
    """All cuts of numeric features, and each category against the others."""
    found: list[Statement] = []
    for d, size in enumerate(grid.n_bins):
        bins = np.arange(size)
        if grid.is_category[d]:
            found += [(d, bins == b) for b in bins]
        else:
            found += [(d, bins <= cut) for cut in range(size - 2)]
    return found


def optimal_trees(
    problem: TreeProblem,
    statements: Iterable[Statement],
    max_leaves: int,
    max_depth: int,
) -> list[GrownNode]:
    """Among all trees over given statements, those of least cost.

    A cut of a numeric feature is considered with missing values on either side.

    Parameters
    ----------
    problem : TreeProblem
    statements : iterable of (int, ndarray of bool)
        Features, and their bins that go left.
    max_leaves : int
    max_depth : int
        Maximum number of splits on the way to a leaf: two, or more. The time grows
        with the number of statements to the power of this.

    Returns
    -------
    list of GrownNode
        The best of 1, 2, ... leaves at most.
    """
    search = _Search(problem, Orders.of(problem.grid, statements))
    bounds = np.zeros(len(problem.grid.start), dtype=np.int64)
    costs, plans = search.solve(search.everything, bounds, max_leaves, max_depth)
    root = root_of(problem)
    found = [root]
    for cost, plan in zip(costs[1:], plans[1:]):
        if np.isfinite(cost):
            found.append(search.questions.tree(root, plan))
    return found


class Orders(NamedTuple):
    """Statements in order: each question splits the rows at any of its positions.

    Attributes
    ----------
    columns : ndarray of shape (n_questions, n_rows)
        Position of every row.
    n_positions : ndarray of int64 of shape (n_questions,)
    marks : ndarray of int64 of shape (n_questions, largest number of positions, 2)
        How a cut bounds the feature on both sides; 0 where there is none.
    feature : ndarray of int64 of shape (n_questions,)
    position_of : tuple of ndarray
        Per question the position of every bin of its feature.
    """

    columns: np.ndarray
    n_positions: np.ndarray
    marks: np.ndarray
    feature: np.ndarray
    position_of: tuple[np.ndarray, ...]

    @classmethod
    def of(cls, grid: Grid, statements: Iterable[Statement]) -> Orders:
        """Cuts of a numeric feature are one question; a set of categories is another.

        Where values are missing, they are grouped with the low ones and with the high.
        """
        seen, cuts = grid.seen(), defaultdict(set)
        found: list[tuple[int, np.ndarray, list[list[int]]]] = []
        for d, goes_left in statements:
            if grid.is_category[d]:
                position = np.where(goes_left, 0, 1)
                found.append((d, position, [[optimal.OTHERWISE] * 2]))
            else:
                cuts[d].add(int(goes_left[:-1].sum()))
        for d, n_left in cuts.items():
            last = int(grid.n_bins[d]) - 1
            inner = sorted(n_left - {0, last})
            found += _numeric(d, last, inner, bool(seen[grid.start[d] + last]))
        n_positions = np.array([len(own) + 1 for _, _, own in found], dtype=np.int64)
        marks = np.zeros((len(found), int(n_positions.max(initial=1)), 2), np.int64)
        columns = np.zeros((len(found), grid.n_rows), dtype=np.uint16)
        for q, (d, position, own) in enumerate(found):
            marks[q, : len(own)] = np.reshape(own, (-1, 2))
            columns[q] = position[grid.columns[d]]
        feature = np.array([d for d, _, _ in found], dtype=np.int64)
        positions = tuple(position for _, position, _ in found)
        return cls(columns, n_positions, marks, feature, positions)

    def tree(self, node: GrownNode, plan: PlannedSplit | None) -> GrownNode:
        """The tree of a plan below a node."""
        if plan is None:
            return node
        d = int(self.feature[plan.question])
        goes_left = self.position_of[plan.question] <= plan.position
        grid = node.problem.grid
        here = grid.columns[d][node.rows]
        if not grid.is_category[d] and not (here == grid.n_bins[d] - 1).any():
            # Values that will be missing go with most rows.
            goes_left[-1] = 2 * goes_left[here].sum() > len(here)
        node = node.split(d, goes_left)
        below = zip(node.children, (plan.left, plan.right))
        return node.with_children(tuple(self.tree(*child) for child in below))


def _numeric(
    d: int, last: int, cuts: list[int], is_missing: bool
) -> list[tuple[int, np.ndarray, list[list[int]]]]:
    """Feature, position of every bin, and bounds left and right of every cut.

    Where values are missing, once with them before all others and once after.
    """
    group = np.searchsorted(cuts, np.arange(last), side="right")
    own = [[optimal.HIGH, optimal.LOW] for _ in cuts]
    if not is_missing:
        return [(d, np.append(group, 0), own)] if cuts else []
    alone = [optimal.MISSING, optimal.OTHERWISE]
    found = [(d, np.append(group + 1, 0), [alone, *own])]
    if cuts:
        # That missing values stand alone is a question of its own, above.
        found.append((d, np.append(group, len(cuts) + 1), [*own, [0, 0]]))
    return found


def cells(problem: TreeProblem, questions: Orders) -> tuple[np.ndarray, np.ndarray]:
    """Merge rows that no statement separates: their positions, and their sums."""
    found, cell = np.unique(questions.columns, axis=1, return_inverse=True)
    n_cells = found.shape[1]
    sums = [np.bincount(cell, one, n_cells) for one in problem.stats.T]
    return np.ascontiguousarray(found), np.stack(sums, axis=1)


def least_of_all(problem: TreeProblem, statements: Iterable[Statement]) -> float:
    """Loss where merged rows have the same prediction, and others need not."""
    _, stats = cells(problem, Orders.of(problem.grid, statements))
    return sum(leaf_loss(line, problem.leaf) for line in stats) + problem.constant


class _Search:
    """Subproblems that are solved once."""

    def __init__(self, problem: TreeProblem, questions: Orders) -> None:
        self.problem, self.questions = problem, questions
        self.columns, self.stats = cells(problem, questions)
        self.everything = np.arange(len(self.stats))
        self.solved: dict[tuple[bytes, bytes, int, int], Solution] = {}

    def solve(
        self, rows: np.ndarray, bounds: np.ndarray, most: int, depth: int
    ) -> Solution:
        """The least costs of 1, 2, ... leaves on some rows, and the plans."""
        name = hashlib.blake2b(rows.tobytes(), digest_size=16).digest()
        key = name, bounds.tobytes(), most, depth
        if key not in self.solved:
            # No tree of three leaves is deeper than two.
            last = depth == 2 or most <= 3
            how = self._two_levels if last else self._split_first
            self.solved[key] = how(rows, bounds, most, depth)
        return self.solved[key]

    def _two_levels(
        self, rows: np.ndarray, bounds: np.ndarray, most: int, depth: int
    ) -> Solution:
        _, n_positions, marks, feature, _ = self.questions
        problem = self.problem
        costs, plans = optimal.two_levels(
            self.columns, n_positions, marks, feature, rows, self.stats, bounds,
            optimal.LITERALS, problem.literal, problem.leaf, problem.min_samples_leaf,
        )  # fmt: skip
        return costs[:most], [_plan(lines) for lines in plans[:most].tolist()]

    def _split_first(
        self, rows: np.ndarray, bounds: np.ndarray, most: int, depth: int
    ) -> Solution:
        """By all first splits; below them, one leaf and one level less."""
        _, _, marks, feature, _ = self.questions
        costs, plans = self._two_levels(rows, bounds, most, 2)
        best = np.full(most, np.inf)
        best[: len(costs)] = costs
        plans += [None] * (most - len(plans))
        for q, d in enumerate(feature):
            here = self.columns[q, rows]
            for j in np.unique(here)[:-1]:
                if not marks[q, j, 0]:
                    continue
                sides = []
                for part, mark in zip((here <= j, here > j), marks[q, j]):
                    own = bounds.copy()
                    own[d] |= mark
                    sides.append(self.solve(rows[part], own, most - 1, depth - 1))
                (left, left_plans), (right, right_plans) = sides
                for i, cost in enumerate(left):
                    for k, other in enumerate(right[: most - i - 1], start=i + 1):
                        if cost + other < best[k]:
                            best[k] = cost + other
                            below = left_plans[i], right_plans[k - i - 1]
                            plans[k] = PlannedSplit(q, int(j), *below)
        return best, plans


def _plan(lines: list[list[int]]) -> PlannedSplit | None:
    """The plan of a cut and those on its left and on its right."""
    (question, position), *below = lines
    if question < 0:
        return None
    left, right = (
        PlannedSplit(*at, None, None) if at[0] >= 0 else None for at in below
    )
    return PlannedSplit(question, position, left, right)
