"""Which node is whose child: all that priors and posteriors ask of a tree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from clearwood.metatree.posterior import _routing_kernels


class TreeShape:
    """What follows from the arrays of parents and first children."""

    parent: np.ndarray
    first_child: np.ndarray

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.parent.size

    @cached_property
    def is_leaf(self) -> np.ndarray:
        """Whether a node is a leaf of T_max."""
        return self.first_child < 0

    @cached_property
    def depth(self) -> np.ndarray:
        """Number of questions above every node."""
        return _routing_kernels.node_depths(self.parent)


@dataclass(frozen=True, eq=False)
class BareTree(TreeShape):
    """A tree of a forest: which features it asks about, but not what.

    Parameters
    ----------
    parent, first_child, feature, original : ndarray of int32 of shape (n_nodes,)
        As in ``Structure``.
    n_features : int
        Number of features of a row.
    """

    parent: np.ndarray
    first_child: np.ndarray
    feature: np.ndarray
    original: np.ndarray
    n_features: int
