"""Conditional distributions of the missing entries of rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import logsumexp, ndtr, ndtri

from clearwood._numeric import bisect, product
from clearwood._numeric.logspace import log_of
from clearwood.circuits.queries.passes import (
    ColumnLeaves,
    RowsInside,
    columns_of,
    passes,
)
from clearwood.distributions import Histogram, Leaf
from clearwood.distributions.normal import log_density
from clearwood.exceptions import InputError

if TYPE_CHECKING:
    from clearwood.circuits.circuit import Circuit


@dataclass(frozen=True, eq=False)
class LevelShares:
    """Conditional distributions of the missing entries of a discrete column.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Rows in which the entry is missing.
    probabilities : ndarray of shape (n, n_levels)
    """

    rows: np.ndarray
    probabilities: np.ndarray

    @property
    def mode(self) -> np.ndarray:
        """Most probable level of each entry."""
        return self.probabilities.argmax(axis=1)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log probability of a level for each entry; of one entry, of many levels."""
        level = np.asarray(values).astype(np.intp)
        every = np.arange(len(level)) if len(self.rows) > 1 else 0
        return log_of(self.probabilities[every, level])


@dataclass(frozen=True, eq=False)
class ValueShares:
    """Conditional distributions of a continuous column's missing entries: mixtures.

    The components are normal distributions, and intervals of constant density.

    Attributes
    ----------
    rows : ndarray of int of shape (n,)
        Rows in which the entry is missing.
    weight, mean_of, sd_of : ndarray of shape (n, n_normals)
        Weights and moments of the normal components.
    weight_between, low, high : ndarray of shape (n, n_intervals)
        Weights and bounds of the intervals; each includes its lower end.
    """

    rows: np.ndarray
    weight: np.ndarray
    mean_of: np.ndarray
    sd_of: np.ndarray
    weight_between: np.ndarray
    low: np.ndarray
    high: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Expected values."""
        middle = self.low + 0.5 * (self.high - self.low)
        normals = (self.weight * self.mean_of).sum(axis=1)
        return normals + (self.weight_between * middle).sum(axis=1)

    @property
    def sd(self) -> np.ndarray:
        """Standard deviations."""
        centre = self.mean[:, None]
        middle = self.low + 0.5 * (self.high - self.low)
        normals = self.sd_of**2 + (self.mean_of - centre) ** 2
        between = (self.high - self.low) ** 2 / 12 + (middle - centre) ** 2
        variance = (self.weight * normals).sum(axis=1)
        return np.sqrt(variance + (self.weight_between * between).sum(axis=1))

    def cdf(self, values: np.ndarray) -> np.ndarray:
        """Cumulative distribution function; one value for each entry."""
        at = np.asarray(values)[:, None]
        below = self.weight * ndtr((at - self.mean_of) / self.sd_of)
        inside = np.clip((at - self.low) / (self.high - self.low), 0.0, 1.0)
        return below.sum(axis=1) + (self.weight_between * inside).sum(axis=1)

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log density, at one value for each entry; of one entry, at many values."""
        at = np.asarray(values)[:, None]
        normals = log_density(at - self.mean_of, self.sd_of**2)
        inside = (self.low <= at) & (at < self.high)
        between = self.weight_between * inside / (self.high - self.low)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = normals + np.log(self.weight)
            return np.logaddexp(logsumexp(logs, axis=1), np.log(between.sum(axis=1)))

    def quantile(self, share: float) -> np.ndarray:
        """Quantiles: the smallest values with at least this cumulative probability.

        Parameters
        ----------
        share : float
            Between 0 and 1, both excluded.
        """
        if not 0.0 < share < 1.0:
            raise InputError(f"share is {share}; expected a number between 0 and 1.")
        # A quantile of a mixture lies between those of its components.
        normals = self.mean_of + self.sd_of * ndtri(share)
        ends = np.hstack([normals, self.low + share * (self.high - self.low)])
        possible = np.hstack([self.weight, self.weight_between]) > 0.0
        return bisect(
            lambda at: self.cdf(at) >= share,
            np.where(possible, ends, np.inf).min(axis=1),
            np.where(possible, ends, -np.inf).max(axis=1),
        )


Conditional = LevelShares | ValueShares


