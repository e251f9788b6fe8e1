"""Categorical distributions of one column: fixed, and with a Dirichlet prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy.special import gammaln

from clearwood._numeric.logspace import log_of
from clearwood.distributions.emission import unit
from clearwood.distributions.of_columns import OfOneColumn, Plain, Point

ROUNDING = 1e-6
"""Tolerance for the sum of probabilities to differ from 1."""

UNSEEN = -1
"""A level that was not seen in training."""


def shares(counts: np.ndarray, otherwise: np.ndarray | float = np.nan) -> np.ndarray:
    """Normalize counts along the last axis; ``otherwise`` where there are none.

    Examples
    --------
    >>> shares(np.array([[1.0, 3.0], [0.0, 0.0]]), np.full((2, 2), 0.5)).tolist()
    [[0.25, 0.75], [0.5, 0.5]]
    """
    return _divided(counts, counts.sum(axis=-1, keepdims=True), otherwise)


def shares_of_runs(
    counts: np.ndarray, lengths: np.ndarray, otherwise: np.ndarray | float = np.nan
) -> np.ndarray:
    """Normalize consecutive runs of counts.

    Examples
    --------
    >>> shares_of_runs(np.array([1.0, 3.0, 2.0]), np.array([2, 1])).tolist()
    [0.25, 0.75, 1.0]
    """
    total = np.add.reduceat(counts, np.cumsum(lengths) - lengths)
    return _divided(counts, np.repeat(total, lengths), otherwise)


def _divided(
    counts: np.ndarray, total: np.ndarray, otherwise: np.ndarray | float
) -> np.ndarray:
    return np.where(total > 0.0, counts / np.where(total > 0.0, total, 1.0), otherwise)


def shares_fault(probabilities: np.ndarray) -> str | None:
    """Defect of probabilities, which must add up to 1 along the last axis."""
    total = probabilities.sum(axis=-1)
    if not ((probabilities >= 0.0).all() and (np.abs(total - 1.0) <= ROUNDING).all()):
        return f"has probabilities {probabilities.tolist()}"
    return None


def choose(rng: np.random.Generator, weights: np.ndarray) -> np.ndarray:
    """Draw a position for each row, with probabilities proportional to the row.

    Examples
    --------
    >>> choose(np.random.default_rng(0), np.array([[0.0, 2.0], [1.0, 0.0]])).tolist()
    [1, 0]
    """
    ends = np.cumsum(weights, axis=1)
    at = rng.random((len(weights), 1)) * ends[:, -1:]
    return (ends <= at).sum(axis=1)


# Leaves of circuits


class OfLevels(OfOneColumn):
    """Base class of categorical leaves."""

    probabilities: np.ndarray

    @property
    def degrees_of_freedom(self) -> int:
        """Number of free parameters."""
        return len(self.probabilities) - 1

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """Log probability of known levels; see ``of_columns``."""
        x = values[:, self.variable]
        known = (0.0 <= x) & (x < len(self.probabilities))
        found = np.zeros(len(x))
        found[known] = log_of(self.probabilities)[x[known].astype(np.intp)]
        return found

    def _draws(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        return choose(rng, np.tile(self.probabilities, (shape[0], 1)))[:, None]

    def moments(
        self, own: np.ndarray, tables: Sequence[Any]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Means and covariances of the numeric coordinates of columns."""
        (table,), missing = tables, np.isnan(own)
        level = np.where(missing, 0, own)[:, 0].astype(np.intp)
        centre = self.probabilities @ table
        gap = table - centre
        mean = np.where(missing, centre, table[level])
        return mean, gap.T * self.probabilities @ gap

    def modes(self) -> list[Point]:
        """All levels; see ``of_columns``."""
        heights = enumerate(log_of(self.probabilities).tolist())
        return [(log_p, {self.variable: float(k)}) for k, log_p in heights]

    def scaled(self, zero: np.ndarray, one: np.ndarray) -> Self:
        """Leaf in the units of a table, whose 0 and 1 are given; see ``of_columns``."""
        return self

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """Its defect, if any, in a table whose columns have so many levels."""
        n = len(self.probabilities)
        if self.probabilities.shape != (n_levels[0],):
            return f"is of {n} levels where its column has {n_levels[0]}"
        return shares_fault(self.probabilities)


@dataclass(frozen=True, eq=False)
class Bernoulli(OfLevels):
    """Bernoulli leaf: one column of two levels.

    Attributes
    ----------
    variable : int
    probability : float
        Of the second level.
    """

    probability: float

    @property
    def probabilities(self) -> np.ndarray:  # type: ignore[override]
        """Probabilities of both levels."""
        return np.array([1.0 - self.probability, self.probability])

    def to_plain(self) -> Plain:
        """Its integers and floats, as they are saved; see ``of_columns``."""
        return [self.variable], [self.probability]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Bernoulli:
        """Leaf from its saved integers and floats; see ``of_columns``."""
        return cls(int(whole.item()), float(numbers.item()))


