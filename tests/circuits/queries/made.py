"""Random circuits and rows."""

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.circuits.circuit import Circuit, Product, Sum
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    MultivariateGaussian,
)


def shares(rng, *shape):
    """Probabilities, some of them exactly 0."""
    p = rng.dirichlet(np.ones(shape[-1]), shape[:-1])
    p[(p < 0.1) & (rng.random(p.shape) < 0.5)] = 0.0
    return p / p.sum(axis=-1, keepdims=True)


def leaf(rng, j, n_levels):
    if n_levels is None:
        if rng.random() < 0.3:
            edges = np.cumsum(rng.uniform(0.2, 2.0, 4)) - 2.0
            return Histogram(j, edges, shares(rng, 3))
        return Gaussian(j, rng.normal(0, 2), rng.uniform(0.2, 2))
    if n_levels == 2:
        return Bernoulli(j, shares(rng, 2)[1])
    return Categorical(j, shares(rng, n_levels))


def block(rng, variables, n_levels):
    """One leaf over several columns of the same kind, or independent leaves."""
    kinds = {n_levels[j] is None for j in variables}
    if len(variables) > 1 and len(kinds) == 1 and rng.random() < 0.6:
        d = len(variables)
        if kinds == {True}:
            half = rng.normal(size=(d, d))
            cov = half @ half.T + 0.3 * np.eye(d)
            return MultivariateGaussian(tuple(variables), rng.normal(0, 2, d), cov)
        order = [int(j) for j in rng.permutation(variables)]
        parents = [-1, *(int(rng.integers(i)) for i in range(1, d))]
        tables = [
            shares(rng, 1 if p < 0 else n_levels[order[p]], n_levels[j])
            for j, p in zip(order, parents)
        ]
        return ChowLiuTree(tuple(order), tuple(parents), tuple(tables))
    leaves = [leaf(rng, j, n_levels[j]) for j in variables]
    return leaves[0] if len(leaves) == 1 else Product(tuple(leaves))


def node(rng, variables, n_levels, depth):
    kind = rng.random()
    if depth == 0 or len(variables) == 1 and kind < 0.5:
        return block(rng, variables, n_levels)
    if kind < 0.4 and len(variables) > 1:
        order = rng.permutation(variables)
        cut = int(rng.integers(1, len(order)))
        parts = sorted(order[:cut].tolist()), sorted(order[cut:].tolist())
        return Product(tuple(node(rng, p, n_levels, depth - 1) for p in parts))
    k = int(rng.integers(2, 4))
    below = tuple(node(rng, variables, n_levels, depth - 1) for _ in range(k))
    return Sum(shares(rng, k), below)


def circuit(seed, n_levels=(2, 3, 2, 2, 3), depth=3):
    """A random circuit; ``None`` levels for continuous columns."""
    rng = np.random.default_rng(seed)
    levels = tuple(None if n is None else tuple(range(n)) for n in n_levels)
    names = tuple(f"x{j}" for j in range(len(n_levels)))
    root = node(rng, list(range(len(n_levels))), n_levels, depth)
    return Circuit(root, FeatureSpace(names, levels))


def rows(seed, n_levels, n=4):
    """Random rows, about half of the entries missing."""
    rng = np.random.default_rng(seed)
    cells = [
        rng.normal(0, 1.5, n) if k is None else rng.integers(k, size=n).astype(float)
        for k in n_levels
    ]
    values = np.stack(cells, axis=1)
    values[rng.random(values.shape) < 0.5] = np.nan
    return values
