"""One sum of boxes and a constant, and coordinate ascent over its boxes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood.search.ascent import SMALLEST_CHANGE, BoxAscent
from clearwood.search.grid import LEAST_ROWS, Grid, contains
from clearwood.search.sums.losses import SumLoss
from clearwood.search.sums.values import best_value, best_values, design_of


class SumProblem(NamedTuple):
    """What a sum is fitted to.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    loss : SquaredSumLoss or ClassSumLoss
    literal : float
        Penalty per literal.
    ridge : float
        Penalty on half the square of each value, so that none runs away.
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards ``min_rows``: 0 for a synthetic one.
    min_rows : float
        Least that the rows of a box have to count.
    """

    grid: Grid
    seen: np.ndarray
    loss: SumLoss
    literal: float
    ridge: float
    counts: np.ndarray
    min_rows: float

    def with_literal_penalty(self, penalty: float) -> SumProblem:
        """The same problem with another penalty per literal."""
        return self._replace(literal=penalty)


class BoxSum(NamedTuple):
    """Boxes, each of which adds its value to one output of the rows in it.

    Attributes
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    values : ndarray of shape (n_boxes,)
        What each box adds.
    outputs : ndarray of int of shape (n_boxes,)
        To which output.
    constant : ndarray of shape (n_outputs,)
        What every row begins with.
    objective : float
        Loss and penalties on the rows it was fitted to.
    """

    boxes: np.ndarray
    values: np.ndarray
    outputs: np.ndarray
    constant: np.ndarray
    objective: float

    def scores(self, grid: Grid) -> np.ndarray:
        """The sums of each row: (n_outputs, n_rows)."""
        return _scores(self, contains(grid, self.boxes))

    def predict(self, grid: Grid) -> np.ndarray:
        """What is said of each row: a value, or of several outputs the largest."""
        scores = self.scores(grid)
        return scores.argmax(axis=0) if len(scores) > 1 else scores[0]


def make_sum_problem(
    grid: Grid,
    loss: SumLoss,
    literal: float,
    ridge: float,
    counts: np.ndarray,
    *,
    min_rows: float = LEAST_ROWS,
) -> SumProblem:
    """Put together what a sum is fitted to."""
    counts = counts.astype(np.float64)
    return SumProblem(grid, grid.seen(), loss, literal, ridge, counts, float(min_rows))


def refine_sum(problem: SumProblem, start: BoxSum) -> BoxSum:
    """Refit all values and improve box after box until the objective stops falling.

    Boxes that do not pay for their literals, the others being refitted, are dropped,
    and so is a box that holds nearly the rows of another one, or all but these.

    Parameters
    ----------
    problem : SumProblem
    start : BoxSum

    Returns
    -------
    BoxSum
    """
    return SumAscent(problem, start).refine()


class SumAscent(BoxAscent):
    """Coordinate ascent over the boxes of one sum.

    Parameters
    ----------
    problem : SumProblem
    start : BoxSum
    """

    def __init__(self, problem: SumProblem, start: BoxSum) -> None:
        super().__init__(problem, start.boxes, start.values.copy())
        self.outputs = start.outputs
        self.constant = start.constant

    def cost_of(self, k: int) -> _CostInSum:
        """What box k costs, the others as they are."""
        return _CostInSum(self, k)

    def refit(self) -> None:
        """The best constant and values for the boxes as they are."""
        self.constant, self.values = best_values(
            self.problem.loss,
            self.problem.ridge,
            self.member,
            self.outputs,
            self.constant,
            self.values,
        )

    def drop(self) -> bool:
        """Drop boxes that say too little; whether there were any."""
        return self.drop_twin() or self.drop_idle()

    def drop_idle(self) -> bool:
        """Drop the box that pays least, if it does not pay; whether there was one."""
        least, best = self.objective() + SMALLEST_CHANGE, None
        for k in np.flatnonzero(self._may_be_idle()).tolist():
            fewer = SumAscent(self.problem, self._without(k))
            fewer.refit()
            if (then := fewer.objective()) < least:
                least, best = then, fewer
        if best is None:
            return False
        self.__dict__.update(best.__dict__)
        return True

    def _may_be_idle(self) -> np.ndarray:
        """Boxes without which the objective would hardly rise.

        Without a factor, and with all others refitted, a quadratic function rises by
        half its square over its place in the inverse of the second derivatives.
        """
        problem, answers = self.problem, self.problem.loss.answers(self.scores())
        design, outputs, ridge = design_of(
            problem.loss, problem.ridge, self.member, self.outputs
        )
        curvature = problem.loss.curvature(answers, design, outputs) + np.diag(ridge)
        spread = np.diag(np.linalg.pinv(curvature))[len(design) - len(self.boxes) :]
        rise = self.values**2 / (2.0 * np.maximum(spread, 1e-300))
        # Far off, other losses rise less than their curvature says.
        return rise < 2.0 * problem.literal * self.literals + SMALLEST_CHANGE

    def drop_twin(self) -> bool:
        """Drop a box that says no more than others do; whether there was one.

        A box and its complement differ by the constant. So a box must differ by
        ``min_rows`` rows from nothing, from everything, and from every box before
        it and its complement: two boxes that nearly cancel are a rule for the rows
        between them.
        """
        counts, least = self.problem.counts, self.problem.min_rows
        total = counts.sum()
        for k, rows in enumerate(self.member):
            same = [np.zeros_like(rows), *self.member[:k]]
            outputs = [self.outputs[k], *self.outputs[:k]]
            for other, output in zip(same, outputs):
                apart = counts @ (rows ^ other)
                if output == self.outputs[k] and not (least <= apart <= total - least):
                    fewer = SumAscent(self.problem, self._without(k))
                    self.__dict__.update(fewer.__dict__)
                    return True
        return False

    def _without(self, k: int) -> BoxSum:
        kept = np.arange(len(self.boxes)) != k
        return BoxSum(
            self.boxes[kept],
            self.values[kept],
            self.outputs[kept],
            self.constant,
            np.inf,
        )

    def scores(self) -> np.ndarray:
        """The sums of each row."""
        return _scores(self, self.member)

    def objective(self) -> float:
        """Loss and penalties of the sum as it is."""
        problem = self.problem
        loss = problem.loss.rows(self.scores()).sum()
        ridge = 0.5 * problem.ridge * (self.values**2).sum()
        return float(loss + ridge + problem.literal * self.literals.sum())

    def result(self) -> BoxSum:
        """The sum as it is."""
        return BoxSum(
            self.boxes, self.values, self.outputs, self.constant, self.objective()
        )


class _CostInSum:
    """What one box of a sum costs by what it adds; see :class:`BoxCost`."""

    def __init__(self, ascent: SumAscent, k: int) -> None:
        problem = ascent.problem
        self.loss, self.ridge = problem.loss, problem.ridge
        self.grid, self.counts = problem.grid, problem.counts
        self.output, self.value = int(ascent.outputs[k]), float(ascent.values[k])
        scores = ascent.scores()
        scores[self.output] -= self.value * ascent.member[k]
        self.answers = problem.loss.answers(scores)

    def of_rows(self, value: float) -> np.ndarray:
        return self.loss.change(self.answers, self.output, value)

    def of_value(self, value: float) -> float:
        return 0.5 * self.ridge * value**2

    def values_to_try(self) -> list[float]:
        return [self.value]

    def best_value(self, box: np.ndarray, start: float) -> float:
        rows = np.flatnonzero(contains(self.grid, box[None])[0])
        return best_value(self.loss, self.answers, self.output, rows, self.ridge, start)

    def opened(self, box: np.ndarray, value: float) -> tuple[np.ndarray, None]:
        return box.copy(), None


def _scores(lines: BoxSum | SumAscent, member: np.ndarray) -> np.ndarray:
    scores = np.repeat(lines.constant[:, None], member.shape[1], axis=1)
    for rows, value, output in zip(member, lines.values, lines.outputs):
        scores[output] += value * rows
    return scores