@dataclass(frozen=True, eq=False)
class Categorical(OfLevels):
    """Categorical leaf: one column of several levels.

    Attributes
    ----------
    variable : int
    probabilities : ndarray of shape (n_levels,)
    """

    probabilities: np.ndarray

    def to_plain(self) -> Plain:
        """Its integers and floats, as they are saved; see ``of_columns``."""
        return [self.variable], self.probabilities.tolist()

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Categorical:
        """Leaf from its saved integers and floats; see ``of_columns``."""
        return cls(int(whole.item()), numbers)


def leaf_of_levels(variable: int, probabilities: np.ndarray) -> Bernoulli | Categorical:
    """Leaf of one discrete column."""
    if len(probabilities) == 2:
        return Bernoulli(variable, float(probabilities[1]))
    return Categorical(variable, probabilities)


# With a Dirichlet prior, in rows


def draw_rows(rng: np.random.Generator, counts: np.ndarray) -> np.ndarray:
    """Draw rows of probabilities, each from the Dirichlet distribution of its row."""
    return np.array([rng.dirichlet(row) for row in counts])


def mode_of_rows(alpha: np.ndarray | float, counts: np.ndarray) -> np.ndarray:
    """Posterior mode of rows of probabilities, given counts.

    Pseudo-counts below 1 are subtracted from the counts, at most all of them. A row of
    which nothing is left is the prior's mean. ``alpha`` may have a row for each row of
    counts; where it is 0, so is the probability.

    Examples
    --------
    >>> mode_of_rows(2.0, np.array([[3.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.8, 0.2], [0.5, 0.5]]
    """
    alpha = _by_column(alpha, counts)
    mean = alpha / alpha.sum(axis=-1, keepdims=True)
    return shares(np.maximum(counts + alpha - 1.0, 0.0), mean)


def log_dirichlet(alpha: np.ndarray | float, rows: np.ndarray) -> float:
    """Log density of rows of probabilities under Dirichlet priors.

    ``alpha`` is as in :func:`mode_of_rows`. Where it is not 0, probabilities of exactly
    0 are replaced by 1e-300: the density of no EM step is infinite.
    """
    alpha = _by_column(alpha, rows)
    free = np.where(alpha > 0.0, alpha, 1.0)
    constant = gammaln(alpha.sum(axis=-1)) - gammaln(free).sum(axis=-1)
    logs = np.log(np.maximum(rows, 1e-300))
    return float(len(rows) * constant.mean() + ((free - 1.0) * logs).sum())


def _by_column(alpha: np.ndarray | float, rows: np.ndarray) -> np.ndarray:
    """Pseudo-counts of every column, or of every row and column."""
    shape = np.broadcast_shapes(np.shape(alpha), rows.shape[-1:])
    return np.broadcast_to(alpha, shape).astype(np.float64)


@dataclass(frozen=True)
class CategoricalEmission:
    """Emission of one categorical column with a Dirichlet prior.

    Parameters
    ----------
    alpha : tuple of float
        Pseudo-counts, one per class.
    unseen : float, default=0.0
        Probability of an unknown class, the same in all states; those of the known ones
        add up to the rest.

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

    n_columns = 1

    @property
    def n_parameters(self) -> int:
        """Number of classes."""
        return len(self.alpha)

    n_statistics = n_parameters

    def log_likelihood(self, parameters: np.ndarray, values: np.ndarray) -> np.ndarray:
        """Log probability of every row of values in every state; 0 if missing."""
        table = log_of(self.expected(parameters)).T
        unseen = log_of(self.unseen)
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
        """Draw parameters from their posterior; see ``Emission``."""
        return draw_rows(rng, np.array(self.alpha) + statistics)

    def mode(self, statistics: np.ndarray) -> np.ndarray:
        """Posterior mode of parameters; for a state without rows, the prior's mean."""
        return mode_of_rows(np.array(self.alpha), statistics)

    def log_prior(self, parameters: np.ndarray) -> float:
        """Log density of the prior of all states, up to a constant."""
        return log_dirichlet(np.array(self.alpha), parameters)

    def sample(
        self, rng: np.random.Generator, parameters: np.ndarray, states: np.ndarray
    ) -> np.ndarray:
        """Draw values emitted by the states; see ``Emission``."""
        return choose(rng, parameters[states])[:, None].astype(np.float64)

    def expected(self, parameters: np.ndarray) -> np.ndarray:
        """Per state, probabilities of classes and means of other columns."""
        return parameters * (1.0 - self.unseen)

    def points(self, values: np.ndarray) -> np.ndarray:
        """Rows as points of mean 0, with equal weights of columns and of classes."""
        classes = values == np.arange(self.n_parameters)
        return unit(classes * np.where(values >= 0, 1.0, np.nan))
