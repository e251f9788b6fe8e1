"""What the boxes of a sum add: the best values of all of them together."""

from __future__ import annotations

import numpy as np

from clearwood.search.sums.losses import SumLoss

MOST_NEWTON_STEPS = 50
"""Most steps to the best values."""

SMALLEST_RIDGE = 1e-9
"""Ridge where only a common shift of all constants is unknown."""

SMALLEST_STEP = 1e-6
"""Newton's steps are halved down to this."""

SMALLEST_SLOPE = 1e-9
"""Newton's method ends when no factor has a steeper slope."""

SMALLEST_GAIN = 1e-12
"""Newton's method ends when the objective falls by less."""


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
    free, n_free = np.array(loss.free), len(loss.free)
    design, output_of, ridge = design_of(loss, penalty, member, outputs)

    def scores_of(factors: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(constant), design.shape[1]))
        for c in free:
            scores[c] = factors[output_of == c] @ design[output_of == c]
        return scores

    def cost(factors: np.ndarray) -> float:
        held_back = 0.5 * (ridge * factors**2).sum()
        return float(loss.rows(scores_of(factors)).sum() + held_back)

    factors = np.concatenate([constant[free], values])
    now = cost(factors)
    for _ in range(MOST_NEWTON_STEPS):
        answers = loss.answers(scores_of(factors))
        slope = ridge * factors
        for c in free:
            mine = output_of == c
            slope[mine] += design[mine] @ loss.slopes(answers, c)[0]
        if np.abs(slope).max() < SMALLEST_SLOPE:
            break
        curvature = loss.curvature(answers, design, output_of) + np.diag(ridge)
        step = np.linalg.lstsq(curvature, slope, rcond=1e-13)[0]
        then = cost(factors - step)
        while then > now and np.abs(step).max() > SMALLEST_STEP:
            step = step / 2
            then = cost(factors - step)
        if then >= now:
            break
        factors, gained, now = factors - step, now - then, then
        if gained <= SMALLEST_GAIN:
            break
    best = constant.copy()
    best[free] = factors[:n_free]
    return best, factors[n_free:]


def design_of(
    loss: SumLoss, penalty: float, member: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Constants and boxes as lines over rows, the output and ridge of each."""
    free = np.array(loss.free)
    every = np.ones((len(free), member.shape[1]))
    # Several constants are known but for a common shift; this keeps it at none.
    slight = SMALLEST_RIDGE if len(free) > 1 else 0.0
    ridge = np.repeat([slight, penalty], [len(free), len(member)])
    design = np.concatenate([every, member.astype(np.float64)])
    return design, np.concatenate([free, outputs]), ridge
