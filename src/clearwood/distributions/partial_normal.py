"""Multivariate normal distributions of rows with missing entries.

Rows with the same missing entries share one Cholesky factor, so the cost depends on the
number of patterns. Missing entries are NaN, and are marginalized.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels.distributions import log_densities, moments_given
from clearwood._kernels.numeric import cholesky_of, solve_lower_all
from clearwood._numeric import product
from clearwood.distributions.normal import Gaussian
from clearwood.distributions.of_columns import LEAST_SHARE, NOT_CONTINUOUS, Plain, Point
from clearwood.exceptions import InputError

NOT_DEFINITE = "A covariance matrix is not positive definite; floor its variances."

STEPS = 1_000
"""Maximum number of EM steps; convergence is slow where most entries are missing."""


class Pattern(NamedTuple):
    """Rows with the same missing entries, and their conditional distribution."""

    rows: np.ndarray
    present: np.ndarray
    means: np.ndarray
    factor: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        """Covariance of missing entries, equal in all rows; ``factor`` is its root."""
        return product(self.factor, self.factor.T)


def by_pattern(
    values: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> Iterator[Pattern]:
    """Conditional distributions of missing entries, one pattern at a time.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)

    Yields
    ------
    Pattern
        ``rows``: positions; ``present``: mask of columns; ``means`` (rows, missing
        columns) and ``covariance`` of the missing entries.

    Examples
    --------
    >>> values = np.array([[1.0, np.nan], [2.0, np.nan]])
    >>> pattern = next(by_pattern(values, np.zeros(2), np.array([[1, 0.5], [0.5, 1]])))
    >>> pattern.means.tolist(), pattern.covariance.round(3).tolist()
    ([[0.5], [1.0]], [[0.75]])
    """
    order = in_patterns(values)
    absent = np.isnan(values[order])
    starts = np.flatnonzero((absent[1:] != absent[:-1]).any(axis=1)) + 1
    for rows in np.split(order, starts) if len(order) else []:
        present = ~np.isnan(values[rows[0]])
        n_present = int(present.sum())
        columns = np.argsort(~present, kind="stable")
        lower = cholesky_of(covariance[np.ix_(columns, columns)])
        if np.isnan(lower).any():
            raise InputError(NOT_DEFINITE)
        gap = values[np.ix_(rows, present)] - mean[present]
        solve_lower_all(lower, gap)
        means = mean[~present] + product(gap, lower[n_present:, :n_present].T)
        yield Pattern(rows, present, means, lower[n_present:, n_present:])


def in_patterns(values: np.ndarray) -> np.ndarray:
    """Order of rows in which those with the same missing entries are neighbours."""
    absent = np.isnan(values)
    if not absent.any():
        return np.arange(len(values))
    return np.lexsort(np.packbits(absent, axis=1).T)


def log_density(
    values: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Log density of the present entries; 0 for rows without any.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)

    Returns
    -------
    ndarray of shape (n_rows,)

    Examples
    --------
    >>> values = np.array([[0.0, 0.0], [0.0, np.nan], [np.nan, np.nan]])
    >>> log_density(values, np.zeros(2), np.eye(2)).round(3).tolist()
    [-1.838, -0.919, 0.0]
    """
    found = log_densities(values, in_patterns(values), mean, covariance)
    if np.isnan(found).any():
        raise InputError(NOT_DEFINITE)
    return found


