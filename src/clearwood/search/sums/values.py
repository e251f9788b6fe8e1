"""Contributions of the boxes of a sum, optimized jointly."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._kernels import search_sums as _kernels
from clearwood._numeric import product
from clearwood.search.sums.losses import ClassSumLoss, SumLoss

SMALLEST_RIDGE = 1e-9
"""Ridge if only a common shift of all constants is not identified."""

SMALLEST_SHARE = 1e-9
"""Minimum mean probability of a class; with 0, its score would be infinite."""


def best_values(
    loss: SumLoss,
    penalty: float,
    member: np.ndarray,
    outputs: np.ndarray,
    constant: np.ndarray,
    values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The constant and the values of least joint cost.

    Newton's method, with steps halved until the loss falls; for squares one step.

    Parameters
    ----------
    loss : SquaredSumLoss or ClassSumLoss
    penalty : float
        Ridge penalty on half the square of each value.
    member : ndarray of bool of shape (n_boxes, n_rows)
        Which rows are in which box.
    outputs : ndarray of int of shape (n_boxes,)
    constant, values : ndarray
        Initial values.

    Returns
    -------
    tuple of ndarray
        Constant (n_outputs,) and values (n_boxes,).
    """
    others = classes_without_boxes(loss, outputs)
    if len(others) > 1:
        # Classes that no box adds to have constant relative probabilities, best in the
        # proportions of the target: one constant is left for all.
        mean = np.maximum(product(loss.target[others], loss.share), SMALLEST_SHARE)
        best = np.empty_like(constant)
        best[others] = np.log(mean / mean.sum())
        if len(outputs):
            few, output_of, used = fewer_classes(loss, outputs, others)
            start = np.append(np.logaddexp.reduce(constant[others]), constant[used])
            start -= start[0]
            found, values = best_values(few, penalty, member, output_of, start, values)
            best[others] += found[0]
            best[used] = found[1:]
        return best - best.mean(), values
    free, n_free = list(loss.free), len(loss.free)
    factors = np.concatenate([constant[free], values])
    _kernels.best_factors(design_of(loss, penalty, member, outputs), factors)
    best = constant.copy()
    best[free] = factors[:n_free]
    return best, factors[n_free:]


def classes_without_boxes(loss: SumLoss, outputs: np.ndarray) -> np.ndarray:
    """Classes whose scores no box adds to; none for two classes, or values."""
    n_outputs = len(loss.target)
    return np.setdiff1d(np.arange(n_outputs), outputs) if n_outputs > 2 else outputs[:0]


def fewer_classes(
    loss: SumLoss, outputs: np.ndarray, others: np.ndarray
) -> tuple[ClassSumLoss, np.ndarray, np.ndarray]:
    """The loss with all classes without boxes merged into the first one.

    Returns
    -------
    loss : ClassSumLoss
    outputs : ndarray of int of shape (n_boxes,)
        The class of this loss that each box adds to.
    used : ndarray of int
        Its classes but the first.
    """
    used = np.setdiff1d(np.arange(len(loss.target)), others)
    target = np.vstack([loss.target[others].sum(axis=0), loss.target[used]])
    return ClassSumLoss(target, loss.share), 1 + np.searchsorted(used, outputs), used


class SumDesign(NamedTuple):
    """Constants and boxes as regressors over rows, each with a coefficient.

    Attributes
    ----------
    is_class : bool
    target : ndarray of shape (n_outputs, n_rows)
    share : ndarray of shape (n_rows,)
    lines : ndarray of bool of shape (n_lines, n_rows)
        Constants, which hold for all rows, and boxes.
    outputs : ndarray of int64 of shape (n_lines,)
        Output of each.
    ridge : ndarray of shape (n_lines,)
        Ridge penalty on half the square of each coefficient.
    """

    is_class: bool
    target: np.ndarray
    share: np.ndarray
    lines: np.ndarray
    outputs: np.ndarray
    ridge: np.ndarray


def design_of(
    loss: SumLoss, penalty: float, member: np.ndarray, outputs: np.ndarray
) -> SumDesign:
    """Constants and boxes as regressors over rows."""
    free = np.array(loss.free)
    every = np.ones((len(free), member.shape[1]), dtype=bool)
    # Several constants are identified up to a common shift; this sets it to zero.
    slight = SMALLEST_RIDGE if len(free) > 1 else 0.0
    ridge = np.repeat([slight, penalty], [len(free), len(member)])
    lines = np.ascontiguousarray(np.concatenate([every, member]))
    outputs = np.concatenate([free, outputs])
    return SumDesign(loss.is_class, loss.target, loss.share, lines, outputs, ridge)
