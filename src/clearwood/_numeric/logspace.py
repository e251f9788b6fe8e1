"""Logarithms that stay finite."""

from __future__ import annotations

import numpy as np

SMALLEST_PROBABILITY = 1e-10
"""Probabilities below this count as this inside a logarithm."""


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
    """``p log p`` with ``0 log 0 = 0``, as entropies need it.

    Examples
    --------
    >>> import numpy as np
    >>> float(-xlogx(np.array([0.0, 0.5, 0.5])).sum())
    0.6931471805599453
    """
    positive = np.maximum(probability, np.finfo(np.float64).tiny)
    return probability * np.log(positive)
