"""Local maxima of mixtures of normals, climbed to from the best starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import block_diag

from clearwood._numeric.logspace import log_of
from clearwood.circuits.nodes import Node, Product, Sum, fold
from clearwood.distributions import Gaussian, Histogram, Leaf, MultivariateGaussian
from clearwood.distributions.of_columns import Point

STARTS = 16
"""Number of combinations of components, the likeliest ones, to climb from."""

STEPS = 10_000
"""Maximum number of steps; convergence is slow where components overlap."""


def highest_mode(root: Node, n_features: int) -> tuple[np.ndarray, float]:
    """Highest local maximum of a density found by climbing.

    It starts at the modes of the likeliest combinations of components, one of each sum.
    Higher points may exist: this is no proof.

    Parameters
    ----------
    root : node
        Over continuous columns.
    n_features : int

    Returns
    -------
    point : ndarray of shape (n_features,)
        NaN for columns outside the node's scope.
    log_density : float
    """
    starts = likeliest_kinds(root, STARTS)
    points = np.full((len(starts), n_features), np.nan)
    for point, (_, own) in zip(points, starts):
        point[list(own)] = list(own.values())
    root = fold(
        root,
        peak,
        joined_product,
        lambda node, below: replace(node, children=tuple(below)),
    )
    points, height = _climb(root, points, 1e-6)
    best = int(np.argmax(height))
    points, height = _climb(root, points[[best]], 1e-15)
    return points[0], float(height[0])


def _climb(
    root: Node, points: np.ndarray, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """Climb from points, each as long as the relative gain of a step suffices."""
    height, higher = _step(root, points)
    moving = np.full(len(points), True)
    for _ in range(STEPS):
        new_height, new_higher = _step(root, higher[moving])
        gain = new_height - height[moving]
        up = gain > 0
        at = np.flatnonzero(moving)[up]
        points[at], height[at] = higher[at], new_height[up]
        higher[at] = new_higher[up]
        moving[moving] = gain > least * np.abs(new_height)
        if not moving.any():
            break
    return points, height


class _Peak(NamedTuple):
    """Normal columns: log density ``top`` at the mean, and its curvature."""

    variables: tuple[int, ...]
    mean: np.ndarray
    precision: np.ndarray
    top: float


def peak(leaf: Leaf) -> _Peak | Histogram:
    """A normal leaf as a quadratic peak; histograms are unchanged."""
    match leaf:
        case Gaussian(_, mean, variance):
            covariance = np.array([[variance]])
        case MultivariateGaussian(_, mean, covariance):
            pass
        case _:
            return leaf  # type: ignore[return-value]
    ((top, _),) = leaf.modes()
    precision = np.linalg.inv(covariance)
    return _Peak(leaf.variables, np.atleast_1d(mean), precision, top)


def joined_product(_: Product, below: Sequence[Any]) -> Any:
    """A product with all its normal columns merged into one peak."""
    peaks = [child for child in below if isinstance(child, _Peak)]
    if not peaks:
        return Product(tuple(below))
    one = _Peak(
        tuple(v for own in peaks for v in own.variables),
        np.concatenate([own.mean for own in peaks]),
        block_diag(*(own.precision for own in peaks)),
        sum(own.top for own in peaks),
    )
    others = [child for child in below if not isinstance(child, _Peak)]
    return Product((one, *others)) if others else one  # type: ignore[arg-type]


def _step(root: Node, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Log density at points, and points of no lower density (an EM step).

    Given the probability of each leaf at the point, the log density is at least the
    expected one up to a constant, which is quadratic: go to its maximum.
    """
    variables = sorted(root.variables)
    place = {variable: i for i, variable in enumerate(variables)}
    n, d = len(points), len(variables)

    def leaf(node: Any) -> tuple[np.ndarray, ...]:
        precision, pull = np.zeros((n, d, d)), np.zeros((n, d))
        if isinstance(node, Histogram):
            heights = log_of(node.density(points[:, node.variable]))
            return heights, precision, pull
        own = points[:, node.variables]
        at = np.array([place[variable] for variable in node.variables])
        gap = node.mean - own
        precision[:, at[:, None], at] = node.precision
        pull[:, at] = gap @ node.precision
        return node.top - 0.5 * (gap * pull[:, at]).sum(axis=1), precision, pull

    def product(_: Product, below: Sequence[tuple[np.ndarray, ...]]) -> tuple[Any, ...]:
        return tuple(sum(parts) for parts in zip(*below))

    def sum_(node: Sum, below: Sequence[tuple[np.ndarray, ...]]) -> tuple[Any, ...]:
        logs, precisions, pulls = (np.array(parts) for parts in zip(*below))
        logs = logs + log_of(node.weights)[:, None]
        height = np.logaddexp.reduce(logs, axis=0)
        share = np.exp(logs - np.where(np.isneginf(height), 0.0, height))
        return (
            height,
            np.einsum("kn,knij->nij", share, precisions),
            np.einsum("kn,kni->ni", share, pulls),
        )

    height, precision, pull = fold(root, leaf, product, sum_)
    # Columns only in histograms are unchanged.
    free = np.arange(d)
    loose = precision[:, free, free] == 0
    precision[:, free, free] += loose
    higher = points.copy()
    higher[:, variables] += np.linalg.solve(precision, pull[:, :, None])[:, :, 0]
    return height, higher


# Starting points


def likeliest_kinds(root: Node, n: int) -> list[Point]:
    """Modes of the likeliest combinations of components, one of each sum.

    The first is the max-product solution; all are possible.
    """

    def best(starts: list[Point]) -> list[Point]:
        possible = [start for start in starts if start[0] > -math.inf]
        return sorted(possible, key=lambda start: -start[0])[:n]

    def product(_: Product, below: Sequence[list[Point]]) -> list[Point]:
        found: list[Point] = [(0.0, {})]
        for own in below:
            found = best([(a + b, x | y) for a, x in found for b, y in own])
        return found

    def sum_(node: Sum, below: Sequence[list[Point]]) -> list[Point]:
        kinds = zip(log_of(node.weights).tolist(), below)
        return best([(log_w + a, x) for log_w, own in kinds for a, x in own])

    return fold(root, lambda leaf: best(leaf.modes()), product, sum_)
