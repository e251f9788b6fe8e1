"""Means and covariances of the missing entries of rows."""

from __future__ import annotations

from functools import singledispatch
from typing import NamedTuple

import numpy as np

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import Compiled
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
    MultivariateGaussian,
)
from clearwood.circuits.queries.messages import downward, known_levels, upward
from clearwood.circuits.queries.passes import RowsInside, leaves_of, passes
from clearwood.conjugate import partial_normal

MOST_NUMBERS = 4_000_000
"""Most numbers that a block of rows takes (32 MB)."""


class RowMoments(NamedTuple):
    """Means and covariances of rows, given what is present in them.

    Attributes
    ----------
    mean : ndarray of shape (n_rows, n_features)
        What is present stands as it is; of levels their positions count as numbers.
    covariance : ndarray of shape (n_rows, n_features, n_features)
        0 for what is present.
    """

    mean: np.ndarray
    covariance: np.ndarray


def moments(circuit: Circuit, values: np.ndarray) -> RowMoments:
    """Expected values and covariances of all entries of rows, exactly.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_features)
        Encoded; NaN where an entry is missing.

    Returns
    -------
    RowMoments

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.circuits.circuit import Product, Sum
    >>> low = Product((Gaussian(0, 0.0, 1.0), Gaussian(1, 0.0, 1.0)))
    >>> high = Product((Gaussian(0, 2.0, 1.0), Gaussian(1, 2.0, 1.0)))
    >>> root = Sum(np.array([0.5, 0.5]), (low, high))
    >>> circuit = Circuit(root, FeatureSpace.numeric(2))
    >>> found = moments(circuit, np.full((1, 2), np.nan))
    >>> found.mean.tolist(), found.covariance.tolist()
    ([[1.0, 1.0]], [[[2.0, 1.0], [1.0, 2.0]]])
    """
    compiled = circuit.compiled
    leaves = _sorted_leaves(compiled)
    n, d = values.shape
    found = RowMoments(np.empty((n, d)), np.empty((n, d, d)))
    block_rows = max(MOST_NUMBERS // (d * max(d, len(compiled.sums))), 1)
    for block in passes(compiled, values, block_rows):
        rows = slice(block.start, block.start + len(block.values))
        found.mean[rows], found.covariance[rows] = _of_block(compiled, leaves, block)
    return found


def _of_block(
    compiled: Compiled, leaves: _Leaves, block: RowsInside
) -> tuple[np.ndarray, np.ndarray]:
    """Within leaves, and between the kinds of every sum: the law of total covariance.

    Each counts with the probability that a row comes there.
    """
    n, d = block.values.shape
    n_places = len(compiled.sums)
    mean, over = np.zeros((n_places, n, d)), np.zeros((n_places, d), dtype=bool)
    covariance = np.zeros((n, d, d))
    for variable, (at, means, variances) in leaves.single.items():
        value = block.values[:, variable]
        mean[at, :, variable] = np.where(np.isnan(value), means[:, None], value)
        over[at, variable] = True
        covariance[:, variable, variable] += block.flow[at].T @ variances
    for place, leaf in leaves.joint:
        own = np.array(leaf.variables)
        mean[place][:, own], within = leaf_moments(leaf, block.values[:, own])
        over[place, own] = True
        within *= block.flow[place, :, None, None]
        covariance[np.ix_(np.arange(n), own, own)] += within
    for place in range(n_places):
        below = compiled.child[compiled.first[place] : compiled.first[place + 1]]
        if not compiled.sums[place]:
            # No two children are over the same column.
            mean[place] += mean[below].sum(axis=0)
            over[place] |= over[below].any(axis=0)
            continue
        own = np.flatnonzero(over[below[0]])
        over[place] = over[below[0]]
        flow = block.flow[below]
        total = np.where(block.flow[place] > 0, block.flow[place], 1.0)
        children = mean[below][:, :, own]
        mean[place][:, own] = np.einsum("kn,kni->ni", flow / total, children)
        gap = (children - mean[place][:, own]).transpose(1, 2, 0)
        between = gap * flow.T[:, None] @ gap.swapaxes(1, 2)
        covariance[np.ix_(np.arange(n), own, own)] += between
    present = ~np.isnan(block.values)
    covariance[present] = 0.0
    covariance.transpose(0, 2, 1)[present] = 0.0
    return np.where(present, block.values, mean[-1]), covariance


class _Leaves(NamedTuple):
    """Leaves of one column: by column their places, means and variances; the others."""

    single: dict[int, tuple[np.ndarray, ...]]
    joint: list[tuple[int, MultivariateGaussian | ChowLiuTree]]


def _sorted_leaves(compiled: Compiled) -> _Leaves:
    single: dict[int, list[tuple[float, ...]]] = {}
    joint: list[tuple[int, MultivariateGaussian | ChowLiuTree]] = []
    for place, leaf in leaves_of(compiled):
        if isinstance(leaf, MultivariateGaussian | ChowLiuTree):
            joint.append((place, leaf))
        else:
            single.setdefault(leaf.variable, []).append(
                (place, *mean_and_variance(leaf))
            )
    arrays: dict[int, tuple[np.ndarray, ...]] = {}
    for variable, rows in single.items():
        at, means, variances = np.array(rows).T
        arrays[variable] = at.astype(np.intp), means, variances
    return _Leaves(arrays, joint)


def mean_and_variance(
    leaf: Bernoulli | Categorical | Gaussian | Histogram,
) -> tuple[float, float]:
    """Of a leaf of one column.

    Examples
    --------
    >>> mean_and_variance(Bernoulli(0, 0.5))
    (0.5, 0.25)
    """
    if isinstance(leaf, Gaussian):
        return leaf.mean, leaf.variance
    within, centre = np.zeros(1), np.arange(float(len(leaf.probabilities)))
    if isinstance(leaf, Histogram):
        width = np.diff(leaf.edges)
        within, centre = width**2 / 12, leaf.edges[:-1] + 0.5 * width
    mean = float(leaf.probabilities @ centre)
    return mean, float(leaf.probabilities @ (within + (centre - mean) ** 2))


@singledispatch
def leaf_moments(leaf: Leaf, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of a leaf of several columns, given what is present.

    Returns
    -------
    mean : ndarray of shape (n_rows, n_variables)
    covariance : ndarray of shape (n_rows, n_variables, n_variables)
    """
    raise TypeError(type(leaf))


@leaf_moments.register
def _(leaf: MultivariateGaussian, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    mean, covariance = own.copy(), np.zeros((*own.shape, own.shape[1]))
    for pattern in partial_normal.by_pattern(own, leaf.mean, leaf.covariance):
        missing = ~pattern.present
        mean[np.ix_(pattern.rows, missing)] = pattern.means
        covariance[np.ix_(pattern.rows, missing, missing)] = pattern.covariance
    return mean, covariance


@leaf_moments.register
def _(leaf: ChowLiuTree, own: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    _, logs = upward(leaf, known_levels(leaf, own), np.logaddexp.reduce)
    shares = [np.exp(own) for own in downward(leaf, logs, np.logaddexp.reduce)]
    level = [np.arange(own.shape[1]) for own in shares]
    mean = np.stack([own @ k for own, k in zip(shares, level)], axis=1)
    covariance = np.empty((*mean.shape, mean.shape[1]))
    both: dict[tuple[int, int], np.ndarray] = {}  # probabilities of pairs of levels
    for b, parent in enumerate(leaf.parents):
        both[b, b] = shares[b][:, :, None] * np.eye(len(level[b]))
        for a in range(b):
            both[a, b] = both[a, parent] @ np.exp(logs[b])
            both[b, a] = both[a, b].swapaxes(1, 2)
        for a in range(b + 1):
            gap_a, gap_b = (level[i] - mean[:, i, None] for i in (a, b))
            product = np.einsum("ni,nij,nj->n", gap_a, both[a, b], gap_b)
            covariance[:, a, b] = covariance[:, b, a] = product
    return mean, covariance