def expected_moments(
    values: np.ndarray, weight: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """E-step: expected sums of rows over their missing entries.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
    weight : ndarray of shape (n_rows,)
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)

    Returns
    -------
    weight : float
        Of the rows with at least one entry; the others are left out.
    sums : ndarray of shape (n_columns,)
        Of the expected distances from ``mean``.
    products : ndarray of shape (n_columns, n_columns)
        Of these distances. About ``mean`` and not about 0, so that values far from 0
        lose no digits; results of several blocks of rows can be added.

    Examples
    --------
    >>> values = np.array([[1.0, np.nan], [np.nan, np.nan]])
    >>> covariance = np.array([[1, 0.5], [0.5, 1]])
    >>> expected_moments(values, np.ones(2), np.zeros(2), covariance)
    (1.0, array([1. , 0.5]), array([[1. , 0.5],
           [0.5, 1. ]]))
    """
    found = moments_given(values, weight, in_patterns(values), mean, covariance)
    if np.isnan(found[2]).any():
        raise InputError(NOT_DEFINITE)
    return found


def draw_missing(
    rng: np.random.Generator,
    values: np.ndarray,
    mean: np.ndarray,
    covariance: np.ndarray,
) -> np.ndarray:
    """Draw missing entries of rows, given the present ones.

    Examples
    --------
    >>> values = np.full((1000, 2), np.nan)
    >>> drawn = draw_missing(np.random.default_rng(0), values, np.ones(2), np.eye(2))
    >>> drawn.mean(axis=0).round(1).tolist()
    [1.0, 1.0]
    """
    values = values.copy()
    for pattern in by_pattern(values, mean, covariance):
        noise = rng.standard_normal(pattern.means.shape)
        drawn = pattern.means + product(noise, pattern.factor.T)
        values[np.ix_(pattern.rows, ~pattern.present)] = drawn
    return values


def maximise(
    moments: tuple[float, np.ndarray, np.ndarray],
    mean: np.ndarray,
    least: np.ndarray,
    kappa: float = 0.0,
    prior: np.ndarray | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """M-step: maximum-likelihood mean and covariance, given moments.

    Parameters
    ----------
    moments : tuple
        Result of :func:`expected_moments` about ``mean``; of positive weight.
    mean : ndarray of shape (n_columns,)
    least : ndarray of shape (n_columns,)
        Minimum variances in every direction, in these units: of all covariances that
        exceed this diagonal matrix the most likely is taken.
    kappa : float, default=0.0
        Pseudo-rows of independent columns of variances ``prior``, towards which the
        covariance is shrunk.
    prior : ndarray of shape (n_columns,), optional

    Returns
    -------
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> moments = (2.0, np.array([2.0, 0.0]), np.array([[4.0, 0.0], [0.0, 0.0]]))
    >>> mean, covariance = maximise(moments, np.zeros(2), np.full(2, 0.01))
    >>> mean.tolist(), covariance.tolist()
    ([1.0, 0.0], [[1.0, 0.0], [0.0, 0.01]])
    """
    weight, sums, products = moments
    shift = sums / weight
    scatter = products - weight * np.outer(shift, shift)
    if prior is not None:
        scatter = scatter + kappa * np.diag(prior)
    return mean + shift, _raised(scatter / (weight + kappa), least)


def _raised(covariance: np.ndarray, least: np.ndarray) -> np.ndarray:
    """Covariance with eigenvalues of at least 1 in units of ``least``."""
    unit = np.sqrt(np.outer(least, least))
    values, vectors = np.linalg.eigh(covariance / unit)
    if values[0] >= 1.0:
        return covariance
    return product(vectors * np.maximum(values, 1.0), vectors.T) * unit


def fit(
    values: np.ndarray,
    weight: np.ndarray,
    least: np.ndarray,
    kappa: float = 0.0,
    tolerance: float = 1e-6,
) -> tuple[np.ndarray, np.ndarray]:
    """Maximum-likelihood mean and covariance of rows with missing entries, by EM.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        At least one entry in every column, of a row of positive weight.
    weight : ndarray of shape (n_rows,)
    least : ndarray of shape (n_columns,)
        Minimum variances in every direction.
    kappa : float, default=0.0
        Pseudo-rows of independent columns, each with the variance of its own entries,
        towards which the covariance is shrunk; 0 is maximum likelihood.
    tolerance : float, default=1e-6
        Stop when mean and covariance change less, in standard deviations.

    Returns
    -------
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> values = np.array([[0.0, 1.0], [2.0, 3.0], [1.0, np.nan]])
    >>> mean, covariance = fit(values, np.ones(3), np.full(2, 0.01))
    >>> mean.round(3).tolist()
    [1.0, 2.0]
    """
    present = np.where(np.isnan(values), 0.0, weight[:, None])
    n_present = present.sum(axis=0)
    # About a value of the column, so that large ones lose no digits.
    centre = np.nanmedian(values, axis=0)
    gap = np.nan_to_num(values - centre)
    mean = (present * gap).sum(axis=0) / n_present
    variances = (present * (gap - mean) ** 2).sum(axis=0) / n_present
    variances, mean = np.maximum(variances, least), mean + centre
    covariance = np.diag(variances)
    for _ in range(STEPS):
        moments = expected_moments(values, weight, mean, covariance)
        before = mean, covariance
        mean, covariance = maximise(moments, mean, least, kappa, variances)
        unit = np.sqrt(np.diag(covariance))
        moved = np.abs(mean - before[0]) / unit
        turned = np.abs(covariance - before[1]) / np.outer(unit, unit)
        if max(moved.max(), turned.max()) <= tolerance:
            break
    return mean, covariance


@dataclass(frozen=True, eq=False)
class MultivariateGaussian:
    """Multivariate Gaussian leaf: dependent continuous columns.

    Attributes
    ----------
    variables : tuple of int
    mean : ndarray of shape (n_variables,)
    covariance : ndarray of shape (n_variables, n_variables)
    """

    variables: tuple[int, ...]
    mean: np.ndarray
    covariance: np.ndarray

    @property
    def degrees_of_freedom(self) -> int:
        """Number of free parameters."""
        d = len(self.variables)
        return d + d * (d + 1) // 2

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density of present entries; see ``of_columns``."""
        return log_density(values[:, self.variables], self.mean, self.covariance)

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Expected weight, sums and products of distances from the mean."""
        used = weight > 0.0
        own = values[used][:, self.variables]
        moments = expected_moments(own, weight[used], self.mean, self.covariance)
        return np.concatenate([np.ravel(part) for part in moments])

    def estimated(
        self, statistics: np.ndarray, alpha: float, spread: np.ndarray
    ) -> MultivariateGaussian:
        """Maximum-likelihood leaf from statistics of rows and pseudo-counts."""
        d = len(self.variables)
        weight, sums, products = np.split(statistics, [1, 1 + d])
        if not weight[0] > 0.0:
            return self
        moments = float(weight[0]), sums, products.reshape(d, d)
        own = spread[list(self.variables)]
        found = maximise(moments, self.mean, LEAST_SHARE * own, alpha, own)
        return MultivariateGaussian(self.variables, *found)

    def marginal(self, columns: Sequence[int]) -> MultivariateGaussian:
        """Joint distribution of some of its columns."""
        at = [self.variables.index(j) for j in columns]
        covariance = self.covariance[np.ix_(at, at)]
        return MultivariateGaussian(tuple(columns), self.mean[at], covariance)

    def by_pattern(self, own: np.ndarray) -> Iterator[Pattern]:
        """Conditional distributions by pattern of missing entries of its columns."""
        return by_pattern(own, self.mean, self.covariance)

    def given(
        self, row: np.ndarray
    ) -> tuple[float, tuple[Gaussian | MultivariateGaussian, ...]]:
        """Log density of one row, and leaves of its missing columns."""
        own = row[None, self.variables]
        log_p = float(log_density(own, self.mean, self.covariance)[0])
        pattern = next(self.by_pattern(own))
        variables = tuple(j for j in self.variables if np.isnan(row[j]))
        mean, covariance = pattern.means[0], pattern.covariance
        if len(variables) > 1:
            return log_p, (MultivariateGaussian(variables, mean, covariance),)
        numbers = mean.tolist(), np.diag(covariance).tolist()
        return log_p, tuple(Gaussian(*own) for own in zip(variables, *numbers))

    def marginals(self, own: np.ndarray) -> list[tuple[np.ndarray, ...]]:
        """Mean and standard deviation by column, given the others; NaN if present."""
        mean, sd = np.full((2, *own.shape), np.nan)
        for pattern in self.by_pattern(own):
            at = np.ix_(pattern.rows, ~pattern.present)
            mean[at] = pattern.means
            sd[at] = np.sqrt(np.diag(pattern.covariance))
        return list(zip(mean.T, sd.T))

    def drawn(self, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Rows of its columns, with missing entries drawn; see ``of_columns``."""
        return draw_missing(rng, own, self.mean, self.covariance)

    def moments(
        self, own: np.ndarray, tables: Sequence[Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the numeric coordinates of columns."""
        mean, covariance = own.copy(), np.zeros((*own.shape, own.shape[1]))
        for pattern in self.by_pattern(own):
            missing = ~pattern.present
            mean[np.ix_(pattern.rows, missing)] = pattern.means
            covariance[np.ix_(pattern.rows, missing, missing)] = pattern.covariance
        return mean, covariance

    def modes(self) -> list[Point]:
        """Its mean; see ``of_columns``."""
        top = -0.5 * np.linalg.slogdet(2 * np.pi * self.covariance)[1]
        return [(float(top), dict(zip(self.variables, self.mean)))]

    def apart(self) -> list[Gaussian]:
        """Marginal leaf of each of its columns; see ``of_columns``."""
        spreads = np.diag(self.covariance).tolist()
        return [
            Gaussian(*own) for own in zip(self.variables, self.mean.tolist(), spreads)
        ]

    def scaled(self, zero: np.ndarray, one: np.ndarray) -> MultivariateGaussian:
        """Leaf in the units of a table, whose 0 and 1 are given; see ``of_columns``."""
        return MultivariateGaussian(
            self.variables, self.mean * one + zero, self.covariance * np.outer(one, one)
        )

    def over(self, columns: Sequence[int]) -> MultivariateGaussian:
        """The same leaf of other columns; see ``of_columns``."""
        return replace(self, variables=tuple(columns))

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """Its defect, if any, in a table whose columns have so many levels."""
        if any(n_levels):
            return NOT_CONTINUOUS
        d = len(self.variables)
        if self.mean.shape != (d,) or self.covariance.shape != (d, d):
            return f"has mean and covariance of other sizes than {d} columns"
        if not np.isfinite(self.mean).all():
            return "has a mean that is not finite"
        finite = np.isfinite(self.covariance).all()
        if not (finite and is_definite(self.covariance) and self._is_symmetric()):
            return "has a covariance that is not symmetric and positive definite"
        return None

    def _is_symmetric(self) -> bool:
        # In units of the columns: a covariance of 0 may be rounded to either sign.
        sd = np.sqrt(np.diag(self.covariance))
        gap = np.abs(self.covariance - self.covariance.T)
        return bool((gap <= 1e-9 * np.outer(sd, sd)).all())

    def to_plain(self) -> Plain:
        """Its integers and floats, as they are saved; see ``of_columns``."""
        return self.variables, [*self.mean.tolist(), *self.covariance.ravel().tolist()]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> MultivariateGaussian:
        """Leaf from its saved integers and floats; see ``of_columns``."""
        d = len(whole)
        return cls(tuple(whole.tolist()), numbers[:d], numbers[d:].reshape(d, d))


def is_definite(covariance: np.ndarray) -> bool:
    """Whether a matrix has a Cholesky factor."""
    try:
        np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        return False
    return True
