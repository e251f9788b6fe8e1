"""What stays where no split is left: leaves over the columns of a slice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from clearwood.circuits.circuit import Node
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    MultivariateGaussian,
)
from clearwood.circuits.learning._kernels import (
    components,
    heaviest_tree,
    level_counts,
    level_places,
)
from clearwood.circuits.learning.dependence import Dependence, find_dependence
from clearwood.circuits.learning.slices import FLOOR, Slice
from clearwood.conjugate.partial_normal import fit

KAPPA = 2.0
"""Independent rows that are added to those of a multivariate normal."""


class CountedTree(NamedTuple):
    """Columns that hang together, and how often their levels meet.

    Attributes
    ----------
    columns : ndarray of int
        From the root on.
    parents : tuple of int
        As in `ChowLiuTree`.
    counts : tuple of ndarray of shape (n_levels_of_parent, n_levels)
    """

    columns: np.ndarray
    parents: tuple[int, ...]
    counts: tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Block:
    """Counts of a slice's rows, from which leaves are made.

    Attributes
    ----------
    slice_ : Slice
    independent : bool
        Whether no column depends on another one, as is known.
    """

    slice_: Slice
    independent: bool = False

    def leaves(self, alpha: float, trees: bool) -> Iterator[Node]:
        """One leaf for each group of columns that stays together.

        Parameters
        ----------
        alpha : float
            Rows that are added: to each level, and to continuous columns as they vary
            in the whole table, where their variance is 1.
        trees : bool
            Whether discrete columns that depend on each other become a Chow-Liu tree;
            else each is a leaf of its own, as in the thesis.
        """
        variables = self.slice_.discrete
        if trees and not self.independent:
            for tree in self._trees:
                own = tuple(variables[tree.columns].tolist())
                tables = tuple(smoothed(counts, alpha) for counts in tree.counts)
                if len(own) > 1:
                    yield ChowLiuTree(own, tree.parents, tables)
                else:
                    yield leaf_of_levels(own[0], tables[0][0])
        else:
            for j, counts in zip(variables.tolist(), self._level_counts):
                yield leaf_of_levels(j, smoothed(counts, alpha))
        yield from self._normals
        for group in self._continuous_groups:
            if len(group) == 1:
                yield self._gaussian(group[0], alpha)

    @cached_property
    def _level_counts(self) -> list[np.ndarray]:
        """Rows of every level of every discrete column."""
        codes, offsets = self.slice_.train.codes, self.slice_.offsets
        places, together = level_places(codes, offsets), np.zeros(len(codes), np.int64)
        counts = level_counts(places, offsets[-1], together, 1)[0]
        return [counts[low:high] for low, high in pairwise(offsets.tolist())]

    @cached_property
    def _dependence(self) -> Dependence:
        """By the G-test, whose statistic is twice the rows' mutual information."""
        return find_dependence(self.slice_, ratio=True)

    @cached_property
    def _trees(self) -> list[CountedTree]:
        """The most likely trees of discrete columns (Chow and Liu)."""
        d = len(self.slice_.discrete)
        edges, statistic, both = (part[:d, :d] for part in self._dependence)
        information = statistic / np.maximum(both, 1)
        return [
            self._counted_tree(group, information[np.ix_(group, group)])
            for group in _members(components(edges))
        ]

    def _counted_tree(self, group: np.ndarray, information: np.ndarray) -> CountedTree:
        order, parent = heaviest_tree(information)
        position = np.append(np.argsort(order), -1)  # of the root's parent, -1: none
        counts = [self._level_counts[group[0]][None, :]]
        for j in order[1:]:
            counts.append(self._pair_counts(group[parent[j]], group[j]))
        return CountedTree(
            group[order], tuple(position[parent[order]].tolist()), tuple(counts)
        )

    def _pair_counts(self, i: int, j: int) -> np.ndarray:
        first, second = self.slice_.train.codes[:, (i, j)].T.astype(np.int64)
        rows, columns = self.slice_.n_levels[i], self.slice_.n_levels[j]
        cell = (first * columns + second)[(first >= 0) & (second >= 0)]
        counts = np.bincount(cell, minlength=rows * columns)
        return counts.reshape(rows, columns).astype(np.float64)

    @cached_property
    def _continuous_groups(self) -> list[np.ndarray]:
        n_discrete, n = len(self.slice_.discrete), len(self.slice_.continuous)
        if n < 2 or self.independent:
            return [np.array([j]) for j in range(n)]
        return _members(components(self._dependence.edges[n_discrete:, n_discrete:]))

    def _gaussian(self, j: int, alpha: float) -> Gaussian:
        values = self.slice_.train.reals[:, j]
        values = values[~np.isnan(values)]
        n = len(values) + alpha
        mean = values.sum() / n
        squares = ((values - mean) ** 2).sum() + alpha * (1.0 + mean**2)
        return Gaussian(
            int(self.slice_.continuous[j]), float(mean), max(float(squares / n), FLOOR)
        )

    @cached_property
    def _normals(self) -> list[MultivariateGaussian]:
        """One for each group of continuous columns that depend on each other."""
        found = []
        for group in self._continuous_groups:
            if len(group) > 1:
                values, least = self.slice_.train.reals[:, group], len(group) * [FLOOR]
                mean, covariance = fit(
                    values, np.ones(len(values)), np.array(least), KAPPA
                )
                variables = tuple(self.slice_.continuous[group].tolist())
                found.append(MultivariateGaussian(variables, mean, covariance))
        return found


def smoothed(counts: np.ndarray, alpha: float) -> np.ndarray:
    """Shares along the last axis, ``alpha`` rows added to each level.

    Examples
    --------
    >>> smoothed(np.array([3.0, 0.0]), 0.5).tolist()
    [0.875, 0.125]
    """
    raised = counts + alpha
    return raised / raised.sum(axis=-1, keepdims=True)


def leaf_of_levels(variable: int, probabilities: np.ndarray) -> Bernoulli | Categorical:
    """The leaf of one discrete column."""
    if len(probabilities) == 2:
        return Bernoulli(variable, float(probabilities[1]))
    return Categorical(variable, probabilities)


def _members(label: np.ndarray) -> list[np.ndarray]:
    """The columns of each group."""
    return [np.flatnonzero(label == g) for g in range(label.max(initial=-1) + 1)]
