"""Normal distributions that are truncated to an interval."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy.special import ndtr

from clearwood._warned_once import users_level
from clearwood.exceptions import InputError, OutsideBoundsWarning

Bounds = tuple[float, float]

NODES, WEIGHTS = np.polynomial.legendre.leggauss(48)
"""Of quadrature over all but 1e-17 of a truncated normal distribution."""

LEAST_INSIDE = 0.01
"""Mean probability of the interval before truncation that is not a wrong unit."""


def check_normal(noise_variance: Any, bounds: Any, task: str) -> Bounds | None:
    """Validate the interval of normal outcomes; no other task has noise or bounds."""
    if task != "regression" and np.any(noise_variance):
        raise InputError(
            f"noise_variance is for regression, not for {task}, whose probabilities "
            "or rates include the variation of an observation; leave it out."
        )
    if bounds is None:
        return None
    try:
        low, high = (float(end) for end in bounds)
    except (TypeError, ValueError):
        low = high = 0.0
    if not low < high:
        raise InputError(
            f"bounds is {bounds!r}; expected two numbers (low, high), low below high, "
            "of which one may be infinite, such as (0, float('inf'))."
        )
    if task != "regression":
        raise InputError(
            f"bounds are for truncated normal outcomes in regression, not for {task}; "
            "for survival, divide the probabilities by that of the time of entry, and "
            "pass horizons and times of y that are measured from entry."
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
        By quadrature about the mode of the truncated distribution, so that they keep
        their digits in the far tail, where the usual formulas cancel.

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
    mode = np.clip(location, *bounds)
    slope = (mode - location) / scale
    # Beyond it, the density is below exp(-40) of that of the mode.
    reach = 80 / (np.abs(slope) + np.hypot(slope, np.sqrt(80)))
    start, stop = (np.clip((end - mode) / scale, -reach, reach) for end in bounds)
    total, first, second = np.zeros((3, *slope.shape))
    for node, weight in zip(NODES, WEIGHTS):
        at = start + (stop - start) * (node + 1) / 2
        mass = weight * np.exp(-at * (slope + at / 2))
        total += mass
        first += mass * at
        second += mass * at**2
    shift = first / total
    return mode + scale * shift, variance * (second / total - shift**2)


def truncated(
    location: np.ndarray, variance: np.ndarray, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray]:
    """Truncated moments, with a warning if the bounds seem to be in another unit."""
    moments = truncated_moments(location, variance, bounds)
    low, high = ((end - location) / np.sqrt(variance) for end in bounds)
    inside = float((ndtr(high) - ndtr(low)).mean())
    if inside < LEAST_INSIDE:
        warnings.warn(
            f"Before truncation, outcomes are in the bounds {bounds} with a mean "
            f"probability of {inside:.2g}. Pass bounds in the unit of the draws, and "
            "draws of the normal distribution before truncation.",
            OutsideBoundsWarning,
            stacklevel=users_level(),
        )
    return moments
