"""Trees in bins: nodes with the rows that come to them, and moving one split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import search_trees as kernels
from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.grid import LEAST_ROWS, Grid, n_literals, whole_box
from clearwood.search.lists.ascent import BoxList
from clearwood.search.losses import Loss, LossForm
from clearwood.search.trees.flat import FlatTree, NodePlace, digest

MOST_BINS_AHEAD = 32
"""Bins per numeric feature in which splits are sought that may follow another one."""

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
    leaf : LossForm
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
    leaf: LossForm
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
        leaf: LossForm,
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
        # Bins of both grids are numbered in one type.
        columns = ahead.columns.astype(grid.columns.dtype, copy=False)
        ahead = ahead._replace(columns=columns)
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
    loss: Loss,
    counts: np.ndarray,
    literal: float = 0.0,
    *,
    min_rows: float = LEAST_ROWS,
) -> TreeProblem:
    """Put together what a tree is fitted to.

    Parameters
    ----------
    grid : Grid
    loss : Loss
        Of squares, or of probabilities.
    counts : ndarray of shape (n_rows,)
        How much a row counts as support: 0 for a synthetic one.
    literal : float
        Penalty per literal of a leaf's box.
    min_rows : float
        Least support of a leaf.
    """
    # Of classes, a tree counts what saying each does not cost.
    scores = -loss.scores if loss.form.hard else loss.scores
    problem = TreeProblem.of(
        grid, scores, loss.share, counts, loss.form, literal, min_rows=min_rows
    )
    return problem._replace(constant=loss.constant)


OF_ROWS = {"sums", "leaf_cost", "literals", "name", "best_splits", "promising"}
"""What does not depend on the question of a node, nor on what is below."""

Split = tuple[float, int, np.ndarray]
"""What a node costs with a split, the feature, and which of its bins go left."""


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
    known : dict
        What was found out about any node below the same root. Most of a search is on
        nodes that it has seen in other trees.
    """

    problem: TreeProblem
    rows: np.ndarray
    box: np.ndarray
    feature: int = -1
    goes_left: np.ndarray | None = None
    children: tuple[GrownNode, ...] = ()
    known: dict[bytes, Any] = field(default_factory=dict, repr=False)

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
            left, right = self.children
            return left.cost + right.cost
        return self.leaf_cost

    @cached_property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return sum([child.n_leaves for child in self.children]) or 1

    @cached_property
    def is_sound(self) -> bool:
        """Whether all leaves have enough support."""
        if self.children:
            return all(child.is_sound for child in self.children)
        return bool(self.sums[-2] >= self.problem.min_rows)

    @cached_property
    def name(self) -> bytes:
        """The same for equal boxes below the same root, and for no others."""
        return digest(self.box)

    @cached_property
    def shape(self) -> bytes:
        """The same for equal questions here and below, and for no others."""
        if not self.children:
            return b""
        left, right = self.children
        assert self.goes_left is not None
        asked = self.feature.to_bytes(8), self.goes_left, left.shape, b"|", right.shape
        return digest(*asked)

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
        return kernels.best_splits_of_rows(self.problem, self.rows)

    @property
    def place(self) -> NodePlace:
        """Where it stands."""
        return NodePlace(self.rows, self.box, self.literals)

    @cached_property
    def promising(self) -> list[Split]:
        """The best splits of a few features with two leaves below, the best first."""
        key = self.name
        if key not in self.known:
            tried = kernels.splits_into_leaves(
                self.problem, self.place, *self.best_splits
            )
            self.known[key] = _splits(self, tried)
        return self.known[key]

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
            child = GrownNode(self.problem, rows, box, known=self.known)
            if shapes:
                child = child.shaped_like(shapes[len(children)])
            children.append(child)
        return self._asking(int(d), goes_left, tuple(children))

    def with_children(self, children: tuple[GrownNode, ...]) -> GrownNode:
        """The same question with other nodes below."""
        return self._asking(self.feature, self.goes_left, children)

    def _asking(
        self,
        feature: int = -1,
        goes_left: np.ndarray | None = None,
        children: tuple[GrownNode, ...] = (),
    ) -> GrownNode:
        """The node with another question, or none; what is known of its rows stays."""
        node = GrownNode(
            self.problem, self.rows, self.box, feature, goes_left, children, self.known
        )
        of_rows = {name: v for name, v in self.__dict__.items() if name in OF_ROWS}
        node.__dict__.update(of_rows)
        return node

    def without(self, side: int) -> float:
        """What it would cost with one of its sides alone; infinite if not sound."""
        kept = self.children[1 - side]
        key = self.name + b"-" + kept.shape
        if key not in self.known:
            self.known[key] = kernels.cost_of_tree(
                self.problem, self.place, FlatTree.of(kept)
            )
        return self.known[key]

    def shaped_like(self, shape: GrownNode) -> GrownNode:
        """The same questions as in another tree, asked of the rows here."""
        if not shape.children:
            return self.leaf()
        assert shape.goes_left is not None
        return self.split(shape.feature, shape.goes_left, shape.children)

    def leaf(self) -> GrownNode:
        """The node without what is below."""
        if not self.children:
            return self
        return self._asking()

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


def _splits(node: GrownNode, tried: tuple[np.ndarray, ...]) -> list[Split]:
    """What a kernel has tried, mask by mask."""
    n_bins = node.problem.grid.n_bins
    costs, features, masks = tried
    pairs = zip(costs.tolist(), features.tolist(), masks)
    return [(cost, d, mask[: n_bins[d]]) for cost, d, mask in pairs]


def _moved(node: GrownNode) -> GrownNode:
    """The best split here, what is below being kept; the same node where it is best."""
    key = node.name + node.shape
    if key not in node.known:
        best, least = None, node.cost - SMALLEST_CHANGE
        for cost, d, mask in _moves(node):
            if cost < least:
                least, best = cost - SMALLEST_CHANGE, (d, mask)
        node.known[key] = best
    if node.known[key] is None:
        return node
    d, mask = node.known[key]
    return node.split(d, mask, node.children)


def _moves(node: GrownNode) -> list[Split]:
    """Splits that may be better here.

    Where the children are leaves, what they say is refitted with the split.
    """
    if node.n_leaves == 2:
        return node.promising
    tree = FlatTree.of(node)
    return _splits(node, kernels.splits_above(node.problem, node.place, tree))
