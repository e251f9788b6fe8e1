"""The loop over time that a cell of an LSTM needs."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel


@kernel
def cell_values(keep, new, first):
    """``c_t = keep_t c_{t-1} + new_t`` for every step and unit, from ``first`` on.

    Parameters
    ----------
    keep, new : ndarray of shape (n_steps, n_units)
    first : ndarray of shape (n_units,)
    """
    n_steps, n_units = keep.shape
    values = np.empty_like(new)
    for unit in range(n_units):
        value = first[unit]
        for t in range(n_steps):
            value = keep[t, unit] * value + new[t, unit]
            values[t, unit] = value
    return values
