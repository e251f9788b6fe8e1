"""Slow and obvious twins of what `clearwood.rules` computes fast."""

import numpy as np


def truth(bins, codes):
    """The papers' binary features s(x): rows by statements."""
    s = bins.statements
    dense = np.empty((len(codes), len(s.feature)), dtype=bool)
    for i, d in enumerate(s.feature):
        column = codes[:, d]
        if i < len(s.first_true):
            missing = column == bins.missing_bin(d)
            dense[:, i] = np.where(
                missing, s.missing_true[i], column >= s.first_true[i]
            )
        else:
            dense[:, i] = s.category_truth[i - len(s.first_true)][column]
    return dense


def statement_sum(truth, when_true, when_false):
    """Row by row, statement by statement: rows by columns."""
    n_rows, n_columns = len(truth), when_true.shape[1]
    total = np.zeros((n_rows, n_columns))
    for n in range(n_rows):
        for s in range(truth.shape[1]):
            total[n] += when_true[s] if truth[n, s] else when_false[s]
    return total


def statement_mass(truth, mass):
    """Mass of the rows for which each statement is true, and false."""
    true = np.zeros((truth.shape[1], mass.shape[1]))
    false = np.zeros_like(true)
    for n in range(len(truth)):
        for s in range(truth.shape[1]):
            (true if truth[n, s] else false)[s] += mass[n]
    return true, false


def goes_right(x, split):
    """One numeric split (feature, cut, missing right) on one row."""
    feature, cut, missing_right = split
    return missing_right if np.isnan(x[feature]) else x[feature] > cut


def category_goes_left(code, split):
    """One categorical split (feature, codes left, missing left, unseen left)."""
    _, codes, missing_left, unseen_left = split
    if np.isnan(code):
        return missing_left
    return unseen_left if code == -1 else int(code) in codes
