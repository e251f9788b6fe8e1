"""Strength of the pairwise dependence of columns, from a circuit's moments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clearwood.circuits.queries.covariances import Coordinates, coordinate_moments
from clearwood.circuits.queries.draws import sample
from clearwood.circuits.queries.table_cells import marginal_log_density
from clearwood.circuits.reading.outline import is_independent

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit

WEAK = 0.1
"""Gain over independent columns, in nats per row, below which dependence is weak: rows
are 1.1 times as probable."""

N_DRAWS = 500
"""Number of rows sampled from a circuit to estimate the usual surprisal."""

NOTHING = 1e-10
"""Variance below this share of the column's largest one counts as none. So does one
below it for indicators of levels: of a single level, all variance is rounding error."""


def strengths(circuit: Circuit) -> np.ndarray:
    """Strength of the dependence of every two columns, from 0 to 1.

    For two continuous columns it is their absolute correlation, for two discrete ones
    Cramér's V, for one of each type the correlation ratio: all of them are the size of
    the correlation matrix between two sets of statistics (Pillai's trace, over the
    smaller number of them). Computed from the circuit's moments, without rows; a column
    that the circuit models by its logarithm counts as that. For
    continuous columns only dependence in the mean counts: two whose spread varies
    together are dependent all the same, at a strength of 0.

    Parameters
    ----------
    circuit : Circuit

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        Symmetric; 1 on the diagonal, or 0 for a column that does not vary; 0 for the
        two variables of one column.

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    >>> features = FeatureSpace(("a", "b"), ((0, 1), (0, 1)))
    >>> strengths(Circuit(Sum(np.array([0.5, 0.5]), tuple(kinds)), features)).round(3)
    array([[1.  , 0.64],
           [0.64, 1.  ]])
    """
    categories = circuit.features.categories
    at = Coordinates.from_levels(
        [None if own is None else np.eye(len(own)) for own in categories]
    )
    nothing = np.full((1, len(categories)), np.nan)
    (covariance,) = coordinate_moments(circuit, nothing, at).covariance
    whitener = np.zeros_like(covariance)
    rank = np.zeros(len(at.start))
    for j, (start, stop) in enumerate(zip(at.start, at.stop)):
        variances, axes = np.linalg.eigh(covariance[start:stop, start:stop])
        least = 0.0 if categories[j] is None else 1.0
        varies = variances > NOTHING * max(variances[-1], least)
        scaled = axes[:, varies] / np.sqrt(variances[varies])
        whitener[start:stop, start : start + varies.sum()] = scaled
        rank[j] = varies.sum()
    squares = (whitener.T @ covariance @ whitener) ** 2
    trace = np.add.reduceat(np.add.reduceat(squares, at.start, 0), at.start, 1)
    smaller = np.minimum.outer(rank, rank)
    share = np.divide(trace, smaller, out=np.zeros_like(trace), where=smaller > 0)
    for j, place in circuit.table.place_of.items():
        share[j, place] = share[place, j] = 0.0
    return np.sqrt(np.clip(share, 0.0, 1.0))


def is_weak_gain(circuit: Circuit, gain: float) -> bool:
    """Whether the columns are dependent in the network, but hardly."""
    return gain < WEAK and not is_independent(circuit.root, circuit.table.numbers)


def gain_over_independent(circuit: Circuit) -> float:
    """Mean log density of drawn rows, less that with independent columns.

    It is the total correlation of the columns in the network, estimated by draws, so
    that a small one may be below 0.
    """
    drawn = sample(circuit, N_DRAWS, np.random.default_rng(0))
    alone = np.nansum(marginal_log_density(circuit, drawn), axis=1)
    return float((circuit.log_density(drawn) - alone).mean())
