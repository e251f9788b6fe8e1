"""Trees in bins: nodes with their rows, and moving one split."""

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
"""Maximum bins per numeric feature in the search for follow-up splits."""

TREE_PENALTY = 0.0003
"""Penalty per literal of each leaf. It decides between equally good trees; one of K
leaves needs about K log K of them."""


class TreeProblem(NamedTuple):
    """Data and penalties of the search for a tree; see :func:`make_tree_problem`.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that contain rows.
    stats : ndarray of shape (n_rows, n_scores + 3)
        Per row its scores, its weight, its contribution to the support, and one.
    leaf : LossForm
        Loss of a leaf.
    constant : float
        Constant term of the loss.
    literal : float
        Penalty per literal of a leaf's box.
    min_samples_leaf : float
        Minimum support of a leaf.
    ahead : Grid
        The same rows in fewer bins, for follow-up splits.
    """

    grid: Grid
    seen: np.ndarray
    stats: np.ndarray
    leaf: LossForm
    constant: float
    literal: float
    min_samples_leaf: float
    ahead: Grid

    @property
    def is_class(self) -> bool:
        """Whether the least of the scores, which are negative, decides."""
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
        min_samples_leaf: float = LEAST_ROWS,
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
            grid,
            grid.seen(),
            stats,
            leaf,
            constant,
            literal,
            float(min_samples_leaf),
            ahead,
        )

    def take(self, rows: np.ndarray) -> TreeProblem:
        """The same problem on some of the rows, each standing for equally many."""
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
    min_samples_leaf: float = LEAST_ROWS,
) -> TreeProblem:
    """Build the problem of a tree.

    Parameters
    ----------
    grid : Grid
    loss : Loss
        Squared error, or loss of probabilities.
    counts : ndarray of shape (n_rows,)
        Contribution of a row to the support: 0 for a synthetic one.
    literal : float
        Penalty per literal of a leaf's box.
    min_samples_leaf : float
        Minimum support of a leaf.
    """
    # For classes, a tree sums the negative gain of predicting each.
    scores = -loss.scores if loss.form.hard else loss.scores
    problem = TreeProblem.of(
        grid,
        scores,
        loss.share,
        counts,
        loss.form,
        literal,
        min_samples_leaf=min_samples_leaf,
    )
    return problem._replace(constant=loss.constant)


OF_ROWS = {"sums", "leaf_cost", "literals", "name", "best_splits", "promising"}
"""Cached values that depend neither on the split of a node nor on its descendants."""

Split = tuple[float, int, np.ndarray]
"""Cost of a node after a split, the feature, and which of its bins go left."""


