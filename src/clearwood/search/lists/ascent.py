"""Ordered lists of boxes, refitted by coordinate ascent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import pool_values
from clearwood.search.ascent import BoxAscent
from clearwood.search.grid import LEAST_ROWS, Grid, contains
from clearwood.search.losses import LogLoss, Loss, ProbabilityLoss
from clearwood.search.monotone import bounds_of, kind_of, opened, value_range


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


class ListProblem(NamedTuple):
    """What a list is fitted to.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    loss : ClassLoss, ProbabilityLoss, SquaredLoss or LogLoss
    penalties : Penalties
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards ``min_rows``: 0 for a synthetic one.
    min_rows : float
        Least that the rows of a box, and those of ``otherwise``, have to count.
    signs : ndarray of shape (n_features,), or None
        1 where the list shall rise with a numeric feature, -1 where it shall fall,
        else 0; None where it need not anywhere. Of two classes the second is higher.
    """

    grid: Grid
    seen: np.ndarray
    loss: Loss | LogLoss | ProbabilityLoss
    penalties: Penalties
    counts: np.ndarray
    min_rows: float
    signs: np.ndarray | None = None

    @property
    def literal(self) -> float:
        """Penalty per literal."""
        return self.penalties.literal

    def with_literal_penalty(self, penalty: float) -> ListProblem:
        """The same problem with another penalty per literal."""
        return self._replace(penalties=self.penalties._replace(literal=penalty))


class BoxList(NamedTuple):
    """Boxes in order; the first that a row is in decides.

    Attributes
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    values : tuple
        What each box says: a class, a standardised value, or a list of probabilities.
    otherwise : int, float or list of float
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
    loss: Loss | LogLoss | ProbabilityLoss,
    penalties: Penalties,
    counts: np.ndarray,
    signs: np.ndarray | None = None,
    *,
    min_rows: float = LEAST_ROWS,
) -> ListProblem:
    """Put together what a list is fitted to."""
    if signs is not None and not signs.any():
        signs = None
    counts = counts.astype(np.float64)
    return ListProblem(
        grid, grid.seen(), loss, penalties, counts, float(min_rows), signs
    )


def refine(problem: ListProblem, start: BoxList) -> BoxList:
    """Improve box after box until the objective stops falling.

    Boxes that catch too few rows are dropped.

    Parameters
    ----------
    problem : ListProblem
    start : BoxList
        Where the problem has ``signs``, each box is of one kind (see ``monotone``).

    Returns
    -------
    BoxList
    """
    return ListAscent(problem, start).refine()


