"""Trees in bins: nodes with the rows that come to them, and moving one split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.grid import LEAST_ROWS, Grid, n_literals, whole_box
from clearwood.search.lists.ascent import BoxList
from clearwood.search.losses import ProbabilityLoss, SquaredLoss
from clearwood.search.trees import _kernels as kernels
from clearwood.search.trees import _whole_trees as whole_trees
from clearwood.search.trees._kernels import SQUARED_ERROR, LeafLoss

LEAST_COST = LeafLoss(kernels.SQUARES, hard=1.0)
"""A leaf says what costs least."""

MOST_BINS_AHEAD = 32
"""Bins per numeric feature in which splits are sought that may follow another one."""

N_TRIED = 4
"""Features that are tried where one split is moved, in order of promise."""

TREE_PENALTY = 0.0003
"""Per literal of each leaf. It decides between trees that are as good; one of K leaves
cannot do without some K log K of them."""


class TreeProblem(NamedTuple):
    """What a tree is fitted to; see :func:`make_tree_problem`.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    stats : ndarray of shape (n_rows, n_scores + 3)
        Per row its scores, its weight, whether it counts as support, and one.
    leaf : LeafLoss
        What a leaf loses.
    constant : float
        What is lost besides.
    literal : float
        Penalty per literal of a leaf's box.
    min_rows : float
        Least support of a leaf.
    ahead : Grid
        The same rows in fewer bins, for splits that are looked at ahead of others.
    """

    grid: Grid
    seen: np.ndarray
    stats: np.ndarray
    leaf: LeafLoss
    constant: float
    literal: float
    min_rows: float
    ahead: Grid

    @property
    def is_class(self) -> bool:
        """Whether one of the scores decides, the least; they are less than zero."""
        return self.leaf.hard > 0

    @classmethod
    def of(
        cls,
        grid: Grid,
        scores: np.ndarray,
        share: np.ndarray,
        counts: np.ndarray,
        leaf: LeafLoss,
        literal: float = 0.0,
        *,
        min_rows: float = LEAST_ROWS,
    ) -> TreeProblem:
        """A problem of scores (n_rows, n_scores), each times its row's share."""
        squares = (scores**2).sum(axis=1) / np.maximum(share, 1e-300)
        stats = np.column_stack([scores, share, counts, np.ones(grid.n_rows)])
        stats = np.ascontiguousarray(stats)
        constant = leaf.soft * float(squares.sum())
        ahead = grid.coarse(MOST_BINS_AHEAD)
        return cls(
            grid, grid.seen(), stats, leaf, constant, literal, float(min_rows), ahead
        )

    def take(self, rows: np.ndarray) -> TreeProblem:
        """The same problem on some of the rows; each stands for equally many."""
        scale = np.full(self.stats.shape[1], self.grid.n_rows / len(rows))
        scale[-1] = 1.0
        return self._replace(
            grid=self.grid.take(rows),
            stats=self.stats[rows] * scale,
            ahead=self.ahead.take(rows),
        )


def make_tree_problem(
    grid: Grid,
    loss: ProbabilityLoss | SquaredLoss,
    counts: np.ndarray,
    literal: float = 0.0,
    *,
    min_rows: float = LEAST_ROWS,
) -> TreeProblem:
    """Put together what a tree is fitted to.

    Parameters
    ----------
    grid : Grid
    loss : ProbabilityLoss or SquaredLoss
    counts : ndarray of shape (n_rows,)
        How much a row counts as support: 0 for a synthetic one.
    literal : float
        Penalty per literal of a leaf's box.
    min_rows : float
        Least support of a leaf.
    """
    if isinstance(loss, SquaredLoss):
        scores = (loss.share * loss.target)[:, None]
        return TreeProblem.of(
            grid, scores, loss.share, counts, SQUARED_ERROR, literal, min_rows=min_rows
        )
    leaf = LeafLoss(kernels.SQUARES, 1.0, loss.softness)
    problem = TreeProblem.of(
        grid, -loss.scores, loss.share, counts, leaf, literal, min_rows=min_rows
    )
    return problem._replace(constant=float(loss.of_nothing.sum()))


