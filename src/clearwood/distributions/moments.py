"""Real targets of unknown precision: moments as statistics, Student's t predictions.

Moments are a weight, means, and the lower triangle of the scatter about them. They
follow Chan's rule, which is exact for large values; as sums about one centre they are
additive like counts.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special

from clearwood._kernels.distributions import (
    add_moments,
    merge_all_moments,
    remove_all_moments,
)
from clearwood.distributions.leaf_model import (
    EPS,
    MANY,
    SLACK,
    LeafModel,
    check_left,
    check_nothing,
    refuse,
)
from clearwood.exceptions import InputError

LOG_2PI = math.log(2.0 * math.pi)

OF_MEANS = 1e-12
"""Rounding error of squares about means, as a share of the squares of means."""

LARGEST = 1e130
"""Maximum absolute value in moments, so that sums of squares are finite."""


class MomentsLeaf(LeafModel):
    """Base class of models with moments as statistics and Student's t predictions."""

    discrete = False
    _adds = staticmethod(add_moments)
    n_columns: int
    beta: float

    @property
    def unit(self) -> float:  # type: ignore[override]
        """Scale expected by the prior."""
        return math.sqrt(self.beta)

    def _check_support(self, values: np.ndarray) -> None:
        bad = ~(np.abs(values) <= LARGEST)
        refuse(self, values, bad, f"finite numbers up to {LARGEST:g}")

    def _added(self, y: np.ndarray, x: np.ndarray | None) -> np.ndarray:
        return self.columns(y, x)

    def merge(self, own: np.ndarray, other: np.ndarray) -> None:
        """See ``LeafModel``."""
        merge_all_moments(own, other, self.n_columns)

    def remove(
        self, own: np.ndarray, other: np.ndarray, most: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        left, most = own.copy(), own if most is None else most
        remove_all_moments(left, other, self.n_columns)
        # Means may be negative; weights may not.
        check_left(left[:, :1], SLACK * np.maximum(1.0, own[:, :1]))
        nothing = self._is_nothing(left, own)
        squares, slack = _squares(self.n_columns, own, other)
        slack += SLACK * self._worth[squares] + MANY * EPS * most[:, squares]
        left[nothing] = 0.0
        _check_squares(left[:, squares], slack)
        gone = (own - other)[nothing]
        moved = own[nothing, :1] * gone[:, 1 : 1 + self.n_columns] ** 2
        check_nothing(np.abs(gone[:, squares]) + moved, slack[nothing])
        left[:, squares] = np.maximum(left[:, squares], 0.0)
        self._warn_of_lost_digits(left, most)
        return left

    @property
    def _worth(self) -> np.ndarray:
        worth = np.full(self.n_stats, np.inf)
        worth[0], worth[-1] = 1.0, 2.0 * self.beta
        return worth

    def student(self, stats: np.ndarray, x: Any = None) -> tuple[np.ndarray, ...]:
        """Location m, half the degrees of freedom a, and b: ``m + t sqrt(b / a)``."""
        raise NotImplementedError

    def log_density(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        m, alpha, b = self.student(stats, x)
        return (
            special.gammaln(alpha + 0.5) - special.gammaln(alpha)
            - 0.5 * (LOG_2PI + np.log(b))
            - (alpha + 0.5) * np.log1p((np.asarray(y) - m) ** 2 / (2.0 * b))
        )  # fmt: skip

    def mean(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        return self.student(stats, x)[0]

    def variance(self, stats: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``; infinite with up to 2 degrees of freedom."""
        _, alpha, b = self.student(stats, x)
        safe = np.where(alpha > 1.0, alpha - 1.0, 1.0)
        return np.where(alpha > 1.0, b / safe, np.inf)

    def cdf(self, stats: np.ndarray, y: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        m, alpha, b = self.student(stats, x)
        return special.stdtr(2.0 * alpha, (np.asarray(y) - m) / np.sqrt(b / alpha))

    def quantile(self, stats: np.ndarray, p: Any, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        m, alpha, b = self.student(stats, x)
        return m + special.stdtrit(2.0 * alpha, p) * np.sqrt(b / alpha)


def _squares(
    d: int, own: np.ndarray, other: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the sums of squares, and bounds of their rounding error."""
    place = np.cumsum(np.arange(1, d + 1)) + d
    # A mean has a relative error, which counts with every row.
    mean = np.maximum(np.abs(own[:, 1 : 1 + d]), np.abs(other[:, 1 : 1 + d]))
    size = own[:, place] + other[:, place] + OF_MEANS * own[:, :1] * mean**2
    return place, SLACK * size


def _check_squares(left: np.ndarray, slack: np.ndarray) -> None:
    """Raise an error for sums of squares below zero by more than rounding.

    They result from the removal of rows with the right weights but other values, and
    would leave a distribution without a scale.
    """
    impossible = left < -slack
    if impossible.any():
        node = int(np.argwhere(impossible)[0, 0])
        raise InputError(
            f"The rows at node {node} would have a negative variance; remove only "
            "rows that were learned before, with the same values."
        )


def sums_about(stats: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Weight, sums and sums of products about a centre, from moments.

    Parameters
    ----------
    stats : ndarray of shape (n, 1 + d + d (d + 1) / 2)
        Weight, means, and the lower triangle of the scatter about them.
    centre : ndarray of shape (d,)
        Should lie within the data: digits common to all values are lost otherwise.

    Returns
    -------
    ndarray of the same shape

    Examples
    --------
    >>> sums_about(np.array([[2.0, 5.0, 0.5]]), np.array([4.0])).tolist()
    [[2.0, 2.0, 2.5]]
    """
    d = len(centre)
    i, j = np.tril_indices(d)
    weight, gap = stats[:, :1], stats[:, 1 : 1 + d] - centre
    products = stats[:, 1 + d :] + weight * gap[:, i] * gap[:, j]
    return np.hstack([weight, weight * gap, products])


def moments_of(sums: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Moments from sums, the inverse of :func:`sums_about`; zero without rows.

    Examples
    --------
    >>> moments_of(np.array([[2.0, 2.0, 2.5]]), np.array([4.0])).tolist()
    [[2.0, 5.0, 0.5]]
    """
    d = len(centre)
    i, j = np.tril_indices(d)
    weight = sums[:, :1]
    with np.errstate(invalid="ignore"):  # 0 / 0
        gap = np.where(weight > 0, sums[:, 1 : 1 + d] / weight, 0.0)
    scatter = sums[:, 1 + d :] - weight * gap[:, i] * gap[:, j]
    # Rounding must not make a square negative.
    scatter = np.where(i == j, np.maximum(scatter, 0.0), scatter)
    return np.hstack([weight, np.where(weight > 0, gap + centre, 0.0), scatter])
