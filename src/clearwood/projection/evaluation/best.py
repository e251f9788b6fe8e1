"""BEST: Student's t for scores, with unknown mean, scale and tails (Kruschke 2013).

The posterior of the mean, or of the difference of two, is summed on a grid, in
standardised units. It needs no sampler and is exact to about eight digits; to one in a
hundred of its standard deviation where most scores are equal, so that the smallest
scale allowed by the prior decides.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import make_interp_spline
from scipy.optimize import brentq
from scipy.special import gammaln, logsumexp

from clearwood._numeric import product

# Kruschke's priors, for scores of mean 0 and standard deviation 1:
# mu ~ N(0, WIDE^2), sigma ~ U(NARROW, WIDE), nu - 1 ~ Exp(mean TAILS).
NARROW, WIDE, TAILS = 1e-3, 1e3, 29.0

STEP, N_TAILS, LARGEST_NU = 0.1, 48, 900.0
"""Grid: step of the transformed mean, and number and maximum of the values of nu."""


class Curve(NamedTuple):
    """Distribution of one number.

    Attributes
    ----------
    mean, sd : float
    below, above : callable
        Probability of less, and of more, than a number.
    quantile : callable
        Quantiles at an array of probabilities.
    density : callable
        Density at an array of numbers.
    """

    mean: float
    sd: float
    below: Callable[[Any], Any]
    above: Callable[[Any], Any]
    quantile: Callable[[Any], Any]
    density: Callable[[Any], Any]


def paired(z: np.ndarray) -> Curve:
    """Posterior mean of standardised differences that follow one Student's t."""
    t, (nu, log_prior) = _mean_grid(len(z)), _tails()
    centre = float(np.median(z))
    log_joint = log_prior + _log_marginal(z, _means(t, centre), nu)
    log_density = logsumexp(log_joint, axis=1)
    return _on_grid(t, centre, np.exp(log_density - log_density.max()))


def two_groups(z_a: np.ndarray, z_b: np.ndarray) -> Curve:
    """Posterior difference of the means of two groups that share nu alone."""
    t, (nu, log_prior) = _mean_grid(min(len(z_a), len(z_b))), _tails()
    centre_a, centre_b = float(np.median(z_a)), float(np.median(z_b))
    mu_a, mu_b = _means(t, centre_a), _means(t, centre_b)
    of_a, of_b = _log_marginal(z_a, mu_a, nu), _log_marginal(z_b, mu_b, nu)
    # The likelihood of nu is in the highest values of the groups.
    top = of_a.max(axis=0) + of_b.max(axis=0) + log_prior
    of_a, of_b = of_a - of_a.max(axis=0), of_b - of_b.max(axis=0)
    weight = np.exp(top - top.max()) * np.cosh(t)[:, None]
    weight_a, weight_b = weight * np.exp(of_a), weight * np.exp(of_b)
    log_a, log_b = make_interp_spline(t, of_a, k=5), make_interp_spline(t, of_b, k=5)

    def density(d: float) -> float:
        """Density of a difference d of the means: the convolution of the two.

        Each grid is fine near its own centre only. So values nearer to one centre are
        summed on its grid, with a smooth transition between.
        """
        at_a = np.exp(log_b(_grid_position(mu_a - d, centre_b, t)))
        at_b = np.exp(log_a(_grid_position(mu_b + d, centre_a, t)))
        share_a = _nearness(mu_a, centre_a, centre_b + d)
        share_b = _nearness(mu_b, centre_b, centre_a - d)
        total = product(share_a, weight_a * at_a) + product(share_b, weight_b * at_b)
        return float(total.sum())

    centre = centre_a - centre_b
    return _on_grid(t, centre, np.array([density(d) for d in _means(t, centre)]))


def _nearness(mu: np.ndarray, one: float, other: float) -> np.ndarray:
    """Weight nearly 1 near one centre, nearly 0 near the other."""
    near, far = (mu - one) ** 2 + NARROW**2, (mu - other) ** 2 + NARROW**2
    return 1 / (1 + (near / far) ** 2)


