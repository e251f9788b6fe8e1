"""Normal distributions that are truncated to an interval."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import log_ndtr

from clearwood.exceptions import InputError

Bounds = tuple[float, float]

LOG_SCALE = 0.5 * math.log(2 * math.pi)


def check_bounds(bounds: Sequence[float] | None, task: str) -> Bounds | None:
    """Validate the interval that outcomes are truncated to."""
    if bounds is None:
        return None
    low, high = np.asarray(bounds, dtype=np.float64).tolist() or (0, 0)
    if not low < high:
        raise InputError(
            f"bounds is {bounds!r}; expected (low, high), of which one may be infinite."
        )
    if task != "regression":
        raise InputError(
            f"bounds are for truncated normal outcomes in regression, not for {task}; "
            "for survival, divide the probabilities by that of the time of entry."
        )
    return low, high


def truncated_moments(
    location: np.ndarray, variance: np.ndarray, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of normal variables, given that they are in an interval.

    Parameters
    ----------
    location, variance : ndarray
        Of the normal distributions before truncation; variances are above 0.
    bounds : tuple of float
        Lower and upper end, of which either may be infinite.

    Returns
    -------
    mean, variance : ndarray
        With :math:`a` and :math:`b` the standardized ends, and :math:`p_a`,
        :math:`p_b` the density there over the probability of the interval, they are
        :math:`m = p_a - p_b` and :math:`1 + a p_a - b p_b - m^2` in standard units.

    Examples
    --------
    >>> mean, variance = truncated_moments(np.zeros(1), np.ones(1), (0.0, np.inf))
    >>> mean.round(4), variance.round(4)
    (array([0.7979]), array([0.3634]))
    """
    if not (variance > 0).all():
        raise InputError(
            "bounds need noise_variance above 0, that of the normal distribution "
            "before truncation; for draws that are means of truncated outcomes "
            "already, leave bounds out."
        )
    scale = np.sqrt(variance)
    low, high = ((end - location) / scale for end in bounds)
    # In the lower tail, where probabilities are accurate.
    is_upper = low > 0
    a, b = np.where(is_upper, -high, low), np.where(is_upper, -low, high)
    log_total = log_ndtr(b) + np.log1p(-np.exp(log_ndtr(a) - log_ndtr(b)))
    at_a, at_b = (np.exp(-0.5 * end**2 - LOG_SCALE - log_total) for end in (a, b))
    ends = (np.where(np.isfinite(end), end, 0.0) for end in (a, b))
    mean = np.clip(at_a - at_b, a, b)
    spread = 1.0 + next(ends) * at_a - next(ends) * at_b - mean**2
    mean = np.where(is_upper, -mean, mean)
    return location + scale * mean, variance * np.clip(spread, 0.0, 1.0)
