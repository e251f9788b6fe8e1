"""Blocks of leaves over the columns of a slice that is not split any further."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clearwood._kernels.circuits_learning import (
    components,
    heaviest_tree,
    level_counts,
    level_places,
    pair_counts,
)
from clearwood._kernels.distributions import tree_log_density
from clearwood.circuits.learning.dependence import Dependence, find_dependence
from clearwood.circuits.learning.slices import Slice
from clearwood.distributions import (
    ChowLiuTree,
    Leaf,
    MultivariateGaussian,
)
from clearwood.distributions.categorical import leaf_of_levels, shares_of_runs
from clearwood.distributions.chow_liu import TreeArrays
from clearwood.distributions.normal import ColumnMoments
from clearwood.distributions.of_columns import LEAST_SHARE
from clearwood.distributions.partial_normal import expected_moments, fit, maximise

KAPPA = 2.0
"""Pseudo-rows with independent columns while missing entries are estimated."""


class CountedForest(NamedTuple):
    """Counts of levels of discrete columns, given the levels of their parents.

    Attributes
    ----------
    variables : ndarray of int
        Tree by tree, each from its root on.
    parents : ndarray of int
        Position in ``variables`` of the parent of each; -1 for roots.
    sizes, sizes_above : ndarray of int
        Numbers of levels of each, and of its parent; one for roots.
    counts : ndarray
        Contingency tables of (levels of the parent, levels), concatenated.
    """

    variables: np.ndarray
    parents: np.ndarray
    sizes: np.ndarray
    sizes_above: np.ndarray
    counts: np.ndarray

    @property
    def starts(self) -> np.ndarray:
        """Index of the first entry of each table."""
        return np.append(0, np.cumsum(self.sizes * self.sizes_above))

    def probabilities(self, alpha: float) -> np.ndarray:
        """Conditional probabilities of levels, with pseudo-count ``alpha``."""
        lengths = np.repeat(self.sizes, self.sizes_above)
        return shares_of_runs(self.counts + alpha, lengths)

    def leaves(self, alpha: float) -> Iterator[Leaf]:
        """One leaf per tree."""
        tables = [
            flat.reshape(n, m)
            for flat, n, m in zip(
                np.split(self.probabilities(alpha), self.starts[1:-1]),
                self.sizes_above,
                self.sizes,
            )
        ]
        variables, parents = self.variables.tolist(), self.parents.tolist()
        roots = [i for i, parent in enumerate(parents) if parent < 0]
        for low, high in pairwise([*roots, len(parents)]):
            if high == low + 1:
                yield leaf_of_levels(variables[low], tables[low][0])
            else:
                above = (parent - low for parent in parents[low + 1 : high])
                own = tuple(variables[low:high]), (-1, *above), tuple(tables[low:high])
                yield ChowLiuTree(*own)

    def log_density(self, codes: np.ndarray, alpha: float) -> np.ndarray:
        """Joint log density of all its leaves for rows, see `levels_of`."""
        if not len(self.variables):
            return np.zeros(len(codes))
        shape = self.variables, self.parents, self.sizes, self.starts[:-1]
        return tree_log_density(codes, TreeArrays(*shape, self.probabilities(alpha)))


class NormalStatistics(NamedTuple):
    """Sufficient statistics of dependent continuous columns.

    Attributes
    ----------
    variables : tuple of int
    moments : tuple
        Weight of the rows, and expected sums of distances from ``mean`` and of their
        products.
    mean, variances : ndarray of shape (n_variables,)
        Of each column alone.
    """

    variables: tuple[int, ...]
    moments: tuple[float, np.ndarray, np.ndarray]
    mean: np.ndarray
    variances: np.ndarray

    @classmethod
    def of(cls, variables: tuple[int, ...], values: np.ndarray) -> NormalStatistics:
        """Statistics of rows, of whose missing entries the expectation is taken."""
        weight, least = np.ones(len(values)), np.full(len(variables), LEAST_SHARE)
        mean, covariance = fit(values, weight, least, KAPPA)
        moments = expected_moments(values, weight, mean, covariance)
        return cls(variables, moments, mean, np.diag(covariance))

    def leaf(self, alpha: float) -> MultivariateGaussian:
        """Leaf with ``alpha`` pseudo-rows of independent columns."""
        least = np.full(len(self.variables), LEAST_SHARE)
        found = maximise(self.moments, self.mean, least, alpha, self.variances)
        return MultivariateGaussian(self.variables, *found)


@dataclass(frozen=True, eq=False)
class Block:
    """Sufficient statistics of a slice, from which leaves are made.

    Attributes
    ----------
    apart : CountedForest
        Discrete columns, independent of each other.
    trees : CountedForest or None
        The same, each with the parent on which it depends most, if computed.
    moments : list of ColumnMoments
        Of continuous columns independent of all others.
    normals : list of NormalStatistics
        One per group of dependent continuous columns.
    """

    apart: CountedForest
    trees: CountedForest | None
    moments: list[ColumnMoments]
    normals: list[NormalStatistics]

    @classmethod
    def from_slice(
        cls, slice_: Slice, trees: bool = True, independent: bool = False
    ) -> Block:
        """Count a slice.

        Parameters
        ----------
        slice_ : Slice
        trees : bool, default=True
            Whether leaves may be trees.
        independent : bool, default=False
            Whether the columns are known to be independent.
        """
        d, n_continuous = len(slice_.discrete), len(slice_.continuous)
        groups = [np.array([j]) for j in range(n_continuous)]
        apart, forest = _independent(slice_), None
        if not independent and ((trees and d > 1) or n_continuous > 1):
            # By the G-test: its statistic is twice the rows' mutual information.
            dependence = find_dependence(slice_, ratio=True)
            groups = _members(components(dependence.edges[d:, d:]))
            if trees and d > 1:
                forest = _chow_liu(slice_, dependence)
        return cls(
            apart,
            forest,
            [
                ColumnMoments.of(int(slice_.continuous[j]), slice_.train.reals[:, j])
                for j, *others in groups
                if not others
            ],
            [_normal(slice_, group) for group in groups if len(group) > 1],
        )

    def _forest(self, trees: bool) -> CountedForest:
        return self.trees if trees and self.trees is not None else self.apart

    def leaves(self, alpha: float, trees: bool) -> list[Leaf]:
        """One leaf per group of dependent columns.

        Parameters
        ----------
        alpha : float
            Pseudo-count of each level, and pseudo-rows of continuous columns: with the
            variance of the whole table, which is 1, or uncorrelated, with their own.
        trees : bool
            Whether dependent discrete columns become a Chow-Liu tree; otherwise each is
            a separate leaf, as in the thesis.
        """
        normals = [column.gaussian(alpha) for column in self.moments]
        joint = [group.leaf(alpha) for group in self.normals]
        return [*self._forest(trees).leaves(alpha), *joint, *normals]

    def log_density(
        self, values: np.ndarray, codes: np.ndarray, alpha: float, trees: bool
    ) -> np.ndarray:
        """Log density of its leaves for encoded rows and the `levels_of` them."""
        log = self._forest(trees).log_density(codes, alpha)
        for group in self.normals:
            log += group.leaf(alpha).log_density(values)
        for column in self.moments:
            log += column.gaussian(alpha).log_density(values)
        return log


def _independent(slice_: Slice) -> CountedForest:
    """Counts of every level of every discrete column."""
    codes, offsets = slice_.train.codes, slice_.offsets
    places, together = level_places(codes, offsets), np.zeros(len(codes), np.int64)
    counts = level_counts(places, offsets[-1], together, 1)[0]
    ones = np.ones(len(slice_.discrete), dtype=np.int64)
    return CountedForest(slice_.discrete, -ones, slice_.n_levels, ones, counts)


def _chow_liu(slice_: Slice, dependence: Dependence) -> CountedForest:
    """Maximum-likelihood trees of dependent discrete columns."""
    d = len(slice_.discrete)
    edges, statistic, both = (part[:d, :d] for part in dependence)
    information = statistic / np.maximum(both, 1)
    order, parents = np.empty(d, np.int64), np.empty(d, np.int64)
    done = 0
    for group in _members(components(edges)):
        place = slice(done, done + len(group))
        columns, above = heaviest_tree(information[np.ix_(group, group)])
        position = np.append(np.argsort(columns) + done, -1)  # of a root's parent, -1
        order[place], parents[place] = group[columns], position[above[columns]]
        done += len(group)
    sizes = slice_.n_levels[order]
    sizes_above = np.where(parents < 0, 1, sizes[parents])
    starts = np.append(0, np.cumsum(sizes * sizes_above))
    counts = pair_counts(slice_.train.codes, order, parents, sizes, starts)
    return CountedForest(slice_.discrete[order], parents, sizes, sizes_above, counts)


def _normal(slice_: Slice, group: np.ndarray) -> NormalStatistics:
    variables = tuple(slice_.continuous[group].tolist())
    return NormalStatistics.of(variables, slice_.train.reals[:, group])


def _members(label: np.ndarray) -> list[np.ndarray]:
    """The columns of each group."""
    return [np.flatnonzero(label == g) for g in range(label.max(initial=-1) + 1)]
