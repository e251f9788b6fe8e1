"""Multivariate normal distributions with a normal-inverse-Wishart prior."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import multigammaln

from clearwood._kernels.numeric import (
    cholesky_of,
    log_diagonal,
    solve_lower,
    solve_lower_all,
)
from clearwood._numeric import product
from clearwood.distributions.emission import Emission, JointEmission, unit
from clearwood.distributions.partial_normal import (
    draw_missing,
    expected_moments,
    log_density,
)
from clearwood.exceptions import InputError

KAPPA, PER_MISSING = 1.0, 3.0
"""Pseudo-rows of the prior of a mean: the thesis has N(mu | 0, Sigma); and further ones
of it, and of the variance of every column, per missing cell that an observed one stands
for."""


@dataclass(frozen=True, eq=False)
class NormalInverseWishart:
    """Normal-inverse-Wishart distribution of a mean and covariance, prior or posterior.

    The mean is normal about ``mu`` with the covariance over ``kappa``; the covariance
    is inverse-Wishart with ``nu`` degrees of freedom and the scale ``psi``, of mean
    ``psi / (nu - n_columns - 1)``. Rows are summarized by their weight, the sums of
    their distances from ``mu``, and of the products of these.

    Parameters
    ----------
    mu : ndarray of shape (n_columns,)
        Should lie within the data: digits common to all values are lost otherwise.
    kappa : float
        Number of pseudo-rows of the mean.
    nu : float
        Greater than ``n_columns - 1``.
    psi : ndarray of shape (n_columns, n_columns)

    Examples
    --------
    >>> prior = NormalInverseWishart(np.zeros(2), 1.0, 4.0, np.eye(2))
    >>> rows = np.array([[1.0, 2.0], [3.0, 2.0]])
    >>> after = prior.posterior(2.0, rows.sum(axis=0), rows.T @ rows)
    >>> after.mu.round(3).tolist(), after.kappa, after.nu
    ([1.333, 1.333], 3.0, 6.0)
    """

    mu: np.ndarray
    kappa: float
    nu: float
    psi: np.ndarray

    def __post_init__(self) -> None:
        """Validate the shapes."""
        d = len(self.mu)
        if self.psi.shape != (d, d):
            raise InputError(
                f"psi has the shape {self.psi.shape}, expected ({d}, {d})."
            )

    @classmethod
    def flat(cls, mu: np.ndarray) -> NormalInverseWishart:
        """Flat prior: modes are maximum likelihood; it cannot be sampled from."""
        d = len(mu)
        return cls(mu, 0.0, -float(d + 2), np.zeros((d, d)))

    def posterior(
        self, weight: float, sums: np.ndarray, products: np.ndarray
    ) -> NormalInverseWishart:
        """Posterior after some rows."""
        if weight == 0:
            return self
        kappa = self.kappa + weight
        psi = self.psi + products - np.outer(sums, sums) / kappa
        return NormalInverseWishart(
            self.mu + sums / kappa, kappa, self.nu + weight, 0.5 * (psi + psi.T)
        )

    def mode(self) -> tuple[np.ndarray, np.ndarray]:
        """Joint mode of mean and covariance."""
        return self.mu, self.psi / (self.nu + len(self.mu) + 2)

    def draw(self, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Draw a mean and a covariance.

        Examples
        --------
        >>> known = NormalInverseWishart(np.ones(2), 1e8, 1e8, 1e8 * np.eye(2))
        >>> mean, covariance = known.draw(np.random.default_rng(0))
        >>> mean.round(2).tolist(), covariance.round(2).diagonal().tolist()
        ([1.0, 1.0], [1.0, 1.0])
        """
        d = len(self.mu)
        # Bartlett: a a' is Wishart with the scale 1, and psi = l l'.
        a = np.tril(rng.standard_normal((d, d)), -1)
        a[np.diag_indices(d)] = np.sqrt(rng.chisquare(self.nu - np.arange(d)))
        root = cholesky_of(self.psi)
        solve_lower_all(a, root)
        root = root.T
        mean = self.mu + product(rng.standard_normal(d), root) / math.sqrt(self.kappa)
        return mean, product(root.T, root)

    def log_density(self, mean: np.ndarray, covariance: np.ndarray) -> float:
        """Log density of a mean and a covariance, up to a power of 2 pi."""
        d, lower = len(self.mu), cholesky_of(covariance)
        gap, spread = mean - self.mu, self.psi.copy()
        solve_lower(lower, gap)
        # The trace of inv(covariance) psi, as psi is symmetric.
        solve_lower_all(lower, spread)
        spread = np.ascontiguousarray(spread.T)
        solve_lower_all(lower, spread)
        return float(
            -(self.nu + d + 2) * log_diagonal(lower) - 0.5 * np.trace(spread)
            - 0.5 * self.kappa * (gap**2).sum() - self._log_constant()
        )  # fmt: skip

    def _log_constant(self) -> float:
        """Log normalizing constant, up to a power of 2 pi."""
        d = len(self.mu)
        if self.kappa == 0:  # flat
            return 0.0
        log_det = 2.0 * log_diagonal(cholesky_of(self.psi))
        return float(
            multigammaln(0.5 * self.nu, d)
            + 0.5 * self.nu * (d * math.log(2.0) - log_det)
            - 0.5 * d * math.log(self.kappa)
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class NormalEmission:
    """Multivariate normal emission.

    Parameters
    ----------
    prior : NormalInverseWishart
        Of the mean and the covariance of a state. Statistics are the weight, and sums
        about the prior's mean.

    Examples
    --------
    >>> flat = NormalEmission(NormalInverseWishart.flat(np.zeros(1)))
    >>> unit = np.array([[0.0, 1.0]])  # mean and variance of the one state
    >>> rows = flat.statistics(unit, np.array([[1.0], [3.0]]), np.ones((2, 1)))
    >>> rows.tolist(), flat.mode(rows).tolist()
    ([[2.0, 4.0, 10.0]], [[2.0, 1.0]])
    """

    prior: NormalInverseWishart

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.prior.mu)

    @property
    def n_parameters(self) -> int:
        """Number of means and of all entries of the covariance."""
        return self.n_columns * (1 + self.n_columns)

    @property
    def n_statistics(self) -> int:
        """Number of weights, sums, and sums of products."""
        return 1 + self.n_parameters

    def moments(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the states."""
        d = self.n_columns
        return parameters[:, :d], parameters[:, d:].reshape(-1, d, d)

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log probability of every row of values in every state; 0 if missing."""
        states = zip(*self.moments(parameters))
        return np.column_stack([log_density(values, *state) for state in states])

    def statistics(
        self,
        parameters: np.ndarray,
        values: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Of shape (n_states, 1 + n_columns + n_columns ** 2); see ``Emission``."""
        seen = ~np.isnan(values).all(axis=1)
        found = []
        for own, mean, covariance in zip(weight.T, *self.moments(parameters)):
            rows = seen & (own > 0)
            mine = values[rows]
            if rng is not None and np.isnan(mine).any():
                mine = draw_missing(rng, mine, mean, covariance)
            found.append(self._sums(mine, own[rows], mean, covariance))
        return np.array(found)

    def _sums(
        self,
        values: np.ndarray,
        weight: np.ndarray,
        mean: np.ndarray,
        covariance: np.ndarray,
    ) -> np.ndarray:
        """Weight, sums and sums of products about the prior's mean."""
        if np.isnan(values).any():
            moments = expected_moments(values, weight, mean, covariance)
            total, sums, products = moments
            shift = mean - self.prior.mu
            across = np.outer(sums, shift)
            products = products + across + across.T + total * np.outer(shift, shift)
            sums = sums + total * shift
        else:
            gap = values - self.prior.mu
            weighted = weight[:, None] * gap
            total, sums = float(weight.sum()), weighted.sum(axis=0)
            products = product(weighted.T, gap)
        return np.array([total, *sums, *products.ravel()])

    def _posteriors(self, statistics: np.ndarray) -> list[NormalInverseWishart]:
        d = self.n_columns
        return [
            self.prior.posterior(own[0], own[1 : 1 + d], own[1 + d :].reshape(d, d))
            for own in statistics
        ]

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """Draw parameters from their posterior; see ``Emission``."""
        drawn = [after.draw(rng) for after in self._posteriors(statistics)]
        return np.array([[*mean, *covariance.ravel()] for mean, covariance in drawn])

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """Posterior mode of parameters; for a state without rows, the prior's mean."""
        modes = [after.mode() for after in self._posteriors(statistics)]
        return np.array([[*mean, *covariance.ravel()] for mean, covariance in modes])

    def log_prior(self, parameters: np.ndarray) -> float:
        """Log density of the prior of all states, up to a constant."""
        states = zip(*self.moments(parameters))
        return math.fsum(self.prior.log_density(*state) for state in states)

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """Draw values emitted by the states; see ``Emission``."""
        means, covariances = self.moments(parameters)
        factors = np.array([cholesky_of(one) for one in covariances])
        noise = rng.standard_normal((len(states), self.n_columns))
        return means[states] + np.einsum("tij,tj->ti", factors[states], noise)

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """Per state, probabilities of classes and means of other columns."""
        return self.moments(parameters)[0]

    def points(self, values: np.ndarray) -> np.ndarray:
        """Rows as points of mean 0, with equal weights of columns and of classes."""
        return np.hstack([unit(column[:, None]) for column in values.T])


def normal_prior(values: np.ndarray, n_states: int, diagonal: bool) -> Emission:
    """Normal-inverse-Wishart prior with the overall mean and a share of the variances.

    The prior covariance of a state is the overall one, without correlations, over
    ``n_states ** (2 / n_columns)``, as for equal parts of the space (Fraley and
    Raftery, 2007), with the fewest pseudo-rows for which a mean exists; and with more
    where cells are missing, since expectations in their place would outweigh these. A
    constant column counts as if it varied by 1e-6 of its value.
    """
    if diagonal:
        columns = values.T[:, :, None]
        return JointEmission(
            [([d], normal_prior(own, n_states, False)) for d, own in enumerate(columns)]
        )
    d, mu = values.shape[1], np.nanmean(values, axis=0)
    gap = values - mu
    variance = np.nanmean(gap**2, axis=0)
    constant = np.nanmin(values, axis=0) == np.nanmax(values, axis=0)
    variance[constant] = 1e-12 * np.where(mu == 0, 1.0, mu**2)[constant]
    missing = np.isnan(values).mean()
    more = PER_MISSING * missing / (1.0 - missing)
    psi = np.diag(variance) / n_states ** (2.0 / d) * (1.0 + d * more)
    prior = NormalInverseWishart(mu, KAPPA + more, d + 2.0 + d * more, psi)
    return NormalEmission(prior)
