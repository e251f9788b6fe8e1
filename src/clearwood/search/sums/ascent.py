"""One sum of boxes and a constant, and coordinate ascent over its boxes."""

from __future__ import annotations

from copy import copy
from typing import NamedTuple

import numpy as np

from clearwood._kernels import search_sums as _kernels
from clearwood._kernels.numeric import solve_positive
from clearwood.search.ascent import SMALLEST_CHANGE, BoxAscent
from clearwood.search.grid import LEAST_ROWS, Grid, contains
from clearwood.search.sums.losses import SumLoss
from clearwood.search.sums.values import (
    best_values,
    classes_without_boxes,
    design_of,
    fewer_classes,
)


class SumProblem(NamedTuple):
    """Data and penalties of the search for a sum.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that contain rows.
    loss : SquaredSumLoss or ClassSumLoss
    literal : float
        Penalty per literal.
    ridge : float
        Ridge penalty on half the square of each value, to keep it finite.
    counts : ndarray of float64 of shape (n_rows,)
        Contribution of a row to ``min_samples_leaf``: 0 for a synthetic one.
    min_samples_leaf : float
        Minimum count of the rows of a box.
    """

    grid: Grid
    seen: np.ndarray
    loss: SumLoss
    literal: float
    ridge: float
    counts: np.ndarray
    min_samples_leaf: float

    def with_literal_penalty(self, penalty: float) -> SumProblem:
        """The same problem with another penalty per literal."""
        return self._replace(literal=penalty)


class BoxSum(NamedTuple):
    """Boxes, each of which adds its value to one output of the rows in it.

    Attributes
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    values : ndarray of shape (n_boxes,)
        Contribution of each box.
    outputs : ndarray of int of shape (n_boxes,)
        Output of each box.
    constant : ndarray of shape (n_outputs,)
        Initial value of every row.
    objective : float
        Loss and penalties on the rows of the fit.
    """

    boxes: np.ndarray
    values: np.ndarray
    outputs: np.ndarray
    constant: np.ndarray
    objective: float

    def scores(self, grid: Grid) -> np.ndarray:
        """The sums of each row: (n_outputs, n_rows)."""
        member = contains(grid, self.boxes)
        return _kernels.scores_of(self.constant, self.values, self.outputs, member)

    def predict(self, grid: Grid) -> np.ndarray:
        """Prediction for each row: a value, or of several outputs the largest."""
        scores = self.scores(grid)
        return scores.argmax(axis=0) if len(scores) > 1 else scores[0]


def make_sum_problem(
    grid: Grid,
    loss: SumLoss,
    literal: float,
    ridge: float,
    counts: np.ndarray,
    *,
    min_samples_leaf: float = LEAST_ROWS,
) -> SumProblem:
    """Build the problem of a sum."""
    counts = counts.astype(np.float64)
    return SumProblem(
        grid, grid.seen(), loss, literal, ridge, counts, float(min_samples_leaf)
    )


def refine_sum(problem: SumProblem, start: BoxSum) -> BoxSum:
    """Refit all values and improve box after box until the objective stops falling.

    Boxes whose literals cost more than they gain, with the others refitted, are
    dropped, and so is a box with nearly the rows of another one, or of its complement.

    Parameters
    ----------
    problem : SumProblem
    start : BoxSum

    Returns
    -------
    BoxSum
    """
    return SumAscent(problem, start).refine()


class Groups(NamedTuple):
    """Groups of rows that are in the same boxes, with equal predictions of a sum.

    Attributes
    ----------
    of_row : ndarray of int32 of shape (n_rows,)
    member : ndarray of bool of shape (n_boxes, n_groups)
        Which groups are in which box.
    """

    of_row: np.ndarray
    member: np.ndarray


