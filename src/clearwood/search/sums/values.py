"""What the boxes of a sum add: the best values of all of them together."""

from __future__ import annotations

import numpy as np

from clearwood.search.sums import _kernels
from clearwood.search.sums.losses import SumLoss

SMALLEST_RIDGE = 1e-9
"""Ridge where only a common shift of all constants is unknown."""


def best_values(
    loss: SumLoss,
    penalty: float,
    member: np.ndarray,
    outputs: np.ndarray,
    constant: np.ndarray,
    values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The constant and the values that cost least together.

    Newton's method, with steps halved until the loss falls; for squares one step.

    Parameters
    ----------
    loss : SquaredSumLoss or ClassSumLoss
    penalty : float
        Ridge: on half the square of each value.
    member : ndarray of bool of shape (n_boxes, n_rows)
        Which rows are in which box.
    outputs : ndarray of int of shape (n_boxes,)
    constant, values : ndarray
        Where to begin.

    Returns
    -------
    tuple of ndarray
        Constant (n_outputs,) and values (n_boxes,).
    """
    free, n_free = list(loss.free), len(loss.free)
    design, output_of, ridge = design_of(loss, penalty, member, outputs)
    factors = np.concatenate([constant[free], values])
    _kernels.best_factors(
        loss.is_class, loss.target, loss.share, design, output_of, ridge, factors
    )
    best = constant.copy()
    best[free] = factors[:n_free]
    return best, factors[n_free:]


def design_of(
    loss: SumLoss, penalty: float, member: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Constants and boxes as lines over rows, the output and ridge of each."""
    free = np.array(loss.free)
    every = np.ones((len(free), member.shape[1]), dtype=bool)
    # Several constants are known but for a common shift; this keeps it at none.
    slight = SMALLEST_RIDGE if len(free) > 1 else 0.0
    ridge = np.repeat([slight, penalty], [len(free), len(member)])
    design = np.ascontiguousarray(np.concatenate([every, member]))
    return design, np.concatenate([free, outputs]), ridge
