"""What it costs to say one value on a set of rows.

All losses are shares: over all rows, the weights sum to one. For the loops over rows
each also says what it is as numbers (see ``lists._kernels``): its ``kind``, the
``scores`` of all rows times their shares, the ``constant`` that nobody can help, and
values as vectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from clearwood._kernels.search_lists import (
    CHANCES,
    LEAST_SAID,
    REGRET,
    SQUARES,
    SURE,
)
from clearwood._numeric import product, rounded

Range = tuple[np.ndarray, np.ndarray] | None
"""Bounds on what may be said; None where there are none."""


@dataclass(frozen=True, eq=False)
class ClassLoss:
    """Regret: how much more probable the teacher finds its own class.

    Make one with :meth:`of`.

    Parameters
    ----------
    costs : ndarray of shape (n_classes, n_rows)
        Weighted regret of saying each class on each row.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.

    Examples
    --------
    >>> loss = ClassLoss.of(np.array([[0.9, 0.1], [0.4, 0.6]]), np.ones(2))
    >>> loss.rows(0)
    array([0. , 0.1])
    >>> loss.best_value(np.array([True, True]))
    0
    """

    costs: np.ndarray
    share: np.ndarray
    kind: ClassVar[int] = REGRET
    softness: ClassVar[float] = 0.0
    constant: ClassVar[float] = 0.0

    @classmethod
    def of(cls, probabilities: np.ndarray, weight: np.ndarray) -> ClassLoss:
        """Regret of class probabilities (n_rows, n_classes)."""
        share = weight / weight.sum()
        regret = probabilities.max(axis=1, keepdims=True) - probabilities
        return cls(np.ascontiguousarray(regret.T) * share, share)

    def rows(self, value: int) -> np.ndarray:
        """What it costs to say ``value`` on each row."""
        return self.costs[value]

    def best_value(self, rows: np.ndarray) -> int:
        """The class that costs least on some rows (a mask)."""
        return int(rounded(product(self.costs, rows)).argmin())

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return len(self.costs)

    @cached_property
    def scores(self) -> np.ndarray:
        """Per row and class, what saying it does not cost."""
        return np.ascontiguousarray(-self.costs.T)

    def vector(self, value: int) -> np.ndarray:
        """The class as a vector of 0 and 1."""
        return np.eye(len(self.costs))[value]

    def value(self, vector: np.ndarray) -> int:
        """The class again."""
        return int(vector.argmax())

    def gain_columns(self, now: np.ndarray) -> np.ndarray:
        """Per row columns whose sums ``best_of`` understands; each costs ``now``."""
        return -self.scores - now[:, None]

    def best_of(
        self, sums: np.ndarray, between: Range = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least change of the loss, and with what value, per line of sums.

        ``between``: per line the least and the largest value that may be said.
        """
        if between is not None:
            low, high = (bound[..., None] for bound in between)
            classes = np.arange(len(self.costs))
            sums = np.where((classes >= low) & (classes <= high), sums, np.inf)
        return sums.min(axis=-1), sums.argmin(axis=-1)

    def mean(self, sums: np.ndarray, share: float) -> float:
        """How much more probable the second of two classes is on some rows.

        By the sums of their scores and shares. The nearest means that obey an order,
        by squares, are those whose classes obey it at least cost.
        """
        return float(sums[1] - sums[0]) / share if share > 0 else 0.0

    def value_of(self, mean: float) -> int:
        """The better of two classes."""
        return int(mean > 0)

    def take(self, rows: np.ndarray) -> ClassLoss:
        """The loss on some of the rows."""
        total = self.share[rows].sum()
        return ClassLoss(
            np.ascontiguousarray(self.costs[:, rows]) / total, self.share[rows] / total
        )


