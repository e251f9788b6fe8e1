"""Trees grown best-first on synthetic rows, drawn and labelled anew in every node."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import search_trees as kernels
from clearwood._numeric import product
from clearwood.rules import BinSplit, Training, Tree, build_tree
from clearwood.search import BoxList, Grid
from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.losses import SQUARED_ERROR
from clearwood.simplifiers._common.predictions import Model, answers_of
from clearwood.simplifiers.born_again.smearing import Inside, smear

DEPTHS = (2, 3, 4, 6, 8, 10)
"""Depths that Hara and Hayashi (2018) choose among."""

MOST_SPLITS = 2
"""Maximum splits per requested leaf: some have the same class on both sides."""


def grow_smeared_trees(
    training: Training,
    ensemble: Model,
    max_leaves: int,
    *,
    p_alt: float,
    n_node_samples: int,
    min_samples_leaf: int,
    by_depth: bool = False,
    generator: np.random.Generator,
) -> list[SmearedTree]:
    """Grow a tree best-first, and keep it at every size; or level by level.

    Parameters
    ----------
    training : Training
        Real rows.
    ensemble : TreeEnsemble or BlackBox
        Labels synthetic rows.
    max_leaves : int
    p_alt : float
        Probability that a feature takes the value of another row.
    n_node_samples : int
        Number of rows drawn in each node.
    min_samples_leaf : int
        Minimum number of training rows in a leaf.
    by_depth : bool
        Keep the tree at the depths ``DEPTHS`` only.
    generator : numpy.random.Generator

    Returns
    -------
    list of SmearedTree
        Of growing size. Adjacent leaves with the same prediction are merged.
    """
    nodes = _NodeMaker(
        training, ensemble, p_alt, n_node_samples, min_samples_leaf, generator
    )
    is_class = bool(training.classes)
    root = nodes.root()
    by_size = {1: SmearedTree(root, (), is_class)}
    if by_depth and max_leaves > 1:
        grown = _level_by_level(nodes, root, is_class)
        by_size |= {n: tree for tree in grown if (n := len(tree.leaves)) <= max_leaves}
        return [by_size[size] for size in sorted(by_size)]
    leaves = [root]
    for number in range(MOST_SPLITS * max_leaves if max_leaves > 1 else 0):
        leaf = max(leaves, key=lambda leaf: leaf.gain)
        if leaf.gain <= SMALLEST_CHANGE:
            break
        leaf.children, leaf.number = nodes.sides(leaf), number
        leaves.remove(leaf)
        leaves.extend(leaf.children)
        tree = _after(root, number + 1, is_class)
        size = len(tree.leaves)
        if size > max_leaves:
            break
        by_size[size] = tree
    return [by_size[size] for size in sorted(by_size)]


def _level_by_level(
    nodes: _NodeMaker, root: SmearedNode, is_class: bool
) -> Iterator[SmearedTree]:
    """The tree at each of the depths; a node is numbered by its own."""
    level = [root]
    for depth in range(max(DEPTHS)):
        level = [leaf for leaf in level if leaf.gain > SMALLEST_CHANGE]
        for leaf in level:
            leaf.children, leaf.number = nodes.sides(leaf), depth
        level = [child for leaf in level for child in leaf.children]
        if depth + 1 in DEPTHS:
            yield _after(root, depth + 1, is_class)


def _after(node: SmearedNode, n_splits: int, is_class: bool) -> SmearedTree:
    """The tree after some splits or levels, without those that change no prediction."""
    leaf = SmearedTree(node, (), is_class)
    if node.number >= n_splits:
        return leaf
    left, right = (_after(child, n_splits, is_class) for child in node.children)
    if is_class and not left.below and not right.below and left.value == right.value:
        return leaf
    return SmearedTree(node, (left, right), is_class)


class SmearedSplit(NamedTuple):
    """The best split of a node.

    Attributes
    ----------
    gain : float
        Decrease of the loss of the whole tree.
    feature : int
        Index among the features that may be used.
    goes_left : ndarray of bool of shape (number of bins of the feature,)
    border : ndarray of shape (n_rows, n_features)
        Rows of the node next to the threshold.
    """

    gain: float
    feature: int
    goes_left: np.ndarray
    border: np.ndarray


@dataclass(eq=False)
class SmearedNode:
    """A box and the predictions for its rows.

    Attributes
    ----------
    box : ndarray of bool of shape (total number of bins,)
        Allowed bins.
    inside : mapping
        The same for the sampler: see ``smearing``.
    rows : ndarray of int
        Positions of the training rows in the box.
    synthetic : ndarray of shape (1, n_features)
        One of the rows drawn here, as their representative; empty if none are drawn.
    answer : ndarray of shape (1,) or (1, n_classes)
        Mean prediction of the ensemble for them.
    weight : float
        Weight of the training rows, and of all synthetic ones together.
    mean : ndarray
        Mean target of training rows and synthetic ones, standardized.
    split : SmearedSplit or None
        None if no split is possible.
    children : tuple of SmearedNode
        The two sides, once it is split.
    number : float
        Number of splits of the tree before this one; infinite for a leaf.
    """

    box: np.ndarray
    inside: Inside
    rows: np.ndarray
    synthetic: np.ndarray
    answer: np.ndarray
    weight: float
    mean: np.ndarray
    split: SmearedSplit | None
    children: tuple[SmearedNode, ...] = ()
    number: float = np.inf

    @property
    def gain(self) -> float:
        """Decrease of the loss by the best split."""
        return -np.inf if self.split is None else self.split.gain


class SmearedTree(NamedTuple):
    """A node and its descendants in one tree of the path."""

    node: SmearedNode
    below: tuple[Any, ...]
    is_class: bool

    @property
    def leaves(self) -> list[SmearedNode]:
        """The leaves from left to right."""
        if not self.below:
            return [self.node]
        return [leaf for side in self.below for leaf in side.leaves]

    @property
    def splits(self) -> Iterator[SmearedSplit]:
        """The splits, parents first."""
        if self.below:
            assert self.node.split is not None
            yield self.node.split
            for side in self.below:
                yield from side.splits

    @property
    def value(self) -> Any:
        """Prediction of the node: a class, or a standardized value."""
        return _value(self.node, self.is_class)

    @property
    def boxes(self) -> np.ndarray:
        """All leaves but the last."""
        return np.array([leaf.box for leaf in self.leaves])[:-1]

    def predict(self, grid: Grid) -> np.ndarray:
        """Prediction for each row."""
        *values, last = (_value(leaf, self.is_class) for leaf in self.leaves)
        return BoxList(self.boxes, tuple(values), last, 0.0).predict(grid)


def _value(node: SmearedNode, is_class: bool) -> Any:
    return int(node.mean.argmax()) if is_class else float(node.mean[0])


class _NodeMaker:
    """Draw rows in a box, label them by the ensemble, and find the best split."""

    def __init__(
        self,
        training: Training,
        ensemble: Model,
        p_alt: float,
        n_node_samples: int,
        min_samples_leaf: int,
        generator: np.random.Generator,
    ) -> None:
        self.training, self.ensemble, self.grid = training, ensemble, training.grid
        self.p_alt, self.n_node_samples = p_alt, n_node_samples
        self.min_samples_leaf, self.generator = min_samples_leaf, generator
        self.share = training.weight / training.weight.sum()
        self.read = np.unique(ensemble.feature[ensemble.feature >= 0])
        # Indices of the features that may be used, among those that are smeared.
        self.place = np.searchsorted(self.read, training.used_features)

    def root(self) -> SmearedNode:
        """The node of all rows."""
        everything = np.ones(int(self.grid.n_bins.sum()), dtype=bool)
        return self.examine(everything, {}, np.arange(len(self.training)))

    def sides(self, node: SmearedNode) -> tuple[SmearedNode, SmearedNode]:
        """The two sides of the best split."""
        assert node.split is not None
        _, d, goes_left, _ = node.split
        place, part = int(self.place[d]), slice(self.grid.start[d], None)
        made = []
        for side in (goes_left, ~goes_left):
            box = node.box.copy()
            box[part][: len(side)] &= side
            allowed = box[part][self.grid.columns[d]]
            rows = node.rows[allowed[node.rows]]
            made.append(self.examine(box, {**node.inside, place: allowed}, rows))
        return made[0], made[1]

    def examine(self, box: np.ndarray, inside: Inside, rows: np.ndarray) -> SmearedNode:
        """Draw and label rows in a box, and find its best split.

        The training rows in the box have the same total weight as all rows drawn here.
        """
        training, columns = self.training, self.grid.columns[:, rows]
        synthetic, answers = training.encoded[:0], training.target[:0]
        if self.n_node_samples:
            picks = smear(
                self.share,
                inside,
                self.p_alt,
                len(self.read),
                self.n_node_samples,
                self.generator,
            )
            # Features that the model does not read stay as in some row.
            synthetic = training.encoded[picks.max(axis=1, initial=0)]
            synthetic[:, self.read] = training.encoded[picks, self.read]
            answers = answers_of(self.ensemble, synthetic)
            codes = self.grid.columns[np.arange(len(self.place)), picks[:, self.place]]
            columns = np.concatenate([columns, codes.T], axis=1)

        target = np.concatenate(
            [training.standardised[rows], training.standardise(answers)]
        )
        target = target.reshape(len(target), -1)
        real, share = len(rows), self.share[rows].sum()
        weight = np.full(len(target), share / (2 * max(len(answers), 1)))
        weight[:real] = self.share[rows] / 2
        counts = np.zeros(len(target))
        counts[:real] = training.counts[rows]
        stats = np.column_stack(
            [target * weight[:, None], weight, counts, np.ones(len(target))]
        )
        encoded = np.concatenate([training.encoded[rows], synthetic])
        return SmearedNode(
            box,
            inside,
            rows,
            synthetic[:1],
            answers.mean(axis=0, keepdims=True) if len(answers) else answers,
            training.weight[rows].sum(),
            product(weight, target) / weight.sum(),
            self._best_split(columns, stats, encoded),
        )

    def _best_split(
        self, columns: np.ndarray, stats: np.ndarray, encoded: np.ndarray
    ) -> SmearedSplit | None:
        grid = self.grid
        sums = kernels.histogram(
            columns, grid.start, int(grid.n_bins.sum()), np.arange(len(stats)), stats
        )
        losses, goes_left = kernels.best_splits(
            sums, grid.start, grid.n_bins, grid.is_category, SQUARED_ERROR,
            float(self.min_samples_leaf),
        )  # fmt: skip
        if not np.isfinite(losses).any():
            return None
        d = int(losses.argmin())
        mask = goes_left[grid.start[d] :][: grid.n_bins[d]]
        gain = kernels.leaf_loss(stats.sum(axis=0), SQUARED_ERROR) - losses[d]
        values = encoded[:, self.training.used_features[d]]
        is_left = mask[columns[d]]
        border = []
        for side in (is_left, ~is_left):
            at = np.flatnonzero(side & ~np.isnan(values))
            if len(at):
                border += [at[values[at].argmin()], at[values[at].argmax()]]
        return SmearedSplit(float(gain), d, mask.copy(), encoded[border])


def print_smeared_tree(
    training: Training, tree: SmearedTree, *, round_thresholds: bool = True
) -> Tree:
    """A tree of bins in the units of the data."""

    def split(part: SmearedTree) -> BinSplit | None:
        if not part.below:
            return None
        best = part.node.split
        assert best is not None
        left, right = part.below
        feature = int(training.used_features[best.feature])
        return BinSplit(feature, best.goes_left, split(left), split(right))

    leaves = tree.leaves
    if len(leaves[0].synthetic):
        # Rows next to thresholds determine printed thresholds, not predictions.
        borders = [split.border for split in tree.splits]
        n_border = sum(map(len, borders))
        training = training.with_synthetic(
            np.concatenate([*(leaf.synthetic for leaf in leaves), *borders]),
            np.concatenate(
                [
                    *(leaf.answer for leaf in leaves),
                    np.repeat(leaves[0].answer, n_border, axis=0),
                ]
            ),
            np.array([leaf.weight for leaf in leaves] + [0.0] * n_border),
        )
    return build_tree(split(tree), training, round_thresholds=round_thresholds)
