"""Small trees, grown by looking two splits ahead and improved as a whole.

A tree is fitted to a loss on bins. It is grown large by splits whose best follow-up
splits lower the loss most, cut back to each size exactly, and improved at each size by
moving splits and leaves until the objective stops falling.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood.search import _tree_kernels as kernels
from clearwood.search.boxes import Grid, n_literals, whole_box
from clearwood.search.lists import LEAST_ROWS, BoxList
from clearwood.search.losses import ClassLoss, Loss

SOFTNESS = 0.1
"""Weight of the squared error of the regrets beside the regret itself. It prefers, of
splits after which the same classes are said, the one that prepares for others."""

MOST_AHEAD_ROWS = 2500
"""Rows on which first splits are compared; the best are compared again on all."""

MOST_AHEAD_WORK = 5e7
"""Most additions in one comparison of first splits."""

N_FIRST = (24, 128)
"""Fewest and most first splits that are followed up."""

N_COMPARED = 6
"""Of these, those that are followed up on all rows."""

N_TRIED = 4
"""Features that are tried where one split is moved, in order of promise."""

N_REMOVED = 3
"""Leaves that may move to another place at a time: those that are missed least."""

MOST_ROUNDS = 2
"""Most passes over all sizes."""

MOST_SWEEPS = 20
"""Most rounds over all splits of a tree."""

SMALLEST_CHANGE = 1e-9
"""A tree changes only if its objective falls by more than this."""


class TreeProblem(NamedTuple):
    """What a tree is fitted to; see :func:`make_tree_problem`.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    stats : ndarray of shape (n_rows, n_scores + 3)
        Per row its scores, its weight, whether it counts as support, and one.
    hard, soft : float
        What a leaf loses: see ``_tree_kernels.leaf_loss``.
    constant : float
        What is lost besides.
    literal : float
        Penalty per literal of a leaf's box.
    is_class : bool
        Whether leaves say a class, or a value.
    """

    grid: Grid
    seen: np.ndarray
    stats: np.ndarray
    hard: float
    soft: float
    constant: float
    literal: float
    is_class: bool


def make_tree_problem(
    grid: Grid, loss: Loss, counts: np.ndarray, literal: float = 0.0
) -> TreeProblem:
    """Put together what a tree is fitted to.

    Parameters
    ----------
    grid : Grid
    loss : ClassLoss or SquaredLoss
    counts : ndarray of shape (n_rows,)
        How much a row counts as support: 0 for a made one.
    literal : float
        Penalty per literal of a leaf's box.
    """
    is_class = isinstance(loss, ClassLoss)
    if isinstance(loss, ClassLoss):
        scores, hard, soft = loss.costs.T, 1.0, SOFTNESS
    else:
        scores, hard, soft = (loss.share * loss.target)[:, None], 0.0, 1.0
    squares = (scores**2).sum(axis=1) / np.maximum(loss.share, 1e-300)
    stats = np.column_stack([scores, loss.share, counts, np.ones(grid.n_rows)])
    constant = soft * float(squares.sum())
    return TreeProblem(
        grid, grid.seen(), stats, hard, soft, constant, literal, is_class
    )


@dataclass(frozen=True, eq=False)
class Node:
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
    children : tuple of Node
        Left and right, or none.
    """

    problem: TreeProblem
    rows: np.ndarray
    box: np.ndarray
    feature: int = -1
    goes_left: np.ndarray | None = None
    children: tuple[Node, ...] = ()

    @cached_property
    def sums(self) -> np.ndarray:
        """Sums of ``stats`` over the rows."""
        return kernels.sum_rows(self.problem.stats, self.rows)

    @cached_property
    def leaf_cost(self) -> float:
        """Loss and literals, were it a leaf."""
        grid, seen, _, hard, soft, _, literal, _ = self.problem
        loss = float(kernels.leaf_loss(self.sums, hard, soft))
        return loss + (literal * n_literals(grid, self.box, seen) if literal else 0.0)

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
        return bool(self.sums[-2] >= LEAST_ROWS)

    @cached_property
    def value(self) -> Any:
        """What is said here: a class, or a value."""
        scores = self.sums[: -kernels.N_EXTRA]
        if self.problem.is_class:
            return int(scores.argmin())
        weight = self.sums[-kernels.N_EXTRA]
        return float(scores[0] / weight) if weight > 0 else 0.0

    @cached_property
    def best_splits(self) -> tuple[np.ndarray, np.ndarray]:
        """Per feature the least loss after one split, and the bins that go left."""
        return self._splits_of(self.problem.stats, self.problem.hard, self.problem.soft)

    def _splits_of(
        self, stats: np.ndarray, hard: float, soft: float
    ) -> tuple[np.ndarray, np.ndarray]:
        grid = self.problem.grid
        sums = kernels.histogram(
            grid.columns, grid.start, len(self.box), self.rows, stats
        )
        return kernels.best_splits(
            sums, grid.start, grid.n_bins, grid.is_category, hard, soft,
            float(LEAST_ROWS),
        )  # fmt: skip

    @cached_property
    def moved(self) -> Node:
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
        shapes: tuple[Node, ...] = (),
    ) -> Node:
        """Ask about a feature here; below, leaves, or splits like ``shapes``."""
        column = self.problem.grid.columns[d]
        sides = kernels.partition(column, self.rows, goes_left)
        children: list[Node] = []
        for rows, bins in zip(sides, (goes_left, ~goes_left)):
            box = self.box.copy()
            box[self.part(d)] &= bins
            child = Node(self.problem, rows, box)
            if shapes:
                child = child.shaped_like(shapes[len(children)])
            children.append(child)
        return replace(
            self, feature=int(d), goes_left=goes_left, children=tuple(children)
        )

    def with_children(self, children: tuple[Node, ...]) -> Node:
        """The same question with other nodes below."""
        return replace(self, children=children)

    def shaped_like(self, shape: Node) -> Node:
        """The same questions as in another tree, asked of the rows here."""
        if not shape.children:
            return self.leaf()
        assert shape.goes_left is not None
        return self.split(shape.feature, shape.goes_left, shape.children)

    def leaf(self) -> Node:
        """The node without what is below."""
        return Node(self.problem, self.rows, self.box) if self.children else self

    def leaves(self) -> list[Node]:
        """The leaves from left to right."""
        if not self.children:
            return [self]
        return [leaf for child in self.children for leaf in child.leaves()]

    def predict(self, grid: Grid) -> np.ndarray:
        """What is said of each row."""
        return as_list(self).predict(grid)


