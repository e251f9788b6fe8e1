"""Bootstrap samples, and how far what is fitted to them agrees."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np


def bootstrap_weight(weight: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """How often each row that counts is drawn, times its weight.

    Examples
    --------
    >>> import numpy as np
    >>> bootstrap_weight(np.array([1.0, 0.0, 2.0]), np.random.default_rng(0))
    array([0., 0., 4.])
    """
    counted = np.flatnonzero(weight)
    drawn = generator.choice(counted, size=len(counted))
    return np.bincount(drawn, minlength=len(weight)) * weight


def pairwise_agreement(said: Sequence[np.ndarray], task: str) -> list[float]:
    """How far each two of some answers of the same rows agree.

    Parameters
    ----------
    said : sequence of ndarray of shape (n_rows,)
        Labels or values.
    task : {"classification", "regression"}

    Returns
    -------
    list of float
        As :func:`agreement` has it.

    Examples
    --------
    >>> import numpy as np
    >>> one, two = np.array([1.0, 2.0]), np.array([2.0, 1.0])
    >>> pairwise_agreement([one, one, two], "regression")
    [1.0, -1.0, -1.0]
    """
    return [agreement(a, b, task) for a, b in itertools.combinations(said, 2)]


def agreement(one: np.ndarray, two: np.ndarray, task: str) -> float:
    """Share of equal classes, or Lin's concordance of values."""
    if task == "classification":
        return float(np.mean(one == two))
    difference = float(np.mean((one - two) ** 2))
    if difference == 0.0:
        return 1.0
    apart = float(one.var() + two.var() + (one.mean() - two.mean()) ** 2)
    return 1.0 - difference / apart if math.isfinite(apart) else math.nan