def conditionals(
    circuit: Circuit, values: np.ndarray, only: Collection[int] | None = None
) -> dict[int, Conditional]:
    """Conditional distribution of every missing entry, given the rest of its row.

    Parameters
    ----------
    circuit : Circuit
    values : ndarray of shape (n_rows, n_features)
        Encoded; NaN where an entry is missing.
    only : collection of int, optional
        Columns whose distributions are needed; all by default.

    Returns
    -------
    dict of int to LevelShares or ValueShares
        By column, for those in which an entry is missing.

    Examples
    --------
    >>> from clearwood.circuits import Circuit
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.circuits.nodes import Product, Sum
    >>> from clearwood.distributions import Bernoulli, Gaussian
    >>> young = Product((Bernoulli(0, 0.1), Gaussian(1, 25.0, 16.0)))
    >>> old = Product((Bernoulli(0, 0.7), Gaussian(1, 60.0, 100.0)))
    >>> root = Sum(np.array([0.5, 0.5]), (young, old))
    >>> circuit = Circuit(root, FeatureSpace(("ill", "age"), ((0, 1), None)))
    >>> found = conditionals(circuit, np.array([[np.nan, 50.0], [1.0, np.nan]]))
    >>> found[0].probabilities.round(3).tolist()
    [[0.3, 0.7]]
    >>> found[1].mean.round(2).tolist(), found[1].quantile(0.1).round(1).tolist()
    ([55.63], [28.3])
    """
    compiled = circuit.compiled
    columns = [
        own for own in columns_of(compiled) if only is None or own.variable in only
    ]
    found: dict[int, list[Conditional]] = {}
    for block in passes(compiled, values):
        joint: Joint = {}
        for column in columns:
            rows = np.flatnonzero(np.isnan(block.values[:, column.variable]))
            if len(rows):
                discrete = circuit.features.categories[column.variable] is not None
                answer = (_levels if discrete else _values)(column, rows, block, joint)
                found.setdefault(column.variable, []).append(answer)
    return {variable: _joined(parts) for variable, parts in found.items()}


def _joined(parts: Sequence[Conditional]) -> Conditional:
    """Concatenate the results of all blocks of rows."""
    kind = type(parts[0])
    names = [field.name for field in fields(kind)]
    return kind(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))


Joint = dict[Leaf, dict[int, tuple[np.ndarray, ...]]]
"""By leaf and column, densities of multivariate leaves for the rows of a block."""


def _levels(
    column: ColumnLeaves, rows: np.ndarray, block: RowsInside, joint: Joint
) -> LevelShares:
    """Distributions of levels in some rows of a block, where the column is missing."""
    total = product(block.flow[np.ix_(column.level_at, rows)].T, column.levels)
    for flow, probabilities in _joint(column, rows, block, joint):
        total = total + flow[:, None] * probabilities
    return LevelShares(rows + block.start, total / total.sum(axis=1, keepdims=True))


def _values(
    column: ColumnLeaves, rows: np.ndarray, block: RowsInside, joint: Joint
) -> ValueShares:
    """Distributions of values in some rows of a block, where the column is missing."""
    n = len(rows)
    found = _joint(column, rows, block, joint)
    between, low, high = [np.empty((n, 0))], [np.empty(0)], [np.empty(0)]
    for place, leaf in column.others:
        if isinstance(leaf, Histogram):
            between.append(np.outer(block.flow[place, rows], leaf.probabilities))
            low.append(leaf.edges[:-1])
            # The last bin includes both its edges.
            end = np.nextafter(leaf.edges[-1], np.inf)
            high.append(np.append(leaf.edges[1:-1], end))
    return ValueShares(
        rows + block.start,
        np.column_stack([block.flow[np.ix_(column.normal_at, rows)].T,
                         *(flow for flow, _, _ in found)]),
        np.column_stack([np.tile(column.mean, (n, 1)), *(own for _, own, _ in found)]),
        np.column_stack([np.tile(np.sqrt(column.variance), (n, 1)),
                         *(own for _, _, own in found)]),
        np.hstack(between),
        np.tile(np.concatenate(low), (n, 1)),
        np.tile(np.concatenate(high), (n, 1)),
    )  # fmt: skip


def _joint(
    column: ColumnLeaves, rows: np.ndarray, block: RowsInside, joint: Joint
) -> list[tuple[np.ndarray, ...]]:
    """Flow to each multivariate leaf, and its distribution of the column."""
    found = []
    for place, leaf in column.others:
        if not isinstance(leaf, Histogram):
            if leaf not in joint:
                marginals = leaf.marginals(block.values[:, leaf.variables])
                joint[leaf] = dict(zip(leaf.variables, marginals))
            numbers = joint[leaf][column.variable]
            found.append((block.flow[place, rows], *(own[rows] for own in numbers)))
    return found
