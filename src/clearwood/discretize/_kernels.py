"""The best cut of an interval; compiled."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel

NO_CHANGE, WITHIN_CLASS, BOUNDARY = 0, 1, 2
"""From a row to the next: the same value; another value, but all rows of both are of
one class; or any other change. The best cut of rows of several classes is a boundary
(Fayyad and Irani)."""

ROUNDING = 1e-12
"""Part of itself by which one mixture must be less than another."""


@kernel
def best_cut(label, weight, change, start, stop, n_classes):
    """Cut an interval in two, so that the classes of both parts are least mixed.

    Parameters
    ----------
    label : ndarray of int32 of shape (n_rows,)
        Classes of the rows, in the order of their values.
    weight : ndarray of float64 of shape (n_rows,)
    change : ndarray of uint8 of shape (n_rows,)
        ``NO_CHANGE``, ``WITHIN_CLASS`` or ``BOUNDARY``, to the next row.
    start, stop : int
        The rows of the interval.
    n_classes : int

    Returns
    -------
    at : int
        First row of the right part, -1 where all values are equal. Of equally good
        cuts it is the first.
    counts : ndarray of float64 of shape (2, n_classes)
        Weight of the classes in the left and in the right part.
    """
    left, right = np.zeros(n_classes), np.zeros(n_classes)
    for i in range(start, stop):
        right[label[i]] += weight[i]
    at, least = -1, np.inf
    for i in range(start, stop - 1):
        left[label[i]] += weight[i]
        right[label[i]] -= weight[i]
        if change[i] == BOUNDARY:
            mixed = _mixed(left) + _mixed(right)
            if at < 0 or mixed < least * (1.0 - ROUNDING):
                at, least = i + 1, mixed
        elif change[i] == WITHIN_CLASS and at < 0:
            at = i + 1  # stands where all rows are of one class
    # Counted anew, as differences of weights leave remainders.
    counts = np.zeros((2, n_classes))
    for i in range(start, stop):
        counts[int(i >= at), label[i]] += weight[i]
    return at, counts


@kernel
def _mixed(counts):
    """Weight times the entropy of the classes, in nats."""
    total = counts.sum()
    result = 0.0
    for count in counts:
        if count > 0.0:
            result -= count * np.log(count / total)
    return result
