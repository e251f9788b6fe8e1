"""Ordered lists of boxes, refitted by coordinate ascent."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import search_lists as _kernels
from clearwood._kernels.search import predict_best_of_lines
from clearwood._numeric import pool_values
from clearwood.search.ascent import BoxAscent
from clearwood.search.grid import LEAST_ROWS, Grid, contains
from clearwood.search.losses import Loss
from clearwood.search.monotone import kind_of


class Penalties(NamedTuple):
    """Penalties in the objective.

    Attributes
    ----------
    literal : float
        Penalty per literal.
    overlap : float
        Penalty times the mean number of further boxes that a row is in: a row in m
        boxes has m - 1.
    """

    literal: float
    overlap: float


class ListProblem(NamedTuple):
    """Data and penalties of the search for a list.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that contain rows.
    loss : Loss
    penalties : Penalties
    counts : ndarray of float64 of shape (n_rows,)
        Contribution of a row to ``min_samples_leaf``: 0 for a synthetic one.
    min_samples_leaf : float
        Minimum count of the rows of a box, and of those of the default rule.
    signs : ndarray of shape (n_features,), or None
        Monotonicity constraints: 1 to rise with a numeric feature, -1 to fall, else 0;
        None if there are none. Only for a single score.
    """

    grid: Grid
    seen: np.ndarray
    loss: Loss
    penalties: Penalties
    counts: np.ndarray
    min_samples_leaf: float
    signs: np.ndarray | None = None

    @property
    def all_signs(self) -> np.ndarray:
        """The signs, all 0 if there are none."""
        none = np.zeros(len(self.grid.n_bins), dtype=np.int64)
        return none if self.signs is None else self.signs

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
        Prediction of each box: a class, a standardized value, or probabilities.
    otherwise : int, float or list of float
        Prediction for a row in no box.
    objective : float
        Loss and penalties on the rows of the fit.
    """

    boxes: np.ndarray
    values: tuple[Any, ...]
    otherwise: Any
    objective: float

    def predict(self, grid: Grid) -> np.ndarray:
        """Prediction for each row."""
        first = first_box(contains(grid, self.boxes))
        return np.array([*self.values, self.otherwise])[first]


def make_problem(
    grid: Grid,
    loss: Loss,
    penalties: Penalties,
    counts: np.ndarray,
    signs: np.ndarray | None = None,
    *,
    min_samples_leaf: float = LEAST_ROWS,
) -> ListProblem:
    """Build the problem of a list."""
    if signs is not None and not signs.any():
        signs = None
    counts = counts.astype(np.float64)
    return ListProblem(
        grid,
        grid.seen(),
        loss,
        penalties,
        counts,
        float(min_samples_leaf),
        None if signs is None else signs.astype(np.int64),
    )


def refine(problem: ListProblem, start: BoxList) -> BoxList:
    """Improve box after box until the objective stops falling.

    Boxes with too few rows are dropped.

    Parameters
    ----------
    problem : ListProblem
    start : BoxList
        If the problem has ``signs``, each box is of one kind (see ``monotone``).

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
    member : ndarray of bool of shape (n_boxes, n_rows), optional
        Which rows are in which box, if known.
    """

    def __init__(
        self, problem: ListProblem, start: BoxList, member: np.ndarray | None = None
    ) -> None:
        super().__init__(problem, start.boxes, member)
        vectors = map(problem.loss.vector, [*start.values, start.otherwise])
        # Predictions of all boxes as vectors, the default rule at the end.
        self.predicted = np.array(list(vectors), dtype=np.float64)
        loss = problem.loss
        self._loss = loss.form, loss.scores, loss.share
        self._fitted_to = (
            self.grid, problem.seen, self._loss, problem.penalties,
            problem.counts, problem.min_samples_leaf, problem.all_signs,
        )  # fmt: skip
        self._known: tuple[np.ndarray, np.ndarray, float] | None = None

    @property
    def values(self) -> list[Any]:
        """Prediction of each box, the default rule at the end."""
        return [self.problem.loss.value(vector) for vector in self.predicted]

    def improve(self, k: int | None = None) -> None:
        """Optimize value and sides of one box, others fixed, or of each in turn."""
        self._known = None
        lines = self.boxes, self.member, self.literals, self.predicted
        for j in range(len(self.boxes)) if k is None else [k]:
            _kernels.improve_line(self._fitted_to, lines, j)

    def _sums(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Scores and shares of the rows that each box decides, and the overlap."""
        if self._known is None:
            self._known = _kernels.sums_of_lines(self.member, *self._loss[1:])
        return self._known

    def refit(self) -> None:
        """Refit the values of the current boxes."""
        sums, share, _ = self._sums()
        if self.problem.signs is None:
            predict_best_of_lines(self.problem.loss.form, sums, share, self.predicted)
            return
        grid, signs = self.problem.grid, self.problem.signs
        means = np.divide(sums[:, 0], share, out=0.0 * share, where=share > 0)
        kinds = [kind_of(grid, signs, box) for box in self.boxes]
        self.predicted[:, 0] = pool_values(means.tolist(), share.tolist(), [*kinds, 0])

    def drop(self) -> bool:
        """Drop boxes with too few rows; return whether there were any.

        If the default rule would have too few, the last box is dropped.
        """
        first = first_box(self.member)
        assigned = np.bincount(
            first, weights=self.problem.counts, minlength=len(self.boxes) + 1
        )
        alive = assigned[:-1] >= self.problem.min_samples_leaf
        if (
            alive.all()
            and len(alive)
            and 0 < assigned[-1] < self.problem.min_samples_leaf
        ):
            alive[-1] = False
        if alive.all():
            return False
        self._known = None
        self.boxes, self.member = self.boxes[alive], self.member[alive]
        self.literals = self.literals[alive]
        self.predicted = self.predicted[np.append(alive, True)]
        return True

    def objective(self) -> float:
        """Loss and penalties of the current list."""
        penalties, loss = self.problem.penalties, self.problem.loss
        sums, share, further = self._sums()
        lost = _kernels.loss_of_lines(loss.form, sums, share, self.predicted)
        return float(
            loss.constant
            + lost
            + penalties.overlap * further
            + penalties.literal * self.literals.sum()
        )

    def result(self) -> BoxList:
        """The current list."""
        *values, otherwise = self.values
        return BoxList(self.boxes, tuple(values), otherwise, self.objective())


def first_box(member: np.ndarray) -> np.ndarray:
    """Index of the first box that each row is in; the number of boxes if none."""
    none = np.ones((1, member.shape[1]), dtype=bool)
    return np.concatenate([member, none]).argmax(axis=0)
