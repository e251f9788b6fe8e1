"""Logarithms of probabilities that may be 0."""

from __future__ import annotations

import numpy as np

SMALLEST_PROBABILITY = 1e-10
"""Lower bound of probabilities inside a logarithm."""


def clipped_log(probability: np.ndarray) -> np.ndarray:
    """Logarithm of probabilities, those below 1e-10 taken as 1e-10.

    Examples
    --------
    >>> import numpy as np
    >>> clipped_log(np.array([1.0, 0.0])).round(3).tolist()
    [0.0, -23.026]
    """
    return np.log(np.maximum(probability, SMALLEST_PROBABILITY))


def xlogx(probability: np.ndarray) -> np.ndarray:
    """``p log p`` with ``0 log 0 = 0``, as in entropies.

    Examples
    --------
    >>> import numpy as np
    >>> float(-xlogx(np.array([0.0, 0.5, 0.5])).sum())
    0.6931471805599453
    """
    positive = np.maximum(probability, np.finfo(np.float64).tiny)
    return probability * np.log(positive)


def log_of(probability: np.ndarray | float) -> np.ndarray:
    """Logarithm of probabilities; -inf for 0, without a warning.

    Examples
    --------
    >>> log_of(np.array([1.0, 0.0])).tolist()
    [0.0, -inf]
    """
    with np.errstate(divide="ignore"):
        return np.log(probability)


MOST_RATIO = 1e30
"""Bound on the ratio of a new number to an old one, whose powers do not overflow."""


def overrelaxed(new: np.ndarray, old: np.ndarray, length: float) -> np.ndarray:
    """Over-relaxed update: ``length`` times the step from old to new, in logs.

    Numbers are nonnegative; where the old one is 0, the new one is returned.

    Examples
    --------
    >>> overrelaxed(np.array([2.0, 0.5, 3.0]), np.array([1.0, 1.0, 0.0]), 3.0).tolist()
    [8.0, 0.125, 3.0]
    """
    ratio = np.divide(new, old, out=np.ones_like(new), where=old > 0.0)
    return new * np.minimum(ratio, MOST_RATIO) ** (length - 1.0)
