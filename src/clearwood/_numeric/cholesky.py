"""Positive matrices, factorised in the same order on every machine; LAPACK is not."""

from __future__ import annotations

import math

import numpy as np

from clearwood._numeric.kernel import kernel

SLIGHT = 1e-12
"""Share of the largest diagonal entry that is added, should a matrix be singular."""


@kernel
def cholesky(a):
    """Turn the lower triangle of a positive matrix into its Cholesky factor."""
    for j in range(a.shape[0]):
        for k in range(j + 1):
            rest = a[j, k]
            for i in range(k):
                rest -= a[j, i] * a[k, i]
            a[j, k] = math.sqrt(rest) if j == k else rest / a[k, k]
        a[j, j + 1 :] = 0.0


def cholesky_of(matrix: np.ndarray) -> np.ndarray:
    """The lower Cholesky factor; NaN in it where the matrix is not positive."""
    factor = np.array(matrix, dtype=np.float64)
    cholesky(factor)
    return factor


@kernel
def log_diagonal(factor):
    """Half the log determinant of a matrix, from its Cholesky factor."""
    found = 0.0
    for j in range(factor.shape[0]):
        found += math.log(factor[j, j])
    return found


@kernel
def solve_lower(factor, b):
    """Solve ``factor x = b`` in place."""
    for j in range(b.size):
        for k in range(j):
            b[j] -= factor[j, k] * b[k]
        b[j] /= factor[j, j]


@kernel
def solve_lower_all(factor, sides):
    """``solve_lower`` line by line."""
    for i in range(len(sides)):
        solve_lower(factor, sides[i])


@kernel
def solve_upper(factor, b):
    """Solve ``factor.T x = b`` in place."""
    for j in range(b.size - 1, -1, -1):
        for k in range(j + 1, b.size):
            b[j] -= factor[k, j] * b[k]
        b[j] /= factor[j, j]


@kernel
def solve_positive(matrix, sides):
    """Solve ``matrix x = side`` for every line of sides."""
    factor, found = matrix.copy(), sides.copy()
    slight = max(SLIGHT * np.diag(matrix).max(), 1e-300)
    for j in range(len(factor)):
        factor[j, j] += slight
    cholesky(factor)
    solve_lower_all(factor, found)
    for i in range(len(found)):
        solve_upper(factor, found[i])
    return found
