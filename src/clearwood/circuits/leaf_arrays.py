"""Leaves of a compiled circuit, vectorized by type."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from clearwood._kernels.circuits import (
    add_levels,
    add_normals,
    level_flows,
    normal_moments,
    scaled_passes,
    scaled_upward,
)
from clearwood._numeric.logspace import overrelaxed
from clearwood.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    Histogram,
    Leaf,
    MultivariateGaussian,
)
from clearwood.distributions.categorical import OfLevels, shares_of_runs
from clearwood.distributions.chow_liu import levels_of
from clearwood.distributions.normal import estimated
from clearwood.distributions.of_columns import LEAST_SHARE

Edges = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""``sums``, ``first``, ``child`` and ``log_weight`` of a compiled circuit."""

OneByOne = Histogram | MultivariateGaussian | ChowLiuTree
"""Leaves that are evaluated one by one."""


@dataclass(frozen=True, eq=False)
class LevelLeaves:
    """Bernoulli and categorical leaves.

    Attributes
    ----------
    at : ndarray of shape (n_leaves,)
        Indices among all leaves of the circuit.
    leaves : tuple of Leaf
        The leaves before any re-estimation.
    place, variable : ndarray of shape (n_leaves,)
        The place and the column of each.
    first : ndarray of shape (n_leaves + 1,)
        Index of the first level of each leaf in ``probabilities``.
    probabilities : ndarray
    """

    at: np.ndarray
    leaves: tuple[Bernoulli | Categorical, ...]
    place: np.ndarray
    variable: np.ndarray
    first: np.ndarray
    probabilities: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Arguments of the kernels."""
        return self.place, self.variable, self.first, self.probabilities

    def estimated(
        self, counts: np.ndarray, alpha: float, spread: np.ndarray
    ) -> LevelLeaves:
        """See :class:`LeafArrays`."""
        if not len(self.at):
            return self
        lengths = np.diff(self.first)
        found = shares_of_runs(counts + alpha, lengths, self.probabilities)
        return replace(self, probabilities=found)

    def beyond(
        self, earlier: LevelLeaves, length: float, spread: np.ndarray
    ) -> LevelLeaves:
        """See :class:`LeafArrays`."""
        raised = overrelaxed(self.probabilities, earlier.probabilities, length)
        return self.estimated(raised, 0.0, spread)

    def as_leaves(self) -> Iterable[Leaf]:
        """Leaves with the current probabilities."""
        for leaf, p in zip(self.leaves, np.split(self.probabilities, self.first[1:-1])):
            if isinstance(leaf, Bernoulli):
                yield Bernoulli(leaf.variable, float(p[1]))
            else:
                yield Categorical(leaf.variable, p)


@dataclass(frozen=True, eq=False)
class NormalLeaves:
    """Gaussian leaves; the arrays have one entry per leaf."""

    at: np.ndarray
    place: np.ndarray
    variable: np.ndarray
    mean: np.ndarray
    variance: np.ndarray

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """Arguments of the kernels."""
        return self.place, self.variable, self.mean, self.variance

    def estimated(
        self, moments: np.ndarray, alpha: float, spread: np.ndarray
    ) -> NormalLeaves:
        """See :class:`LeafArrays`."""
        rows, own = moments.reshape(-1, 3), spread[self.variable]
        mean, variance = estimated(self.mean, self.variance, rows, alpha, own)
        return replace(self, mean=mean, variance=variance)

    def beyond(
        self, earlier: NormalLeaves, length: float, spread: np.ndarray
    ) -> NormalLeaves:
        """See :class:`LeafArrays`."""
        variance = overrelaxed(self.variance, earlier.variance, length)
        return replace(
            self,
            mean=earlier.mean + length * (self.mean - earlier.mean),
            variance=np.maximum(variance, LEAST_SHARE * spread[self.variable]),
        )

    def as_leaves(self) -> Iterable[Leaf]:
        """Leaves with the current means and variances."""
        for j, mean, variance in zip(
            self.variable.tolist(), self.mean.tolist(), self.variance.tolist()
        ):
            yield Gaussian(j, mean, variance)


@dataclass(frozen=True, eq=False)
class LeafArrays:
    """All leaves of a circuit: common types as arrays, the others as objects.

    Attributes
    ----------
    levels : LevelLeaves
    normals : NormalLeaves
    others : tuple of Leaf
    at, place : ndarray
        Indices of the others among all leaves, and their places.
    """

    levels: LevelLeaves
    normals: NormalLeaves
    others: tuple[OneByOne, ...]
    at: np.ndarray
    place: np.ndarray

    def add_log_density(self, log: np.ndarray, values: np.ndarray) -> None:
        """Add the leaves' log densities of encoded rows to ``log`` (places, rows)."""
        columns = np.ascontiguousarray(values.T)
        add_levels(log, columns, self.levels.arrays)
        add_normals(log, columns, self.normals.arrays)
        for leaf, place, rows in self._with_rows(values):
            log[place] += leaf.log_density(rows)

    def _with_rows(
        self, values: np.ndarray
    ) -> Iterator[tuple[OneByOne, np.int64, np.ndarray]]:
        """The other leaves, their places, and rows in their form: codes for trees."""
        codes = levels_of(values) if self.others else values
        for leaf, place in zip(self.others, self.place):
            yield leaf, place, codes if isinstance(leaf, ChowLiuTree) else values

    def statistics(self, flow: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
        """Sufficient statistics of all leaves, given the flow to their places."""
        columns = np.ascontiguousarray(values.T)
        return [
            level_flows(flow, columns, self.levels.arrays),
            normal_moments(flow, columns, self.normals.arrays).ravel(),
            *(
                leaf.statistics(rows, flow[place])
                for leaf, place, rows in self._with_rows(values)
            ),
        ]

    def scaled_upward(self, edges: Edges, values: np.ndarray) -> np.ndarray:
        """Log densities of encoded rows; NaN where log space is needed."""
        return scaled_upward(edges, self._in(values), values)

    def scaled_passes(
        self, edges: Edges, values: np.ndarray, weight: np.ndarray
    ) -> list[np.ndarray]:
        """Scaled log densities, and statistics of the rows where they are not NaN.

        The statistics are the second result of :meth:`Compiled.downward`, and
        :meth:`statistics`.
        """
        found = scaled_passes(edges, self._in(values), values, weight)
        log, flows, levels, moments, others = found
        statistics = [
            leaf.statistics(rows, flow)
            for (leaf, _, rows), flow in zip(self._with_rows(values), others)
        ]
        return [log, flows, levels, moments.ravel(), *statistics]

    def _in(self, values: np.ndarray) -> tuple[tuple[np.ndarray, ...], ...]:
        """Kernel arguments of the leaves, the others with their log densities."""
        log = np.empty((len(self.others), len(values)))
        for own, (leaf, _, rows) in zip(log, self._with_rows(values)):
            own[:] = leaf.log_density(rows)
        scopes = [leaf.variables for leaf in self.others]
        first = np.cumsum([0, *map(len, scopes)])
        variables = np.array([j for scope in scopes for j in scope], dtype=np.int64)
        others = self.place, first, variables, log
        return self.levels.arrays, self.normals.arrays, others

    def estimated(
        self, statistics: Sequence[np.ndarray], alpha: float, spread: np.ndarray
    ) -> LeafArrays:
        """Maximum-likelihood leaves; see ``distributions.of_columns``."""
        return replace(
            self,
            levels=self.levels.estimated(statistics[0], alpha, spread),
            normals=self.normals.estimated(statistics[1], alpha, spread),
            others=tuple(
                leaf.estimated(own, alpha, spread)
                for leaf, own in zip(self.others, statistics[2:])
            ),
        )

    def beyond(
        self, earlier: LeafArrays, length: float, spread: np.ndarray
    ) -> LeafArrays:
        """See :meth:`Compiled.beyond`; leaves of other types are unchanged."""
        others = (
            new.beyond(old, length)
            if isinstance(new, ChowLiuTree) and isinstance(old, ChowLiuTree)
            else new
            for new, old in zip(self.others, earlier.others)
        )
        return replace(
            self,
            levels=self.levels.beyond(earlier.levels, length, spread),
            normals=self.normals.beyond(earlier.normals, length, spread),
            others=tuple(others),
        )

    def as_leaves(self) -> list[Leaf]:
        """All leaves with current parameters, in the circuit's order."""
        parts = (self.levels, self.normals)
        at = np.concatenate([*(part.at for part in parts), self.at])
        leaves = [leaf for part in parts for leaf in part.as_leaves()] + [*self.others]
        return [leaves[i] for i in np.argsort(at)]


def compile_leaves(leaves: Sequence[Leaf], place: np.ndarray) -> LeafArrays:
    """Compile leaves into arrays; ``place`` holds the place of each."""
    levels, normals, others = [], [], []
    for i, leaf in enumerate(leaves):
        if isinstance(leaf, OfLevels):
            levels.append((i, leaf))
        elif isinstance(leaf, Gaussian):
            normals.append((i, leaf))
        else:
            others.append((i, leaf))
    at_levels, at_normals, at_others = (
        np.array([i for i, _ in own], dtype=np.int64)
        for own in (levels, normals, others)
    )
    return LeafArrays(
        _compile_levels(at_levels, tuple(leaf for _, leaf in levels), place[at_levels]),
        NormalLeaves(
            at_normals,
            place[at_normals],
            np.array([leaf.variable for _, leaf in normals], dtype=np.int64),
            np.array([leaf.mean for _, leaf in normals], dtype=np.float64),
            np.array([leaf.variance for _, leaf in normals], dtype=np.float64),
        ),
        tuple(leaf for _, leaf in others),
        at_others,
        place[at_others],
    )


def _compile_levels(
    at: np.ndarray, leaves: tuple[Bernoulli | Categorical, ...], place: np.ndarray
) -> LevelLeaves:
    probabilities = [leaf.probabilities for leaf in leaves]
    variable = np.array([leaf.variable for leaf in leaves], dtype=np.int64)
    sizes = np.array([len(p) for p in probabilities], dtype=np.int64)
    first = np.concatenate([[0], np.cumsum(sizes)])
    return LevelLeaves(
        at,
        leaves,
        place,
        variable,
        first,
        np.concatenate([np.zeros(0), *probabilities]),
    )
