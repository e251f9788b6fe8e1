"""A circuit: mixtures of kinds of rows and products of groups of columns.

This is the form that is learned, read, checked and saved. Evaluation works on arrays
compiled from it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from clearwood._features import FeatureSpace
from clearwood.circuits.distributions import Leaf


@dataclass(frozen=True, eq=False)
class Sum:
    """A mixture: every row is of one of several kinds.

    Attributes
    ----------
    weights : ndarray of shape (n_children,)
        Shares of the kinds; they add up to 1.
    children : tuple of nodes
        All over the same variables.
    """

    weights: np.ndarray
    children: tuple[Node, ...]

    @property
    def variables(self) -> tuple[int, ...]:
        """What the node is a distribution of."""
        return self.children[0].variables


@dataclass(frozen=True, eq=False)
class Product:
    """Groups of columns that are independent of each other, here.

    Attributes
    ----------
    children : tuple of nodes
        No two over the same variable.
    """

    children: tuple[Node, ...]

    @property
    def variables(self) -> tuple[int, ...]:
        """What the node is a distribution of, in increasing order."""
        return tuple(sorted(j for child in self.children for j in child.variables))


Node = Sum | Product | Leaf


@dataclass(frozen=True, eq=False)
class Circuit:
    """A distribution of the rows of a table.

    Attributes
    ----------
    root : node
    features : FeatureSpace
        Names of the columns, and the levels of those that are discrete, numbers too
        (0 and 1, say). Tables are encoded by it: the position of the level for discrete
        columns, the value for continuous ones, NaN for what is missing.
    """

    root: Node
    features: FeatureSpace