Path = tuple[int, ...]


def inner_nodes(tree: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """The nodes that ask, parents first, and how to get there from the root."""
    if tree.children:
        yield path, tree
        for side, child in enumerate(tree.children):
            yield from inner_nodes(child, (*path, side))


def at(tree: Node, path: Path) -> Node:
    """The node to which a path leads."""
    for side in path:
        tree = tree.children[side]
    return tree


def with_node(tree: Node, path: Path, node: Node) -> Node:
    """The tree with another node at the end of a path."""
    if not path:
        return node
    children = list(tree.children)
    old = children[path[0]]
    children[path[0]] = with_node(old, path[1:], node)
    if children[path[0]] is old:
        return tree
    return tree.with_children(tuple(children))


def root_of(problem: TreeProblem) -> Node:
    """The tree that is one leaf."""
    rows = np.arange(problem.grid.n_rows)
    return Node(problem, rows, whole_box(problem.grid))


def objective(tree: Node) -> float:
    """Loss and literals of a whole tree."""
    return tree.cost + tree.problem.constant


def leaf_boxes(tree: Node) -> tuple[np.ndarray, tuple[Any, ...]]:
    """The leaves as boxes, and what they say, from left to right.

    Returns
    -------
    boxes : ndarray of bool of shape (n_leaves, total number of bins)
    values : tuple
    """
    leaves = tree.leaves()
    return np.array([leaf.box for leaf in leaves]), tuple(leaf.value for leaf in leaves)


def as_list(tree: Node) -> BoxList:
    """The same as a list of boxes, the last leaf as ``otherwise``."""
    boxes, values = leaf_boxes(tree)
    return BoxList(boxes[:-1], values[:-1], values[-1], objective(tree))


def grow_trees(problem: TreeProblem, max_leaves: int) -> list[Node]:
    """Trees of 1, 2, ... leaves, each as good as the search finds.

    Parameters
    ----------
    problem : TreeProblem
    max_leaves : int

    Returns
    -------
    list of Node
        One per size; none beyond the size from which no split pays.
    """
    root = root_of(problem)
    if max_leaves < 2 or not len(problem.grid.n_bins):
        return [root]
    large = [grow(root, 2 * max_leaves, how) for how in (first_split, next_split)]
    found = {1: root}
    for cut in (prunings(tree, max_leaves) for tree in large):
        for size in sorted(cut):
            _keep(found, improve(cut[size]))
    # What was learnt at one size may serve those beside it.
    for _ in range(MOST_ROUNDS):
        before = sum(tree.cost for tree in found.values())
        for size in range(1, max_leaves):
            if size in found:
                for longer in expansions(found[size]):
                    _keep(found, improve(longer))
        for size in range(max_leaves, 2, -1):
            if size in found:
                for shorter in removals(found[size])[:1]:
                    _keep(found, improve(shorter))
        if sum(tree.cost for tree in found.values()) > before - SMALLEST_CHANGE:
            break
    paying = [root]
    for size in sorted(found):
        if found[size].cost < paying[-1].cost - SMALLEST_CHANGE:
            paying.append(found[size])
    return paying


def _keep(found: dict[int, Node], tree: Node) -> None:
    """Keep a tree if it is the best of its size, without splits that say nothing."""
    tree = merged(tree)
    known = found.get(tree.n_leaves)
    if known is None or tree.cost < known.cost - SMALLEST_CHANGE:
        found[tree.n_leaves] = tree


def merged(tree: Node) -> Node:
    """The tree without splits on both sides of which the same is said."""
    if not tree.children:
        return tree
    children = tuple(merged(child) for child in tree.children)
    left, right = children
    if not left.children and not right.children and left.value == right.value:
        return tree.leaf()
    return tree if children == tree.children else tree.with_children(children)


Proposal = tuple[float, int, np.ndarray]
"""Gain, feature, and the bins that go left."""


def grow(root: Node, n_leaves: int, propose: Any) -> Node:
    """Split the leaf with most to gain, again and again."""
    tree = root
    proposals: dict[Path, Proposal | None] = {(): propose(root)}
    for _ in range(n_leaves - 1):
        path = max(proposals, key=lambda path: _gain(proposals[path]))
        proposal = proposals.pop(path)
        if proposal is None or proposal[0] <= SMALLEST_CHANGE:
            break
        node = at(tree, path).split(*proposal[1:])
        tree = with_node(tree, path, node)
        for side, child in enumerate(node.children):
            proposals[(*path, side)] = propose(child)
    return tree


def _gain(proposal: Proposal | None) -> float:
    return -np.inf if proposal is None else proposal[0]


def next_split(leaf: Node) -> Proposal | None:
    """The split that lowers the loss most by itself."""
    losses, goes_left = leaf.best_splits
    if not np.isfinite(losses).any():
        return None
    d = int(losses.argmin())
    gain = _own_loss(leaf) - float(losses[d])
    return gain, d, goes_left[leaf.part(d)]


def _own_loss(leaf: Node) -> float:
    return float(kernels.leaf_loss(leaf.sums, leaf.problem.hard, leaf.problem.soft))


def first_split(leaf: Node) -> Proposal | None:
    """The split that lowers the loss most together with the best one on each side.

    Returns
    -------
    Proposal or None
        The gain is that per leaf that is added. None where no split is possible.
    """
    features, masks = first_splits(leaf)
    if not len(features):
        return None
    rows = leaf.rows
    if len(rows) > MOST_AHEAD_ROWS and len(features) > N_COMPARED:
        some = rows[:: -(-len(rows) // MOST_AHEAD_ROWS)]
        after = follow_up(leaf, some, features, masks)
        best = np.argsort(after.min(axis=1), kind="stable")[:N_COMPARED]
        features, masks = features[best], masks[best]
    after = follow_up(leaf, rows, features, masks)
    chosen = int(after[:, 2].argmin())
    if not np.isfinite(after[chosen, 2]):
        return None
    gains = _own_loss(leaf) - after[chosen]
    d = int(features[chosen])
    size = leaf.problem.grid.n_bins[d]
    return float((gains / [1, 2, 3]).max()), d, masks[chosen, :size]


def follow_up(
    leaf: Node, rows: np.ndarray, features: np.ndarray, masks: np.ndarray
) -> np.ndarray:
    """Loss after each split, with none, the better one, and both of the follow-ups.

    On some of the rows: each stands for equally many.
    """
    grid, _, stats, hard, soft = leaf.problem[:5]
    scale = len(leaf.rows) / len(rows)
    sums = kernels.histogram(grid.columns, grid.start, len(leaf.box), rows, stats)
    left, right, left_split, right_split = kernels.look_ahead(
        *grid, rows, stats, sums, features, masks, hard, soft, LEAST_ROWS / scale
    ).T
    one = np.minimum(left_split + right, left + right_split)
    return scale * np.stack([left + right, one, left_split + right_split], axis=1)


def first_splits(leaf: Node) -> tuple[np.ndarray, np.ndarray]:
    """Splits worth following up: the best of each feature, and evenly spread cuts.

    All cuts of all numeric features, where they are few.

    Returns
    -------
    features : ndarray of int64 of shape (n_splits,)
    masks : ndarray of bool of shape (n_splits, largest number of bins)
        Bins that go left.
    """
    problem, (losses, goes_left) = leaf.problem, leaf.best_splits
    grid, order = problem.grid, np.argsort(losses, kind="stable")
    n_rows = min(len(leaf.rows), MOST_AHEAD_ROWS)
    each = n_rows * len(grid.start) * problem.stats.shape[1] / 2
    most = int(np.clip(MOST_AHEAD_WORK / max(each, 1.0), *N_FIRST))
    order = order[np.isfinite(losses[order])][: max(most // 2, 1)]
    found = [(d, goes_left[leaf.part(d)]) for d in order]
    numeric = [d for d in order if not grid.is_category[d]]
    cuts = {d: _spread_cuts(leaf, d, most // max(len(order), 1)) for d in numeric}
    found += [(d, mask) for d in numeric for mask in cuts[d]]
    features = np.array([d for d, _ in found], dtype=np.int64)
    masks = np.zeros((len(found), int(grid.n_bins.max(initial=1))), dtype=bool)
    for line, (_, mask) in zip(masks, found):
        line[: len(mask)] = mask
    return features, masks


def _spread_cuts(leaf: Node, d: int, most: int) -> list[np.ndarray]:
    """Cuts of a numeric feature: all if they are few, else with equal numbers between.

    Missing values, where there are some, are tried on both sides.
    """
    grid = leaf.problem.grid
    size = int(grid.n_bins[d])
    rows = np.bincount(grid.columns[d][leaf.rows], minlength=size)
    filled = np.flatnonzero(rows[:-1])
    sides = (False, True) if rows[-1] else (False,)
    if len(filled) * len(sides) > most:
        share = np.cumsum(rows[:-1]) / rows[:-1].sum()
        wanted = max(most // len(sides), 1)
        at = np.searchsorted(share, np.arange(1, wanted + 1) / (wanted + 1))
        filled = np.unique(at)
    bins = np.arange(size)
    return [
        np.where(bins == size - 1, side, bins <= cut)
        for cut in filled
        for side in sides
    ]


def best_subtrees(
    costs: Sequence[float],
    left: Sequence[int],
    right: Sequence[int],
    most: int,
) -> list[tuple[float, tuple[int, ...]]]:
    """Of all prunings of a tree with 1, 2, ... leaves, those that cost least.

    Parameters
    ----------
    costs : sequence of float
        What each node costs as a leaf. Node 0 is the root; children come after their
        parents.
    left, right : sequence of int
        Children of each node; -1 for a leaf.
    most : int
        Most leaves.

    Returns
    -------
    list of (float, tuple of int)
        Per size, from 1: the cost, and the nodes that are leaves, from left to right.

    Examples
    --------
    >>> best_subtrees([5.0, 3.0, 1.5, 0.0, 0.5], [1, 3, -1, -1, -1],
    ...               [2, 4, -1, -1, -1], most=3)
    [(5.0, (0,)), (4.5, (1, 2)), (2.0, (3, 4, 2))]
    """
    tables: list[list[tuple[float, tuple[int, ...]]]] = [[] for _ in costs]
    for node in range(len(costs) - 1, -1, -1):
        best: dict[int, tuple[float, tuple[int, ...]]]
        best = {1: (float(costs[node]), (node,))}
        if left[node] >= 0:
            for i, (cost, leaves) in enumerate(tables[left[node]], start=1):
                for j, (other, others) in enumerate(tables[right[node]], start=1):
                    total = cost + other
                    if i + j <= most and total < best.get(i + j, (np.inf,))[0]:
                        best[i + j] = (total, leaves + others)
        tables[node] = [best[size] for size in sorted(best)]
    return tables[0]


def prunings(tree: Node, most: int) -> dict[int, Node]:
    """The best pruning of every size that there is."""
    nodes, left, right = [tree], [-1], [-1]
    paths: list[Path] = [()]
    for i, node in enumerate(nodes):
        for side, child in enumerate(node.children):
            (left, right)[side][i] = len(nodes)
            nodes.append(child)
            paths.append((*paths[i], side))
            left.append(-1)
            right.append(-1)
    costs = [node.leaf_cost for node in nodes]
    found = {}
    for _, leaves in best_subtrees(costs, left, right, most):
        found[len(leaves)] = _cut_at(tree, {paths[i] for i in leaves})
    return found


def _cut_at(node: Node, leaves: set[Path], path: Path = ()) -> Node:
    if path in leaves:
        return node.leaf()
    children = [
        _cut_at(child, leaves, (*path, side))
        for side, child in enumerate(node.children)
    ]
    return node.with_children(tuple(children))


def improve(tree: Node) -> Node:
    """Move splits, and leaves to other places, while the objective falls."""
    for _ in range(MOST_SWEEPS):
        before = tree.cost
        for path, _ in list(inner_nodes(tree)):
            tree = with_node(tree, path, at(tree, path).moved)
        if tree.cost > before - SMALLEST_CHANGE:
            better = transplanted(tree)
            if better is tree:
                break
            tree = better
    return tree


def _moved(node: Node) -> Node:
    """The best split here, what is below being kept; the same node where it is best.

    Where the children are leaves, what they say is refitted with the split. Else each
    row is sent to the side that costs less as it stands, as nearly as a split can.
    """
    if node.n_leaves == 2:
        losses, goes_left = node.best_splits
        turns = np.zeros(len(losses), dtype=bool)
    else:
        costs = np.stack([_row_costs(child, node.rows) for child in node.children])
        stats = np.ones((node.problem.grid.n_rows, 2 + kernels.N_EXTRA))
        stats[node.rows, :2] = costs.T
        stats[:, -2] = node.problem.stats[:, -2]
        losses, goes_left = node._splits_of(stats, 1.0, 0.0)
        turns = None
    best = node
    for d in np.argsort(losses, kind="stable")[:N_TRIED]:
        if not np.isfinite(losses[d]):
            break
        mask = goes_left[node.part(d)]
        if turns is None:
            is_left = mask[node.problem.grid.columns[d][node.rows]]
            if costs[0, is_left].sum() > costs[1, is_left].sum():
                mask = ~mask
        other = node.split(d, mask, node.children)
        if other.is_sound and other.cost < best.cost - SMALLEST_CHANGE:
            best = other
    return best


def _row_costs(tree: Node, rows: np.ndarray) -> np.ndarray:
    """What each row would cost in a tree that stays as it is."""
    problem = tree.problem
    moved_in = Node(problem, rows, tree.box).shaped_like(tree)
    costs = np.empty(problem.grid.n_rows)
    for old, new in zip(tree.leaves(), moved_in.leaves()):
        here = problem.stats[new.rows]
        scores, weight = here[:, : -kernels.N_EXTRA], here[:, -kernels.N_EXTRA]
        means = old.sums[: -kernels.N_EXTRA] / max(old.sums[-kernels.N_EXTRA], 1e-300)
        soft = weight * (means @ means) - 2 * scores @ means
        hard = scores[:, old.value] if problem.is_class else 0.0
        costs[new.rows] = problem.hard * hard + problem.soft * soft
    return costs[rows]


def removals(tree: Node) -> list[Node]:
    """Trees with one leaf less, best first: a split gives way to one of its sides."""
    found = []
    for path, node in inner_nodes(tree):
        for side, child in enumerate(node.children):
            # The other side is the leaf that goes.
            if node.children[1 - side].children or (side and node.n_leaves == 2):
                continue
            kept = Node(tree.problem, node.rows, node.box).shaped_like(child)
            found.append(with_node(tree, path, kept))
    return sorted((t for t in found if t.is_sound), key=lambda t: t.cost)


def expansions(tree: Node, most: int = 1) -> list[Node]:
    """Trees with one leaf more, best first: a leaf is split."""
    found = []
    todo: list[tuple[Path, Node]] = [((), tree)]
    while todo:
        path, node = todo.pop()
        todo += [((*path, side), child) for side, child in enumerate(node.children)]
        if not node.children:
            losses, goes_left = node.best_splits
            for d in np.argsort(losses, kind="stable")[:2]:
                if np.isfinite(losses[d]):
                    new = node.split(d, goes_left[node.part(d)])
                    found.append((new.cost - node.cost, path, new))
    found.sort(key=lambda entry: entry[0])
    return [with_node(tree, path, new) for _, path, new in found[:most]]


def transplanted(tree: Node) -> Node:
    """Take a leaf away and split another one; the same tree where that does not pay."""
    best = tree
    for shorter in removals(tree)[:N_REMOVED]:
        for other in expansions(shorter):
            if other.cost < best.cost - SMALLEST_CHANGE:
                best = other
    return best
