"""Modes of mixtures of normals: maxima that climbing reaches from the best starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from clearwood.circuits.circuit import Node, Product, Sum
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
)
from clearwood.circuits.queries.bounds import heights
from clearwood.circuits.queries.conditioning import fold
from clearwood.circuits.queries.messages import upward

STARTS = 16
"""How many combinations of kinds, the likeliest ones, are climbed from."""

STEPS = 10_000
"""Most steps of a climb; it slows down where kinds overlap."""

Start = tuple[float, dict[int, float]]


def highest_mode(root: Node, n_features: int) -> tuple[np.ndarray, float]:
    """The highest point of a density that climbing finds.

    It starts at the modes of the likeliest combinations of kinds, one kind of each
    sum. Higher points may exist: this is no proof.

    Parameters
    ----------
    root : node
        Over continuous columns.
    n_features : int

    Returns
    -------
    point : ndarray of shape (n_features,)
        NaN for columns that the node is not over.
    log_density : float
    """
    variables = sorted(root.variables)
    starts = likeliest_kinds(root)
    points = np.full((len(starts), n_features), np.nan)
    for point, (_, own) in zip(points, starts):
        point[list(own)] = list(own.values())
    height, higher = _step(root, points, variables)
    moving = np.full(len(points), True)
    for _ in range(STEPS):
        new_height, new_higher = _step(root, higher[moving], variables)
        gain = new_height - height[moving]
        up = gain > 0
        at = np.flatnonzero(moving)[up]
        points[at], height[at] = higher[at], new_height[up]
        higher[at] = new_higher[up]
        moving[moving] = gain > 1e-15 * np.abs(new_height)
        if not moving.any():
            break
    best = int(np.argmax(height))
    return points[best], float(height[best])


def _step(
    root: Node, points: np.ndarray, variables: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """Log density at points, and points that are no lower (an EM step).

    Given the probability of each leaf at the point, the log density is at least the
    expected one up to a constant, which is quadratic: go to its maximum.
    """
    place = {variable: i for i, variable in enumerate(variables)}
    n, d = len(points), len(variables)

    def leaf(node: Leaf) -> tuple[np.ndarray, ...]:
        precision, pull = np.zeros((n, d, d)), np.zeros((n, d))
        at = [place[v] for v in node.variables]
        own = points[:, list(node.variables)]
        if isinstance(node, Histogram):
            with np.errstate(divide="ignore"):
                return np.log(heights(node, own[:, 0])), precision, pull
        mean, covariance = normal(node)
        inverse = np.linalg.inv(covariance)
        gap = own - mean
        precision[np.ix_(range(n), at, at)] = inverse
        pull[:, at] = -gap @ inverse
        constant = np.linalg.slogdet(2 * np.pi * covariance)[1]
        return -0.5 * ((gap @ inverse * gap).sum(axis=1) + constant), precision, pull

    def product(_: Product, below: Sequence[tuple[np.ndarray, ...]]) -> tuple:
        return tuple(sum(parts) for parts in zip(*below))

    def sum_(node: Sum, below: Sequence[tuple[np.ndarray, ...]]) -> tuple:
        logs, precisions, pulls = (np.array(parts) for parts in zip(*below))
        with np.errstate(divide="ignore"):
            logs = logs + np.log(node.weights)[:, None]
        height = logsumexp(logs, axis=0)
        share = np.exp(logs - np.where(np.isneginf(height), 0.0, height))
        return (
            height,
            np.einsum("kn,knij->nij", share, precisions),
            np.einsum("kn,kni->ni", share, pulls),
        )

    height, precision, pull = fold(root, leaf, product, sum_)
    # What only histograms hold stays where it is.
    free = np.arange(d)
    loose = precision[:, free, free] == 0
    precision[:, free, free] += loose
    higher = points.copy()
    higher[:, variables] += np.linalg.solve(precision, pull[:, :, None])[:, :, 0]
    return height, higher


def normal(node: Leaf) -> tuple[np.ndarray, np.ndarray]:
    """Mean and covariance of a normal leaf."""
    if isinstance(node, Gaussian):
        return np.array([node.mean]), np.array([[node.variance]])
    return node.mean, node.covariance  # type: ignore[union-attr]


# Where to start


def likeliest_kinds(root: Node) -> list[Start]:
    """Modes of the likeliest combinations of kinds, one kind of each sum.

    The first is what max-product gives; all are possible.
    """
    return fold(root, _of_leaf, _of_product, _of_sum)


def _of_leaf(leaf: Leaf) -> list[Start]:
    """The best points of a leaf: levels, middles of bins, or its mode."""
    match leaf:
        case Bernoulli(variable, p):
            return _best([(_log(1.0 - p), {variable: 0.0}), (_log(p), {variable: 1.0})])
        case Categorical(variable, probabilities):
            return _best(
                [(_log(p), {variable: float(k)}) for k, p in enumerate(probabilities)]
            )
        case Histogram(variable, edges):
            middles = edges[:-1] + 0.5 * np.diff(edges)
            density = heights(leaf, middles)
            return _best([(_log(p), {variable: x}) for p, x in zip(density, middles)])
        case ChowLiuTree(variables, parents):
            open_ = [np.zeros((1, table.shape[1])) for table in leaf.tables]
            height, tables = upward(leaf, open_, np.maximum.reduce)
            levels: list[int] = []
            for parent, table in zip(parents, tables):
                levels.append(
                    int(table[0, levels[parent] if parent >= 0 else 0].argmax())
                )
            return [(float(height[0]), dict(zip(variables, map(float, levels))))]
    mean, covariance = normal(leaf)
    height = -0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
    return [(float(height), dict(zip(leaf.variables, mean)))]


def _of_product(_: Product, below: Sequence[list[Start]]) -> list[Start]:
    found: list[Start] = [(0.0, {})]
    for own in below:
        found = _best([(a + b, x | y) for a, x in found for b, y in own])
    return found


def _of_sum(node: Sum, below: Sequence[list[Start]]) -> list[Start]:
    return _best(
        [(_log(w) + a, x) for w, own in zip(node.weights, below) for a, x in own]
    )


def _best(starts: list[Start]) -> list[Start]:
    possible = [start for start in starts if start[0] > -np.inf]
    return sorted(possible, key=lambda start: -start[0])[:STARTS]


def _log(p: float) -> float:
    return float(np.log(p)) if p > 0 else -np.inf
