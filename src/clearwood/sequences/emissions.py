"""What a state emits: classes, normal columns, and columns of several kinds.

An emission is a prior. The parameters of all states are one array of shape (n_states,
n_parameters), a row per state, and so are their statistics; rows of values are float64,
classes are numbers from 0 on, and NaN is missing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from clearwood._kernels.numeric import cholesky_of
from clearwood._numeric import product
from clearwood.conjugate.normal_wishart import NormalInverseWishart
from clearwood.conjugate.partial_normal import (
    draw_missing,
    expected_moments,
    log_density,
)
from clearwood.sequences.dirichlet import draw_rows, log_dirichlet, mode_of_rows

UNSEEN = -1
"""A class that training had not."""


class Emission(Protocol):
    """What every emission answers."""

    @property
    def n_columns(self) -> int:
        """Columns of values."""

    @property
    def n_parameters(self) -> int:
        """Length of a state's parameters."""

    @property
    def n_statistics(self) -> int:
        """Length of a state's statistics."""

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log probability of every row of values in every state; 0 of a missing one."""

    def statistics(
        self,
        parameters: np.ndarray,
        values: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """What the states have to know of rows that they have shares in.

        Parameters
        ----------
        parameters : ndarray of shape (n_states, n_parameters)
            Say what to expect of entries that are missing from a row.
        values : ndarray of shape (n_rows, n_columns)
        weight : ndarray of shape (n_rows, n_states)
        rng : Generator, optional
            Draws such entries, in place of what is expected.
        """

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """Parameters from their posterior."""

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """The most probable parameters; of a state without rows, the prior's mean."""

    def log_prior(self, parameters: np.ndarray) -> float:
        """Log density of the prior of all states, up to a constant."""

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """Values that the states emit."""

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """Per state, the probabilities of classes and the means of other columns."""

    def points(self, values: np.ndarray) -> np.ndarray:
        """Rows as points with a mean of 0: columns weigh alike, all classes too."""


