"""What stays where no split is left: leaves over the columns of a slice."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearwood.circuits.circuit import Node, Product
from clearwood.circuits.distributions import (
    Bernoulli,
    Categorical,
    ChowLiuTree,
    Gaussian,
    MultivariateGaussian,
)
from clearwood.circuits.learning._kernels import (
    components,
    heaviest_tree,
    level_counts,
)
from clearwood.circuits.learning.dependence import find_dependence
from clearwood.circuits.learning.slices import Slice

KAPPA = 2.0
"""Rows without correlation that are added to those of a multivariate normal."""


@dataclass(frozen=True, eq=False)
class Block:
    """Counts of a slice's rows, from which its leaves are made.

    Attributes
    ----------
    slice_ : Slice
    """

    slice_: Slice

    def leaves(self, alpha: float, trees: bool) -> Iterator[Node]:
        """One leaf for each group of columns that stays together.

        Parameters
        ----------
        alpha : float
            Rows of each level, and of the whole table's variance, that are added.
        trees : bool
            Whether discrete columns that depend on each other become a Chow-Liu tree;
            else each is a leaf of its own, as in the thesis.
        """
        groups = self._trees if trees else [(j,) for j in range(len(self._discrete))]
        for group in groups:
            yield (
                self._tree(group, alpha) if len(group) > 1 else self._level(*group, alpha)
            )
        yield from self._normals(alpha)