class SumAscent(BoxAscent):
    """Coordinate ascent over the boxes of one sum.

    Parameters
    ----------
    problem : SumProblem
    start : BoxSum
    known : dict, optional
        By their boxes, the first of several ascents that had them; written.
    """

    def __init__(
        self,
        problem: SumProblem,
        start: BoxSum,
        known: dict[tuple[bytes, bytes], SumAscent] | None = None,
    ) -> None:
        super().__init__(problem, start.boxes)
        self._known = known
        self.values = start.values.copy()
        self.outputs = start.outputs
        self.constant = start.constant
        loss = problem.loss
        self._fitted_to = (
            self.grid, problem.seen, loss.is_class, loss.share, loss.weighted,
            problem.counts, problem.literal, problem.ridge, loss.largest,
            problem.min_samples_leaf,
        )  # fmt: skip
        self._groups: Groups | None = None
        self._merged: tuple[SumLoss, float] | None = None

    @property
    def groups(self) -> Groups:
        """Rows that are in the same boxes."""
        if self._groups is None:
            of_row, first = _kernels.groups_of(self.member)
            self._groups = Groups(of_row, self.member.take(first, axis=1))
            self._merged = None
        return self._groups

    @property
    def merged(self) -> tuple[SumLoss, float]:
        """Loss of the groups, and the further loss of rows, whatever the prediction."""
        groups = self.groups
        if self._merged is None:
            self._merged = self.problem.loss.merged(groups.of_row)
        return self._merged

    def improve(self, k: int | None = None) -> None:
        """Optimize value and sides of one box, others fixed, or of each in turn."""
        first, last = (0, len(self.boxes)) if k is None else (k, k + 1)
        if _kernels.improve_boxes(self._fitted_to, self._lines, first, last):
            self._groups = None

    def improved(
        self,
        boxes: np.ndarray,
        literals: np.ndarray,
        outputs: np.ndarray,
        values: np.ndarray,
    ) -> np.ndarray:
        """Optimize further boxes and their values in place, each as the only one.

        Returns the objective with each; infinity if it becomes one before it.
        """
        inside = contains(self.grid, boxes)
        lines = boxes, inside, literals, outputs, values
        cost: np.ndarray = _kernels.improve_candidates(
            self._fitted_to, self._lines, *lines
        )
        return self.objective() + cost

    def is_known(self) -> bool:
        """As in the base class. Bins without rows are ignored."""
        if self._known is None:
            return False
        key = (self.boxes & self.problem.seen).tobytes(), self.outputs.tobytes()
        return self._known.setdefault(key, self) is not self

    @property
    def _lines(self) -> tuple[np.ndarray, ...]:
        lines = self.boxes, self.member, self.literals, self.outputs
        return *lines, self.values, self.constant

    def refit(self) -> None:
        """Refit the constant and the values of the current boxes."""
        self.constant, self.values = best_values(
            self.merged[0],
            self.problem.ridge,
            self.groups.member,
            self.outputs,
            self.constant,
            self.values,
        )

    def drop(self) -> bool:
        """Drop boxes of little effect; return whether there were any."""
        return self.drop_twin() or self.drop_idle()

    def drop_idle(self) -> bool:
        """Drop the box of least gain, if negative; return whether there was one."""
        least, best = self.objective() + SMALLEST_CHANGE, None
        for k in np.flatnonzero(self._may_be_idle()).tolist():
            fewer = self._without(k)
            fewer.refit()
            if (then := fewer.objective()) < least:
                least, best = then, fewer
        if best is None:
            return False
        self.__dict__.update(best.__dict__)
        return True

    def _may_be_idle(self) -> np.ndarray:
        """Boxes without which the objective would hardly rise."""
        # For large changes, other losses rise less than their curvature implies.
        most = 2.0 * self.problem.literal * self.literals + SMALLEST_CHANGE
        return np.less(self._rises(), most)

    def _rises(self) -> np.ndarray:
        """Approximate rise of the objective without each box.

        Without a factor, and with all others refitted, a quadratic function rises by
        half its square over its place in the inverse of the second derivatives.
        """
        problem, groups = self.problem, self.groups
        loss, outputs = self.merged[0], self.outputs
        answers = loss.answers(self._scores())
        others = classes_without_boxes(loss, outputs)
        if len(others) > 1:
            loss, outputs, used = fewer_classes(loss, outputs, others)
            answers = np.vstack([answers[others].sum(axis=0), answers[used]])
        design = design_of(loss, problem.ridge, groups.member, outputs)
        n_lines = len(design.lines)
        _, curvature = _kernels.slopes_of_sum(design, np.zeros(n_lines), answers)
        inverse = solve_positive(curvature, np.eye(n_lines))
        spread = np.diag(inverse)[n_lines - len(self.boxes) :]
        rises: np.ndarray = self.values**2 / (2.0 * np.maximum(spread, 1e-300))
        return rises

    def drop_twin(self) -> bool:
        """Drop a box that duplicates others; return whether there was one.

        A box and its complement differ by the constant. So a box must differ by
        ``min_samples_leaf`` rows from nothing, from everything, and from every box
        before it and its complement: two boxes that nearly cancel are a rule for the
        rows between them.
        """
        least, groups = self.problem.min_samples_leaf, self.groups
        counts = np.bincount(groups.of_row, self.problem.counts)
        total = counts.sum()
        for k, rows in enumerate(groups.member):
            same = [np.zeros_like(rows), *groups.member[:k]]
            outputs = [self.outputs[k], *self.outputs[:k]]
            for other, output in zip(same, outputs):
                apart = counts[rows ^ other].sum()
                if output == self.outputs[k] and not (least <= apart <= total - least):
                    self.__dict__.update(self._without(k).__dict__)
                    return True
        return False

    def _without(self, k: int) -> SumAscent:
        kept, fewer = np.arange(len(self.boxes)) != k, copy(self)
        for name in ("boxes", "member", "literals", "values", "outputs"):
            setattr(fewer, name, getattr(self, name)[kept])
        fewer._groups = self.groups._replace(member=self.groups.member[kept])
        return fewer

    def answers(self) -> np.ndarray:
        """Prediction for each row."""
        return self.problem.loss.answers(self._scores())[:, self.groups.of_row]

    def _scores(self) -> np.ndarray:
        """The sums of each group of rows."""
        found: np.ndarray = _kernels.scores_of(
            self.constant, self.values, self.outputs, self.groups.member
        )
        return found

    def objective(self) -> float:
        """Loss and penalties of the current sum."""
        problem, (of_groups, within) = self.problem, self.merged
        loss = within + of_groups.rows(self._scores()).sum()
        ridge = 0.5 * problem.ridge * (self.values**2).sum()
        return float(loss + ridge + problem.literal * self.literals.sum())

    def result(self) -> BoxSum:
        """The current sum."""
        return BoxSum(
            self.boxes, self.values, self.outputs, self.constant, self.objective()
        )