@dataclass(frozen=True, eq=False)
class GrownNode:
    """A node of a tree with the rows that come to it; the root stands for the tree.

    Attributes
    ----------
    problem : TreeProblem
    rows : ndarray of int64
        Positions of the rows.
    box : ndarray of bool of shape (total number of bins,)
        Bins that are allowed here.
    feature : int
        The feature that is asked about; -1 in a leaf.
    goes_left : ndarray of bool of shape (number of bins of the feature,) or None
        Which of its bins go left; None in a leaf.
    children : tuple of GrownNode
        Left and right, or none.
    """

    problem: TreeProblem
    rows: np.ndarray
    box: np.ndarray
    feature: int = -1
    goes_left: np.ndarray | None = None
    children: tuple[GrownNode, ...] = ()

    @cached_property
    def sums(self) -> np.ndarray:
        """Sums of ``stats`` over the rows."""
        return kernels.sum_rows(self.problem.stats, self.rows)

    @cached_property
    def leaf_cost(self) -> float:
        """Loss and literals, were it a leaf."""
        loss = float(kernels.leaf_loss(self.sums, self.problem.leaf))
        return loss + self.problem.literal * self.literals

    @cached_property
    def literals(self) -> int:
        """Literals of its box."""
        return n_literals(self.problem.grid, self.box, self.problem.seen)

    @cached_property
    def cost(self) -> float:
        """Loss and literals of the leaves."""
        if self.children:
            return sum(child.cost for child in self.children)
        return self.leaf_cost

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum(child.n_leaves for child in self.children) or 1

    @cached_property
    def is_sound(self) -> bool:
        """Whether all leaves have enough support."""
        if self.children:
            return all(child.is_sound for child in self.children)
        return bool(self.sums[-2] >= self.problem.min_rows)

    @cached_property
    def value(self) -> Any:
        """What is said here: the mean of the scores, or of what each class counts."""
        scores = self.sums[: -kernels.N_EXTRA]
        if self.problem.is_class:
            scores = -scores
        weight = self.sums[-kernels.N_EXTRA]
        means = (scores / weight if weight > 0 else 0.0 * scores).tolist()
        return means[0] if len(means) == 1 else tuple(means)

    @cached_property
    def best_splits(self) -> tuple[np.ndarray, np.ndarray]:
        """Per feature the least loss after one split, and the bins that go left."""
        return self._splits_of(self.problem.stats, self.problem.leaf)

    def _splits_of(
        self, stats: np.ndarray, leaf: LeafLoss
    ) -> tuple[np.ndarray, np.ndarray]:
        grid = self.problem.grid
        return kernels.best_splits_of_rows(
            *grid, self.rows, stats, leaf, self.problem.min_rows
        )

    @cached_property
    def moved(self) -> GrownNode:
        """The best split here, what is below being kept; see :func:`improve`."""
        return _moved(self)

    def part(self, d: int) -> slice:
        """The bins of one feature in a box."""
        grid = self.problem.grid
        return slice(grid.start[d], grid.start[d] + grid.n_bins[d])

    def split(
        self,
        d: int,
        goes_left: np.ndarray,
        shapes: tuple[GrownNode, ...] = (),
    ) -> GrownNode:
        """Ask about a feature here; below, leaves, or splits like ``shapes``."""
        column = self.problem.grid.columns[d]
        sides = kernels.partition(column, self.rows, goes_left)
        children: list[GrownNode] = []
        for rows, bins in zip(sides, (goes_left, ~goes_left)):
            box = self.box.copy()
            box[self.part(d)] &= bins
            child = GrownNode(self.problem, rows, box)
            if shapes:
                child = child.shaped_like(shapes[len(children)])
            children.append(child)
        return replace(
            self, feature=int(d), goes_left=goes_left, children=tuple(children)
        )

    def with_children(self, children: tuple[GrownNode, ...]) -> GrownNode:
        """The same question with other nodes below."""
        return replace(self, children=children)

    def shaped_like(self, shape: GrownNode) -> GrownNode:
        """The same questions as in another tree, asked of the rows here."""
        if not shape.children:
            return self.leaf()
        assert shape.goes_left is not None
        return self.split(shape.feature, shape.goes_left, shape.children)

    def leaf(self) -> GrownNode:
        """The node without what is below."""
        return GrownNode(self.problem, self.rows, self.box) if self.children else self

    def leaves(self) -> list[GrownNode]:
        """The leaves from left to right."""
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]

    @property
    def boxes(self) -> np.ndarray:
        """The leaves but the last, as :func:`as_list` has them."""
        return as_list(self).boxes

    def predict(self, grid: Grid) -> np.ndarray:
        """What is said of each row."""
        return as_list(self).predict(grid)


Address = tuple[int, ...]
"""The sides taken from the root to a node: 0 for left, 1 for right."""


def inner_nodes(
    tree: GrownNode, address: Address = ()
) -> Iterator[tuple[Address, GrownNode]]:
    """The nodes that ask, parents first, and how to get there from the root."""
    if tree.children:
        yield address, tree
        for side, child in enumerate(tree.children):
            yield from inner_nodes(child, (*address, side))


def at(tree: GrownNode, address: Address) -> GrownNode:
    """The node at an address."""
    for side in address:
        tree = tree.children[side]
    return tree


def with_node(tree: GrownNode, address: Address, node: GrownNode) -> GrownNode:
    """The tree with another node at an address."""
    if not address:
        return node
    children = list(tree.children)
    old = children[address[0]]
    children[address[0]] = with_node(old, address[1:], node)
    if children[address[0]] is old:
        return tree
    return tree.with_children(tuple(children))


