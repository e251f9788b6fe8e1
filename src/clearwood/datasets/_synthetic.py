"""Data on the unit square, with the class boundaries of Hara and Hayashi.

Each generator draws the features first and the noise after them, so two calls
that differ only in ``noise`` and share an integer seed share their features.
"""

from __future__ import annotations

import math
import numbers
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from clearwood._numeric import as_generator
from clearwood.exceptions import InputError

RandomState: TypeAlias = int | np.random.RandomState | np.random.Generator | None
FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int64]


def make_synthetic1(
    n_samples: int = 1000,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    """Generate two classes that alternate over the quadrants of the unit square.

    The class is ``XOR(x1 > 0.5, x2 > 0.5)``, so four rules, or two and a default rule,
    describe it in full. No single feature separates the classes.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.1
        Probability that a label is flipped.
    random_state : int, RandomState, Generator or None, default=None
        An integer gives the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Features, uniform on [0, 1).
    y : ndarray of shape (n_samples,)
        Labels, 0 or 1.

    References
    ----------
    Hara and Hayashi, "Making Tree Ensembles Interpretable: A Bayesian Model
    Selection Approach", AISTATS 2018, section 7.

    Examples
    --------
    >>> from clearwood.datasets import make_synthetic1
    >>> X, y = make_synthetic1(200, noise=0.0, random_state=0)
    >>> X.shape
    (200, 2)
    >>> bool((y == (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)).all())
    True
    """
    _check_flip_probability(noise)
    X, rng = _points(n_samples, random_state)
    labels = (X[:, 0] > 0.5) ^ (X[:, 1] > 0.5)
    return X, _flip(labels, noise, rng)


def make_synthetic2(
    n_samples: int = 1000,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[FloatArray, IntArray]:
    r"""Generate two classes separated by a smooth curve across the unit square.

    The class is 1 where ``x2 > r(x1)`` with

    .. math:: r(x) = 0.25 + \frac{0.5}{1 + e^{-20 (x - 0.5)}} + 0.05 \cos(2 \pi x).

    The boundary is a bent and slanted step, so a few boxes can only approximate it.

    Parameters
    ----------
    n_samples, noise, random_state
        As for :func:`make_synthetic1`.

    Returns
    -------
    X, y : ndarray
        As from :func:`make_synthetic1`.

    Examples
    --------
    >>> from clearwood.datasets import make_synthetic2
    >>> X, y = make_synthetic2(200, noise=0.0, random_state=0)
    >>> bool(y[X[:, 1] > 0.81].all()), bool(y[X[:, 1] < 0.19].any())
    (True, False)
    """
    _check_flip_probability(noise)
    X, rng = _points(n_samples, random_state)
    x1, x2 = X.T
    step = 0.5 / (1 + np.exp(-20 * (x1 - 0.5)))
    border = 0.25 + step + 0.05 * np.cos(2 * np.pi * x1)
    return X, _flip(x2 > border, noise, rng)


def make_xor_regression(
    n_samples: int = 1000,
    *,
    noise: float = 0.1,
    random_state: RandomState = None,
) -> tuple[FloatArray, FloatArray]:
    """Generate a numeric target with two levels over the quadrants of the unit square.

    The target is ``XOR(x1 < 0.5, x2 < 0.5)`` plus normal noise.

    Parameters
    ----------
    n_samples : int, default=1000
        Number of rows.
    noise : float, default=0.1
        Standard deviation of the noise.
    random_state : int, RandomState, Generator or None, default=None
        An integer gives the same data in every call.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Features, uniform on [0, 1).
    y : ndarray of shape (n_samples,)
        Target, near 0 or near 1.

    References
    ----------
    Hara and Hayashi, "Making Tree Ensembles Interpretable", ICML Workshop on
    Human Interpretability in Machine Learning, 2016, section 5.1.

    Examples
    --------
    >>> from clearwood.datasets import make_xor_regression
    >>> X, y = make_xor_regression(200, noise=0.0, random_state=0)
    >>> sorted(set(y.tolist()))
    [0.0, 1.0]
    """
    _check_standard_deviation(noise)
    X, rng = _points(n_samples, random_state)
    level = (X[:, 0] < 0.5) ^ (X[:, 1] < 0.5)
    return X, level + noise * rng.normal(size=n_samples)


def _points(
    n_samples: int, random_state: RandomState
) -> tuple[FloatArray, np.random.Generator]:
    """Uniform points on the unit square, and the generator for the noise."""
    check_count(n_samples, "n_samples", "rows", 1)
    rng = as_generator(random_state)
    return rng.uniform(size=(n_samples, 2)), rng


def _flip(
    labels: NDArray[np.bool_],
    probability: float,
    rng: np.random.Generator,
) -> IntArray:
    flipped = rng.uniform(size=len(labels)) < probability
    return (labels ^ flipped).astype(np.int64)


def check_count(value: int, name: str, what: str, least: int) -> None:
    """Raise an error unless a value is an integer of at least ``least``."""
    if not _is_integer(value) or value < least:
        raise InputError(
            f"{name} is {value!r}; pass the number of {what} to make, an integer of at "
            f"least {least}."
        )


def _check_flip_probability(noise: float) -> None:
    if not _is_real(noise) or not 0 <= noise <= 1:
        raise InputError(
            f"noise is {noise!r}; pass the probability that a label is flipped, "
            "a number from 0 to 1."
        )


def _check_standard_deviation(noise: float) -> None:
    if not _is_real(noise) or not 0 <= noise < math.inf:
        raise InputError(
            f"noise is {noise!r}; pass the standard deviation of the noise, "
            "a finite number of at least 0."
        )


def _is_integer(value: object) -> bool:
    """Whether a value is an integer; booleans, which Python counts as such, are not."""
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def _is_real(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)
