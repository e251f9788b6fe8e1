"""Rows of probabilities with symmetric or other Dirichlet priors."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln


def draw_rows(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """Rows of probabilities, each from the Dirichlet distribution of its row."""
    return np.array([rng.dirichlet(row) for row in counts])


def mode_of_rows(alpha: np.ndarray | float, counts: np.ndarray) -> np.ndarray:
    """The most probable rows of probabilities, given counts.

    Pseudo-counts below 1 take away from the counts, at most all of them. A row of which
    nothing is left is the prior's mean.

    Examples
    --------
    >>> mode_of_rows(2.0, np.array([[3.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.8, 0.2], [0.5, 0.5]]
    """
    alpha = np.broadcast_to(alpha, counts.shape[-1:]).astype(np.float64)
    left = np.maximum(counts + alpha - 1.0, 0.0)
    total = left.sum(axis=-1, keepdims=True)
    with np.errstate(invalid="ignore"):  # 0 / 0
        return np.where(total > 0, left / total, alpha / alpha.sum())


def log_dirichlet(alpha: np.ndarray | float, rows: np.ndarray) -> float:
    """Log density of rows of probabilities under the same Dirichlet prior.

    Probabilities of exactly 0 are taken as 1e-300: the density of no EM step is
    infinite.
    """
    alpha = np.broadcast_to(alpha, rows.shape[-1:]).astype(np.float64)
    constant = gammaln(alpha.sum()) - gammaln(alpha).sum()
    logs = np.log(np.maximum(rows, 1e-300))
    return float(len(rows) * constant + ((alpha - 1.0) * logs).sum())
