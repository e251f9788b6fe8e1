"""Real targets with a linear regression in every leaf."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._kernels.distributions import (
    LINEAR,
    inverse_square_all,
    linear_log_marginals,
    linear_update_all,
)
from clearwood.distributions.leaf_model import check_positive
from clearwood.distributions.moments import LARGEST, MomentsLeaf
from clearwood.exceptions import InputError


@dataclass(frozen=True)
class LinearRegressionNormalGamma(MomentsLeaf):
    """Bayesian linear regression on features ``x`` with a normal-gamma prior.

    ``y`` is normal with mean ``x' theta`` and precision ``tau``; ``theta`` given
    ``tau`` is normal with mean ``mu`` and precision ``tau Lambda``, and ``tau`` is
    gamma. Add a column of ones to ``x`` for an intercept. Its prior applies where all
    features are 0, so centre those that are never near 0, such as years. Statistics are
    the weight, the means of ``(x, y)``, and the lower triangle of their scatter.

    Parameters
    ----------
    mu : tuple of float of length n_columns_of_x
    precision : float or tuple of tuple of float, default=1.0
        ``Lambda``; a number means this multiple of the identity matrix.
    alpha, beta : float, default=1.0
        Shape and rate of the gamma distribution.

    Examples
    --------
    >>> import numpy as np
    >>> leaf = LinearRegressionNormalGamma((0.0, 0.0), 1e-9)
    >>> x = np.array([[1.0, 0.0], [1.0, 1.0], [1.0, 3.0]])
    >>> stats, y = leaf.no_rows(1), np.array([1.0, 3.0, 7.0])
    >>> leaf.add_rows(stats, np.zeros(3, int), y, np.ones(3), x)
    >>> leaf.mean(stats, np.array([[1.0, 2.0]])).round(6)
    array([5.])
    """

    mu: tuple[float, ...]
    precision: float | tuple[tuple[float, ...], ...] = 1.0
    alpha: float = 1.0
    beta: float = 1.0

    reads_features = True
    kind = LINEAR
    _log_marginals = staticmethod(linear_log_marginals)

    def __post_init__(self) -> None:
        """Check the hyperparameters."""
        object.__setattr__(self, "mu", tuple(float(m) for m in self.mu))
        if np.ndim(self.precision) == 0:
            check_positive(self, precision=float(self.precision))  # type: ignore[arg-type]
        else:
            rows = np.asarray(self.precision, dtype=np.float64).tolist()
            object.__setattr__(self, "precision", tuple(map(tuple, rows)))
        check_positive(self, alpha=self.alpha, beta=self.beta)
        p, matrix = len(self.mu), self._matrix
        fits = matrix.shape == (p, p) and np.array_equal(matrix, matrix.T)
        if p < 1 or not fits or not np.isfinite([*self.mu, *matrix.ravel()]).all():
            raise InputError(
                f"mu has {p} numbers and precision the shape {matrix.shape}; expected "
                "at least one finite number, and a symmetric matrix of their size."
            )
        if (np.linalg.eigvalsh(matrix) <= 0).any():
            raise InputError("precision is not positive definite.")

    @cached_property
    def _matrix(self) -> np.ndarray:
        if np.ndim(self.precision) == 0:
            return float(self.precision) * np.eye(len(self.mu))  # type: ignore[arg-type]
        return np.array(self.precision)

    @cached_property
    def prior(self) -> np.ndarray:
        """Shape, rate, mu and Lambda in one row."""
        return np.array([self.alpha, self.beta, *self.mu, *self._matrix.ravel()])

    @property
    def n_columns(self) -> int:  # type: ignore[override]
        """Number of features plus one for the target."""
        return len(self.mu) + 1

    @property
    def n_stats(self) -> int:  # type: ignore[override]
        """Weight, means, and lower triangle of the scatter."""
        d = self.n_columns
        return 1 + d + d * (d + 1) // 2

    def statistics(
        self, y: np.ndarray, weight: np.ndarray, x: np.ndarray | None = None
    ) -> np.ndarray:
        """See ``LeafModel``."""
        z = self.columns(y, x)
        rows = np.zeros((len(z), self.n_stats))
        rows[:, 0] = weight
        rows[:, 1 : 1 + self.n_columns] = z
        return rows

    def columns(self, y: np.ndarray, x: Any = None) -> np.ndarray:
        """See ``LeafModel``."""
        p = len(self.mu)
        if x is None or np.shape(x) != (len(y), p):
            found = None if x is None else np.shape(x)
            raise InputError(
                f"The leaves require features of shape ({len(y)}, {p}), found "
                f"{found}; pass them as x."
            )
        z = np.column_stack([np.asarray(x, dtype=np.float64), y])
        if not (np.abs(z) <= LARGEST).all():
            raise InputError(
                "x holds missing values, or values that are not finite and at most "
                f"{LARGEST:g}."
            )
        return z

    @property
    def _worth(self) -> np.ndarray:
        worth = super()._worth
        i, j = np.tril_indices(self.n_columns)
        worth[1 + self.n_columns :][i == j] = [*np.diag(self._matrix), 2.0 * self.beta]
        return worth

    def _posterior(self, stats: np.ndarray) -> tuple[np.ndarray, ...]:
        p, shape = len(self.mu), stats.shape[:-1]
        flat = np.ascontiguousarray(stats.reshape(-1, self.n_stats))
        mean, factor, alpha, beta = linear_update_all(flat, self.prior, p)
        return (
            mean.reshape(*shape, p),
            factor.reshape(*shape, p, p),
            alpha.reshape(shape),
            beta.reshape(shape),
        )

    def student(self, stats: np.ndarray, x: Any = None) -> tuple[np.ndarray, ...]:
        """See ``MomentsLeaf``."""
        mean, factor, alpha, beta = self._posterior(stats)
        p = len(self.mu)
        x = np.ascontiguousarray(np.broadcast_to(x, mean.shape), dtype=np.float64)
        square = inverse_square_all(factor.reshape(-1, p, p), x.reshape(-1, p)).reshape(
            alpha.shape
        )
        return (x * mean).sum(axis=-1), alpha, beta * (1.0 + square)