@dataclass(frozen=True, eq=False)
class GrownNode:
    """A node of a tree with its rows; the root represents the tree.

    Attributes
    ----------
    problem : TreeProblem
    rows : ndarray of int64
        Indices of the rows.
    box : ndarray of bool of shape (total number of bins,)
        Allowed bins.
    feature : int
        Feature of the split; -1 in a leaf.
    goes_left : ndarray of bool of shape (number of bins of the feature,) or None
        Which of its bins go left; None in a leaf.
    children : tuple of GrownNode
        Left and right, or none.
    known : dict
        Cache of results on all nodes below the same root. Most of a search is on nodes
        that occurred in other trees.
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
        """Loss and literals as a leaf."""
        loss = float(kernels.leaf_loss(self.sums, self.problem.leaf))
        return loss + self.problem.literal * self.literals

    @cached_property
    def literals(self) -> int:
        """Number of literals of its box."""
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
        return bool(self.sums[-2] >= self.problem.min_samples_leaf)

    @cached_property
    def name(self) -> bytes:
        """Hash of the box; equal boxes below the same root, and no others, share it."""
        return digest(self.box)

    @cached_property
    def shape(self) -> bytes:
        """Hash of the splits here and below; equal ones, and no others, share it."""
        if not self.children:
            return b""
        left, right = self.children
        assert self.goes_left is not None
        key = self.feature.to_bytes(8), self.goes_left, left.shape, b"|", right.shape
        return digest(*key)

    @cached_property
    def value(self) -> Any:
        """Prediction: the mean of the scores, or of the weighted classes."""
        scores = self.sums[: -kernels.N_EXTRA]
        if self.problem.is_class:
            scores = -scores
        weight = self.sums[-kernels.N_EXTRA]
        means = (scores / weight if weight > 0 else 0.0 * scores).tolist()
        return means[0] if len(means) == 1 else tuple(means)

    @cached_property
    def best_splits(self) -> tuple[np.ndarray, np.ndarray]:
        """Per feature the minimum loss after one split, and the bins that go left."""
        return kernels.best_splits_of_rows(self.problem, self.rows)

    @property
    def place(self) -> NodePlace:
        """Rows and box of the node."""
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
        """The best split here with descendants kept; see :func:`improve`."""
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
        """Split on a feature; below are leaves, or splits like ``shapes``."""
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
        """The same split with other nodes below."""
        return self._asking(self.feature, self.goes_left, children)

    def _asking(
        self,
        feature: int = -1,
        goes_left: np.ndarray | None = None,
        children: tuple[GrownNode, ...] = (),
    ) -> GrownNode:
        """The node with another split, or none; cached results on its rows are kept."""
        node = GrownNode(
            self.problem, self.rows, self.box, feature, goes_left, children, self.known
        )
        of_rows = {name: v for name, v in self.__dict__.items() if name in OF_ROWS}
        node.__dict__.update(of_rows)
        return node

    def without(self, side: int) -> float:
        """Cost if replaced by one of its sides; infinite if not sound."""
        kept = self.children[1 - side]
        key = self.name + b"-" + kept.shape
        if key not in self.known:
            self.known[key] = kernels.cost_of_tree(
                self.problem, self.place, FlatTree.of(kept)
            )
        return self.known[key]

    def shaped_like(self, shape: GrownNode) -> GrownNode:
        """The splits of another tree, applied to the rows here."""
        if not shape.children:
            return self.leaf()
        assert shape.goes_left is not None
        return self.split(shape.feature, shape.goes_left, shape.children)

    def leaf(self) -> GrownNode:
        """The node without descendants."""
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
        """Prediction for each row."""
        return as_list(self).predict(grid)


Address = tuple[int, ...]
"""The sides taken from the root to a node: 0 for left, 1 for right."""


def inner_nodes(
    tree: GrownNode, address: Address = ()
) -> Iterator[tuple[Address, GrownNode]]:
    """The inner nodes, parents first, with their addresses from the root."""
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
    """The tree with a single leaf."""
    rows = np.arange(problem.grid.n_rows)
    return GrownNode(problem, rows, whole_box(problem.grid))


def objective(tree: GrownNode) -> float:
    """Loss and literals of a whole tree."""
    return tree.cost + tree.problem.constant


def leaf_boxes(tree: GrownNode) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The leaves as boxes, and their predictions, from left to right.

    Returns
    -------
    boxes : ndarray of bool of shape (n_leaves, total number of bins)
    values : tuple
    """
    leaves = tree.leaves()
    return np.array([leaf.box for leaf in leaves]), tuple(leaf.value for leaf in leaves)


def as_list(tree: GrownNode) -> BoxList:
    """The same as a list of boxes, with the last leaf as default rule."""
    boxes, values = leaf_boxes(tree)
    return BoxList(boxes[:-1], values[:-1], values[-1], objective(tree))


def _splits(node: GrownNode, tried: tuple[np.ndarray, ...]) -> list[Split]:
    """Splits from the results of a kernel, mask by mask."""
    n_bins = node.problem.grid.n_bins
    costs, features, masks = tried
    pairs = zip(costs.tolist(), features.tolist(), masks)
    return [(cost, d, mask[: n_bins[d]]) for cost, d, mask in pairs]


def _moved(node: GrownNode) -> GrownNode:
    """The best split here with descendants kept; the same node if it is best."""
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
    """Candidate splits for this node.

    If the children are leaves, their predictions are refitted with the split.
    """
    if node.n_leaves == 2:
        return node.promising
    tree = FlatTree.of(node)
    return _splits(node, kernels.splits_above(node.problem, node.place, tree))