def _mean_grid(n: int) -> np.ndarray:
    """Grid of the means: ``mu = centre + NARROW sinh(t)``.

    It covers all scales, from the smallest scale allowed to the tails of few scores:
    those of n scores fall like mu^-(n - 1) at first, and finally with the prior.
    """
    farthest = min(8 * WIDE, 1 + 2 * math.sqrt(math.expm1(90 / n)))
    steps = math.ceil(math.asinh(farthest / NARROW) / STEP)
    return STEP * np.arange(-steps, steps + 1)


def _means(t: np.ndarray, centre: float) -> np.ndarray:
    return centre + NARROW * np.sinh(t)


def _grid_position(mu: np.ndarray, centre: float, t: np.ndarray) -> np.ndarray:
    """The inverse of :func:`_means`, within the grid."""
    return np.clip(np.arcsinh((mu - centre) / NARROW), t[0], t[-1])


def _tails() -> tuple[np.ndarray, np.ndarray]:
    """Values of nu, and the log of their prior times the quadrature weight."""
    nodes, share = np.polynomial.legendre.leggauss(N_TAILS)
    log_nu = (nodes + 1) / 2 * math.log(LARGEST_NU)
    nu = np.exp(log_nu)
    return nu, np.log(share) + log_nu - (nu - 1) / TAILS


def _log_marginal(z: np.ndarray, mu: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """Log of p(z, mu | nu), with sigma summed out, of shape (means, values of nu).

    With s = sigma sqrt(nu) the logarithm of Student's density at one score is
    c(nu) - log s - (nu + 1)/2 log(1 + (z - mu)^2 / s^2): the sum of the last term over
    the scores, which costs most, is one table for all nu.
    """
    n, step = len(z), min(0.1, 0.5 / math.sqrt(len(z)))
    log_low, log_high = math.log(NARROW), math.log(WIDE)
    log_s = np.arange(log_low - step, log_high + 0.5 * math.log(LARGEST_NU), step)
    total = np.zeros((len(mu), len(log_s)))
    for value in z:
        total += np.log1p(((value - mu)[:, None] * np.exp(-log_s)) ** 2)
    result = np.empty((len(mu), len(nu)))
    for k, value in enumerate(nu):
        log_sigma = log_s - 0.5 * math.log(value)
        # Of a step that the bounds of sigma cut, the part between them counts.
        within = np.minimum(log_high - log_sigma, log_sigma - log_low) / step + 0.5
        on = within > 0
        part = np.log(np.minimum(within[on], 1.0)) + log_sigma[on] - n * log_s[on]
        log_joint = part - (value + 1) / 2 * total[:, on]
        result[:, k] = logsumexp(log_joint, axis=1)
    constant = n * (gammaln((nu + 1) / 2) - gammaln(nu / 2))
    return result + constant - 0.5 * (mu[:, None] / WIDE) ** 2


def _on_grid(t: np.ndarray, centre: float, density: np.ndarray) -> Curve:
    """Distribution of ``centre + NARROW sinh(t)`` from its density on the grid."""
    x, mass = _means(t, centre), density * np.cosh(t)
    mass /= mass.sum()
    mean = float((mass * x).sum())
    spline = make_interp_spline(t, mass / STEP, k=5)
    integral = spline.antiderivative()
    total = float(integral(t[-1]))

    def below(x: Any) -> Any:
        return np.clip(integral(_grid_position(x, centre, t)) / total, 0.0, 1.0)

    @np.vectorize
    def quantile(p: float) -> Any:
        u = brentq(lambda u: integral(u) / total - p, t[0], t[-1], xtol=1e-13)
        return _means(u, centre)

    def density_at(x: Any) -> Any:
        u = _grid_position(x, centre, t)
        return np.maximum(spline(u), 0.0) / (total * NARROW * np.cosh(u))

    return Curve(
        mean, math.sqrt((mass * (x - mean) ** 2).sum()), below,
        lambda x: 1.0 - below(x), quantile, density_at,
    )  # fmt: skip
