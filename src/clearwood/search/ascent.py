"""Coordinate ascent over boxes: what lists and sums of boxes have in common.

Box after box, the others as they are, gets the sides and the value that cost least;
then all values are refitted together. This is repeated while the objective falls.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from clearwood.search import _kernels
from clearwood.search.grid import Grid, contains, n_literals

MOST_SWEEPS = 20
"""Most rounds over all boxes (or splits of a tree), and over sides and value of one."""

SMALLEST_CHANGE = 1e-9
"""Nothing changes unless the objective falls by more than this."""


class BoxCost(Protocol):
    """What one box costs by its value, the other boxes as they are.

    Attributes
    ----------
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards the rows that the box has to hold.
    """

    counts: np.ndarray

    def of_rows(self, value: Any) -> np.ndarray:
        """What each row costs if it is in the box."""

    def of_value(self, value: Any) -> float:
        """What the value costs by itself."""

    def values_to_try(self) -> list[Any]:
        """Values to begin with."""

    def best_value(self, box: np.ndarray, start: Any) -> Any:
        """The best value for a box with these sides."""

    def opened(
        self, box: np.ndarray, value: Any
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """A copy of the box with the bounds that its value allows, and which those are.

        Where all are allowed, None in place of which.
        """


class BoxAscent:
    """Coordinate ascent over the boxes of one list, or of one sum.

    Parameters
    ----------
    problem : ListProblem or SumProblem
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    values : list or ndarray
        What each box says; changed in place.
    """

    def __init__(self, problem: Any, boxes: np.ndarray, values: Any) -> None:
        self.problem = problem
        self.boxes = boxes.copy()
        self.values = values
        self.member = contains(problem.grid, self.boxes)
        self.literals = np.array(
            [n_literals(problem.grid, box, problem.seen) for box in boxes], dtype=int
        )

    def cost_of(self, k: int) -> BoxCost:
        """What box k costs, the others as they are."""
        raise NotImplementedError

    def refit(self) -> None:
        """The best values for the boxes as they are."""
        raise NotImplementedError

    def drop(self) -> bool:
        """Drop boxes that may not stay; whether there were any."""
        raise NotImplementedError

    def objective(self) -> float:
        """Loss and penalties of the boxes as they are."""
        raise NotImplementedError

    def result(self) -> Any:
        """The list or the sum as it is."""
        raise NotImplementedError

    def refine(self) -> Any:
        """Sweep over the boxes and drop some, until neither changes anything."""
        while True:
            self.run()
            if not self.drop():
                return self.result()

    def run(self) -> None:
        """Sweep over the boxes while that helps."""
        self.refit()
        before = self.objective()
        for _ in range(MOST_SWEEPS):
            for k in range(len(self.boxes)):
                self.improve(k)
            self.refit()
            now = self.objective()
            if now > before - SMALLEST_CHANGE:
                break
            before = now

    def improve(self, k: int) -> None:
        """Find a better value and better sides for one box, the others as they are."""
        grid, seen, cost = self.problem.grid, self.problem.seen, self.cost_of(k)
        now = cost.of_rows(self.values[k])[self.member[k]].sum()
        now += cost.of_value(self.values[k]) + self.problem.literal * self.literals[k]
        best, least = None, now - _kernels.ROUNDING
        for start in cost.values_to_try():
            found, *sides_and_value = self._improved(k, start, cost)
            if found < least:
                best, least = sides_and_value, found
        if best is not None:
            self.boxes[k], self.values[k] = best
            self.member[k] = contains(grid, self.boxes[k][None])[0]
            self.literals[k] = n_literals(grid, self.boxes[k], seen)

    def _improved(
        self, k: int, value: Any, cost: BoxCost
    ) -> tuple[float, np.ndarray, Any]:
        """Sides and value in turns, while the cost falls."""
        problem = self.problem
        grid: Grid = problem.grid
        best = np.inf, self.boxes[k], value
        for _ in range(MOST_SWEEPS):
            box, bounds = cost.opened(best[1], value)
            found = _kernels.improve_box(
                *grid, problem.seen, cost.of_rows(value), cost.counts, box,
                problem.literal, problem.min_rows, bounds,
            )  # fmt: skip
            found += cost.of_value(value)
            if found > best[0] - SMALLEST_CHANGE:
                return best
            best = found, box, value
            value = cost.best_value(box, value)
            if value == best[2]:
                break
        return best
