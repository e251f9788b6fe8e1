"""Fewer cuts of numeric features, where an ensemble has thousands.

Every tree of a forest has cuts of its own: those of one feature soon lie between any
two rows. A few rules need no cut for every row.
"""

from __future__ import annotations

import numpy as np

from clearwood.rules import FeatureBins

MOST_CUTS = 250
"""Per feature; with the bins of missing values, 252 bins."""


def with_fewer_cuts(bins: FeatureBins, encoded: np.ndarray) -> FeatureBins:
    """The bins, with no more than ``MOST_CUTS`` cuts of each feature.

    They are cuts of the ensemble, with about as many rows between each two. Of those
    that are as good the middle one is taken, as they lie close where something changes.

    Parameters
    ----------
    bins : FeatureBins
    encoded : ndarray of shape (n_rows, n_features)
        The rows.
    """
    kept = [
        np.ones(len(cuts), dtype=bool)
        if len(cuts) <= MOST_CUTS
        else _spread(cuts, encoded[:, d])
        for d, cuts in enumerate(bins.cuts)
    ]
    if all(part.all() for part in kept):
        return bins
    return bins.with_cuts(np.concatenate(kept))


def _spread(cuts: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Which cuts of one feature to keep: one in each part of the rows that has some."""
    column = np.sort(column[~np.isnan(column)])
    below = np.searchsorted(column, cuts, side="right")
    part = below * MOST_CUTS // (len(column) + 1)
    _, first, n = np.unique(part, return_index=True, return_counts=True)
    kept = np.zeros(len(cuts), dtype=bool)
    kept[first + n // 2] = True
    return kept
