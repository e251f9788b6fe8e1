"""Slow and obvious twins of statistics, and of the densities of leaves."""

import itertools
import math

import numpy as np
from scipy import stats

from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
)


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


def leaf_density(leaf, own):
    """Of the leaf's own entries, of which some may be missing."""
    if isinstance(leaf, ChowLiuTree):
        return tree_probability(leaf, own)
    present = [j for j, x in enumerate(own) if not math.isnan(x)]
    x = own[0]
    unknown = isinstance(leaf, Bernoulli | Categorical) and x == -1
    if not present or unknown:
        return 1.0
    if isinstance(leaf, Bernoulli):
        return leaf.probability if x else 1.0 - leaf.probability
    if isinstance(leaf, Categorical):
        return leaf.probabilities[int(x)]
    if isinstance(leaf, Gaussian):
        return stats.norm(leaf.mean, math.sqrt(leaf.variance)).pdf(x)
    if isinstance(leaf, Histogram):
        return histogram_density(leaf, x)
    return stats.multivariate_normal(
        leaf.mean[present], leaf.covariance[np.ix_(present, present)]
    ).pdf([own[j] for j in present])


def histogram_density(leaf, x):
    """Bins include their left edge, the last one both."""
    e = leaf.edges
    for k, p in enumerate(leaf.probabilities):
        if e[k] <= x < e[k + 1] or (k == len(e) - 2 and x == e[-1]):
            return p / (e[k + 1] - e[k])
    return 0.0


def tree_probability(leaf, own):
    """By enumeration of all completions."""
    sizes = [table.shape[1] for table in leaf.tables]
    hidden = [math.nan] * (len(sizes) - len(own))
    states = completions([*hidden, *own], sizes)
    return sum(state_probability(leaf, state) for state in states)


def state_probability(leaf, state):
    """Of levels of all variables of a tree, hidden ones first."""
    p = 1.0
    for x, parent, table in zip(state, leaf.parents, leaf.tables):
        p *= table[state[parent] if parent >= 0 else 0, x]
    return p


def completions(row, sizes):
    """All states of discrete columns that agree with what is present."""
    missing = [math.isnan(x) or x == -1 for x in row]
    own = [range(v) if m else [int(x)] for x, v, m in zip(row, sizes, missing)]
    return itertools.product(*own)
