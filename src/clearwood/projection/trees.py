"""Growing and pruning of trees projected from a reference.

The paper's algorithm (sections 3.2 and 3.3), from :func:`project_trees` on: a tree is
grown split by split, each the one that raises the expected log likelihood most, and
pruned. The split that raises it most does so for the mean prediction of the reference
and, where every leaf has a variance of its own, for its uncertainty. Where the paper
prunes by weakest links, which for the cost of equation (9) need not be nested, the best
subtree of every size is found exactly; it may then be refined, its splits and leaves
improved while the likelihood rises.
"""

from __future__ import annotations

import numpy as np

from clearwood._kernels.search import LOG_MEAN, LOG_VARIANCE
from clearwood._numeric import product, rounded
from clearwood.columns.feature_space import FeatureSpace
from clearwood.projection.predictive_draws import SMALLEST_VARIANCE, PredictiveDraws
from clearwood.rules import FeatureBins
from clearwood.search import BoxList, Grid
from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.grid import contains
from clearwood.search.lists.ascent import first_box
from clearwood.search.losses import SQUARED_ERROR, LossForm
from clearwood.search.trees.grow import expansions, improve
from clearwood.search.trees.nodes import (
    GrownNode,
    TreeProblem,
    root_of,
)
from clearwood.search.trees.splits import grow, next_split, prunings

GROWN = 4
"""Ratio of the leaves before pruning to those of the largest tree."""

ROWS_OF_A_CATEGORY = 5
"""Minimum number of rows of a category of its own; rarer ones share one bin."""

MOST_CUTS = 1000
"""Maximum number of thresholds of a feature; with more values, those at quantiles."""

KEPT_VARIANCE = 1 - 1e-9
"""Share of the draws' variance that is kept where they are many."""


def project_trees(
    problem: TreeProblem, max_leaves: int, *, refine: bool, max_depth: float = np.inf
) -> list[GrownNode]:
    """Trees of 1, 2, ... leaves, each with the highest likelihood that is found.

    Parameters
    ----------
    problem : TreeProblem
        From :func:`projection_problem`.
    max_leaves : int
    refine : bool
        Whether splits and leaves of each tree are improved while that helps.
    max_depth : float, default=inf
        Most splits from the root to a leaf.

    Returns
    -------
    list of GrownNode
        One per size; none beyond the size from which no split helps.
    """
    root = root_of(problem)
    if max_leaves == 1 or not len(problem.grid.n_bins):
        return [root]
    # Section 3.2.1, and in place of 3.2.2 the best subtree of every size.
    large = _cut_below(max_depth, grow(root, GROWN * max_leaves, next_split))
    cut_back = prunings(large, max_leaves)
    if not refine:
        return [tree for _, tree in sorted(cut_back.items())]
    path = [root]
    for size in range(2, max_leaves + 1):
        starts = [cut_back[size]] if size in cut_back else []
        starts += expansions(path[-1])
        tries = [t for tree in starts for t in (improve(tree), tree)]
        tries = [tree for tree in tries if _depth(tree) <= max_depth]
        better = min(tries, key=lambda tree: tree.cost, default=root)
        if better.cost > path[-1].cost - SMALLEST_CHANGE:
            break
        path.append(better)
    return path


def _cut_below(depth: float, tree: GrownNode) -> GrownNode:
    if not tree.children:
        return tree
    if depth == 0:
        return tree.leaf()
    return tree.with_children(tuple(_cut_below(depth - 1, c) for c in tree.children))


def _depth(tree: GrownNode) -> int:
    return max((1 + _depth(child) for child in tree.children), default=0)


def projection_problem(
    predictive: PredictiveDraws,
    family: str,
    grid: Grid,
    weight: np.ndarray,
    min_samples_leaf: int,
) -> TreeProblem:
    """Loss of a tree: the negative expected log likelihood.

    Per leaf, up to constants: the sum of squares around the means (with one variance
    for the tree, maximum likelihood is least squares), the log of the variance (one for
    each leaf), or the cross-entropy. For several draws these are added up; squares are
    then weighted as if all draws had one variance, though leaves have one for each.

    Parameters
    ----------
    predictive : PredictiveDraws
        Predictions of the reference; of several draws, one structure serves all.
    family : {"mean", "mean_variance", "counts", "classes"}
    grid : Grid
    weight : ndarray of shape (n_rows,)
    min_samples_leaf : int
        Minimum number of rows of a leaf.
    """
    share = weight / weight.sum()
    scores, leaf = scores_of(predictive, family, share)
    # Rows count equally, whatever their weights.
    counts = np.ones(len(weight))
    return TreeProblem.of(
        grid,
        scores * share[:, None],
        share,
        counts,
        leaf,
        min_samples_leaf=min_samples_leaf,
    )


