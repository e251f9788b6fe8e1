"""Slow and obvious twins of statistics."""

import numpy as np


def moments(z, weight):
    """Weight, mean, and lower triangle of the scatter about it, in two passes."""
    z, weight = np.asarray(z, dtype=float), np.asarray(weight, dtype=float)
    if not weight.sum():
        d = z.shape[1]
        return np.zeros(1 + d + d * (d + 1) // 2)
    mean = weight @ z / weight.sum()
    scatter = (weight[:, None] * (z - mean)).T @ (z - mean)
    return np.concatenate([[weight.sum()], mean, scatter[np.tril_indices(len(mean))]])


def stats_of(model, y, weight, x=None):
    """Statistics of some rows together."""
    y, weight = np.asarray(y, dtype=float), np.asarray(weight, dtype=float)
    if model.n_columns is None:
        return model.statistics(y, weight).sum(axis=0)
    z = y[:, None] if x is None else np.column_stack([x, y])
    return moments(z, weight)
