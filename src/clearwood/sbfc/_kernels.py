"""The hot loops of this room."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import kernel
from clearwood.conjugate.leaf_model import log_gamma_rise

# Scores


@kernel
def rising_table(starts, size):
    """``log gamma(start + n) - log gamma(start)`` of every start (row), n < size."""
    table = np.empty((starts.size, size))
    for i in range(starts.size):
        for n in range(size):
            table[i, n] = log_gamma_rise(starts[i], float(n))
    return table


@kernel
def rising(table, start, count):
    """One such number: looked up where the table reaches."""
    if count < table.size:
        return table[int(count)]
    return log_gamma_rise(start, count)


@kernel
def joint_scores(counts, first, second, levels, kind, starts, tables):
    """Sums over the cells of two features, without and with the class.

    Parameters
    ----------
    counts : ndarray of shape (n_classes, n_levels of first, n_levels of second)
        Rows of each class with each pair of levels, feature after feature.
    first, second : ndarray of int
        The features that they belong to.
    levels, kind : ndarray of int of shape (d,)
        Number of levels of every feature, and its place among the different numbers.
    starts : ndarray of shape (2, n_kinds, n_kinds)
        Pseudo-count of each cell.
    tables : ndarray of shape (2, n_kinds, n_kinds, size)
        Of ``rising_table``; size 0 to have nothing looked up.

    Returns
    -------
    ndarray of shape (2, len(first), len(second))
    """
    total = np.zeros((2, first.size, second.size))
    row = 0
    for a in range(first.size):
        column = 0
        i = kind[first[a]]
        for b in range(second.size):
            j = kind[second[b]]
            plain, by_class = tables[0, i, j], tables[1, i, j]
            start, start_by_class = starts[0, i, j], starts[1, i, j]
            for k in range(row, row + levels[first[a]]):
                for m in range(column, column + levels[second[b]]):
                    both = 0.0
                    for c in range(counts.shape[0]):
                        count = counts[c, k, m]
                        both += count
                        total[1, a, b] += rising(by_class, start_by_class, count)
                    total[0, a, b] += rising(plain, start, both)
            column += levels[second[b]]
        row += levels[first[a]]
    return total
