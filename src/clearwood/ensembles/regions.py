"""The regions into which all trees of an ensemble together divide the space."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clearwood.ensembles.flat_trees import FlatTrees

MOST_CELLS = 2**26
"""Bounds of regions that are copied, at most: half a second."""
CELLS_OF_NODE = 2**12
"""Bounds that are copied while a node is looked up."""


class Regions(NamedTuple):
    """Number of regions, G in Hara and Hayashi (2016).

    Attributes
    ----------
    n : int
        Regions of the first ``n_trees`` trees, hence a lower bound for all.
    n_trees : int
    log10_bound : float
        Logarithm of an upper bound: of all combinations of bins, or of leaves.
    """

    n: int
    n_trees: int
    log10_bound: float


def count_regions(trees: FlatTrees) -> Regions:
    """Count the regions in which no tree changes its leaf.

    They are the intersections of a leaf of every tree that contain some value of each
    feature. Missing values and unknown categories are not regions of their own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from clearwood.ensembles import read_ensemble
    >>> X, y = load_iris(return_X_y=True)
    >>> forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, y)
    >>> count_regions(read_ensemble(forest))[:2]
    (18, 3)
    """
    space = _Space(trees)
    regions, left = space.whole, MOST_CELLS
    for n_trees, root in enumerate(trees.roots.tolist()):
        waiting, found = [(root, regions)], []
        while waiting and left >= 0:
            node, own = waiting.pop()
            left -= own.size + CELLS_OF_NODE
            if trees.feature[node] < 0:
                found.append(own)
                continue
            children = int(trees.left[node]), int(trees.right[node])
            halves = zip(children, space.halves(node, own))
            waiting += [(child, half) for child, half in halves if len(half)]
        if left < 0:
            return Regions(len(regions), n_trees, _upper_bound(trees, space))
        regions = np.concatenate(found)
    return Regions(len(regions), trees.n_trees, _upper_bound(trees, space))


def _upper_bound(trees: FlatTrees, space: _Space) -> float:
    """Logarithm of the number of combinations of bins, or of leaves."""
    tree = np.searchsorted(trees.roots, np.flatnonzero(trees.feature < 0), "right")
    by_leaf = np.log10(np.bincount(tree)[1:]).sum()
    return float(min(by_leaf, np.log10(list(space.n_bins.values())).sum()))


class _Space:
    """Regions as rows: first and last bin of a number, a flag for each category.

    Attributes
    ----------
    whole : ndarray of int32 of shape (1, n_columns)
        The region of all values.
    n_bins : dict of int to int
        Intervals or categories of each feature that is split.
    """

    def __init__(self, trees: FlatTrees) -> None:
        self.trees = trees
        self.n_bins: dict[int, int] = {}
        self._cuts: dict[int, np.ndarray] = {}
        self._column: dict[int, slice] = {}
        whole: list[int] = []
        for d in trees.used_features.tolist():
            labels = trees.features.categories[d]
            if labels is None:
                cuts = np.unique(trees.cut[trees.feature == d])
                # No number is beyond an infinite cut.
                cuts = self._cuts[d] = cuts[cuts < np.inf]
                bounds, n = [0, len(cuts)], len(cuts) + 1
            else:
                n = max(len(labels), 1)
                bounds = [1] * n
            self._column[d] = slice(len(whole), len(whole) + len(bounds))
            self.n_bins[d] = n
            whole += bounds
        self.whole = np.array([whole], dtype=np.int32)

    def halves(self, node: int, regions: np.ndarray) -> Iterator[np.ndarray]:
        """The parts of regions on both sides of a split."""
        d = int(self.trees.feature[node])
        column, cuts = self._column[d], self._cuts.get(d)
        own = regions[:, column]
        for is_left in (True, False):
            if cuts is None:
                goes_left = np.zeros(own.shape[1], dtype=bool)
                codes = self.trees.goes_left(node)[: len(goes_left)]
                goes_left[: len(codes)] = codes
                inside = own * (goes_left == is_left)
                some = inside.any(axis=1)
            else:
                at, inside = np.searchsorted(cuts, self.trees.cut[node]), own.copy()
                if is_left:
                    inside[:, 1] = np.minimum(own[:, 1], at)
                else:
                    inside[:, 0] = np.maximum(own[:, 0], at + 1)
                some = inside[:, 0] <= inside[:, 1]
            half = regions[some]
            half[:, column] = inside[some]
            yield half
