"""Histograms: piecewise constant densities."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from clearwood._numeric.logspace import log_of
from clearwood.distributions.categorical import choose, shares, shares_fault
from clearwood.distributions.of_columns import NOT_CONTINUOUS, OfNumbers, Plain, Point


@dataclass(frozen=True, eq=False)
class Histogram(OfNumbers):
    """Histogram leaf: one continuous column of piecewise constant density.

    Attributes
    ----------
    variable : int
    edges : ndarray of shape (n_bins + 1,)
        Increasing. A bin includes its lower edge, the last one both.
    probabilities : ndarray of shape (n_bins,)

    Examples
    --------
    >>> one = Histogram(0, np.array([0.0, 6.0]), np.array([1.0]))
    >>> one.mean, one.variance
    (3.0, 3.0)
    """

    edges: np.ndarray
    probabilities: np.ndarray

    @property
    def degrees_of_freedom(self) -> int:
        """Number of free parameters; edges are fixed."""
        return len(self.probabilities) - 1

    @property
    def middles(self) -> np.ndarray:
        """Midpoints of the bins."""
        return self.edges[:-1] + 0.5 * np.diff(self.edges)

    @property
    def mean(self) -> float:  # type: ignore[override]
        """Mean of the distribution."""
        return float(self.probabilities @ self.middles)

    @property
    def variance(self) -> float:  # type: ignore[override]
        """Variance of the distribution."""
        within, gap = np.diff(self.edges) ** 2 / 12, self.middles - self.mean
        return float(self.probabilities @ (within + gap**2))

    def bins(self, x: np.ndarray) -> np.ndarray:
        """Bin of each value; -1 outside the edges and for missing values."""
        found = np.searchsorted(self.edges, x, side="right") - 1
        found[x == self.edges[-1]] -= 1
        found[~(x <= self.edges[-1])] = -1
        return found

    def density(self, x: np.ndarray) -> np.ndarray:
        """Density at values; 0 outside the edges and for missing values."""
        return np.append(self.probabilities / np.diff(self.edges), 0.0)[self.bins(x)]

    def log_density(self, values: np.ndarray) -> np.ndarray:
        """See ``of_columns``."""
        x = values[:, self.variable]
        return np.where(np.isnan(x), 0.0, log_of(self.density(x)))

    def statistics(self, values: np.ndarray, weight: np.ndarray) -> np.ndarray:
        """Counts per bin; see ``of_columns``."""
        bins = self.bins(values[:, self.variable])
        n = len(self.probabilities)
        return np.bincount(bins[bins >= 0], weight[bins >= 0], minlength=n)

    def estimated(
        self, statistics: np.ndarray, alpha: float, spread: np.ndarray
    ) -> Histogram:
        """See ``of_columns``."""
        p = shares(statistics + alpha, self.probabilities)
        return Histogram(self.variable, self.edges, p)

    def _draws(self, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
        drawn = choose(rng, np.tile(self.probabilities, (shape[0], 1)))[:, None]
        return rng.uniform(self.edges[drawn], self.edges[drawn + 1])

    def modes(self) -> list[Point]:
        """Midpoints of its bins; see ``of_columns``."""
        heights = log_of(self.density(self.middles)).tolist()
        return [(p, {self.variable: x}) for p, x in zip(heights, self.middles)]

    def scaled(self, zero: np.ndarray, one: np.ndarray) -> Histogram:
        """See ``of_columns``."""
        return Histogram(self.variable, self.edges * one + zero, self.probabilities)

    def fault(self, n_levels: Sequence[int]) -> str | None:
        """See ``of_columns``."""
        if any(n_levels):
            return NOT_CONTINUOUS
        if not (np.isfinite(self.edges).all() and (np.diff(self.edges) > 0.0).all()):
            return "has edges that do not increase"
        if self.edges.shape != (len(self.probabilities) + 1,):
            return f"has {len(self.edges)} edges of {len(self.probabilities)} bins"
        return shares_fault(self.probabilities)

    def to_plain(self) -> Plain:
        """See ``of_columns``."""
        return [self.variable], [*self.edges.tolist(), *self.probabilities.tolist()]

    @classmethod
    def from_plain(cls, whole: np.ndarray, numbers: np.ndarray) -> Histogram:
        """See ``of_columns``."""
        n_edges = len(numbers) // 2 + 1
        return cls(int(whole.item()), numbers[:n_edges], numbers[n_edges:])
