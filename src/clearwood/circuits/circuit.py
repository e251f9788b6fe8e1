"""Circuits (sum-product networks): mixtures over rows, products over columns.

This form is learned, displayed, checked and saved. Evaluation uses arrays compiled from
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clearwood.circuits.nodes import Node, PointMass, Product, Sum, walk, with_children
from clearwood.columns.feature_space import FeatureSpace

if TYPE_CHECKING:
    from clearwood.circuits.compiled import Compiled


@dataclass(frozen=True, eq=False, repr=False)
class Circuit:
    """Sum-product network: a distribution of the rows of a table.

    Attributes
    ----------
    root : node
    features : FeatureSpace
        Names of the columns, and the levels of discrete ones, also of numbers (0 and 1,
        say). It encodes tables: the position of the level for discrete columns, the
        value for continuous ones, NaN for missing cells.
    point_masses : tuple of PointMass, optional
        Values that many rows of the training table share. They do not affect the
        distribution, only its description: a 0 in nearly all rows of a component is no
        mean.
    """

    root: Node
    features: FeatureSpace
    point_masses: tuple[PointMass, ...] = ()

    def text(self, *, depth: int | None = None, most: int = 8) -> str:
        """Describe the mixture components and the dependence between columns.

        First the pairs of columns with the strongest dependence, from 0 to 1: the
        absolute correlation of numbers, Cramér's V of levels, the correlation ratio
        between the two. Then the components (kinds of rows), each with its share, the
        columns that distinguish it, and in brackets the same among all rows of the
        parent. Within a component, groups of columns are independent of each other.

        Parameters
        ----------
        depth : int, optional
            Depth to which nested components are shown. By default as many levels as fit
            on a page.
        most : int, default=8
            Maximum number of column groups listed per component.

        Returns
        -------
        str

        Examples
        --------
        >>> import numpy as np
        >>> from clearwood.distributions import Bernoulli, Gaussian
        >>> features = FeatureSpace(("smoker", "age"), (("no", "yes"), None))
        >>> young = Product((Bernoulli(0, 0.1), Gaussian(1, 35.0, 64.0)))
        >>> old = Product((Bernoulli(0, 0.4), Gaussian(1, 60.0, 100.0)))
        >>> both = Sum(np.array([0.7, 0.3]), (young, old))
        >>> print(Circuit(both, features))
        2 columns; 1 split of rows into clusters; 4 leaves.
        Strongest dependences: smoker and age 0.28
        2 clusters of rows:
        1. 70 %: age 35.0 ± 8.0 (42 ± 14); smoker = yes in 10 % (19 %)
        2. 30 %: age 60 ± 10 (42 ± 14); smoker = yes in 40 % (19 %)
        """
        from clearwood.circuits.reading.words import describe

        return describe(self, depth, most)

    def __str__(self) -> str:
        return self.text()

    def __reduce__(self) -> tuple[Any, ...]:
        # Node by node: pickle recurses, and a tree may be hundreds of nodes deep. The
        # compiled arrays can be rebuilt.
        empty = [
            (with_children(node, ()), len(node.children))
            if isinstance(node, Sum | Product)
            else (node, 0)
            for node in walk(self.root)
        ]
        return _filled, (empty, self.features, self.point_masses)

    def __repr__(self) -> str:
        # Not the whole tree: there may be thousands of nested nodes.
        n_columns = self.features.n_features
        return f"<Circuit of {n_columns} columns and {self.n_nodes} nodes; print it>"

    @cached_property
    def compiled(self) -> Compiled:
        """Compiled arrays for evaluation; computed once."""
        from clearwood.circuits.compiled import compile_circuit

        return compile_circuit(self)

    @property
    def n_nodes(self) -> int:
        """Number of sum, product and leaf nodes."""
        return sum(1 for _ in walk(self.root))

    @property
    def degrees_of_freedom(self) -> int:
        """Number of free parameters: per sum its children less 1, and the leaves'."""
        return sum(
            len(node.children) - 1
            if isinstance(node, Sum)
            else 0
            if isinstance(node, Product)
            else node.degrees_of_freedom
            for node in walk(self.root)
        )


def _filled(
    empty: list[tuple[Node, int]],
    features: FeatureSpace,
    point_masses: tuple[PointMass, ...] = (),
) -> Circuit:
    """Build a circuit from nodes without children and their numbers of children."""
    done: list[Node] = []
    for node, n in empty:
        if isinstance(node, Sum | Product):
            node = with_children(node, done[len(done) - n :])
            del done[len(done) - n :]
        done.append(node)
    return Circuit(done[0], features, point_masses)
