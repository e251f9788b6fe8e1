"""Conditional means and covariances of the missing entries of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood.circuits.compiled import ROWS
from clearwood.circuits.queries.passes import RowsInside, leaves_of, passes
from clearwood.distributions import Leaf

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

MOST_NUMBERS = 4_000_000
"""Maximum number of floats in the covariances of a block of rows (32 MB)."""


class RowMoments(NamedTuple):
    """Conditional means and covariances of rows, given their present entries.

    Attributes
    ----------
    mean : ndarray of shape (n_rows, n_features)
        Present entries are unchanged; the positions of levels count as numbers.
    covariance : ndarray of shape (n_rows, n_features, n_features)
        0 for present entries.
    """

    mean: np.ndarray
    covariance: np.ndarray


class Coordinates(NamedTuple):
    """Numeric coordinates of columns: one if continuous, some per level if discrete.

    Attributes
    ----------
    of_levels : list of ndarray of shape (n_levels, n_own), or of None
    start, stop : ndarray of shape (n_features,)
        First and last coordinate of every column among those of all.
    """

    of_levels: list[np.ndarray | None]
    start: np.ndarray
    stop: np.ndarray

    @classmethod
    def from_levels(cls, of_levels: list[np.ndarray | None]) -> Coordinates:
        """One column after the other."""
        widths = [1 if own is None else own.shape[1] for own in of_levels]
        stop = np.cumsum(widths)
        return cls(of_levels, stop - widths, stop)

    def places(self, variables: Sequence[int]) -> np.ndarray:
        """Coordinates of some columns."""
        return np.concatenate(
            [np.arange(self.start[j], self.stop[j]) for j in variables]
        )


def coordinate_moments(
    circuit: Circuit, values: np.ndarray, coordinates: Coordinates
) -> RowMoments:
    """Means and covariances of the coordinates of all columns."""
    leaves = leaves_of(circuit.compiled)
    n, d = len(values), int(coordinates.stop[-1])
    found = RowMoments(np.empty((n, d)), np.empty((n, d, d)))
    block_rows = min(max(MOST_NUMBERS // d**2, 1), ROWS)
    for block in passes(circuit.compiled, values, block_rows):
        rows = slice(block.start, block.start + len(block.values))
        found.mean[rows], found.covariance[rows] = _of_block(
            circuit, leaves, coordinates, block
        )
    return found


def _of_block(
    circuit: Circuit,
    leaves: dict[int, list[Leaf]],
    coordinates: Coordinates,
    block: RowsInside,
) -> tuple[np.ndarray, np.ndarray]:
    """Covariances within leaves, and between components: the law of total covariance.

    Each counts with the probability that a row reaches it.
    """
    compiled, n, d = circuit.compiled, len(block.values), coordinates.stop[-1]
    covariance = np.zeros((n, d, d))
    # Per place, until its parent is done: its coordinates, and their means.
    means: list[Any] = [None] * len(compiled.sums)
    for place, is_sum in enumerate(compiled.sums.tolist()):
        below = compiled.child[compiled.first[place] : compiled.first[place + 1]]
        parts = [means[child] for child in below]
        for child in below:
            means[child] = None
        if is_sum:
            own, flow = parts[0][0], block.flow[below]
            children = np.array([mean for _, mean in parts])
            total = np.where(block.flow[place] > 0, block.flow[place], 1.0)
            mean = np.einsum("kn,kni->ni", flow / total, children)
            gap = (children - mean).transpose(1, 2, 0)
            within = gap * flow.T[:, None] @ gap.swapaxes(1, 2)
            covariance[:, own[:, None], own] += within
            means[place] = own, mean
            continue
        for leaf in leaves.get(place, ()):
            own = coordinates.places(leaf.variables)
            tables = [coordinates.of_levels[j] for j in leaf.variables]
            mean, within = leaf.moments(block.values[:, leaf.variables], tables)
            flow = block.flow[place][:, None, None]
            covariance[:, own[:, None], own] += flow * within
            parts.append((own, mean))
        own = np.concatenate([own for own, _ in parts])
        order = np.argsort(own)
        means[place] = own[order], np.hstack([mean for _, mean in parts])[:, order]
    present = np.repeat(
        ~np.isnan(block.values), coordinates.stop - coordinates.start, axis=1
    )
    covariance[present] = 0.0
    covariance.transpose(0, 2, 1)[present] = 0.0
    whole = np.zeros((n, d))
    own, mean = means[-1]
    whole[:, own] = mean  # a circuit may be over some of its columns
    return whole, covariance
