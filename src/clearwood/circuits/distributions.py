"""Leaves of circuits: distributions of one column or of a few together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


class OfOneColumn:
    """What the leaves of one column share."""

    variable: int

    @property
    def variables(self) -> tuple[int, ...]:
        """What the leaf is a distribution of."""
        return (self.variable,)


@dataclass(frozen=True, eq=False)
class Bernoulli(OfOneColumn):
    """One column of two levels.

    Attributes
    ----------
    variable : int
    probability : float
        Of the second level.
    """

    variable: int
    probability: float


@dataclass(frozen=True, eq=False)
class Categorical(OfOneColumn):
    """One column of some levels.

    Attributes
    ----------
    variable : int
    probabilities : ndarray of shape (n_levels,)
    """

    variable: int
    probabilities: np.ndarray


@dataclass(frozen=True, eq=False)
class Gaussian(OfOneColumn):
    """One continuous column.

    Attributes
    ----------
    variable : int
    mean, variance : float
    """

    variable: int
    mean: float
    variance: float


@dataclass(frozen=True, eq=False)
class Histogram(OfOneColumn):
    """One continuous column, of constant density between edges.

    Attributes
    ----------
    variable : int
    edges : ndarray of shape (n_bins + 1,)
        Increasing.
    probabilities : ndarray of shape (n_bins,)
    """

    variable: int
    edges: np.ndarray
    probabilities: np.ndarray


@dataclass(frozen=True, eq=False)
class MultivariateGaussian:
    """Continuous columns that depend on each other.

    Attributes
    ----------
    variables : tuple of int
    mean : ndarray of shape (n_variables,)
    covariance : ndarray of shape (n_variables, n_variables)
    """

    variables: tuple[int, ...]
    mean: np.ndarray
    covariance: np.ndarray


@dataclass(frozen=True, eq=False)
class ChowLiuTree:
    """Discrete columns, each of which depends on at most one other.

    Attributes
    ----------
    variables : tuple of int
    parents : tuple of int
        Per variable the position in ``variables`` of what it depends on; -1 for the
        root. Parents come first.
    tables : tuple of ndarray of shape (n_levels_of_parent, n_levels)
        Conditional probabilities; the root's has one row.
    """

    variables: tuple[int, ...]
    parents: tuple[int, ...]
    tables: tuple[np.ndarray, ...]


Leaf = (
    Bernoulli | Categorical | Gaussian | Histogram | MultivariateGaussian | ChowLiuTree
)