@dataclass(frozen=True, eq=False)
class SquaredLoss:
    """Squared difference from a target of variance 1, or near it.

    Make one with :meth:`of`.

    Parameters
    ----------
    target : ndarray of shape (n_rows,)
        Values in units in which penalties mean something: standardised ones.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.

    Examples
    --------
    >>> loss = SquaredLoss.of(np.array([-1.0, 1.0]), np.ones(2))
    >>> loss.rows(1.0)
    array([2., 0.])
    >>> loss.best_value(np.array([True, True]))
    0.0
    """

    target: np.ndarray
    share: np.ndarray
    kind: ClassVar[int] = SQUARES
    softness: ClassVar[float] = 0.0

    @classmethod
    def of(cls, target: np.ndarray, weight: np.ndarray) -> SquaredLoss:
        """Loss of values with weights of any sum."""
        return cls(target, weight / weight.sum())

    def rows(self, value: float) -> np.ndarray:
        """What it costs to say ``value`` on each row."""
        return self.share * (self.target - value) ** 2

    def best_value(self, rows: np.ndarray) -> float:
        """The mean of some rows (a mask); 0 where they have no weight."""
        share = self.share * rows
        total = share.sum()
        return float(product(share, self.target) / total) if total > 0 else 0.0

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return 1

    @cached_property
    def scores(self) -> np.ndarray:
        """Per row its target, in one column."""
        return (self.share * self.target)[:, None]

    @cached_property
    def constant(self) -> float:
        """What it costs to say 0 everywhere."""
        return float(product(self.share, self.target**2))

    def vector(self, value: float) -> np.ndarray:
        """The value in an array."""
        return np.array([value])

    def value(self, vector: np.ndarray) -> float:
        """The value again."""
        return float(vector[0])

    def gain_columns(self, now: np.ndarray) -> np.ndarray:
        """Per row columns whose sums ``best_of`` understands; each costs ``now``."""
        share, target = self.share, self.target
        return np.stack([share * target**2 - now, share * target, share], axis=1)

    def best_of(
        self, sums: np.ndarray, between: Range = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least change of the loss, and with what value, per line of sums.

        ``between``: per line the least and the largest value that may be said.
        """
        squares, first, share = np.moveaxis(sums, -1, 0)
        value = first / np.maximum(share, 1e-300)
        if between is None:
            return squares - value * first, value
        value = np.clip(value, *between)
        return squares - value * (2 * first - value * share), value

    def mean(self, sums: np.ndarray, share: float) -> float:
        """The mean of some rows, by the sums of their scores and shares."""
        return float(sums[0]) / share if share > 0 else 0.0

    def value_of(self, mean: float) -> float:
        """The mean itself."""
        return mean

    def take(self, rows: np.ndarray) -> SquaredLoss:
        """The loss on some of the rows, in the same units."""
        return SquaredLoss(self.target[rows], self.share[rows] / self.share[rows].sum())


Loss = ClassLoss | SquaredLoss
"""A ``ClassLoss`` or a ``SquaredLoss``."""


@dataclass(frozen=True, eq=False)
class LogLoss:
    """Cross-entropy to probabilities of classes, or the deviance of rates.

    What is said is a list: a probability per class, or one rate. It has no order, so
    that it serves lists without signs only. Make one with :meth:`of`.

    Parameters
    ----------
    taught : ndarray of shape (n_rows, n_scores)
        The probabilities or rates that are taught; none is negative.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.

    Examples
    --------
    >>> loss = LogLoss.of(np.array([[0.9, 0.1], [0.5, 0.5]]), np.ones(2))
    >>> loss.best_value(np.array([True, True]))
    [0.7, 0.3]
    """

    taught: np.ndarray
    share: np.ndarray
    kind: ClassVar[int] = CHANCES
    softness: ClassVar[float] = 0.0
    constant: ClassVar[float] = 0.0

    @classmethod
    def of(cls, taught: np.ndarray, weight: np.ndarray) -> LogLoss:
        """Loss of probabilities or rates with weights of any sum."""
        return cls(taught, weight / weight.sum())

    def rows(self, value: list[float]) -> np.ndarray:
        """What it costs to say ``value`` on each row."""
        return self.share * (sum(value) - product(self.taught, np.log(value)))

    def best_value(self, rows: np.ndarray) -> list[float]:
        """The means of some rows (a mask); of all, where they have no weight."""
        share = self.share * rows
        total = share.sum()
        if total <= 0:
            share, total = self.share, 1.0
        means = product(share, self.taught) / total
        return np.maximum(means, LEAST_SAID).tolist()

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return self.taught.shape[1]

    @cached_property
    def scores(self) -> np.ndarray:
        """What is taught times shares."""
        return self.share[:, None] * self.taught

    def vector(self, value: list[float]) -> np.ndarray:
        """The probabilities or rates as an array."""
        return np.array(value)

    def value(self, vector: np.ndarray) -> list[float]:
        """The same as a list."""
        return [float(p) for p in vector]

    def gain_columns(self, now: np.ndarray) -> np.ndarray:
        """Per row columns whose sums ``best_of`` understands; each costs ``now``."""
        return np.column_stack([now, self.scores, self.share])

    def best_of(
        self, sums: np.ndarray, between: Range = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least change of the loss, and with what value, per line of sums."""
        now, scores, share = sums[..., 0], sums[..., 1:-1], sums[..., -1:]
        value = np.maximum(scores / np.maximum(share, 1e-300), LEAST_SAID)
        lost = share * value - scores * np.log(value)
        return lost.sum(axis=-1) - now, value

    def take(self, rows: np.ndarray) -> LogLoss:
        """The loss on some of the rows."""
        return LogLoss.of(self.taught[rows], self.share[rows])


@dataclass(frozen=True, eq=False)
class ProbabilityLoss:
    """Regret, and how far off the probabilities are that are said.

    What is said is a list, as in :class:`LogLoss`; its largest entry is the class.
    Regret alone does not ask how sure the teacher is: it leaves rows together that are
    of one class, with whatever probability. Make one with :meth:`of`.

    Parameters
    ----------
    taught : ndarray of shape (n_rows, n_classes)
        Class probabilities, each times what its class counts.
    share : ndarray of shape (n_rows,)
        Weights, of sum one.
    softness : float
        Weight of the squared differences beside the regret.

    Examples
    --------
    >>> loss = ProbabilityLoss.of(np.array([[0.9, 0.1], [0.4, 0.6]]), np.ones(2), 0.5)
    >>> loss.best_value(np.array([True, True]))
    [0.65, 0.35]
    >>> loss.rows([1.0, 0.0])
    array([0.005, 0.28 ])
    """

    taught: np.ndarray
    share: np.ndarray
    softness: float
    kind: ClassVar[int] = SURE

    @classmethod
    def of(
        cls, taught: np.ndarray, weight: np.ndarray, softness: float
    ) -> ProbabilityLoss:
        """Loss of scores with weights of any sum."""
        return cls(taught, weight / weight.sum(), softness)

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return self.taught.shape[1]

    @cached_property
    def scores(self) -> np.ndarray:
        """What is taught times shares."""
        return self.taught * self.share[:, None]

    @cached_property
    def of_nothing(self) -> np.ndarray:
        """What each row costs if 0 is said of all classes, and none is right."""
        squares = self.softness * (self.taught**2).sum(axis=1)
        return self.share * (self.taught.max(axis=1) + squares)

    def rows(self, value: list[float]) -> np.ndarray:
        """What it costs to say ``value`` on each row."""
        said = np.asarray(value)
        won = 2 * self.softness * said
        won[said.argmax()] += 1.0
        squares = self.softness * (said**2).sum()
        return self.of_nothing + self.share * squares - product(self.scores, won)

    def best_value(self, rows: np.ndarray) -> list[float]:
        """The means of some rows (a mask); of all, where they have no weight."""
        total = product(self.share, rows)
        if total <= 0:
            return self.scores.sum(axis=0).tolist()
        return (product(rows, self.scores) / total).tolist()

    @cached_property
    def constant(self) -> float:
        """What saying nothing costs, over all rows."""
        return float(self.of_nothing.sum())

    def vector(self, value: list[float]) -> np.ndarray:
        """The probabilities or rates as an array."""
        return np.array(value)

    def value(self, vector: np.ndarray) -> list[float]:
        """The same as a list."""
        return [float(p) for p in vector]

    def gain_columns(self, now: np.ndarray) -> np.ndarray:
        """Per row columns whose sums ``best_of`` understands; each costs ``now``."""
        return np.column_stack([self.of_nothing - now, self.scores, self.share])

    def best_of(
        self, sums: np.ndarray, between: Range = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Least change of the loss, and with what value, per line of sums."""
        change, scores, share = sums[..., 0], sums[..., 1:-1], sums[..., -1:]
        value = scores / np.maximum(share, 1e-300)
        squares = self.softness * (scores * value).sum(axis=-1)
        return change - scores.max(axis=-1) - squares, value

    def take(self, rows: np.ndarray) -> ProbabilityLoss:
        """The loss on some of the rows."""
        return ProbabilityLoss.of(self.taught[rows], self.share[rows], self.softness)
