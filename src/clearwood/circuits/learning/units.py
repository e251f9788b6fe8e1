"""Standardization of the continuous columns of a table to mean 0 and variance 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood.circuits.nodes import Node, fold, with_children
from clearwood.columns.feature_space import FeatureSpace
from clearwood.distributions import Leaf


class Units(NamedTuple):
    """Offset and scale of each column; 0 and 1 where it is discrete.

    Learning in these units is invariant to scale and offset, and loses no digits.

    Attributes
    ----------
    zero, one : ndarray of shape (n_columns,)
    """

    zero: np.ndarray
    one: np.ndarray

    @classmethod
    def from_values(cls, values: np.ndarray, features: FeatureSpace) -> Units:
        """Mean and standard deviation of the cells that are present."""
        units = cls(np.zeros(values.shape[1]), np.ones(values.shape[1]))
        for j, levels in enumerate(features.categories):
            if levels is None:
                present = values[~np.isnan(values[:, j]), j]
                # A column of one value, which only dates may be, keeps its unit.
                units.zero[j], units.one[j] = present.mean(), 1.0
                if np.ptp(present):
                    units.one[j] = present.std()
        return units

    def scaled(self, values: np.ndarray) -> np.ndarray:
        """Values in these units."""
        return (values - self.zero) / self.one

    def unscaled(self, values: np.ndarray) -> np.ndarray:
        """Values in these units, in those of the table; columns may lack at the end."""
        d = values.shape[1]
        return values * self.one[:d] + self.zero[:d]

    def restored(self, root: Node) -> Node:
        """Convert a circuit learned in these units to those of the table."""
        if not self.zero.any() and (self.one == 1.0).all():
            return root
        return fold(root, self._leaf, with_children, with_children)

    def _leaf(self, leaf: Leaf) -> Leaf:
        zero, one = (part[list(leaf.variables)] for part in self)
        return leaf.scaled(zero, one)
