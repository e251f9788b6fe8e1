"""A circuit: mixtures of kinds of rows and products of groups of columns.

This is the form that is learned, read, checked and saved. Evaluation works on arrays
compiled from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

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
    variables : tuple of int
        What the node is a distribution of, in increasing order; follows from the rest.
    """

    weights: np.ndarray
    children: tuple[Node, ...]
    variables: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        # Once, from the children: circuits may be deeper than Python recurses.
        own = self.children[0].variables if self.children else ()
        object.__setattr__(self, "variables", in_order(own))


@dataclass(frozen=True, eq=False)
class Product:
    """Groups of columns that are independent of each other, here.

    Attributes
    ----------
    children : tuple of nodes
        No two over the same variable.
    variables : tuple of int
        What the node is a distribution of, in increasing order; follows from the rest.
    """

    children: tuple[Node, ...]
    variables: tuple[int, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        own = tuple(j for child in self.children for j in child.variables)
        object.__setattr__(self, "variables", in_order(own))


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

    @property
    def n_nodes(self) -> int:
        """Number of sums, products and leaves."""
        return sum(1 for _ in walk(self.root))

    @property
    def degrees_of_freedom(self) -> int:
        """Free parameters: of a sum one less than it has children, and the leaves'."""
        return sum(
            len(node.children) - 1
            if isinstance(node, Sum)
            else 0
            if isinstance(node, Product)
            else node.degrees_of_freedom
            for node in walk(self.root)
        )


def in_order(variables: tuple[int, ...]) -> tuple[int, ...]:
    """Variables in increasing order; the same tuple where they are."""
    ordered = tuple(sorted(variables))
    return variables if variables == ordered else ordered


def walk(root: Node) -> Iterator[Node]:
    """All nodes, children before their parents and in their order; the root last.

    Examples
    --------
    >>> from clearwood.circuits.distributions import Bernoulli
    >>> [type(node).__name__ for node in walk(Product((Bernoulli(0, 0.5),)))]
    ['Bernoulli', 'Product']
    """
    found, left = [], [root]
    while left:
        node = left.pop()
        found.append(node)
        if isinstance(node, Sum | Product):
            left.extend(node.children)
    return reversed(found)
