"""The bare shape of a tree: all that priors and posteriors ask of a structure."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, eq=False)
class TreeShape:
    """Which node is whose child, and nothing of what is asked.

    Parameters
    ----------
    parent, first_child : ndarray of int32 of shape (n_nodes,)
        As in ``Structure``.
    n_features : int
        Number of features of a row.
    """

    parent: np.ndarray
    first_child: np.ndarray
    n_features: int

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.parent.size

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether a node is a leaf."""
        return self.first_child < 0