@dataclass(frozen=True)
class CategoricalEmission:
    """One column of classes; probabilities have a Dirichlet prior.

    Parameters
    ----------
    alpha : tuple of float
        Pseudo-counts, one per class.
    unseen : float, default=0.0
        Probability of a class that is none of these, the same in all states.

    Examples
    --------
    >>> coin = CategoricalEmission((1.0, 1.0))
    >>> states = np.array([[1, 0], [1, 0], [0, 1]])
    >>> values = np.array([[0.0], [1.0], [1.0]])
    >>> counts = coin.statistics(np.full((2, 2), 0.5), values, states)
    >>> counts.tolist(), coin.mode(counts).tolist()
    ([[1.0, 1.0], [0.0, 1.0]], [[0.5, 0.5], [0.0, 1.0]])
    """

    alpha: tuple[float, ...]
    unseen: float = 0.0

    @property
    def n_columns(self) -> int:
        """One."""
        return 1

    @property
    def n_parameters(self) -> int:
        """Number of classes."""
        return len(self.alpha)

    n_statistics = n_parameters

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        with np.errstate(divide="ignore"):
            table = np.log(parameters).T
            unseen = np.log(self.unseen)
        found = np.zeros((len(values), len(parameters)))
        known = values[:, 0] >= 0
        found[known] = table[values[known, 0].astype(np.intp)]
        found[values[:, 0] == UNSEEN] = unseen
        return found

    def statistics(
        self,
        parameters: np.ndarray,
        values: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Counts, of shape (n_states, n_classes); see ``Emission``."""
        counts = np.zeros((self.n_parameters, weight.shape[1]))
        known = values[:, 0] >= 0
        np.add.at(counts, values[known, 0].astype(np.intp), weight[known])
        return np.ascontiguousarray(counts.T)

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return draw_rows(rng, np.array(self.alpha) + statistics)

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return mode_of_rows(np.array(self.alpha), statistics)

    def log_prior(self, parameters: np.ndarray) -> float:
        """See ``Emission``."""
        return log_dirichlet(np.array(self.alpha), parameters)

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """See ``Emission``."""
        below = np.cumsum(parameters, axis=1)[:, :-1]
        uniform = rng.random(len(states))[:, None]
        return (uniform >= below[states]).sum(axis=1)[:, None].astype(np.float64)

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return parameters

    def points(self, values: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        classes = values == np.arange(self.n_parameters)
        known = np.where(values >= 0, 1.0, np.nan)
        return _unit(classes * known)


@dataclass(frozen=True, eq=False)
class NormalEmission:
    """Columns that are normal together.

    Parameters
    ----------
    prior : NormalInverseWishart
        Of the mean and the covariance of a state. Statistics are the weight, and sums
        about the prior's mean.

    Examples
    --------
    >>> flat = NormalEmission(NormalInverseWishart.flat(np.zeros(1)))
    >>> unit = np.array([[0.0, 1.0]])  # mean and variance of the one state
    >>> rows = flat.statistics(unit, np.array([[1.0], [3.0]]), np.ones((2, 1)))
    >>> rows.tolist(), flat.mode(rows).tolist()
    ([[2.0, 4.0, 10.0]], [[2.0, 1.0]])
    """

    prior: NormalInverseWishart

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.prior.mu)

    @property
    def n_parameters(self) -> int:
        """Means, and all entries of the covariance."""
        return self.n_columns * (1 + self.n_columns)

    @property
    def n_statistics(self) -> int:
        """Weight, sums, and sums of products."""
        return 1 + self.n_parameters

    def moments(self, parameters: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the states."""
        d = self.n_columns
        return parameters[:, :d], parameters[:, d:].reshape(-1, d, d)

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        states = zip(*self.moments(parameters))
        return np.column_stack([log_density(values, *state) for state in states])

    def statistics(
        self,
        parameters: np.ndarray,
        values: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Of shape (n_states, 1 + n_columns + n_columns ** 2); see ``Emission``."""
        seen = ~np.isnan(values).all(axis=1)
        found = []
        for own, mean, covariance in zip(weight.T, *self.moments(parameters)):
            rows = seen & (own > 0)
            mine = values[rows]
            if rng is not None and np.isnan(mine).any():
                mine = draw_missing(rng, mine, mean, covariance)
            found.append(self._sums(mine, own[rows], mean, covariance))
        return np.array(found)

    def _sums(
        self,
        values: np.ndarray,
        weight: np.ndarray,
        mean: np.ndarray,
        covariance: np.ndarray,
    ) -> np.ndarray:
        """Weight, sums and sums of products about the prior's mean."""
        if np.isnan(values).any():
            moments = expected_moments(values, weight, mean, covariance)
            total, sums, products = moments
            shift = mean - self.prior.mu
            across = np.outer(sums, shift)
            products = products + across + across.T + total * np.outer(shift, shift)
            sums = sums + total * shift
        else:
            gap = values - self.prior.mu
            weighted = weight[:, None] * gap
            total, sums = float(weight.sum()), weighted.sum(axis=0)
            products = product(weighted.T, gap)
        return np.array([total, *sums, *products.ravel()])

    def _posteriors(self, statistics: np.ndarray) -> list[NormalInverseWishart]:
        d = self.n_columns
        return [
            self.prior.posterior(own[0], own[1 : 1 + d], own[1 + d :].reshape(d, d))
            for own in statistics
        ]

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        drawn = [after.draw(rng) for after in self._posteriors(statistics)]
        return np.array([[*mean, *covariance.ravel()] for mean, covariance in drawn])

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        modes = [after.mode() for after in self._posteriors(statistics)]
        return np.array([[*mean, *covariance.ravel()] for mean, covariance in modes])

    def log_prior(self, parameters: np.ndarray) -> float:
        """See ``Emission``."""
        states = zip(*self.moments(parameters))
        return math.fsum(self.prior.log_density(*state) for state in states)

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """See ``Emission``."""
        means, covariances = self.moments(parameters)
        factors = np.array([cholesky_of(one) for one in covariances])
        noise = rng.standard_normal((len(states), self.n_columns))
        return means[states] + np.einsum("tij,tj->ti", factors[states], noise)

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return self.moments(parameters)[0]

    def points(self, values: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return np.hstack([_unit(column[:, None]) for column in values.T])


@dataclass(frozen=True, eq=False)
class JointEmission:
    """Groups of columns that are independent given the state.

    Parameters
    ----------
    parts : sequence of tuple
        For each group its columns and its emission.

    Examples
    --------
    >>> coin = CategoricalEmission((1.0, 1.0))
    >>> two = JointEmission([([0], coin), ([1], coin)])
    >>> two.log_likelihood(np.full((1, 4), 0.5), np.array([[1.0, np.nan]])).round(3)
    array([[-0.693]])
    """

    parts: Sequence[tuple[list[int], Emission]]

    @property
    def n_columns(self) -> int:
        """Of all groups."""
        return sum(part.n_columns for _, part in self.parts)

    @property
    def n_parameters(self) -> int:
        """Of all groups."""
        return sum(part.n_parameters for _, part in self.parts)

    @property
    def n_statistics(self) -> int:
        """Of all groups."""
        return sum(part.n_statistics for _, part in self.parts)

    @cached_property
    def places(self) -> list[slice]:
        """Where the parameters of each group stand."""
        ends = np.cumsum([0] + [part.n_parameters for _, part in self.parts]).tolist()
        return [slice(*ends[i : i + 2]) for i in range(len(self.parts))]

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        found = np.zeros((len(values), len(parameters)))
        for place, (columns, part) in zip(self.places, self.parts):
            found += part.log_likelihood(parameters[:, place], values[:, columns])
        return found

    def statistics(
        self,
        parameters: np.ndarray,
        values: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """See ``Emission``."""
        return np.hstack([
            part.statistics(parameters[:, place], values[:, columns], weight, rng)
            for place, (columns, part) in zip(self.places, self.parts)
        ])  # fmt: skip

    def _split(self, statistics: np.ndarray) -> list[tuple[Emission, np.ndarray]]:
        """Every group with its own statistics."""
        sizes = [part.n_statistics for _, part in self.parts]
        own = np.split(statistics, np.cumsum(sizes)[:-1], axis=1)
        return [(part, values) for (_, part), values in zip(self.parts, own)]

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return np.hstack([part.draw(rng, own) for part, own in self._split(statistics)])

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return np.hstack([part.mode(own) for part, own in self._split(statistics)])

    def log_prior(self, parameters: np.ndarray) -> float:
        """See ``Emission``."""
        return math.fsum(
            part.log_prior(parameters[:, place])
            for place, (_, part) in zip(self.places, self.parts)
        )

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """See ``Emission``."""
        values = np.empty((len(states), self.n_columns))
        for place, (columns, part) in zip(self.places, self.parts):
            values[:, columns] = part.sample(rng, parameters[:, place], states)
        return values

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return np.hstack([
            part.expected(parameters[:, place])
            for place, (_, part) in zip(self.places, self.parts)
        ])  # fmt: skip

    def points(self, values: np.ndarray) -> np.ndarray:
        """See ``Emission``."""
        return np.hstack([part.points(values[:, own]) for own, part in self.parts])


def _unit(columns: np.ndarray) -> np.ndarray:
    """Columns about their means, with variances that add up to 1; missing is the mean.

    Of columns without a value, as one that begins later has in some steps, 0.
    """
    n = np.maximum((~np.isnan(columns)).sum(axis=0), 1)
    gap = np.nan_to_num(columns - np.nansum(columns, axis=0) / n)
    scale = math.sqrt(((gap**2).sum(axis=0) / n).sum())
    return gap / (scale if scale > 0 else 1.0)