def scores_of(
    predictive: PredictiveDraws, family: str, share: np.ndarray
) -> tuple[np.ndarray, LossForm]:
    """Numbers per row whose sums over a leaf determine its loss."""
    draws = predictive.draws
    if family == "classes":
        n_draws, n_rows, n_classes = draws.shape
        by_row = draws.transpose(1, 0, 2).reshape(n_rows, n_draws * n_classes)
        return by_row / n_draws, LossForm(LOG_MEAN, soft=1.0)
    centre = float(product(share, predictive.mean))
    if family == "counts":
        return draws.T / (centre * len(draws) or 1.0), LossForm(LOG_MEAN, soft=1.0)
    values = draws - centre
    unit = np.sqrt(np.mean(product(values**2, share))) or 1.0
    values = values / unit
    if family == "mean":
        return _rotated(values.T / np.sqrt(len(draws)), share), SQUARED_ERROR
    assert predictive.noise is not None
    squares = values**2 + predictive.noise / unit**2 + SMALLEST_VARIANCE
    both = np.stack([values, squares], axis=2)
    return both.transpose(1, 0, 2).reshape(len(share), -1), LossForm(LOG_VARIANCE)


def _rotated(values: np.ndarray, share: np.ndarray) -> np.ndarray:
    """Rotate columns of draws, so that few of them hold all variation.

    Squared distances between rows stay the same, and with them the losses of leaves.
    """
    if values.shape[1] < 2:
        return values
    variance, axes = np.linalg.eigh(product((values * share[:, None]).T, values))
    explained = np.cumsum(variance[::-1]) / variance.sum()
    n_kept = int(np.searchsorted(explained, KEPT_VARIANCE)) + 1
    return rounded(product(values, axes[:, ::-1][:, :n_kept]))


def leaves_of(proxy: GrownNode | BoxList, grid: Grid) -> np.ndarray:
    """Leaf, from left to right, or rule of each row of a grid."""
    return first_box(contains(grid, proxy.boxes))


def value_bins(features: FeatureSpace, encoded: np.ndarray) -> FeatureBins:
    """Bins between the values of a table, and one per category of several rows.

    A set of categories of one row each could separate any rows, but not new ones.

    Parameters
    ----------
    features : FeatureSpace
    encoded : ndarray of shape (n_rows, n_features)

    Returns
    -------
    FeatureBins
    """
    feature, cuts, categories = [], [], []
    for d, labels in enumerate(features.categories):
        if labels is not None:
            is_common = encoded[:, d, None] == np.arange(len(labels))
            common = np.flatnonzero(is_common.sum(axis=0) >= ROWS_OF_A_CATEGORY)
            categories += [(d, {c}, True, True) for c in common.tolist()]
            continue
        between = _thresholds_between(encoded[:, d])
        feature.append(np.full(len(between), d))
        cuts.append(between)
    return FeatureBins.from_splits(
        features,
        feature=np.concatenate([np.zeros(0, dtype=int), *feature]),
        cut=np.concatenate([np.zeros(0), *cuts]),
        category_splits=categories,
    )


def _thresholds_between(column: np.ndarray) -> np.ndarray:
    """Midpoints between neighbouring values, or quantiles of these."""
    values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
    below = np.arange(len(values) - 1)
    if len(below) > MOST_CUTS:
        ranks = np.cumsum(counts) / counts.sum()
        wanted = np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)
        below = np.unique(np.searchsorted(ranks[:-1], wanted).clip(max=below[-1]))
    low, high = values[below], values[below + 1]
    middle = low / 2 + high / 2
    return np.where((low <= middle) & (middle < high), middle, low)
