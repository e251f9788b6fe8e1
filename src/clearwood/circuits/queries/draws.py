"""Exact conditional draws of the missing entries of rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from clearwood.circuits.compiled import Compiled
from clearwood.circuits.queries.passes import RowsInside, leaves_of, passes
from clearwood.distributions.categorical import choose

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit


def sample(
    circuit: Circuit,
    n: int,
    rng: np.random.Generator,
    given: np.ndarray | None = None,
) -> np.ndarray:
    """Draw rows from a circuit.

    Parameters
    ----------
    circuit : Circuit
    n : int
        Number of rows.
    rng : Generator
    given : ndarray of shape (n_features,), optional
        Encoded; present entries are the same in all rows, the rest is drawn given them.

    Returns
    -------
    ndarray of shape (n, n_features)

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli
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
    drawn = _descend(compiled, block, np.zeros(n, dtype=np.intp), rng)
    return circuit.table.without_masked(drawn)


def draw_missing(
    circuit: Circuit, values: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Draw the missing entries of rows jointly, given those that are present."""
    compiled = circuit.compiled
    parts = [
        _descend(compiled, block, np.arange(len(block.values)), rng)
        for block in passes(compiled, values)
    ]
    drawn = np.concatenate([np.empty((0, circuit.features.n_features)), *parts])
    return circuit.table.without_masked(drawn)


def _descend(
    compiled: Compiled, block: RowsInside, rows: np.ndarray, rng: np.random.Generator
) -> np.ndarray:
    """Pass draws down; a draw takes one component of each sum that it reaches."""
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
            drawn[own] = leaf.drawn(drawn[own], rng)
    return drawn
