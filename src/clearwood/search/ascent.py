"""Coordinate ascent over boxes, shared by lists and sums of boxes.

In turn, each box gets the sides and the value of least cost with the others fixed; then
all values are refitted together. This is repeated while the objective falls.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.grid import Grid, contains, literals_of

MOST_SWEEPS = 20
"""Maximum number of rounds over all boxes, or over all splits of a tree."""

SMALLEST_CHANGE = 1e-9
"""Minimum decrease of the objective for a change to be made."""


class BoxAscent:
    """Coordinate ascent over the boxes of one list, or of one sum.

    Parameters
    ----------
    problem : ListProblem or SumProblem
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    member : ndarray of bool of shape (n_boxes, n_rows), optional
        Which rows are in which box, if known.
    """

    def __init__(
        self, problem: Any, boxes: np.ndarray, member: np.ndarray | None = None
    ) -> None:
        self.problem = problem
        self.grid: Grid = problem.grid
        self.boxes = boxes.copy()
        self.member = contains(problem.grid, self.boxes) if member is None else member
        self.literals = literals_of(problem.grid, self.boxes, problem.seen)

    def improve(self, k: int | None = None) -> None:
        """Optimize value and sides of one box, others fixed, or of each in turn."""
        raise NotImplementedError

    def refit(self) -> None:
        """Refit the values of the current boxes."""
        raise NotImplementedError

    def is_known(self) -> bool:
        """Whether another ascent had the same boxes, and was continued from there."""
        return False

    def drop(self) -> bool:
        """Drop boxes that violate constraints; return whether there were any."""
        raise NotImplementedError

    def objective(self) -> float:
        """Loss and penalties of the current boxes."""
        raise NotImplementedError

    def result(self) -> Any:
        """The current list or sum."""
        raise NotImplementedError

    def refitted(self) -> Any:
        """The current list or sum, with values refitted."""
        self.refit()
        return self.result()

    def refine(self) -> Any:
        """Sweep over the boxes and drop some, until neither changes anything."""
        while True:
            self.run()
            if self.is_known() or not self.drop():
                return self.result()

    def run(self) -> None:
        """Sweep over the boxes while the objective falls."""
        before = np.inf
        for _ in range(MOST_SWEEPS + 1):
            self.refit()
            now = self.objective()
            if now > before - SMALLEST_CHANGE or self.is_known():
                break
            before = now
            self.improve()