class ListAscent(BoxAscent):
    """Coordinate ascent over the boxes of one list.

    Parameters
    ----------
    problem : ListProblem
    start : BoxList
    """

    def __init__(self, problem: ListProblem, start: BoxList) -> None:
        super().__init__(problem, start.boxes, list(start.values))
        self.otherwise = start.otherwise

    def cost_of(self, k: int) -> _CostInList:
        """What box k costs, the others as they are."""
        return _CostInList(self, k)

    def nearest(self, k: int, kind: int, value: Any) -> Any:
        """What box k may say that is nearest to a value, were it of some kind."""
        if self.problem.signs is None:
            return value
        said = [*self.values[:k], *self.values[k + 1 :], self.otherwise]
        kinds = self._kinds()
        low, high = value_range(said, kinds[:k] + kinds[k + 1 :], k, kind)
        return min(max(value, low), high)

    def kind_for(self, k: int, value: Any) -> int:
        """The kind that box k may be of if it says a value."""
        behind = [*self.values[k + 1 :], self.otherwise]
        if value >= max(behind):
            return 1
        return -1 if value <= min(behind) else 0

    def _kinds(self) -> list[int]:
        grid, signs = self.problem.grid, self.problem.signs
        return [0 if signs is None else kind_of(grid, signs, b) for b in self.boxes]

    def loss_below(self, k: int) -> np.ndarray:
        """Loss of every row if the first k + 1 boxes were not there."""
        loss = self.problem.loss
        below = loss.rows(self.otherwise)
        for j in range(len(self.boxes) - 1, k, -1):
            below = np.where(self.member[j], loss.rows(self.values[j]), below)
        return below

    def refit(self) -> None:
        """The best values for the boxes as they are."""
        first = first_box(self.member)
        if self.problem.signs is not None:
            lines = range(len(self.values) + 1)
            loss: Any = self.problem.loss
            means, shares = zip(*(loss.mean(first == k) for k in lines))
            pooled = pool_values(means, shares, [*self._kinds(), 0])
            *self.values, self.otherwise = map(loss.value_of, pooled)
            return
        for k in range(len(self.values)):
            if (caught := first == k).any():
                self.values[k] = self.problem.loss.best_value(caught)
        if (rest := first == len(self.values)).any():
            self.otherwise = self.problem.loss.best_value(rest)

    def drop(self) -> bool:
        """Drop boxes that catch too few rows; whether there were any.

        Nor may a few be left to ``otherwise``: then the last box goes.
        """
        first = first_box(self.member)
        caught = np.bincount(
            first, weights=self.problem.counts, minlength=len(self.boxes) + 1
        )
        alive = caught[:-1] >= self.problem.min_rows
        if alive.all() and len(alive) and 0 < caught[-1] < self.problem.min_rows:
            alive[-1] = False
        if alive.all():
            return False
        self.boxes, self.member = self.boxes[alive], self.member[alive]
        self.literals = self.literals[alive]
        self.values = [v for v, lives in zip(self.values, alive) if lives]
        return True

    def objective(self) -> float:
        """Loss and penalties of the list as it is."""
        penalties, share = self.problem.penalties, self.problem.loss.share
        rows = self.loss_below(-1).sum()
        further = np.maximum(self.member.sum(axis=0) - 1, 0)
        return float(
            rows
            + penalties.overlap * (share @ further)
            + penalties.literal * self.literals.sum()
        )

    def result(self) -> BoxList:
        """The list as it is."""
        return BoxList(self.boxes, tuple(self.values), self.otherwise, self.objective())


class _CostInList:
    """What one box of a list costs by what it says; see :class:`BoxCost`."""

    def __init__(self, ascent: ListAscent, k: int) -> None:
        problem = ascent.problem
        self.ascent, self.k, self.problem = ascent, k, problem
        # Rows that no box before it decides, and what they cost without it.
        self.free = in_none(ascent.member[:k])
        self.without = ascent.loss_below(k)
        in_others = ascent.member.sum(axis=0) > ascent.member[k]
        self.overlap = problem.penalties.overlap * problem.loss.share * in_others
        self.counts = problem.counts * self.free

    def of_rows(self, value: Any) -> np.ndarray:
        change = self.problem.loss.rows(value) - self.without
        return np.where(self.free, change, 0.0) + self.overlap

    def of_value(self, value: Any) -> float:
        return 0.0

    def values_to_try(self) -> list[Any]:
        ascent, k = self.ascent, self.k
        values = self.problem.loss.values_to_try(
            ascent.values[k], self.without, self.free
        )
        return [value for value in values if ascent.nearest(k, 0, value) == value]

    def best_value(self, box: np.ndarray, start: Any) -> Any:
        grid, signs = self.problem.grid, self.problem.signs
        rows = contains(grid, box[None])[0] & self.free
        value = self.problem.loss.best_value(rows)
        if signs is None:
            return value
        return self.ascent.nearest(self.k, kind_of(grid, signs, box), value)

    def opened(
        self, box: np.ndarray, value: Any
    ) -> tuple[np.ndarray, np.ndarray | None]:
        signs = self.problem.signs
        if signs is None:
            return box.copy(), None
        bounds = bounds_of(signs, self.ascent.kind_for(self.k, value))
        return opened(self.problem.grid, signs, box, bounds), bounds


def first_box(member: np.ndarray) -> np.ndarray:
    """Position of the first box that each row is in; their number where none."""
    none = np.ones((1, member.shape[1]), dtype=bool)
    return np.concatenate([member, none]).argmax(axis=0)


def in_none(member: np.ndarray) -> np.ndarray:
    """Rows that are in no box."""
    return np.logical_not(member.any(axis=0))
