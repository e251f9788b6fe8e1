"""Modes of mixtures of normals: maxima that climbing reaches from the best starts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.special import logsumexp

from clearwood.circuits.circuit import Node, Product, Sum
from clearwood.circuits.distributions import Gaussian, Histogram, Leaf
from clearwood.circuits.queries.bounds import heights
from clearwood.circuits.queries.conditioning import fold

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
    starts = fold(root, leaf_starts, product_starts, sum_starts)
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


# Starts: the modes of the likeliest combinations of kinds


def leaf_starts(node: Leaf) -> list[Start]:
    """The mode of a leaf; of a histogram, the middles of its bins."""
    if isinstance(node, Histogram):
        middles = node.edges[:-1] + 0.5 * np.diff(node.edges)
        with np.errstate(divide="ignore"):
            logs = np.log(heights(node, middles))
        return _best([(log, {node.variable: x}) for log, x in zip(logs, middles)])
    mean, covariance = normal(node)
    height = -0.5 * np.linalg.slogdet(2 * np.pi * covariance)[1]
    return [(height, dict(zip(node.variables, mean)))]


def product_starts(_: Product, below: Sequence[list[Start]]) -> list[Start]:
    """The best combinations of those of the parts."""
    found: list[Start] = [(0.0, {})]
    for own in below:
        found = _best([(a + b, x | y) for a, x in found for b, y in own])
    return found


def sum_starts(node: Sum, below: Sequence[list[Start]]) -> list[Start]:
    """The best of those of the kinds."""
    with np.errstate(divide="ignore"):
        logs = np.log(node.weights)
    return _best([(log + a, x) for log, own in zip(logs, below) for a, x in own])


def _best(starts: list[Start]) -> list[Start]:
    return sorted(starts, key=lambda start: -start[0])[:STARTS]
