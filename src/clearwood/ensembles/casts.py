"""Exact float64 thresholds of splits that a library tests after a float32 cast.

Some libraries cast the data to float32 before they compare it with a threshold.
Clearwood compares float64 values, so thresholds are moved, once and exactly, to where
the cast would have put them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

FLOAT32_LIMIT = float(np.nextafter(2.0**128 - 2.0**103, 0.0))
"""Largest float64 that the cast to float32 does not turn into infinity."""


def float64_cut_of_float32_test(
    thresholds: ArrayLike, *, strict: bool = False
) -> np.ndarray:
    """Largest float64 ``c`` with ``float32(c) <= threshold``, per threshold.

    For every float64 ``x``, ``x <= c`` is then equivalent to
    ``float32(x) <= threshold``. NaN stays NaN.

    Parameters
    ----------
    thresholds : array-like of float
        Thresholds as the library stores them.
    strict : bool, default=False
        Whether the test is ``float32(x) < threshold``.

    Returns
    -------
    ndarray of float64
        Float64 thresholds, in the shape of ``thresholds``.

    Examples
    --------
    Slightly larger numbers than 0.5 become 0.5 in the cast, and pass the test:

    >>> cut = float(float64_cut_of_float32_test(0.5))
    >>> cut
    0.5000000298023224
    >>> float(np.float32(cut)), float(np.float32(np.nextafter(cut, 1)))
    (0.5, 0.5000000596046448)
    """
    thresholds = np.asarray(thresholds, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        below = thresholds.astype(np.float32)
        # The largest float32 that passes the test, and its upper neighbour.
        too_large = below >= thresholds if strict else below > thresholds
        below = np.where(too_large, np.nextafter(below, np.float32(-np.inf)), below)
        above = np.nextafter(below, np.float32(np.inf))
    middle = (_as_float64(below) + _as_float64(above)) / 2
    # Halfway between two float32 numbers the cast rounds to an even last bit.
    ties_go_down = below.view(np.int32) & 1 == 0
    cuts = np.where(ties_go_down, middle, np.nextafter(middle, -np.inf))
    return cuts if strict else np.where(thresholds == np.inf, np.inf, cuts)


def _as_float64(values: np.ndarray) -> np.ndarray:
    """Exact conversion, with infinity at the float32 number that would be next."""
    wide = values.astype(np.float64)
    return np.where(np.isinf(wide), np.copysign(2.0**128, wide), wide)
