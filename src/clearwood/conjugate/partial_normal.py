"""Normal distributions of several columns, of rows of which entries are missing.

Rows that lack the same entries share one Cholesky factor, so the cost follows the
number of patterns. Missing entries are NaN, and are integrated out.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from clearwood._kernels.conjugate import log_densities, moments_given
from clearwood._kernels.numeric import cholesky_of, solve_lower_all
from clearwood._numeric import product
from clearwood.exceptions import InputError

NOT_DEFINITE = "A covariance matrix is not positive definite; floor its variances."

STEPS = 1_000
"""Most passes of EM; it is slow where most entries are missing."""


class Pattern(NamedTuple):
    """Rows that lack the same entries, and what is missing given the rest."""

    rows: np.ndarray
    present: np.ndarray
    means: np.ndarray
    factor: np.ndarray

    @property
    def covariance(self) -> np.ndarray:
        """Of the missing entries; the same in all rows. ``factor`` is its root."""
        return product(self.factor, self.factor.T)


def by_pattern(
    values: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> Iterator[Pattern]:
    """Conditional distributions of what is missing, one pattern at a time.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
    mean : ndarray of shape (n_columns,)
    covariance : ndarray of shape (n_columns, n_columns)

    Yields
    ------
    Pattern
        ``rows``: positions; ``present``: mask of columns; ``means``
        (rows, missing columns) and ``covariance`` of what is missing.

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
    """An order of rows in which those that lack the same entries are neighbours."""
    absent = np.isnan(values)
    if not absent.any():
        return np.arange(len(values))
    return np.lexsort(np.packbits(absent, axis=1).T)


def log_density(
    values: np.ndarray, mean: np.ndarray, covariance: np.ndarray
) -> np.ndarray:
    """Log density of the entries that are present; 0 for rows without any.

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
    """The E-step: what rows would add up to, were their missing entries known.

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
    """Rows with their missing entries drawn, given those that are present.

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
    """The M-step: mean and covariance of greatest likelihood, given moments.

    Parameters
    ----------
    moments : tuple
        What :func:`expected_moments` found about ``mean``; of some weight.
    mean : ndarray of shape (n_columns,)
    least : ndarray of shape (n_columns,)
        Variances that no direction falls below, measured in these units: of all
        covariances that exceed this diagonal matrix the most likely is taken.
    kappa : float, default=0.0
        Rows' worth of independent columns of variances ``prior``, towards which the
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
    """The covariance with no eigenvalue below 1 in units of ``least``."""
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
    """Mean and covariance of rows with missing entries, by EM.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_columns)
        At least one entry in every column, of a row of some weight.
    weight : ndarray of shape (n_rows,)
    least : ndarray of shape (n_columns,)
        Variances that no direction falls below.
    kappa : float, default=0.0
        Rows' worth of independent columns, each with the variance of its own entries,
        towards which the covariance is shrunk; 0 is maximum likelihood.
    tolerance : float, default=1e-6
        Stop when mean and covariance move less, in standard deviations.

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
