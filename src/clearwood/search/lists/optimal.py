"""The best lists of very few boxes, by branch and bound.

The first box of a list is any box of one or two literals. For the rows outside of it,
the same search finds the boxes that follow; the last one is found at once, from sums
over all boxes. Two bounds of CORELS (Angelino et al., 2018) exclude first boxes:

- *Equivalent points*: rows that no split separates have one prediction, so that a list
  loses at least what its first box does, and each group of equivalent rows outside.
- *Similar support*: where two first boxes differ in few rows, so do the losses of the
  best lists that begin with them.

The box of least bound is next, so that the bound on all lists rises from the start.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.search import REGRET
from clearwood._kernels.search_lists import least_in_and_out, sums_of_literal_pairs
from clearwood.search.grid import Grid
from clearwood.search.losses import Loss

ROUNDING = 1e-9
"""Losses that differ by less are equal."""

Ordering = tuple[int, np.ndarray]
"""A feature, and the place of each of its bins: its splits take the first places."""


class NearList(NamedTuple):
    """A list of boxes.

    Attributes
    ----------
    loss : float
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    """

    loss: float
    boxes: np.ndarray


class NearOptimal(NamedTuple):
    """Result of an exact search.

    Attributes
    ----------
    best : NearList
        The best list that was found.
    bound : float
        No list loses less; the loss of ``best``, unless the search ended early.
    by_features : dict from frozenset of int to NearList
        For each set of features of a list within the tolerance, the best such list;
        without sets that contain another one. In the order of the losses.
    n_splits : int
        Number of splits that separate rows.
    is_complete : bool
        Whether the search ended by itself.
    """

    best: NearList
    bound: float
    by_features: dict[frozenset[int], NearList]
    n_splits: int
    is_complete: bool


def orderings(grid: Grid, sets: Iterable[Ordering] = ()) -> list[Ordering]:
    """Orders of bins: of numeric features, and of sets of categories and all others.

    Missing values come before all others and, if there are any, once more after them.

    Parameters
    ----------
    grid : Grid
    sets : iterable of (int, ndarray of bool)
        Categorical features, and sets of their bins.
    """
    seen, found = grid.seen(), []
    for d in np.flatnonzero(~grid.is_category).tolist():
        last = int(grid.n_bins[d]) - 1
        values = np.arange(last)
        found.append((d, np.append(values + 1, 0)))
        if seen[grid.start[d] + last]:
            found.append((d, np.append(values, last)))
    return found + [(d, np.where(members, 0, 1)) for d, members in sets]


def optimal_lists(
    grid: Grid,
    loss: Loss,
    orders: list[Ordering],
    max_boxes: int,
    *,
    max_literals: int = 2,
    tolerance: float = 0.0,
    time_limit: float | None = None,
) -> NearOptimal:
    """The best list of boxes, and the sets of features of nearly as good ones.

    Parameters
    ----------
    grid : Grid
    loss : Loss
        Regret, or the squared error of one value.
    orders : list of (int, ndarray)
        The splits of all boxes, see :func:`orderings`.
    max_boxes : int
        From 1. The time is exponential in this number.
    max_literals : {1, 2}
        Maximum number of splits that define a box.
    tolerance : float
        Difference to the least loss up to which lists are near-optimal.
    time_limit : float, optional
        Seconds after which the search ends.
    """
    search = _Search(grid, loss, orders, max_literals, tolerance, time_limit)
    everything = np.arange(len(search.stats))
    bound = search.explore(everything, search.sums(everything), max_boxes, 0.0, ())
    limit = search.best[0] + search.tolerance
    near = {used: one for used, one in search.near.items() if one[0] <= limit}
    minimal = [used for used in near if not any(other < used for other in near)]
    return NearOptimal(
        search.as_list(search.best),
        min(bound, search.best[0]),
        {
            used: search.as_list(near[used])
            for used in sorted(minimal, key=near.__getitem__)
        },
        len(np.unique(search.boxes[:, 0])),
        search.end > 0.0,
    )


Prefix = tuple[int, ...]
"""The first boxes of a list, by number."""


class _Search:
    """All boxes, and the best lists so far."""

    def __init__(
        self,
        grid: Grid,
        loss: Loss,
        orders: list[Ordering],
        max_literals: int,
        tolerance: float,
        time_limit: float | None,
    ) -> None:
        self.grid, self.loss, self.orders = grid, loss, orders
        self.tolerance = tolerance + ROUNDING
        self.end = np.inf if time_limit is None else time.monotonic() + time_limit
        # Places of all orders are numbered together.
        self.start = np.cumsum([0, *(int(place.max()) + 1 for _, place in orders)])
        places = np.zeros((grid.n_rows, len(orders)), dtype=np.int64)
        for q, (d, place) in enumerate(orders):
            places[:, q] = self.start[q] + place[grid.columns[d]]
        # Rows that no split separates are one.
        self.places, cell = np.unique(places, axis=0, return_inverse=True)
        self.stats = self._stats(cell.reshape(-1))
        self._make_boxes(max_literals)
        everything = self.stats.sum(axis=0)
        alone = float(self.least(everything[None], everything)[0][0])
        self.best: tuple[float, Prefix] = alone, ()
        self.near: dict[frozenset[int], tuple[float, Prefix]] = {frozenset(): self.best}

    def _stats(self, cell: np.ndarray) -> np.ndarray:
        """Per cell what the loss is computed from, then its maximum and minimum."""
        loss = self.loss
        extremes: Any = (loss.target.min(), loss.target.max())
        if loss.form.kind == REGRET:
            extremes = range(loss.n_scores)
        largest = np.max([loss.rows(value) for value in extremes], axis=0)
        columns = loss.gain_columns(np.zeros(len(cell)))
        stats = np.zeros((len(self.places), columns.shape[1] + 2))
        np.add.at(stats[:, :-1], cell, np.column_stack([columns, largest]))
        stats[:, -1] = self.least(stats, stats[0])[0]
        return stats

    def _make_boxes(self, max_literals: int) -> None:
        """All boxes that hold rows and need all literals, sorted by their features."""
        literals, order, known = [], [], set()
        for q, (d, _) in enumerate(self.orders):
            for place in range(self.start[q], self.start[q + 1] - 1):
                below = self.places[:, q] <= place
                key = d, min(below.tobytes(), (~below).tobytes())
                if key not in known and 0 < below.sum() < len(below):
                    known.add(key)
                    literals += [(place, 0), (place, 1)]
                    order += [q, q]
        pairs = np.stack(np.triu_indices(len(literals)), axis=1)
        if max_literals == 1:
            pairs = pairs[pairs[:, 0] == pairs[:, 1]]
        boxes = np.array(literals, dtype=np.int64).reshape(-1, 2)[pairs].reshape(-1, 4)
        held = sums_of_literal_pairs(
            self.places,
            self.start,
            np.arange(len(self.places)),
            np.ones((len(self.places), 1)),
            boxes,
        )
        is_single = pairs[:, 0] == pairs[:, 1]
        alone = held[is_single, 0][pairs].min(axis=1)
        needed = is_single | ((held[:, 0] > 0) & (held[:, 0] < alone))
        self.order = np.array(order, dtype=np.int64)[pairs[needed]]
        self.boxes = boxes[needed]
        feature = np.array([d for d, _ in self.orders], dtype=np.int64)[self.order]
        by_features = np.lexsort(feature.T)
        self.boxes, self.order = self.boxes[by_features], self.order[by_features]
        groups, first = np.unique(
            feature[by_features][:, ::-1], axis=0, return_index=True
        )
        self.group_features = [frozenset(group) for group in groups.tolist()]
        self.group_start, self.group_stop = first, [*first[1:], len(self.boxes)]

    def sums(self, rows: np.ndarray) -> np.ndarray:
        """Sums over some of the cells in every box."""
        found: np.ndarray = sums_of_literal_pairs(
            self.places, self.start, rows, self.stats, self.boxes
        )
        return found

    def least(
        self, sums: np.ndarray, whole: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least loss of one prediction in each box, and of one outside."""
        found: tuple[np.ndarray, np.ndarray] = least_in_and_out(
            self.loss.form, sums, whole, self.loss.n_scores
        )
        return found

    def explore(
        self,
        rows: np.ndarray,
        sums: np.ndarray,
        n_boxes: int,
        lost: float,
        prefix: Prefix,
    ) -> float:
        """All longer lists that begin with some boxes; returns a bound on their losses.

        Parameters
        ----------
        rows : ndarray of int
            Cells outside of these boxes.
        sums : ndarray
            Their sums in every box.
        n_boxes : int
            Maximum number of further boxes.
        lost : float
            Loss of the rows in these boxes.
        prefix : tuple of int
        """
        if not len(self.boxes):
            return self.best[0]
        whole = self.stats[rows].sum(axis=0)
        inside, outside = self.least(sums, whole)
        total = lost + inside + outside
        self.record(prefix, total)
        low = float(total.min())
        if n_boxes == 1:
            return low
        # A bound per first box, infinite once the lists that begin with it are known.
        bound = lost + inside + (whole[-1] - sums[:, -1])
        box = int(total.argmin())
        while bound.min() <= self.best[0] + self.tolerance:
            if time.monotonic() > self.end:
                self.end = 0.0
                break
            held = self.holds(box, rows)
            left = rows[~held]
            fewer = 2 * held.sum() <= len(rows)
            try:
                within = self.sums(rows[held]) if fewer else sums - self.sums(left)
                found = self.explore(
                    left, sums - within, n_boxes - 1, lost + inside[box], (*prefix, box)
                )
            except KeyboardInterrupt:
                self.end = 0.0
                break
            low = min(low, found)
            apart = sums[box, -2] + sums[:, -2] - 2.0 * within[:, -2]
            np.maximum(bound, found - apart, out=bound)
            bound[box] = np.inf
            box = int(bound.argmin())
        return min(low, float(bound.min()))

    def holds(self, box: int, rows: np.ndarray) -> np.ndarray:
        """Which of the cells are in a box."""
        (a, after_a, b, after_b), (q, p) = self.boxes[box], self.order[box]
        first, second = self.places[rows, q] <= a, self.places[rows, p] <= b
        return (first != after_a) & (second != after_b)

    def record(self, prefix: Prefix, total: np.ndarray) -> None:
        """Keep the best list of one more box, and that of each set of features."""
        last = int(total.argmin())
        if total[last] < self.best[0] - ROUNDING:
            self.best = float(total[last]), (*prefix, last)
        limit = self.best[0] + self.tolerance
        if total[last] > limit:
            return
        before = frozenset(self.orders[q][0] for q in self.order[list(prefix)].flat)
        least = np.minimum.reduceat(total, self.group_start)
        for g in np.flatnonzero(least <= limit).tolist():
            used = before | self.group_features[g]
            if least[g] < self.near.get(used, (np.inf,))[0] - ROUNDING:
                first = self.group_start[g]
                box = first + int(total[first : self.group_stop[g]].argmin())
                self.near[used] = float(least[g]), (*prefix, box)

    def as_list(self, found: tuple[float, Prefix]) -> NearList:
        """The boxes as masks over the bins."""
        loss, prefix = found
        masks = np.ones((len(prefix), int(self.grid.n_bins.sum())), dtype=bool)
        for mask, box in zip(masks, prefix):
            literals = zip(self.order[box], self.boxes[box].reshape(2, 2))
            for q, (place, after) in literals:
                d, places = self.orders[q]
                part = slice(self.grid.start[d], self.grid.start[d] + len(places))
                mask[part] &= (self.start[q] + places <= place) != after
        return NearList(loss, masks)
