"""What it costs to say something on a set of rows.

A loss is a share: over all rows, the weights sum to one. What is said is a vector of as
many numbers as a row has scores: one of them 1 for a class, a value, or probabilities.
For every form, saying it costs a row

    base + share * offset - scores @ factors,

where offset and factors follow from what is said; these formulas stand in
``_loss.hpp``, and in no other place.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import search as _kernels
from clearwood._kernels.search import LOG_MEAN, REGRET, SQUARES
from clearwood._numeric import product

Range = tuple[np.ndarray, np.ndarray]
"""The least and the largest value that may be said."""


class LossForm(NamedTuple):
    """How rows lose, as a function of sums of their scores.

    Attributes
    ----------
    kind : int
        ``SQUARES``: ``hard`` times what is lost of the score that is said to be the
        largest, and ``soft`` times squared differences. ``LOG_MEAN``: the cross-entropy
        of probabilities, or the deviance of rates. ``LOG_VARIANCE``, of trees only: the
        log of the variance, summed over pairs of scores, a value and its square.
        ``REGRET``: one score is said, and lost is how much larger another one is.
    hard, soft : float
    """

    kind: int
    hard: float = 0.0
    soft: float = 0.0


SQUARED_ERROR = LossForm(SQUARES, soft=1.0)
"""Said is the mean of some rows, and lost their squared differences from it."""


@dataclass(frozen=True, eq=False)
class Loss:
    """What it costs to say something on each row; make one by its class methods.

    Parameters
    ----------
    form : LossForm
    taught : ndarray of shape (n_rows, n_scores)
        What a row is taught: a value, or a number per class.
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
    taught: np.ndarray
    share: np.ndarray

    @classmethod
    def regret(cls, probabilities: np.ndarray, weight: np.ndarray) -> Loss:
        """How much more probable the teacher finds its own class than the one said.

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
        """Squared difference from a target of variance 1, or near it.

        In units in which penalties mean something.
        """
        return cls(SQUARED_ERROR, target[:, None], weight / weight.sum())

    @classmethod
    def logarithmic(cls, taught: np.ndarray, weight: np.ndarray) -> Loss:
        """Cross-entropy to probabilities of classes, or the deviance of rates.

        What is said has no order, so that it serves lists without signs only.

        Examples
        --------
        >>> loss = Loss.logarithmic(np.array([[0.9, 0.1], [0.5, 0.5]]), np.ones(2))
        >>> loss.best_value(np.array([True, True]))
        [0.7, 0.3]
        """
        return cls(LossForm(LOG_MEAN), taught, weight / weight.sum())

    @classmethod
    def probabilities(
        cls, taught: np.ndarray, weight: np.ndarray, softness: float
    ) -> Loss:
        """Regret, and ``softness`` times how far off the probabilities are.

        The largest of those that are said is the class. Regret alone does not ask how
        sure the teacher is: it leaves rows together that are of one class, with
        whatever probability.

        Parameters
        ----------
        taught : ndarray of shape (n_rows, n_classes)
            Class probabilities, each times what its class counts.

        Examples
        --------
        >>> taught = np.array([[0.9, 0.1], [0.4, 0.6]])
        >>> loss = Loss.probabilities(taught, np.ones(2), softness=0.5)
        >>> loss.best_value(np.array([True, True])), loss.rows([1.0, 0.0])
        ([0.65, 0.35], array([0.005, 0.28 ]))
        """
        form = LossForm(SQUARES, hard=1.0, soft=softness)
        return cls(form, taught, weight / weight.sum())

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return self.taught.shape[1]

    @cached_property
    def scores(self) -> np.ndarray:
        """What is taught times shares."""
        return np.ascontiguousarray(self.taught * self.share[:, None])

    @cached_property
    def base(self) -> np.ndarray:
        """What each row costs if nothing is said: 0 of all, and none the largest."""
        squares = self.form.soft * (self.taught**2).sum(axis=1)
        return self.share * (self.form.hard * self.taught.max(axis=1) + squares)

    @cached_property
    def constant(self) -> float:
        """The same of all rows together."""
        return float(self.base.sum())

    def rows(self, value: Any) -> np.ndarray:
        """What it costs to say ``value`` on each row."""
        factors = np.empty(self.n_scores)
        offset = _kernels.factors_of(self.form, self.vector(value), factors)
        return self.base + self.share * offset - product(self.scores, factors)

    def best_value(self, rows: np.ndarray) -> Any:
        """What costs least on some rows (a mask); on all, where they weigh nothing."""
        share, said = product(self.share, rows), np.empty((1, self.n_scores))
        if not share > 0:
            return self.best_value(np.ones(len(rows), dtype=bool))
        sums = product(rows, self.scores)[None]
        _kernels.say_best_of_lines(self.form, sums, np.array([share]), said)
        return self.value(said[0])

    def vector(self, value: Any) -> np.ndarray:
        """What is said as a vector."""
        if self.form.kind == REGRET:
            return np.eye(self.n_scores)[value]
        return np.atleast_1d(np.asarray(value, dtype=np.float64))

    def value(self, vector: np.ndarray) -> Any:
        """A class, a value, or a list of probabilities again."""
        if self.form.kind == REGRET:
            return int(vector.argmax())
        return vector.tolist() if len(vector) > 1 else float(vector[0])

    def gain_columns(self, now: np.ndarray) -> np.ndarray:
        """Per row columns whose sums ``best_of`` understands; each costs ``now``."""
        return np.column_stack([self.base - now, self.scores, self.share])

    def best_of(
        self, sums: np.ndarray, between: Range | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least change of the loss, and what is then said, per line of sums.

        ``between``: per line the least and the largest value that may be said.
        """
        lines = np.ascontiguousarray(sums.reshape(-1, sums.shape[-1]))
        low, high = np.broadcast_to([[-np.inf], [np.inf]], (2, len(lines)))
        if between is not None:
            low, high = (bound.reshape(-1) for bound in between)
        change, said = _kernels.best_changes(
            self.form, lines, np.ascontiguousarray(low), np.ascontiguousarray(high)
        )
        shape = sums.shape[:-1]
        return change.reshape(shape), said.reshape(*shape, self.n_scores)

    def take(self, rows: np.ndarray) -> Loss:
        """The loss on some of the rows, in the same units."""
        share = self.share[rows]
        return Loss(self.form, self.taught[rows], share / share.sum())
