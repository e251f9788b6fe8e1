"""Which columns depend on each other in a circuit, and how much, from its moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clearwood.circuits.queries.covariances import Coordinates, coordinate_moments

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

NOTHING = 1e-10
"""Share of the largest variance of a column's statistics below which one is none."""


def strengths(circuit: Circuit) -> np.ndarray:
    """How much every two columns depend on each other, from 0 to 1.

    Of two continuous columns it is the size of their correlation, of two discrete ones
    Cramér's V, of one of each kind the correlation ratio: all of them are the size of
    the correlation matrix between two sets of statistics (Pillai's trace, over the
    smaller number of them). Taken from the circuit's own moments, without rows. Of
    continuous columns it sees means alone: two that differ in their spread together
    depend on each other all the same, at a strength of 0.

    Parameters
    ----------
    circuit : Circuit

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        Symmetric; 1 on the diagonal, or 0 for a column that does not vary.

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    >>> features = FeatureSpace(("a", "b"), ((0, 1), (0, 1)))
    >>> strengths(Circuit(Sum(np.array([0.5, 0.5]), tuple(kinds)), features)).round(3)
    array([[1.  , 0.64],
           [0.64, 1.  ]])
    """
    categories = circuit.features.categories
    at = Coordinates.of(
        [None if own is None else np.eye(len(own)) for own in categories]
    )
    nothing = np.full((1, len(categories)), np.nan)
    (covariance,) = coordinate_moments(circuit, nothing, at).covariance
    whitener = np.zeros_like(covariance)
    rank = np.zeros(len(at.start))
    for j, (start, stop) in enumerate(zip(at.start, at.stop)):
        variances, axes = np.linalg.eigh(covariance[start:stop, start:stop])
        varies = variances > NOTHING * max(variances[-1], 0.0)
        scaled = axes[:, varies] / np.sqrt(variances[varies])
        whitener[start:stop, start : start + varies.sum()] = scaled
        rank[j] = varies.sum()
    squares = (whitener.T @ covariance @ whitener) ** 2
    trace = np.add.reduceat(np.add.reduceat(squares, at.start, 0), at.start, 1)
    smaller = np.minimum.outer(rank, rank)
    share = np.divide(trace, smaller, out=np.zeros_like(trace), where=smaller > 0)
    return np.sqrt(np.clip(share, 0.0, 1.0))
