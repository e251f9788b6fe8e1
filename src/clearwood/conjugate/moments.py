"""Moments as sums about one centre, which can be added like counts, and back."""

from __future__ import annotations

import numpy as np


def sums_about(stats: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """Weight, sums and sums of products about a centre, from moments.

    Parameters
    ----------
    stats : ndarray of shape (n, 1 + d + d (d + 1) / 2)
        Weight, means, and the lower triangle of the scatter about them.
    centre : ndarray of shape (d,)
        Should lie among the data: digits that all values share are lost otherwise.

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
    """The inverse of :func:`sums_about`; without rows the moments are zero.

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
