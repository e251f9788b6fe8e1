"""The rules of the trees of an ensemble, in bins."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from clearwood.ensembles import TreeEnsemble
from clearwood.rules import Condition, FeatureBins, region_conditions

BELOW, ABOVE, AMONG = 0, 1, 2
"""Kinds of literals: an upper bound, a lower bound, a set of categories."""

Key = tuple[int, int, int | bytes, bool]
"""Feature, kind, bin (or truth per bin), whether missing values satisfy it."""


class Literals(NamedTuple):
    """The distinct literals of some rules.

    Attributes
    ----------
    feature : ndarray of int64 of shape (n_literals,)
    low, high : ndarray of int64 of shape (n_literals,)
        Range of bins, both ends included, that satisfies a numeric literal.
    other : ndarray of int64 of shape (n_literals,)
        A further such bin, of missing values; -1 if there is none.
    start : ndarray of int64 of shape (n_literals,)
        Start of the bins of a categorical literal in ``truth``; -1 for a numeric one.
    truth : ndarray of bool
        Per bin of every categorical literal, whether it satisfies the literal.
    """

    feature: np.ndarray
    low: np.ndarray
    high: np.ndarray
    other: np.ndarray
    start: np.ndarray
    truth: np.ndarray

    @classmethod
    def of(cls, keys: Sequence[Key], bins: FeatureBins) -> Literals:
        """Literals of their keys."""
        table = np.empty((5, len(keys)), dtype=np.int64)
        truth: list[np.ndarray] = []
        n_truth = 0
        for i, (d, kind, what, missing) in enumerate(keys):
            if isinstance(what, bytes):
                truth.append(np.frombuffer(what, dtype=bool))
                table[:, i] = d, 1, 0, -1, n_truth
                n_truth += len(what)
                continue
            last = bins.missing_bin(d)
            low, high = (0, what) if kind == BELOW else (what, last - 1)
            table[:, i] = d, low, high, last if missing else -1, -1
        truth.append(np.zeros(0, dtype=bool))
        feature, least, most, other, start = table
        return cls(feature, least, most, other, start, np.concatenate(truth))

    def allowed(self, one: int, n_bins: int) -> np.ndarray:
        """Which bins of its feature satisfy one literal."""
        if self.start[one] >= 0:
            return self.truth[self.start[one] : self.start[one] + n_bins]
        every = np.arange(n_bins)
        inside = (self.low[one] <= every) & (every <= self.high[one])
        return inside | (every == self.other[one])


class Paths(NamedTuple):
    """Rules as sequences of literals.

    Attributes
    ----------
    literals : Literals
    borders : ndarray of int64 of shape (n_rules + 1,)
        Rule k has the literals ``literal[borders[k]:borders[k + 1]]``.
    literal : ndarray of int64
        Indices in ``literals``, in the order of the splits.
    """

    literals: Literals
    borders: np.ndarray
    literal: np.ndarray

    @property
    def n_rules(self) -> int:
        """Number of rules."""
        return len(self.borders) - 1

    @property
    def lengths(self) -> np.ndarray:
        """Number of literals of every rule."""
        return np.diff(self.borders)

    def ids(self, k: int) -> list[int]:
        """The literals of one rule."""
        return self.literal[self.borders[k] : self.borders[k + 1]].tolist()

    def take(self, rules: np.ndarray) -> Paths:
        """Some of the rules, by position."""
        parts = [self.literal[self.borders[k] : self.borders[k + 1]] for k in rules]
        borders = np.concatenate([[0], np.cumsum(self.lengths[rules])])
        literal = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        return Paths(self.literals, borders.astype(np.int64), literal)

    def keep(self, kept: np.ndarray) -> Paths:
        """The same rules with a subset of their literals (a mask)."""
        borders = np.concatenate([[0], np.cumsum(kept)])[self.borders]
        return Paths(self.literals, borders.astype(np.int64), self.literal[kept])

    def conditions(
        self, k: int, bins: FeatureBins, seen: np.ndarray
    ) -> tuple[Condition, ...] | None:
        """One rule in the units of the data; None if no row can satisfy it."""
        allowed = np.ones(len(seen), dtype=bool)
        for one in self.ids(k):
            d = self.literals.feature[one]
            part = slice(bins.bin_start[d], bins.bin_start[d] + bins.n_bins[d])
            allowed[part] &= self.literals.allowed(one, int(bins.n_bins[d]))
        return region_conditions(bins, allowed, seen)


def extract_paths(
    ensemble: TreeEnsemble,
    bins: FeatureBins,
    seen: np.ndarray,
    *,
    max_depth: int | None = 6,
    max_trees: int | None = None,
    nodes: str = "all",
    exclude_features: np.ndarray | None = None,
) -> Paths:
    """The paths from the roots of trees to their leaves, each once.

    Splits on one feature in the same direction become one literal, at the place of the
    first of them.

    Parameters
    ----------
    ensemble : TreeEnsemble
    bins : FeatureBins
        Of this ensemble.
    seen : ndarray of bool of shape (total number of bins,)
        Bins that contain training rows. The side of missing values and unknown
        categories matters only for features that have some.
    max_depth : int, optional
        Maximum number of splits of a path.
    max_trees : int, optional
        Maximum number of trees; the first are used.
    nodes : {"leaves", "all"}
        Paths to leaves and truncated ones, or to all nodes.
    exclude_features : ndarray of bool of shape (n_features,), optional
        Features that are left out of paths.

    Returns
    -------
    Paths
    """
    starts = [*ensemble.roots.tolist(), ensemble.n_nodes]
    end = starts[-1] if max_trees is None else starts[: max_trees + 1][-1]
    limit = np.inf if max_depth is None else max_depth
    literals_at = _asker(ensemble, bins, seen)
    left, right = ensemble.left.tolist(), ensemble.right.tolist()
    # Parents come before their children: each waits for its path and its depth.
    waiting: dict[int, tuple[tuple[Key, ...], int]]
    waiting = {root: ((), 0) for root in starts if root < end}
    found: dict[frozenset[Key], tuple[Key, ...]] = {}
    for node in range(end):
        if node not in waiting:
            continue  # below the maximum depth
        path, depth = waiting.pop(node)
        ends = left[node] < 0 or depth >= limit
        if path and (ends or nodes == "all"):
            found.setdefault(frozenset(path), path)
        if not ends:
            for child, key in zip((left[node], right[node]), literals_at(node)):
                may_ask = exclude_features is None or not exclude_features[key[0]]
                waiting[child] = _joined(path, key) if may_ask else path, depth + 1
    return _numbered(list(found.values()), bins)


def paths_of_boxes(boxes: np.ndarray, features: np.ndarray, bins: FeatureBins) -> Paths:
    """Boxes of a grid as rules, with one literal per feature.

    Parameters
    ----------
    boxes : ndarray of bool of shape (n_boxes, number of bins of these features)
    features : ndarray of int of shape (n_features,)
        Features of the grid.
    bins : FeatureBins
    """
    borders = np.cumsum(bins.n_bins[features])[:-1]
    return _numbered(
        [
            tuple(
                (int(d), AMONG, allowed.tobytes(), False)
                for d, allowed in zip(features, np.split(box, borders))
                if not allowed.all()
            )
            for box in boxes
        ],
        bins,
    )


def _numbered(found: Sequence[tuple[Key, ...]], bins: FeatureBins) -> Paths:
    """Rules with their literals by index."""
    ids: dict[Key, int] = {}
    literal = [ids.setdefault(key, len(ids)) for path in found for key in path]
    return Paths(
        Literals.of(list(ids), bins),
        np.cumsum([0, *map(len, found)], dtype=np.int64),
        np.array(literal, dtype=np.int64),
    )


def _joined(path: tuple[Key, ...], new: Key) -> tuple[Key, ...]:
    """The path with one literal more, or with one of its literals narrowed."""
    for i, (d, kind, what, missing) in enumerate(path):
        if d == new[0] and kind == new[1]:
            both = (d, kind, _narrowed(kind, what, new[2]), missing and new[3])
            return (*path[:i], both, *path[i + 1 :])
    return (*path, new)


def _narrowed(kind: int, what: int | bytes, new: int | bytes) -> int | bytes:
    if isinstance(what, bytes) or isinstance(new, bytes):
        return bytes(a & b for a, b in zip(bytes(what), bytes(new)))
    return min(what, new) if kind == BELOW else max(what, new)


def _asker(
    ensemble: TreeEnsemble, bins: FeatureBins, seen: np.ndarray
) -> Callable[[int], tuple[Key, Key]]:
    """Function that returns the literals of the left and right child of a node."""
    feature, cut = ensemble.feature.tolist(), ensemble.cut.tolist()
    missing_left = ensemble.missing_left.tolist()
    cuts = [found.tolist() for found in bins.cuts]
    ends = (bins.bin_start + bins.n_bins).tolist()

    def literals_at(node: int) -> tuple[Key, Key]:
        d = feature[node]
        if bins.is_category[d]:
            left = bins.left_bins(ensemble, node)
            right = ~left
            for side in (left, right):
                side[-2:] &= seen[ends[d] - 2 : ends[d]]
            return (
                (d, AMONG, left.tobytes(), False),
                (d, AMONG, right.tobytes(), False),
            )
        place, has_missing = bisect_left(cuts[d], cut[node]), bool(seen[ends[d] - 1])
        return (
            (d, BELOW, place, has_missing and missing_left[node]),
            (d, ABOVE, place + 1, has_missing and not missing_left[node]),
        )

    return literals_at
