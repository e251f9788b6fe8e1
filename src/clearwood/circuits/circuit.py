"""Circuits (sum-product networks): mixtures over rows, products over columns.

This form is learned, displayed, checked and saved. Evaluation uses arrays compiled from
it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.circuits.nodes import Node, Product, Sum, walk, with_children
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.table_variables import TableVariables
from clearwood.results import Result

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.circuits.compiled import Compiled


@dataclass(frozen=True, eq=False, repr=False)
class Circuit(Result):
    """Sum-product network: a distribution of the rows of a table.

    Attributes
    ----------
    root : node
    features : FeatureSpace
        Names of the variables, and the levels of discrete ones, also of numbers (0 and
        1, say). A row of variables holds the position of the level for discrete ones,
        the value for continuous ones, NaN where it is missing.
    table : TableVariables, optional
        How the columns of a table are variables, if not each is one as it is.
    """

    _display = "clearwood.circuits.reading.display:CircuitDisplay"

    root: Node
    features: FeatureSpace
    table: TableVariables = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.table is None:
            object.__setattr__(self, "table", TableVariables.plain(self.features))

    def text(self, *, depth: int | None = None) -> str:
        """Describe the mixture components and the dependence between columns.

        First the pairs of columns with the strongest dependence, from 0 to 1: the
        absolute correlation of numbers, Cramér's V of levels, the correlation ratio
        between the two; and whether all columns are nearly independent. Then the
        components (kinds of rows), each with its share, the columns that distinguish
        it, and in brackets the same among all rows of the parent. Within a component,
        groups of columns are independent of each other.

        Parameters
        ----------
        depth : int, optional
            Depth to which nested components are shown. By default as many levels as fit
            on a page.

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
        The dependence is weak: rows drawn from the network are 1.05 times as probable
        (geometric mean) as with independent columns.
        2 clusters of rows:
        1. 70 %: age 35.0 ± 8.0 (42 ± 14); smoker = yes in 10 % (19 %)
        2. 30 %: age 60 ± 10 (42 ± 14); smoker = yes in 40 % (19 %)
        """
        from clearwood.circuits.reading.words import describe

        return describe(self, depth)

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
        return _filled, (empty, self.features, self.table)

    def to_frame(self) -> pd.DataFrame:
        """Strength of the dependence of each pair of variables, as pages show it."""
        import pandas as pd

        from clearwood.circuits.reading.strengths import strengths
        from clearwood.circuits.reading.words import names_in_pairs

        names = names_in_pairs(self.features)
        return pd.DataFrame(strengths(self), index=names, columns=names)

    @cached_property
    def compiled(self) -> Compiled:
        """Compiled arrays for evaluation; computed once."""
        from clearwood.circuits.compiled import compile_circuit

        return compile_circuit(self)

    def log_density(self, variables: np.ndarray) -> np.ndarray:
        """Log density of rows in the units of the table's columns.

        Parameters
        ----------
        variables : ndarray of shape (n_rows, n_variables)
            NaN where one is missing: it is marginalized. -1 for a level that did not
            occur in training: as improbable as any of these.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        logs = self.compiled.log_likelihood(variables)
        units = self.table.log_jacobian(variables) + self.table.log_unseen(variables)
        return logs + units

    @property
    def n_columns(self) -> int:
        """Number of columns of the table, and of the class of a classifier."""
        return self.features.n_features - len(self.table.place_of)

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
    table: TableVariables,
) -> Circuit:
    """Build a circuit from nodes without children and their numbers of children."""
    done: list[Node] = []
    for node, n in empty:
        if isinstance(node, Sum | Product):
            node = with_children(node, done[len(done) - n :])
            del done[len(done) - n :]
        done.append(node)
    return Circuit(done[0], features, table)
