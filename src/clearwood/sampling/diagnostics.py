"""Convergence diagnostics and effective sample size, after Vehtari et al. (2021)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Diagnosis(NamedTuple):
    """Summary and convergence diagnostics of the draws of one quantity.

    Attributes
    ----------
    mean, sd : float
        Mean and standard deviation over all chains.
    mcse : float
        Monte Carlo standard error of the mean, from the effective sample size.
    rhat : float
        Rank-normalised split R-hat; 1 for chains that agree.
    ess : float
        Bulk effective sample size: the equivalent number of independent draws.
    """

    mean: float
    sd: float
    mcse: float
    rhat: float
    ess: float


def diagnose(draws: np.ndarray) -> Diagnosis:
    """Summarize the draws of one quantity, of shape (n_chains, n_draws).

    Indicators (of type bool) are not ranked, as ranks of two values are these values in
    other units.
    """
    plain = _ess(_split(draws.astype(np.float64)))
    if draws.dtype.kind == "b" and draws.shape[1] >= 4:
        rhat, ess = _rhat(_split(draws.astype(np.float64))), plain
    else:
        rhat, ess = split_rhat(draws), bulk_ess(draws)
    sd = float(draws.std(ddof=1)) if draws.size > 1 else np.nan
    mcse = sd / np.sqrt(plain) if sd > 0 else sd
    return Diagnosis(float(draws.mean()), sd, float(mcse), rhat, ess)


def split_rhat(draws: np.ndarray) -> float:
    """Rank-normalised split R-hat: the larger of those for location and scale.

    Parameters
    ----------
    draws : ndarray of shape (n_chains, n_draws)

    Returns
    -------
    float
        1 where all draws are equal, nan with fewer than four draws per chain.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> round(split_rhat(rng.normal(size=(4, 500))), 1)
    1.0
    >>> bool(split_rhat(rng.normal(size=(4, 500)) + np.arange(4)[:, None]) > 1.3)
    True
    """
    if draws.shape[1] < 4:
        return float("nan")
    if np.ptp(draws) == 0:
        return 1.0
    halves = _split(draws)
    folded = np.abs(halves - np.median(halves))
    return float(max(_rhat(_normal_scores(halves)), _rhat(_normal_scores(folded))))


def bulk_ess(draws: np.ndarray) -> float:
    """Effective sample size for the centre of the distribution (bulk ESS).

    Parameters
    ----------
    draws : ndarray of shape (n_chains, n_draws)

    Returns
    -------
    float
        The number of draws where all are equal, nan with fewer than four per chain.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> steps = rng.normal(size=(2, 2000))
    >>> walk = [steps[:, 0]]
    >>> for step in steps.T[1:]:
    ...     walk.append(0.9 * walk[-1] + step)
    >>> bool(100 < bulk_ess(np.array(walk).T) < 400)
    True
    """
    halves = _split(draws)
    return _ess(_normal_scores(halves)) if draws.shape[1] >= 4 else float("nan")


def _split(draws: np.ndarray) -> np.ndarray:
    """Halves of each chain as separate chains, without the middle draw if odd."""
    half = draws.shape[1] // 2
    return np.concatenate([draws[:, :half], draws[:, draws.shape[1] - half :]])


def _normal_scores(draws: np.ndarray) -> np.ndarray:
    from scipy import special, stats  # slow to import

    rank = stats.rankdata(draws, method="average").reshape(draws.shape)
    return special.ndtri((rank - 0.375) / (draws.size + 0.25))


def _rhat(chains: np.ndarray) -> float:
    n = chains.shape[1]
    within = chains.var(axis=1, ddof=1).mean()
    between = n * chains.mean(axis=1).var(ddof=1)
    if within == 0:
        return np.inf if between > 0 else 1.0
    return float(np.sqrt((between / within + n - 1) / n))


def _ess(chains: np.ndarray) -> float:
    """Draws divided by their autocorrelation time, by Geyer's monotone sequence."""
    m, n = chains.shape
    if n < 2:
        return float("nan")
    if np.ptp(chains) == 0:
        return float(m * n)
    covariance = _autocovariance(chains)
    within = covariance[:, 0].mean() * n / (n - 1)
    variance = within * (n - 1) / n
    if m > 1:
        variance += chains.mean(axis=1).var(ddof=1)
    rho = 1.0 - (within - covariance.mean(axis=0)) / variance
    rho[0] = 1.0
    # Sums of adjacent pairs are positive and decrease; the rest is noise.
    pairs = rho[: n - n % 2].reshape(-1, 2).sum(axis=1)
    negative = np.flatnonzero(pairs <= 0)
    k = int(negative[0]) if len(negative) else len(pairs)
    rest = max(rho[2 * k], 0.0) if 2 * k < n else 0.0
    time = 2.0 * np.minimum.accumulate(pairs[:k]).sum() - 1.0 + rest
    return float(m * n / max(time, 1.0 / np.log10(m * n)))


def _autocovariance(chains: np.ndarray) -> np.ndarray:
    n = chains.shape[1]
    size = 2 ** int(np.ceil(np.log2(2 * n)))
    wave = np.fft.rfft(chains - chains.mean(axis=1, keepdims=True), size)
    return np.fft.irfft(wave * wave.conj(), size)[:, :n] / n
