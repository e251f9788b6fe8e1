"""Losses of the scores of a sum, and their derivatives.

Scores are of shape (n_outputs, n_rows): one output for values, one per class otherwise.
``answers`` are the predictions from scores: values, or class probabilities. All losses
are shares: over all rows, the weights sum to one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from clearwood._kernels import search_sums as _kernels

LARGEST_SCORE = 20.0
"""Log-odds beyond which a class is considered certain."""


@dataclass(frozen=True, eq=False)
class _Loss:
    target: np.ndarray
    share: np.ndarray

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return len(self.target)

    @cached_property
    def weighted(self) -> np.ndarray:
        """Targets times shares."""
        return self.target * self.share

    def merged(self, group: np.ndarray) -> tuple[Self, float]:
        """Loss of groups of rows with equal predictions, and the loss that it omits."""
        total = np.bincount(group, self.share)
        sums: np.ndarray = _kernels.sums_of_groups(
            group, len(total), self.target, self.share
        )
        return type(self)(sums / np.maximum(total, 1e-300), total), 0.0

    def take(self, rows: np.ndarray) -> Self:
        """The loss on some of the rows, in the same units."""
        share = self.share[rows]
        target = np.ascontiguousarray(self.target[:, rows])
        return type(self)(target, share / share.sum())


class SquaredSumLoss(_Loss):
    """Squared difference of the sum from a target of variance near 1.

    Created by :meth:`of`.

    Parameters
    ----------
    target : ndarray of shape (1, n_rows)
        Standardised values.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.

    Examples
    --------
    >>> loss = SquaredSumLoss.of(np.array([-1.0, 3.0]), np.ones(2))
    >>> loss.rows(np.array([[1.0, 1.0]]))
    array([2., 2.])
    """

    largest: ClassVar[float] = np.inf
    n_grown: ClassVar[int] = 4
    is_class: ClassVar[bool] = False
    free: ClassVar[tuple[int, ...]] = (0,)

    @classmethod
    def of(cls, target: np.ndarray, weight: np.ndarray) -> SquaredSumLoss:
        """Loss of values with weights of any sum."""
        return cls(target[None], weight / weight.sum())

    @cached_property
    def square(self) -> float:
        """Mean square of the target."""
        return (self.share * self.target[0] ** 2).sum()

    def rows(self, scores: np.ndarray) -> np.ndarray:
        """Loss of the scores on each row."""
        return self.share * (self.target[0] - scores[0]) ** 2

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Prediction for each row."""
        return scores

    def slopes(self, answers: np.ndarray, output: int) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivative of each row's loss by the score of one output."""
        residual = self.target[0] - answers[0]
        return -2.0 * self.share * residual, 2.0 * self.share

    def merged(self, group: np.ndarray) -> tuple[Self, float]:
        """As in the base class; squares within groups are omitted."""
        means, _ = super().merged(group)
        return means, float(self.square - means.square)


class ClassSumLoss(_Loss):
    """Cross-entropy of the classes' probabilities, the softmax of the sums.

    Of two classes the first always scores 0. Created by :meth:`of`.

    Parameters
    ----------
    target : ndarray of shape (n_classes, n_rows)
        Probabilities.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.

    Examples
    --------
    >>> loss = ClassSumLoss.of(np.array([[0.5, 0.5]]), np.ones(1))
    >>> loss.rows(np.zeros((2, 1))).round(4)
    array([0.6931])
    """

    largest: ClassVar[float] = LARGEST_SCORE
    n_grown: ClassVar[int] = 1
    is_class: ClassVar[bool] = True

    @classmethod
    def of(cls, probabilities: np.ndarray, weight: np.ndarray) -> ClassSumLoss:
        """Loss of class probabilities (n_rows, n_classes)."""
        return cls(np.ascontiguousarray(probabilities.T), weight / weight.sum())

    @property
    def free(self) -> tuple[int, ...]:
        """Classes whose scores boxes may add to."""
        return (1,) if self.n_scores == 2 else tuple(range(self.n_scores))

    def rows(self, scores: np.ndarray) -> np.ndarray:
        """Loss of the scores on each row."""
        highest = scores.max(axis=0)
        normaliser = highest + np.log(np.exp(scores - highest).sum(axis=0))
        return self.share * (normaliser - (self.target * scores).sum(axis=0))

    def answers(self, scores: np.ndarray) -> np.ndarray:
        """Probabilities of the classes."""
        odds = np.exp(scores - scores.max(axis=0))
        return odds / odds.sum(axis=0)

    def slopes(self, answers: np.ndarray, output: int) -> tuple[np.ndarray, np.ndarray]:
        """First and second derivative of each row's loss by the score of one output."""
        p = answers[output]
        return -self.share * (self.target[output] - p), self.share * p * (1.0 - p)


SumLoss = SquaredSumLoss | ClassSumLoss
"""A ``SquaredSumLoss`` or a ``ClassSumLoss``."""
