"""Distinct values, without sorting for integers of a small range."""

from __future__ import annotations

import numpy as np


def distinct(values: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """``np.unique``: values, index of the first occurrence of each, inverse indices.

    Examples
    --------
    >>> [part.tolist() for part in distinct(np.array([7.0, 5.0, 7.0]))]
    [[5.0, 7.0], [1, 0], [1, 0, 1]]
    """
    if values.dtype.kind in "iuf" and len(values):
        low, high = values.min().item(), values.max().item()
        if -(2**53) < low <= high < 2**53 and high - low < 2 * len(values):
            whole = values.astype(np.int64)
            if (whole == values).all():
                offset = whole - int(low)
                first = np.full(offset.max() + 1, -1)
                first[offset[::-1]] = np.arange(len(values))[::-1]
                present = first >= 0
                first = first[present]
                return values[first], first, (np.cumsum(present) - 1)[offset]
    return np.unique(values, return_index=True, return_inverse=True)
