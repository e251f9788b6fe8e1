"""Reproducible products and rounding, identical on every machine.

BLAS adds in an order that depends on the processor, on the number of threads and on the
number of rows. So fits and predictions do not use products by ``@``.
"""

from __future__ import annotations

import math

import numpy as np

from clearwood._kernels import numeric as _kernels

DIGITS = 30
"""Binary digits to which gains are compared: one part in 1e9 of the largest."""


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """``a @ b`` of real arrays, ``b`` of one or two axes, added from first to last.

    Examples
    --------
    >>> product(np.array([[1.0, 2.0], [3.0, 4.0]]), np.array([1.0, 0.5]))
    array([2., 5.])
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    left, right = a.shape[:-1], b.shape[1:]
    lines = a.reshape(math.prod(left), len(b))
    columns = b.reshape(len(b), math.prod(right))
    found: np.ndarray = _kernels.product(lines, columns).reshape(left + right)
    return found[()]


def rounded(values: np.ndarray, digits: int = DIGITS) -> np.ndarray:
    """Round values to a number of binary digits, relative to the largest one.

    Gains that differ only by the order of additions become equal. The unit is a power
    of two, so that data scaled by a power of two are rounded alike.

    Examples
    --------
    >>> rounded(np.array([0.1 + 0.2, 0.3, -np.inf])).tolist()
    [0.2999999998137355, 0.2999999998137355, -inf]
    """
    largest = np.max(np.abs(values), where=np.isfinite(values), initial=0.0)
    _, power = np.frexp(largest)
    found: np.ndarray = np.ldexp(
        np.round(np.ldexp(values, digits - power)), power - digits
    )
    return found
