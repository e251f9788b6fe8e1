"""Interface of emissions of hidden Markov models, and joint emissions.

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

from clearwood._numeric import product


class Emission(Protocol):
    """Interface of emissions."""

    @property
    def n_columns(self) -> int:
        """Number of columns of values."""

    @property
    def n_parameters(self) -> int:
        """Number of parameters per state."""

    @property
    def n_statistics(self) -> int:
        """Number of statistics per state."""

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log probability of every row of values in every state; 0 if missing."""

    def statistics(
        self,
        parameters: np.ndarray,
        values: np.ndarray,
        weight: np.ndarray,
        rng: np.random.Generator | None = None,
    ) -> np.ndarray:
        """Sufficient statistics of the states, from rows with weights per state.

        Parameters
        ----------
        parameters : ndarray of shape (n_states, n_parameters)
            Determine the expectation of missing entries of a row.
        values : ndarray of shape (n_rows, n_columns)
        weight : ndarray of shape (n_rows, n_states)
        rng : Generator, optional
            Draws missing entries, in place of their expectation.
        """

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """Draw parameters from their posterior."""

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """Posterior mode of parameters; for a state without rows, the prior's mean."""

    def log_prior(self, parameters: np.ndarray) -> float:
        """Log density of the prior of all states, up to a constant."""

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """Draw values emitted by the states."""

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """Per state, probabilities of classes and means of other columns."""

    def points(self, values: np.ndarray) -> np.ndarray:
        """Rows as points of mean 0, with equal weights of columns and of classes."""


@dataclass(frozen=True, eq=False)
class JointEmission:
    """Joint emission of groups of columns that are independent given the state.

    Parameters
    ----------
    parts : sequence of tuple
        For each group its columns and its emission.

    Examples
    --------
    >>> from clearwood.distributions import CategoricalEmission
    >>> coin = CategoricalEmission((1.0, 1.0))
    >>> two = JointEmission([([0], coin), ([1], coin)])
    >>> two.log_likelihood(np.full((1, 4), 0.5), np.array([[1.0, np.nan]])).round(3)
    array([[-0.693]])
    """

    parts: Sequence[tuple[list[int], Emission]]

    @property
    def n_columns(self) -> int:
        """Number of columns of all groups."""
        return sum(part.n_columns for _, part in self.parts)

    @property
    def n_parameters(self) -> int:
        """Number of parameters of all groups."""
        return sum(part.n_parameters for _, part in self.parts)

    @property
    def n_statistics(self) -> int:
        """Number of statistics of all groups."""
        return sum(part.n_statistics for _, part in self.parts)

    @cached_property
    def places(self) -> list[slice]:
        """Positions of the parameters of each group."""
        ends = np.cumsum([0] + [part.n_parameters for _, part in self.parts]).tolist()
        return [slice(*ends[i : i + 2]) for i in range(len(self.parts))]

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log probability of every row of values in every state; 0 if missing."""
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
        """Sufficient statistics of the states, from rows with weights per state."""
        return np.hstack([
            part.statistics(parameters[:, place], values[:, columns], weight, rng)
            for place, (columns, part) in zip(self.places, self.parts)
        ])  # fmt: skip

    def _split(self, statistics: np.ndarray) -> list[tuple[Emission, np.ndarray]]:
        """Split statistics by group."""
        sizes = [part.n_statistics for _, part in self.parts]
        own = np.split(statistics, np.cumsum(sizes)[:-1], axis=1)
        return [(part, values) for (_, part), values in zip(self.parts, own)]

    def draw(self, rng: np.random.Generator, statistics: np.ndarray) -> np.ndarray:
        """Draw parameters from their posterior; see ``Emission``."""
        return np.hstack([part.draw(rng, own) for part, own in self._split(statistics)])

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """Posterior mode of parameters; for a state without rows, the prior's mean."""
        return np.hstack([part.mode(own) for part, own in self._split(statistics)])

    def log_prior(self, parameters: np.ndarray) -> float:
        """Log density of the prior of all states, up to a constant."""
        return math.fsum(
            part.log_prior(parameters[:, place])
            for place, (_, part) in zip(self.places, self.parts)
        )

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """Draw values emitted by the states; see ``Emission``."""
        values = np.empty((len(states), self.n_columns))
        for place, (columns, part) in zip(self.places, self.parts):
            values[:, columns] = part.sample(rng, parameters[:, place], states)
        return values

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """Per state, probabilities of classes and means of other columns."""
        return np.hstack([
            part.expected(parameters[:, place])
            for place, (_, part) in zip(self.places, self.parts)
        ])  # fmt: skip

    def points(self, values: np.ndarray) -> np.ndarray:
        """Rows as points of mean 0, with equal weights of columns and of classes."""
        return np.hstack([part.points(values[:, own]) for own, part in self.parts])


@dataclass(frozen=True, eq=False)
class PointMassEmission(JointEmission):
    """Joint emission of the variables of columns with point masses.

    Of such a column there are shares: of its other cells, then of the point masses.

    Parameters
    ----------
    parts : sequence of tuple
    masses : sequence of (int, slice, tuple of float)
        Of each column the positions of its mean off the point masses and of its shares
        among the expected values, and its point masses.
    """

    masses: Sequence[tuple[int, slice, tuple[float, ...]]]

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """Per state, probabilities of classes and means of columns."""
        found = super().expected(parameters)
        for mean, place, values in self.masses:
            shares, at_masses = found[:, place], np.array(values)
            found[:, mean] *= shares[:, 0]
            found[:, mean] += product(shares[:, 1:], at_masses)
        return np.delete(found, np.r_[*(place for _, place, _ in self.masses)], axis=1)


def unit(columns: np.ndarray) -> np.ndarray:
    """Centre columns, with variances that add up to 1; missing values are the mean.

    Columns without a value in the data, such as those that start later, are 0.
    """
    n = np.maximum((~np.isnan(columns)).sum(axis=0), 1)
    gap = np.nan_to_num(columns - np.nansum(columns, axis=0) / n)
    scale = math.sqrt(((gap**2).sum(axis=0) / n).sum())
    return gap / (scale if scale > 0 else 1.0)
