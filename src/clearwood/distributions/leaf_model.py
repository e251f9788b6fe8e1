"""Interface of the conjugate models of leaves of meta-trees.

Every model is a small frozen dataclass. Its functions operate on **statistics**, arrays
whose last axis holds the sufficient statistics of a set of rows: sums (of weights,
values ...), or moments (weight, mean, sums of squares about the mean), which stay exact
where values are large. Weights are fractional counts. Everything else broadcasts:
``stats`` of shape (..., n_stats) with ``y`` of shape (...).

The linear regression also reads features ``x``; the others ignore that argument.

Counts of unweighted rows are integers and therefore exact: bitwise the same for any
order, batches and shards. Means and sums of squares follow Chan's rule.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from clearwood._kernels.distributions import add_sums
from clearwood._warned_once import users_level
from clearwood.exceptions import InputError, LostDigitsWarning

SLACK = 1e-9
"""Tolerance below zero for rounding of a weight, as a share of its former value."""

EPS = float(np.finfo(np.float64).eps)
MANY = 64.0
"""Assumed number of roundings of a sum."""

LOST = 1e-6
"""Relative rounding error of a sum above which a warning is issued."""


class LeafModel:
    """Base class of conjugate models; use one of its subclasses."""

    discrete: ClassVar[bool]
    """Whether targets are integers."""
    reads_features: ClassVar[bool] = False
    """Whether the model uses features of the row."""
    n_columns: int | None = None
    """Length of the mean where statistics are moments, None where they are sums."""
    n_stats: int
    """Length of the statistics."""
    unit: float = 1.0
    """Unit of the target in kernels, a hyperparameter's: the evidence is bitwise the
    same whether the target and its prior are in metres or in kilometres."""
    lent: float = 0.0
    """Pseudo-rows that a node of a tree lends its children; none elsewhere."""
    estimated_from: float = 0.0
    """Effective number of rows that the hyperparameters are estimated from, if any."""
    _adds: ClassVar[Callable[..., None]] = staticmethod(add_sums)
    """Kernel that adds rows, times their weights, to statistics."""
    _log_marginals: ClassVar[Callable[..., np.ndarray]]
    """Kernel from statistics, one row per set of rows, and ``prior`` to evidence."""

    @property
    def kind(self) -> int:
        """Name of the model in kernels that process one row after the other."""
        raise InputError(
            f"The kernels do not support the leaf model {self!r}; use one of those in "
            "clearwood.distributions."
        )

    @property
    def prior(self) -> np.ndarray:
        """Hyperparameters as one row, for the kernels."""
        raise NotImplementedError

    def check_target(self, y: Any) -> np.ndarray:
        """Validated target; values of zero probability raise an error."""
        values = np.ascontiguousarray(y)
        if values.ndim != 1:
            raise InputError(f"y has {values.ndim} dimensions, expected 1.")
        if values.dtype.kind not in "fiub":
            raise InputError(
                f"{type(self).__name__} requires numbers, found {values.dtype} "
                "targets; encode labels as numbers."
            )
        if values.dtype.kind != "f" and not self.discrete or values.dtype.itemsize < 8:
            values = values.astype(np.float64)
        self._check_support(values)
        return values

    def _check_support(self, values: np.ndarray) -> None:
        refuse(self, values, ~np.isfinite(values), "finite numbers")

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics of every single row, of shape (n_rows, n_stats)."""
        raise NotImplementedError

    def columns(self, y: np.ndarray, x: Any = None) -> np.ndarray:
        """Columns for the moments, of shape (n_rows, n_columns): y, after x."""
        return y[:, None]

    def weight_of(self, stats: np.ndarray) -> np.ndarray:
        """Sum of the weights of the rows."""
        return stats[..., 0]

    def no_rows(self, n: int) -> np.ndarray:
        """Statistics of the empty set of rows, of shape (n, n_stats)."""
        return np.zeros((n, self.n_stats))

    def add_rows(
        self,
        own: np.ndarray,
        ends: np.ndarray,
        y: np.ndarray,
        weight: np.ndarray,
        x: np.ndarray | None = None,
    ) -> None:
        """Add rows to the statistics of their leaves, in place, in their order.

        Parameters
        ----------
        own : ndarray of shape (n, n_stats)
        ends : ndarray of int of shape (n_rows,)
            Index into the statistics for each row.
        y : ndarray of shape (n_rows,)
            Targets returned by ``check_target``.
        weight : ndarray of shape (n_rows,) or (1,)
            One weight per row, or one for all.
        x : ndarray, optional
            Features that the model reads.
        """
        rows = self._added(y, x)
        self._adds(own, ends.astype(np.int32, copy=False), rows, weight)

    def _added(self, y: np.ndarray, x: np.ndarray | None) -> np.ndarray:
        """Input of the kernel that adds rows."""
        return self.statistics(y, np.ones(len(y)))

    def merge(self, own: np.ndarray, other: np.ndarray) -> None:
        """Add the statistics of other rows, in place."""
        own += other

    def remove(
        self, own: np.ndarray, other: np.ndarray, most: np.ndarray | None = None
    ) -> np.ndarray:
        """Statistics after the removal of some of the rows.

        Parameters
        ----------
        own, other : ndarray of shape (n, n_stats)
        most : ndarray of shape (n, n_stats), optional
            The largest values ``own`` ever had, which determine its rounding error.

        Raises
        ------
        InputError
            If those rows cannot have been added before.
        """
        left, most = own - other, own if most is None else most
        slack = SLACK * np.maximum(1.0, own) + MANY * EPS * most
        check_left(left, slack)
        nothing = self._is_nothing(left, own)
        check_nothing(left[nothing], slack[nothing])
        left[nothing] = 0.0
        self._warn_of_lost_digits(left, most)
        return np.maximum(left, 0.0)

    @property
    def _worth(self) -> np.ndarray:
        """Prior's share of each statistic, relative to which rounding may be small.

        Infinite for statistics that are not checked.
        """
        raise NotImplementedError

    def _warn_of_lost_digits(self, left: np.ndarray, most: np.ndarray) -> None:
        """Warn where the rounding error is not small relative to the remaining rows."""
        # Integers are exact while they are small.
        exact = (most == np.rint(most)) & (most < 1.0 / EPS)
        rounding = np.where(exact, 0.0, EPS * most)
        lost = rounding > LOST * (np.abs(left) + self._worth)
        lost &= self.weight_of(left)[:, None] > 0
        if lost.any():
            warnings.warn(
                f"The rows removed at node {int(np.argwhere(lost)[0, 0])} were so "
                "large that the remaining statistics lost their precision; refit to "
                "the remaining rows.",
                LostDigitsWarning,
                stacklevel=users_level(),
            )

    def _is_nothing(self, left: np.ndarray, own: np.ndarray) -> np.ndarray:
        """Where only rounding is left; one row of very large weight is an integer."""
        weight = self.weight_of(left)
        tiny = (weight <= SLACK * self.weight_of(own)) & (weight != np.rint(weight))
        return tiny | (weight <= 0.0)

    def log_marginal(self, stats: np.ndarray) -> np.ndarray:
        """Log marginal likelihood of the rows.

        Exactly 0 without rows.
        """
        return self.log_marginal_in_unit(stats) - self.log_of_unit(stats)

    def log_of_unit(self, stats: np.ndarray) -> np.ndarray:
        """Log evidence in the model's unit less that in the unit of the data."""
        return self.weight_of(stats) * math.log(self.unit)

    def log_marginal_in_unit(self, stats: np.ndarray) -> np.ndarray:
        """Log marginal likelihood in ``unit``; all that prunings differ in."""
        flat = np.ascontiguousarray(stats, dtype=np.float64).reshape(-1, self.n_stats)
        found = self._log_marginals(flat, self.prior)
        return found.reshape(np.shape(stats)[:-1])

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive log density."""
        raise NotImplementedError

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive mean."""
        raise NotImplementedError

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """Posterior predictive variance; infinite if undefined."""
        raise NotImplementedError

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive distribution function."""
        raise NotImplementedError

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """Posterior predictive quantile: smallest value of cdf at least ``p``."""
        raise NotImplementedError


def refuse(model: LeafModel, values: np.ndarray, bad: np.ndarray, what: str) -> None:
    """Raise an error for targets that are invalid for the model."""
    if bad.any():
        row = int(bad.argmax())
        raise InputError(
            f"y is {values[row]} in row {row}; {type(model).__name__} requires {what}."
        )


def check_lent(model: LeafModel) -> None:
    """Raise an error for an invalid number of pseudo-rows of the parent."""
    if not (math.isfinite(model.lent) and model.lent >= 0):
        raise InputError(
            f"lent of {type(model).__name__} is {model.lent}, expected a "
            "number of rows, 0 or more."
        )


def check_positive(model: LeafModel, **numbers: float) -> None:
    """Raise an error for a hyperparameter that is not a positive number."""
    for name, number in numbers.items():
        if not (math.isfinite(number) and number > 0):
            raise InputError(
                f"{name} of {type(model).__name__} is {number}, expected a positive "
                "number."
            )


def check_left(left: np.ndarray, slack: np.ndarray) -> None:
    """Raise an error if more was removed from sums than they contained."""
    too_small = left < -slack
    if too_small.any():
        node = int(np.argwhere(too_small)[0, 0])
        raise InputError(
            f"Node {node} would have a negative number of rows; remove only rows that "
            "were learned before, with the same weights."
        )


def check_nothing(left: np.ndarray, slack: np.ndarray) -> None:
    """Raise an error if all rows are removed, but not their sums."""
    if (np.abs(left) > slack).any():
        raise InputError(
            "All rows are removed, but with other values; remove only rows that were "
            "learned before, with the same values."
        )
