"""Exact draws of what is missing in rows, given what is present."""

from __future__ import annotations

import numpy as np

from clearwood.circuits.circuit import Circuit
from clearwood.circuits.compiled import Compiled
from clearwood.circuits.distributions import (
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
    MultivariateGaussian,
)
from clearwood.circuits.queries.messages import known_levels, upward
from clearwood.circuits.queries.passes import RowsInside, leaves_of, passes
from clearwood.conjugate import partial_normal


def sample(
    circuit: Circuit,
    n: int,
    rng: np.random.Generator,
    given: np.ndarray | None = None,
) -> np.ndarray:
    """Rows drawn from a circuit.

    Parameters
    ----------
    circuit : Circuit
    n : int
        Number of rows.
    rng : Generator
    given : ndarray of shape (n_features,), optional
        Encoded; what is present stands in all rows, the rest is drawn given that.

    Returns
    -------
    ndarray of shape (n, n_features)

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.circuits.circuit import Product, Sum
    >>> from clearwood.circuits.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.0, 1.0)]
    >>> root = Sum(np.array([0.5, 0.5]), tuple(kinds))
    >>> circuit = Circuit(root, FeatureSpace(("a", "b"), ((0, 1), (0, 1))))
    >>> sample(circuit, 2, np.random.default_rng(0), np.array([1.0, np.nan]))
    array([[1., 1.],
           [1., 1.]])
    """
    row = np.full(circuit.features.n_features, np.nan) if given is None else given
    compiled = circuit.compiled
    (block,) = passes(compiled, row[None])
    return _descend(compiled, block, np.zeros(n, dtype=np.intp), rng)


def draw_missing(
    circuit: Circuit, values: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Rows with their missing entries drawn together, given those that are present.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_features)
        Encoded; NaN where an entry is missing.
    rng : Generator

    Returns
    -------
    ndarray of shape (n_rows, n_features)
    """
    compiled = circuit.compiled
    parts = [
        _descend(compiled, block, np.arange(len(block.values)), rng)
        for block in passes(compiled, values)
    ]
    return np.concatenate([np.empty((0, circuit.features.n_features)), *parts])


def _descend(
    compiled: Compiled, block: RowsInside, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Send draws of rows down; a draw takes one kind of each sum that it meets."""
    drawn = block.values[rows]
    at: dict[int, np.ndarray] = {len(compiled.sums) - 1: np.arange(len(rows))}
    leaves = leaves_of(compiled)
    for place in reversed(range(len(compiled.sums))):
        here = at.pop(place, np.empty(0, dtype=np.intp))
        if not len(here):
            continue
        below = compiled.child[compiled.first[place] : compiled.first[place + 1]]
        if compiled.sums[place]:
            kind = choose(rng, block.flow[below][:, rows[here]].T)
            at |= {child: here[kind == k] for k, child in enumerate(below.tolist())}
        else:
            at |= dict.fromkeys(below.tolist(), here)
        for leaf in leaves.get(place, ()):
            own = np.ix_(here, np.array(leaf.variables))
            drawn[own] = draw_leaf(leaf, drawn[own], rng)
    return drawn


def choose(rng: np.random.Generator, shares: np.ndarray) -> np.ndarray:
    """A position for each row, with the probabilities of the row up to a factor.

    Examples
    --------
    >>> choose(np.random.default_rng(0), np.array([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [1, 0]
    """
    ends = np.cumsum(shares, axis=1)
    at = rng.random((len(shares), 1)) * ends[:, -1:]
    return (ends <= at).sum(axis=1)


def draw_leaf(leaf: Leaf, own: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The columns of a leaf (n_rows, n_variables), what is missing drawn."""
    match leaf:
        case MultivariateGaussian(_, mean, covariance):
            return partial_normal.draw_missing(rng, own, mean, covariance)
        case ChowLiuTree():
            return _draw_tree(leaf, own, rng)
        case Gaussian(_, mean, variance):
            drawn = rng.normal(mean, np.sqrt(variance), own.shape)
        case _:
            shares = np.tile(leaf.probabilities, (len(own), 1))
            drawn = choose(rng, shares)[:, None]
            if isinstance(leaf, Histogram):
                drawn = rng.uniform(leaf.edges[drawn], leaf.edges[drawn + 1])
    return np.where(np.isnan(own), drawn, own)


def _draw_tree(
    leaf: ChowLiuTree, own: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    _, logs = upward(leaf, known_levels(leaf, own), np.logaddexp.reduce)
    drawn = np.zeros(own.shape, dtype=np.intp)
    for i, (parent, log) in enumerate(zip(leaf.parents, logs)):
        above = drawn[:, parent] if parent >= 0 else 0
        drawn[:, i] = choose(rng, np.exp(log[np.arange(len(own)), above]))
    return drawn
