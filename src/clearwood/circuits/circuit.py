"""A circuit: mixtures of kinds of rows and products of groups of columns.

This is the form that is learned, read, checked and saved. Evaluation works on arrays
compiled from it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from clearwood.circuits.nodes import Heap, Node, Product, Sum, walk, with_children
from clearwood.columns.feature_space import FeatureSpace

if TYPE_CHECKING:
    from clearwood.circuits.compiled import Compiled


@dataclass(frozen=True, eq=False, repr=False)
class Circuit:
    """A distribution of the rows of a table.

    Attributes
    ----------
    root : node
    features : FeatureSpace
        Names of the columns, and the levels of those that are discrete, numbers too
        (0 and 1, say). Tables are encoded by it: the position of the level for discrete
        columns, the value for continuous ones, NaN for what is missing.
    heaps : tuple of Heap, optional
        Where rows of the table heap up that it was learned from. It says nothing of
        the distribution, but of how it is to be told: a 0 in nearly all rows of a kind
        is no mean.
    """

    root: Node
    features: FeatureSpace
    heaps: tuple[Heap, ...] = ()

    def text(self, *, depth: int | None = None, most: int = 8) -> str:
        """Say in words which kinds of rows there are, and which columns go together.

        First the pairs of columns that depend on each other most, from 0 to 1: the
        size of the correlation of numbers, Cramér's V of levels, the correlation ratio
        between the two. Then the kinds of rows, each with its share, with what marks
        it, and in brackets the same among all the rows that it is told from. Within a
        kind, groups of columns are independent of each other.

        Parameters
        ----------
        depth : int, optional
            How often rows are told apart, one kind within another. By default as often
            as fits on a page.
        most : int, default=8
            Groups of columns that are listed of a kind of rows.

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
        2 columns; rows are told apart at 1 place; 4 leaves.
        Depend on each other most: smoker and age 0.28
        Rows are of 2 kinds:
        1. 70 %: age 35.0 ± 8.0 (42 ± 14); smoker = yes in 10 % (19 %)
        2. 30 %: age 60 ± 10 (42 ± 14); smoker = yes in 40 % (19 %)
        """
        from clearwood.circuits.reading.words import describe

        return describe(self, depth, most)

    def __str__(self) -> str:
        return self.text()

    def __reduce__(self) -> tuple[Any, ...]:
        # Node after node: pickle follows no tree that is hundreds of nodes deep. What
        # is compiled can be laid out anew.
        empty = [
            (with_children(node, ()), len(node.children))
            if isinstance(node, Sum | Product)
            else (node, 0)
            for node in walk(self.root)
        ]
        return _filled, (empty, self.features, self.heaps)

    def __repr__(self) -> str:
        # Not all of it: there may be thousands of nodes, one within another.
        n_columns = self.features.n_features
        return f"<Circuit of {n_columns} columns and {self.n_nodes} nodes; print it>"

    @cached_property
    def compiled(self) -> Compiled:
        """The arrays that are evaluated; laid out once."""
        from clearwood.circuits.compiled import compile_circuit

        return compile_circuit(self)

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


def _filled(
    empty: list[tuple[Node, int]], features: FeatureSpace, heaps: tuple[Heap, ...] = ()
) -> Circuit:
    """The circuit of nodes that lack their children, so many of those before them."""
    done: list[Node] = []
    for node, n in empty:
        if isinstance(node, Sum | Product):
            node = with_children(node, done[len(done) - n :])
            del done[len(done) - n :]
        done.append(node)
    return Circuit(done[0], features, heaps)
