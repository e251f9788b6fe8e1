"""Slow and obviously right: circuits read row by row, leaves by enumeration."""

import itertools
import math

import numpy as np
from scipy import stats

from clearwood.circuits.circuit import Product, Sum
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
)


def density(node, row):
    """Of what is present in one row; probabilities of discrete columns."""
    if isinstance(node, Sum):
        return sum(w * density(c, row) for w, c in zip(node.weights, node.children))
    if isinstance(node, Product):
        return math.prod(density(child, row) for child in node.children)
    return leaf_density(node, [row[j] for j in node.variables])


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
    total = 0.0
    for state in completions(own, sizes):
        p = 1.0
        for x, parent, table in zip(state, leaf.parents, leaf.tables):
            p *= table[state[parent] if parent >= 0 else 0, x]
        total += p
    return total


def completions(row, sizes):
    """All states of discrete columns that agree with what is present."""
    missing = [math.isnan(x) or x == -1 for x in row]
    own = [range(v) if m else [int(x)] for x, v, m in zip(row, sizes, missing)]
    return itertools.product(*own)


def states(circuit):
    """All rows of a circuit over discrete columns alone."""
    sizes = [len(labels) for labels in circuit.features.categories]
    return np.array(list(completions([math.nan] * len(sizes), sizes)), dtype=float)
