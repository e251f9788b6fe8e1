"""Losses of a prediction on a set of rows.

Losses are shares: over all rows, the weights sum to one. A prediction is a vector of as
many numbers as a row has scores: one of them 1 for a class, a value, or probabilities.
For every form, its loss on a row is

    base + share * offset - scores @ factors,

where offset and factors follow from the prediction; these formulas are in
``_loss.hpp``, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.special import xlogy

from clearwood._kernels import search as _kernels
from clearwood._kernels.search import LOG_MEAN, REGRET, SQUARES
from clearwood._numeric import product

Range = tuple[np.ndarray, np.ndarray]
"""Minimum and maximum of a predicted value."""


class LossForm(NamedTuple):
    """Loss of rows, as a function of sums of their scores.

    Attributes
    ----------
    kind : int
        ``SQUARES``: ``hard`` times the deficit of the predicted score relative to the
        largest, and ``soft`` times squared differences. ``LOG_MEAN``: ``soft`` times
        the divergence from probabilities, or half the deviance of rates.
        ``LOG_VARIANCE``, of trees only: the log of the variance, summed over pairs of
        scores, a value and its square. ``REGRET``: one score is predicted, and the loss
        is the excess of another one.
    hard, soft : float
    """

    kind: int
    hard: float = 0.0
    soft: float = 0.0


SQUARED_ERROR = LossForm(SQUARES, soft=1.0)
"""The prediction is the mean of some rows, and the loss their squared error."""


@dataclass(frozen=True, eq=False)
class Loss:
    """Loss of a prediction on each row; created by the class methods.

    Parameters
    ----------
    form : LossForm
    target : ndarray of shape (n_rows, n_scores)
        Target of each row: a value, or a number per class.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.

    Examples
    --------
    >>> loss = Loss.squares(np.array([-1.0, 1.0]), np.ones(2))
    >>> loss.rows(1.0)
    array([2., 0.])
    >>> loss.best_value(np.array([True, True]))
    0.0
    """

    form: LossForm
    target: np.ndarray
    share: np.ndarray

    @classmethod
    def regret(cls, probabilities: np.ndarray, weight: np.ndarray) -> Loss:
        """Excess probability of the model's class over the predicted one.

        Examples
        --------
        >>> loss = Loss.regret(np.array([[0.9, 0.1], [0.4, 0.6]]), np.ones(2))
        >>> loss.rows(0), loss.best_value(np.array([True, True]))
        (array([0. , 0.1]), 0)
        """
        lost = probabilities.max(axis=1, keepdims=True) - probabilities
        return cls(LossForm(REGRET), -lost, weight / weight.sum())

    @classmethod
    def squares(cls, target: np.ndarray, weight: np.ndarray) -> Loss:
        """Squared difference from a target of variance near 1, summed over its columns.

        These are the units of the penalties.
        """
        columns = target.reshape(len(target), -1)
        return cls(SQUARED_ERROR, columns, weight / weight.sum())

    @classmethod
    def logarithmic(cls, target: np.ndarray, weight: np.ndarray) -> Loss:
        """Divergence from probabilities of classes, or half the deviance of rates.

        Predictions have no order, so that it is for lists without signs only.

        Examples
        --------
        >>> loss = Loss.logarithmic(np.array([[0.9, 0.1], [0.5, 0.5]]), np.ones(2))
        >>> loss.best_value(np.array([True, True]))
        [0.7, 0.3]
        """
        return cls(LossForm(LOG_MEAN, soft=1.0), target, weight / weight.sum())

    @classmethod
    def probabilities(
        cls, target: np.ndarray, weight: np.ndarray, softness: float
    ) -> Loss:
        """Regret, plus ``softness`` times the squared error of the probabilities.

        The class of largest predicted probability is predicted. Regret alone ignores
        how certain the model is: it does not separate rows of one class, whatever their
        probabilities.

        Parameters
        ----------
        target : ndarray of shape (n_rows, n_classes)
            Class probabilities, each times the weight of its class.

        Examples
        --------
        >>> target = np.array([[0.9, 0.1], [0.4, 0.6]])
        >>> loss = Loss.probabilities(target, np.ones(2), softness=0.5)
        >>> loss.best_value(np.array([True, True])), loss.rows([1.0, 0.0])
        ([0.65, 0.35], array([0.005, 0.28 ]))
        """
        form = LossForm(SQUARES, hard=1.0, soft=softness)
        return cls(form, target, weight / weight.sum())

    @property
    def n_scores(self) -> int:
        """Number of scores of a row."""
        return self.target.shape[1]

    @cached_property
    def scores(self) -> np.ndarray:
        """Targets times shares."""
        return np.ascontiguousarray(self.target * self.share[:, None])

    @cached_property
    def base(self) -> np.ndarray:
        """Loss of each row for a prediction of 0 everywhere without a class."""
        log = self.form.kind == LOG_MEAN
        least = xlogy(self.target, self.target) - self.target if log else self.target**2
        soft = self.form.soft * least.sum(axis=1)
        return self.share * (self.form.hard * self.target.max(axis=1) + soft)

    @cached_property
    def constant(self) -> float:
        """Sum of ``base`` over all rows."""
        return float(self.base.sum())

    def rows(self, value: Any) -> np.ndarray:
        """Loss of the prediction ``value`` on each row."""
        factors = np.empty(self.n_scores)
        offset = _kernels.factors_of(self.form, self.vector(value), factors)
        return self.base + self.share * offset - product(self.scores, factors)

    def best_value(self, rows: np.ndarray) -> Any:
        """Best constant on some rows (a mask); on all, if their weight is zero."""
        share, predicted = product(self.share, rows), np.empty((1, self.n_scores))
        if not share > 0:
            return self.best_value(np.ones(len(rows), dtype=bool))
        sums = product(rows, self.scores)[None]
        _kernels.predict_best_of_lines(self.form, sums, np.array([share]), predicted)
        return self.value(predicted[0])

    def vector(self, value: Any) -> np.ndarray:
        """Prediction as a vector."""
        if self.form.kind == REGRET:
            return np.eye(self.n_scores)[value]
        return np.atleast_1d(np.asarray(value, dtype=np.float64))

    def value(self, vector: np.ndarray) -> Any:
        """Prediction from a vector: a class, a value, or a list of probabilities."""
        if self.form.kind == REGRET:
            return int(vector.argmax())
        return vector.tolist() if len(vector) > 1 else float(vector[0])

    def gain_columns(self, now: np.ndarray) -> np.ndarray:
        """Per row columns whose sums ``best_of`` takes; ``now`` is the current loss."""
        return np.column_stack([self.base - now, self.scores, self.share])

    def best_of(
        self, sums: np.ndarray, between: Range | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Minimum change of the loss, and the prediction, per row of sums.

        ``between``: per row the minimum and maximum of the predicted value.
        """
        lines = np.ascontiguousarray(sums.reshape(-1, sums.shape[-1]))
        low, high = np.broadcast_to([[-np.inf], [np.inf]], (2, len(lines)))
        if between is not None:
            low, high = (bound.reshape(-1) for bound in between)
        change, predicted = _kernels.best_changes(
            self.form, lines, np.ascontiguousarray(low), np.ascontiguousarray(high)
        )
        shape = sums.shape[:-1]
        return change.reshape(shape), predicted.reshape(*shape, self.n_scores)

    def take(self, rows: np.ndarray) -> Loss:
        """The loss on some of the rows, in the same units."""
        share = self.share[rows]
        return Loss(self.form, self.target[rows], share / share.sum())
