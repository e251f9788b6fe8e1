"""Slow and obviously right: scores by counting."""

import math

import numpy as np


def bd_score(child, parents, levels, alpha, weight):
    """Log evidence of a column, a Dirichlet for every cell of its parents (2.3.1).

    ``levels`` are the numbers of levels of the child and of its parents.
    """
    v, w = levels[0], math.prod(levels[1:])
    total = 0.0
    for cell in {tuple(row) for row in np.stack([*parents, 0 * child], 1).tolist()}:
        here = np.ones(len(child), bool)
        for parent, value in zip(parents, cell):
            here &= parent == value
        count = [weight[here & (child == k)].sum() for k in range(v)]
        total += math.lgamma(alpha / w) - math.lgamma(alpha / w + sum(count))
        for n in count:
            total += math.lgamma(alpha / (w * v) + n) - math.lgamma(alpha / (w * v))
    return total


def score_table(table, group, alpha):
    """Scores of features (row) given parents (column); alone on the diagonal."""
    codes, levels, y, n_classes, weight, _ = table
    weight = np.ones(len(y)) if weight is None else weight
    d = len(levels)
    found = np.empty((d, d))
    for j in range(d):
        for p in range(d):
            parents, sizes = ([], []) if j == p else ([codes[:, p]], [levels[p]])
            if group == 1:
                parents, sizes = [*parents, y], [*sizes, n_classes]
            sizes = [levels[j], *sizes]
            found[j, p] = bd_score(codes[:, j], parents, sizes, alpha, weight)
    return found
