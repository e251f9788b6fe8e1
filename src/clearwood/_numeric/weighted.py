"""Averages over rows, and how sure they are."""

from __future__ import annotations

import numpy as np


def weighted_mean_and_error(
    losses: np.ndarray, weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Means over rows (the last axis), and their standard errors."""
    share = weight / weight.sum()
    mean = losses @ share
    error = np.sqrt(((losses - mean[..., None]) ** 2) @ share**2)
    return mean, error