def root_of(problem: TreeProblem) -> GrownNode:
    """The tree that is one leaf."""
    rows = np.arange(problem.grid.n_rows)
    return GrownNode(problem, rows, whole_box(problem.grid))


def objective(tree: GrownNode) -> float:
    """Loss and literals of a whole tree."""
    return tree.cost + tree.problem.constant


def leaf_boxes(tree: GrownNode) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The leaves as boxes, and what they say, from left to right.

    Returns
    -------
    boxes : ndarray of bool of shape (n_leaves, total number of bins)
    values : tuple
    """
    leaves = tree.leaves()
    return np.array([leaf.box for leaf in leaves]), tuple(leaf.value for leaf in leaves)


def as_list(tree: GrownNode) -> BoxList:
    """The same as a list of boxes, the last leaf as ``otherwise``."""
    boxes, values = leaf_boxes(tree)
    return BoxList(boxes[:-1], values[:-1], values[-1], objective(tree))


class FlatTree(NamedTuple):
    """A tree as arrays, each node before its children; see ``cost_of_tree``.

    Attributes
    ----------
    feature : ndarray of int64 of shape (n_nodes,)
    goes_left : ndarray of bool of shape (n_nodes, largest number of bins)
    children : ndarray of int64 of shape (n_nodes, 2)
    """

    feature: np.ndarray
    goes_left: np.ndarray
    children: np.ndarray

    @classmethod
    def of(cls, tree: GrownNode) -> tuple[FlatTree, list[GrownNode]]:
        """The arrays of a tree, and its nodes in the same order."""
        nodes, children = [tree], [[-1, -1]]
        for i, node in enumerate(nodes):
            for side, child in enumerate(node.children):
                children[i][side] = len(nodes)
                nodes.append(child)
                children.append([-1, -1])
        feature = np.array([node.feature for node in nodes])
        masks = np.zeros((len(nodes), int(tree.problem.grid.n_bins.max())), dtype=bool)
        for line, node in zip(masks, nodes):
            if node.goes_left is not None:
                line[: len(node.goes_left)] = node.goes_left
        return cls(feature, masks, np.array(children)), nodes

    def asking(self, d: int, mask: np.ndarray) -> FlatTree:
        """The same tree with another question at its root."""
        self.feature[0] = d
        self.goes_left[0, : len(mask)] = mask
        return self


def split_of(problem: TreeProblem) -> FlatTree:
    """A split into two leaves, with no question yet."""
    masks = np.zeros((3, int(problem.grid.n_bins.max())), dtype=bool)
    return FlatTree(np.full(3, -1), masks, np.array([[1, 2], [-1, -1], [-1, -1]]))


def cost_in_place(node: GrownNode, tree: FlatTree) -> float:
    """What a tree costs in the place of a node; infinite where it is not sound."""
    problem = node.problem
    cost: float = whole_trees.cost_of_tree(
        *problem.grid, problem.seen, node.rows, problem.stats, problem.leaf,
        problem.literal, problem.min_rows, node.box, node.literals, *tree,
    )  # fmt: skip
    return cost


def _moved(node: GrownNode) -> GrownNode:
    """The best split here, what is below being kept; the same node where it is best.

    Where the children are leaves, what they say is refitted with the split. Else each
    row is sent to the side that costs less as it stands, as nearly as a split can.
    """
    problem, columns = node.problem, node.problem.grid.columns
    if node.n_leaves == 2:
        losses, goes_left = node.best_splits
        sides = None
    else:
        left, right = (_row_costs(child, node.rows) for child in node.children)
        sides = left, right
        stats = whole_trees.stats_of_sides(node.rows, left, right, problem.stats)
        losses, goes_left = node._splits_of(stats, LEAST_COST)
    least, best = node.cost - SMALLEST_CHANGE, None
    tree, _ = FlatTree.of(node)
    for d in np.argsort(losses, kind="stable")[:N_TRIED]:
        if not np.isfinite(losses[d]):
            break
        mask = goes_left[node.part(d)]
        if sides and whole_trees.is_turned(columns[d], node.rows, mask, *sides):
            mask = ~mask
        cost = cost_in_place(node, tree.asking(d, mask))
        if cost < least:
            least, best = cost - SMALLEST_CHANGE, (d, mask)
    return node if best is None else node.split(*best, node.children)


def _row_costs(tree: GrownNode, rows: np.ndarray) -> np.ndarray:
    """What each row would cost in a tree that stays as it is."""
    problem, (flat, nodes) = tree.problem, FlatTree.of(tree)
    sums = np.array([node.sums for node in nodes])
    costs: np.ndarray = whole_trees.costs_of_rows(
        problem.grid.columns, rows, problem.stats, problem.leaf, sums, *flat
    )
    return costs
