"""Slow and obviously right: circuits row by row, all completions written out."""

import itertools
import math

import numpy as np
from scipy.stats import multivariate_normal, norm

from clearwood.circuits.circuit import Product, Sum
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
)


def density(node, row):
    """Of one complete row."""
    match node:
        case Sum():
            return sum(w * density(c, row) for w, c in zip(node.weights, node.children))
        case Product():
            return math.prod(density(child, row) for child in node.children)
        case Bernoulli(j, p):
            return p if row[j] == 1 else 1 - p
        case Categorical(j, p):
            return p[int(row[j])]
        case Gaussian(j, mean, variance):
            return norm.pdf(row[j], mean, math.sqrt(variance))
        case Histogram(j, edges, p):
            k = np.searchsorted(edges, row[j], side="right") - 1
            inside = 0 <= k < len(p)
            return p[k] / (edges[k + 1] - edges[k]) if inside else 0.0
        case ChowLiuTree():
            found = 1.0
            for j, parent, table in zip(node.variables, node.parents, node.tables):
                above = 0 if parent < 0 else int(row[node.variables[parent]])
                found *= table[above, int(row[j])]
            return found
    return multivariate_normal.pdf(row[list(node.variables)], node.mean, node.covariance)


def completions(row, n_levels):
    """All complete rows of a row of discrete columns."""
    cells = [range(n) if np.isnan(v) else [v] for v, n in zip(row, n_levels)]
    return np.array(list(itertools.product(*cells)), dtype=float)


def posterior(root, row, n_levels):
    """Completions of a row and their probabilities, given what is present."""
    rows = completions(row, n_levels)
    p = np.array([density(root, r) for r in rows])
    return rows, p / (p.sum() or 1.0), p.sum()
