"""Ordered lists of boxes, refitted by coordinate ascent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import pool_values
from clearwood.search import _kernels
from clearwood.search.grid import Grid, contains, n_literals
from clearwood.search.losses import Loss
from clearwood.search.monotone import bounds_of, kind_of, opened, value_range

LEAST_ROWS = 5
"""Rows that a box has to catch where nothing else is asked for."""

MOST_SWEEPS = 20
"""Most rounds over all boxes of a list, and over sides and value of one box."""

SMALLEST_CHANGE = 1e-9
"""A list changes only if its objective falls by more than this."""


class Penalties(NamedTuple):
    """What counts besides the loss.

    Attributes
    ----------
    literal : float
        Per literal.
    overlap : float
        Times the mean number of further boxes that a row is in: a row in m boxes
        counts m - 1.
    """

    literal: float
    overlap: float


class Problem(NamedTuple):
    """What a list is fitted to.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    loss : ClassLoss or SquaredLoss
    penalties : Penalties
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards ``min_rows``: 0 for a synthetic one.
    signs : ndarray of shape (n_features,), or None
        1 where the list shall rise with a numeric feature, -1 where it shall fall,
        else 0; None where it need not anywhere. Of two classes the second is higher.
    min_rows : float
        Fewest rows that a box has to catch.
    """

    grid: Grid
    seen: np.ndarray
    loss: Loss
    penalties: Penalties
    counts: np.ndarray
    signs: np.ndarray | None = None
    min_rows: float = LEAST_ROWS

    def with_literal_penalty(self, penalty: float) -> Problem:
        """The same problem with another penalty per literal."""
        return self._replace(penalties=self.penalties._replace(literal=penalty))


class BoxList(NamedTuple):
    """Boxes in order; the first that a row is in decides.

    Attributes
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    values : tuple
        What each box says: a class, or a standardised value.
    otherwise : int or float
        What is said of a row that is in no box.
    objective : float
        Loss and penalties on the rows it was fitted to.
    """

    boxes: np.ndarray
    values: tuple[Any, ...]
    otherwise: Any
    objective: float

    def predict(self, grid: Grid) -> np.ndarray:
        """What is said of each row."""
        first = first_box(contains(grid, self.boxes))
        return np.array([*self.values, self.otherwise])[first]


def make_problem(
    grid: Grid,
    loss: Loss,
    penalties: Penalties,
    counts: np.ndarray,
    signs: np.ndarray | None = None,
    min_rows: float = LEAST_ROWS,
) -> Problem:
    """Put together what a list is fitted to."""
    if signs is not None and not signs.any():
        signs = None
    counts = counts.astype(np.float64)
    return Problem(grid, grid.seen(), loss, penalties, counts, signs, float(min_rows))


def refine(problem: Problem, start: BoxList) -> BoxList:
    """Improve box after box until the objective stops falling.

    Boxes that catch too few rows are dropped.

    Parameters
    ----------
    problem : Problem
    start : BoxList
        Where the problem has ``signs``, each box is of one kind (see ``limits``).

    Returns
    -------
    BoxList
    """
    ascent = Ascent(problem, start)
    while True:
        ascent.run()
        if not ascent.drop_dead():
            return ascent.result()


class Ascent:
    """Coordinate ascent over the boxes of one list.

    Parameters
    ----------
    problem : Problem
    start : BoxList
    """

    def __init__(self, problem: Problem, start: BoxList) -> None:
        self.problem = problem
        self.boxes = start.boxes.copy()
        self.values = list(start.values)
        self.otherwise = start.otherwise
        self.member = contains(problem.grid, self.boxes)
        self._refit_values()

    def run(self) -> None:
        """Sweep over the boxes while that helps."""
        before = self.objective()
        for _ in range(MOST_SWEEPS):
            for k in range(len(self.boxes)):
                self.improve(k)
            self._refit_values()
            now = self.objective()
            if now > before - SMALLEST_CHANGE:
                break
            before = now

    def improve(self, k: int) -> None:
        """Find a better value and better sides for one box, the others as they are."""
        loss, penalties = self.problem.loss, self.problem.penalties
        free = in_none(self.member[:k])
        without = self._loss_below(k)
        others = self.member.sum(axis=0) > self.member[k]
        overlap = penalties.overlap * loss.share * others

        def cost_of(value: Any) -> np.ndarray:
            return np.where(free, loss.rows(value) - without, 0.0) + overlap

        now = cost_of(self.values[k])[self.member[k]].sum()
        now += penalties.literal * n_literals(
            self.problem.grid, self.boxes[k], self.problem.seen
        )
        best = now - _kernels.SMALLEST_CHANGE, self.boxes[k], self.values[k]
        for value in loss.values_to_try(self.values[k], without, free):
            if self._nearest(k, 0, value) != value:
                continue
            found = self._improved(k, value, cost_of, free)
            if found[0] < best[0]:
                best = found
        if best[1] is not self.boxes[k]:
            _, self.boxes[k], self.values[k] = best
            self.member[k] = contains(self.problem.grid, self.boxes[k][None])[0]

    def _improved(
        self, k: int, value: Any, cost_of: Any, free: np.ndarray
    ) -> tuple[float, np.ndarray, Any]:
        """Sides and value in turns, while the cost falls."""
        grid, seen, loss, penalties, counts, signs, min_rows = self.problem
        best = np.inf, self.boxes[k], value
        for _ in range(MOST_SWEEPS):
            if signs is None:
                bounds, box = None, best[1].copy()
            else:
                bounds = bounds_of(signs, self._kind_for(k, value))
                box = opened(grid, signs, best[1], bounds)
            cost = _kernels.improve_box(
                *grid, seen, cost_of(value), counts * free, box,
                penalties.literal, min_rows, bounds,
            )  # fmt: skip
            if cost > best[0] - SMALLEST_CHANGE:
                return best
            best = cost, box, value
            value = loss.best_value(contains(grid, box[None])[0] & free)
            if signs is not None:
                value = self._nearest(k, kind_of(grid, signs, box), value)
            if value == best[2]:
                break
        return best

    def _nearest(self, k: int, kind: int, value: Any) -> Any:
        """What box k may say that is nearest to a value, were it of some kind."""
        if self.problem.signs is None:
            return value
        said = [*self.values[:k], *self.values[k + 1 :], self.otherwise]
        kinds = self._kinds()
        low, high = value_range(said, kinds[:k] + kinds[k + 1 :], k, kind)
        return min(max(value, low), high)

    def _kind_for(self, k: int, value: Any) -> int:
        """The kind that box k may be of if it says a value."""
        behind = [*self.values[k + 1 :], self.otherwise]
        if value >= max(behind):
            return 1
        return -1 if value <= min(behind) else 0

    def _kinds(self) -> list[int]:
        grid, signs = self.problem.grid, self.problem.signs
        return [0 if signs is None else kind_of(grid, signs, b) for b in self.boxes]

    def _loss_below(self, k: int) -> np.ndarray:
        """Loss of every row if the first k + 1 boxes were not there."""
        loss = self.problem.loss
        below = loss.rows(self.otherwise)
        for j in range(len(self.boxes) - 1, k, -1):
            below = np.where(self.member[j], loss.rows(self.values[j]), below)
        return below

    def _refit_values(self) -> None:
        first = first_box(self.member)
        if self.problem.signs is not None:
            loss, lines = self.problem.loss, range(len(self.values) + 1)
            means, shares = zip(*(loss.mean(first == k) for k in lines))
            pooled = pool_values(means, shares, [*self._kinds(), 0])
            *self.values, self.otherwise = map(loss.value_of, pooled)
            return
        for k in range(len(self.values)):
            if (caught := first == k).any():
                self.values[k] = self.problem.loss.best_value(caught)
        if (rest := first == len(self.values)).any():
            self.otherwise = self.problem.loss.best_value(rest)

    def drop_dead(self) -> bool:
        """Drop boxes that catch too few rows; whether there were any.

        Nor may a few be left to ``otherwise``: then the last box goes.
        """
        first, least = first_box(self.member), self.problem.min_rows
        caught = np.bincount(
            first, weights=self.problem.counts, minlength=len(self.boxes) + 1
        )
        alive = caught[:-1] >= least
        if alive.all() and len(alive) and 0 < caught[-1] < least:
            alive[-1] = False
        if alive.all():
            return False
        self.boxes, self.member = self.boxes[alive], self.member[alive]
        self.values = [v for v, lives in zip(self.values, alive) if lives]
        self._refit_values()
        return True

    def objective(self) -> float:
        """Loss and penalties of the list as it is."""
        grid, seen, loss, penalties = self.problem[:4]
        rows = self._loss_below(-1).sum()
        further = np.maximum(self.member.sum(axis=0) - 1, 0)
        literals = sum(n_literals(grid, box, seen) for box in self.boxes)
        return float(
            rows
            + penalties.overlap * (loss.share @ further)
            + penalties.literal * literals
        )

    def result(self) -> BoxList:
        """The list as it is."""
        return BoxList(self.boxes, tuple(self.values), self.otherwise, self.objective())


def first_box(member: np.ndarray) -> np.ndarray:
    """Position of the first box that each row is in; their number where none."""
    none = np.ones((1, member.shape[1]), dtype=bool)
    return np.concatenate([member, none]).argmax(axis=0)


def in_none(member: np.ndarray) -> np.ndarray:
    """Rows that are in no box."""
    return np.logical_not(member.any(axis=0))
