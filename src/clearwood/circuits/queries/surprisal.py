"""Improbable entries of rows: by entry, by column, by group of columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp

from clearwood._numeric.logspace import log_of
from clearwood.circuits.compiled import ROWS, Compiled
from clearwood.circuits.leaf_arrays import OneByOne
from clearwood.circuits.queries.conditioning import known
from clearwood.circuits.queries.passes import ColumnLeaves, columns_of
from clearwood.distributions.normal import log_density

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit


def surprisals(circuit: Circuit, values: np.ndarray) -> np.ndarray:
    r"""Surprisal of each entry given all others of its row: -log p(x_j | rest).

    Not a decomposition: two incompatible entries are both improbable. It is infinite
    for an entry that is impossible given the others. Compare with the usual value for
    the column, in sampled rows.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_features)
        Encoded; NaN where an entry is missing.

    Returns
    -------
    ndarray of shape (n_rows, n_features)
        NaN for a missing entry, and where the others are impossible together.

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli
    >>> kinds = [Product((Bernoulli(0, p), Bernoulli(1, p))) for p in (0.1, 0.9)]
    >>> root = Sum(np.array([0.8, 0.2]), tuple(kinds))
    >>> circuit = Circuit(root, FeatureSpace(("a", "b"), ((0, 1), (0, 1))))
    >>> surprisals(circuit, np.array([[1.0, 1.0], [1.0, 0.0]])).round(2).tolist()
    [[0.42, 0.42], [2.11, 1.06]]
    """
    compiled = circuit.compiled
    values = known(circuit, values)
    columns = columns_of(compiled)
    found = np.full(values.shape, np.nan)
    for start in range(0, len(values), ROWS):
        block = values[start : start + ROWS]
        log = compiled.upward(block)
        log_flow = _log_flow(compiled, log)
        for column in columns:
            place, logs = _leaf_logs(column, block)
            # A leaf that rules the entry out does not show how much it would count.
            unclear = np.isneginf(logs).any(axis=0) | np.isneginf(log[-1])
            with np.errstate(invalid="ignore"):
                surprisal = logsumexp(log_flow[place] - logs, axis=0)
                if unclear.any():
                    rest = block[unclear].copy()
                    rest[:, column.variable] = np.nan
                    surprisal[unclear] = compiled.upward(rest)[-1] - log[-1, unclear]
            present = ~np.isnan(block[:, column.variable])
            found[start : start + ROWS, column.variable][present] = surprisal[present]
    return found


def _log_flow(compiled: Compiled, log: np.ndarray) -> np.ndarray:
    """Log probability that a row reaches each place; none is too small for a float."""
    found = np.zeros(log.shape)
    for place in reversed(range(len(log))):
        own = slice(compiled.first[place], compiled.first[place + 1])
        below = compiled.child[own]
        found[below] = found[place]
        if compiled.sums[place]:
            here = np.where(np.isneginf(log[place]), 0.0, log[place])
            found[below] += log[below] + compiled.log_weight[own, None] - here
    return found


def _leaf_logs(
    column: ColumnLeaves, values: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Log density of a column's entries in each of its leaves, 0 where missing.

    In multivariate leaves, given the others, or only those that are ``earlier``.

    Returns
    -------
    place : ndarray of shape (n_leaves,)
    logs : ndarray of shape (n_leaves, n_rows)
    """
    entry = values[:, column.variable]
    missing = np.isnan(entry)
    tables = log_of(np.column_stack([column.levels, np.ones(len(column.levels))]))
    is_level = ~missing & (len(tables) > 0)
    level = np.where(is_level, entry, -1).astype(np.intp)
    gap = np.where(missing, 0.0, entry) - column.mean[:, None]
    normals = log_density(gap, column.variance[:, None])
    others = [_given_others(leaf, column.variable, values) for _, leaf in column.others]
    logs = np.vstack([tables[:, level], normals, *others])
    logs[:, missing] = 0.0
    at_others = np.array([place for place, _ in column.others], dtype=np.intp)
    return np.concatenate([column.level_at, column.normal_at, at_others]), logs


def _given_others(leaf: OneByOne, variable: int, values: np.ndarray) -> np.ndarray:
    """Log density of a column's entries given the leaf's others."""
    without = values.copy()
    without[:, variable] = np.nan
    with np.errstate(invalid="ignore"):
        logs = leaf.log_density(values) - leaf.log_density(without)
    return np.where(np.isnan(logs), 0.0, logs)  # where the others cannot be anyway
