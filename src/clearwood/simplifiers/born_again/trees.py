"""Trees grown on rows that are made in every node, and that the ensemble labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood.rules import BinSplit, Training, Tree, build_tree
from clearwood.search import BoxList, Grid
from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.trees import _kernels as kernels
from clearwood.simplifiers._common.lesson import Job, Lesson
from clearwood.simplifiers.born_again.smearing import Inside, smear

MOST_SPLITS = 2
"""Splits per line asked for, at most: some have the same class on both sides."""


class Smearing(NamedTuple):
    """How trees are grown.

    Attributes
    ----------
    augment : bool
        Whether the lesson has made rows: no, each node makes its own.
    p_alt : float
        Probability that a feature takes the value of another row.
    n_node_rows : int
        Rows that are made in each node.
    min_leaf : int
        Training rows that a leaf holds at least.
    """

    augment: bool
    p_alt: float
    n_node_rows: int
    min_leaf: int


class Split(NamedTuple):
    """The best question in a node.

    Attributes
    ----------
    gain : float
        By how much it lowers the loss of the whole tree.
    feature : int
        Among those that may be asked.
    goes_left : ndarray of bool of shape (number of bins of the feature,)
    border : ndarray of shape (n_rows, n_features)
        Of the node's rows, those next to the cut.
    """

    gain: float
    feature: int
    goes_left: np.ndarray
    border: np.ndarray


@dataclass(eq=False)
class Node:
    """A box, and what its rows say.

    Attributes
    ----------
    box : ndarray of bool of shape (total number of bins,)
        Bins that are allowed here.
    inside : mapping
        The same for the sampler: see ``search.smearing``.
    rows : ndarray of int
        Positions of the training rows in the box.
    made : Training
        All made rows in one: one of them, the mean of what the ensemble says of them,
        and their weight together.
    mean : ndarray
        Mean of what is said of training rows and made ones, as in the lesson.
    split : Split or None
        None where no question is possible.
    children : tuple of Node
        The two sides, once it was asked.
    number : float
        Questions of the tree before this one; infinite where it was not asked.
    """

    box: np.ndarray
    inside: Inside
    rows: np.ndarray
    made: Training
    mean: np.ndarray
    split: Split | None
    children: tuple[Node, ...] = ()
    number: float = np.inf

    @property
    def gain(self) -> float:
        """By how much the best question lowers the loss."""
        return -np.inf if self.split is None else self.split.gain


class SmearedTree(NamedTuple):
    """A node and what is below in one tree of the path."""

    node: Node
    below: tuple[Any, ...]
    is_class: bool

    @property
    def leaves(self) -> list[Node]:
        """The leaves from left to right."""
        if not self.below:
            return [self.node]
        return [leaf for side in self.below for leaf in side.leaves]

    @property
    def value(self) -> Any:
        """What the node says: a class, or a standardised value."""
        return _value(self.node, self.is_class)

    @property
    def boxes(self) -> np.ndarray:
        """All leaves but the last."""
        return np.array([leaf.box for leaf in self.leaves])[:-1]

    def predict(self, grid: Grid) -> np.ndarray:
        """What is said of each row."""
        *values, last = (_value(leaf, self.is_class) for leaf in self.leaves)
        return BoxList(self.boxes, tuple(values), last, 0.0).predict(grid)


def _value(node: Node, is_class: bool) -> Any:
    return int(node.mean.argmax()) if is_class else float(node.mean[0])


def fit_smeared_trees(
    job: Job, lesson: Lesson, smearing: Smearing
) -> list[SmearedTree]:
    """Grow a tree best first, and keep it at every size.

    Parameters
    ----------
    job : Job
    lesson : Lesson
    smearing : Smearing

    Returns
    -------
    list of SmearedTree
        Of growing size. Leaves side by side that say the same class are one.
    """
    is_class = bool(job.teacher.classes)
    nodes = _Nodes(job, lesson, smearing)
    root = nodes.examine(
        np.ones(int(lesson.grid.n_bins.sum()), dtype=bool),
        {},
        np.arange(len(lesson.training.encoded)),
    )
    found = {1: SmearedTree(root, (), is_class)}
    leaves = [root]
    for number in range(MOST_SPLITS * job.max_rules if job.max_rules > 1 else 0):
        leaf = max(leaves, key=lambda leaf: leaf.gain)
        if leaf.gain <= SMALLEST_CHANGE:
            break
        leaf.children, leaf.number = nodes.sides(leaf), number
        leaves.remove(leaf)
        leaves.extend(leaf.children)
        tree = _after(root, number + 1, is_class)
        size = len(tree.leaves)
        if size > job.max_rules:
            break
        found[size] = tree
    return [found[size] for size in sorted(found)]


def _after(node: Node, n_splits: int, is_class: bool) -> SmearedTree:
    """The tree after so many questions, without those that do not matter."""
    leaf = SmearedTree(node, (), is_class)
    if node.number >= n_splits:
        return leaf
    left, right = (_after(child, n_splits, is_class) for child in node.children)
    if is_class and not left.below and not right.below and left.value == right.value:
        return leaf
    return SmearedTree(node, (left, right), is_class)


class _Nodes:
    """Makes rows in a box, asks the ensemble about them, and finds the best split."""

    def __init__(self, job: Job, lesson: Lesson, smearing: Smearing) -> None:
        self.job, self.lesson, self.smearing = job, lesson, smearing
        self.generator = np.random.default_rng(lesson.seed)
        self.share = lesson.weight / lesson.weight.sum()
        self.used = job.bins.used_features
        # Where the features that may be asked stand among those that are smeared.
        self.place = np.searchsorted(self.used, job.asked)

    def sides(self, node: Node) -> tuple[Node, Node]:
        """Ask the best question."""
        assert node.split is not None
        grid = self.lesson.grid
        _, d, goes_left, _ = node.split
        place, part = int(self.place[d]), slice(grid.start[d], None)
        made = []
        for side in (goes_left, ~goes_left):
            box = node.box.copy()
            box[part][: len(side)] &= side
            allowed = box[part][grid.columns[d]]
            rows = node.rows[allowed[node.rows]]
            made.append(self.examine(box, {**node.inside, place: allowed}, rows))
        return made[0], made[1]

    def examine(self, box: np.ndarray, inside: Inside, rows: np.ndarray) -> Node:
        """Make rows in a box and see what they say.

        The training rows in the box count as much as all rows made here.
        """
        job, lesson, training = self.job, self.lesson, self.lesson.training
        picks = smear(
            self.share,
            inside,
            self.smearing.p_alt,
            len(self.used),
            self.smearing.n_node_rows,
            self.generator,
        )
        # The ensemble asks about nothing else (and about what rules may not ask, too).
        made = np.repeat(training.encoded[:1], len(picks), axis=0)
        made[:, self.used] = training.encoded[picks, self.used]
        said = job.teacher.says_encoded(made)
        codes = lesson.grid.columns[np.arange(len(self.place)), picks[:, self.place]].T
        columns = np.concatenate([lesson.grid.columns[:, rows], codes], axis=1)

        target = np.concatenate([lesson.target[rows], job.target(said)])
        target = target.reshape(len(target), -1)
        real, share = len(rows), self.share[rows].sum()
        weight = np.full(len(target), share / (2 * len(made)))
        weight[:real] = self.share[rows] / 2
        counts = np.zeros(len(target))
        counts[:real] = lesson.counts[rows]
        stats = np.column_stack(
            [target * weight[:, None], weight, counts, np.ones(len(target))]
        )
        encoded = np.concatenate([training.encoded[rows], made])
        one = Training(
            made[:1],
            said.mean(axis=0, keepdims=True),
            None,
            np.array([training.weight[rows].sum()]),
            training.teacher[rows[:1]],
        )
        mean = weight @ target / weight.sum()
        split = self._best_split(columns, stats, encoded)
        return Node(box, inside, rows, one, mean, split)

    def _best_split(
        self, columns: np.ndarray, stats: np.ndarray, encoded: np.ndarray
    ) -> Split | None:
        """The split after which squared error is least."""
        grid = self.lesson.grid
        sums = kernels.histogram(
            columns, grid.start, int(grid.n_bins.sum()), np.arange(len(stats)), stats
        )
        losses, goes_left = kernels.best_splits(
            sums, grid.start, grid.n_bins, grid.is_category, 0.0, 1.0,
            float(self.smearing.min_leaf),
        )  # fmt: skip
        if not np.isfinite(losses).any():
            return None
        d = int(losses.argmin())
        mask = goes_left[grid.start[d] :][: grid.n_bins[d]]
        gain = kernels.leaf_loss(stats.sum(axis=0), 0.0, 1.0) - losses[d]
        values = encoded[:, self.job.asked[d]]
        is_left = mask[columns[d]]
        border = []
        for side in (is_left, ~is_left):
            at = np.flatnonzero(side & ~np.isnan(values))
            if len(at):
                border += [at[values[at].argmin()], at[values[at].argmax()]]
        return Split(float(gain), d, mask.copy(), encoded[border])


def print_smeared_tree(job: Job, lesson: Lesson, tree: SmearedTree) -> Tree:
    """A tree of bins in the data's own terms."""
    border: list[np.ndarray] = []

    def asked(part: SmearedTree) -> BinSplit | None:
        if not part.below:
            return None
        split = part.node.split
        assert split is not None
        border.append(split.border)
        left, right = part.below
        d = int(job.asked[split.feature])
        return BinSplit(d, split.goes_left, asked(left), asked(right))

    root = asked(tree)
    made = [leaf.made for leaf in tree.leaves]
    # They count for where bounds are printed, not for what is said.
    made += [_without_weight(made[0], rows) for rows in border]
    together = Training(
        np.concatenate([part.encoded for part in made]),
        np.concatenate([part.taught for part in made]),
        None,
        np.concatenate([part.weight for part in made]),
        np.concatenate([part.teacher for part in made]),
    )
    return build_tree(
        root, job.bins, lesson.training, made=together, classes=job.teacher.classes
    )


def _without_weight(like: Training, rows: np.ndarray) -> Training:
    """Rows of which nothing is said."""
    n = len(rows)
    return Training(
        rows,
        np.repeat(like.taught, n, axis=0),
        None,
        np.zeros(n),
        np.repeat(like.teacher, n),
    )
