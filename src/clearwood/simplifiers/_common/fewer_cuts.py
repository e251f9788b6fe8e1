"""Fewer thresholds of numeric features, for ensembles with thousands.

Every tree of a forest has its own thresholds: those of one feature soon separate any
two rows. A few rules do not need a threshold for every row.
"""

from __future__ import annotations

import numpy as np

from clearwood.rules import FeatureBins

MOST_CUTS = 250
"""Maximum per feature; with the bins of missing values, 252 bins."""


def with_fewer_cuts(bins: FeatureBins, encoded: np.ndarray) -> FeatureBins:
    """The bins, with at most ``MOST_CUTS`` thresholds of each feature.

    They are thresholds of the ensemble, at about equal numbers of rows. Of equally good
    ones the middle is taken, as thresholds are dense where predictions change.

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


def cuts_at_quantiles(
    bins: FeatureBins, encoded: np.ndarray, n_quantiles: int
) -> FeatureBins:
    """The bins, with the threshold of each feature nearest to each quantile.

    Parameters
    ----------
    bins : FeatureBins
    encoded : ndarray of shape (n_rows, n_features)
        The rows.
    n_quantiles : int
        Number of quantiles, at equal shares of the rows.
    """
    shares = np.arange(1, n_quantiles + 1) / (n_quantiles + 1)
    kept = []
    for d, cuts in enumerate(bins.cuts):
        column = np.sort(encoded[:, d][~np.isnan(encoded[:, d])])
        below = np.searchsorted(column, cuts, side="right") / max(len(column), 1)
        nearest = np.abs(below[:, None] - shares).argmin(axis=0) if len(cuts) else []
        kept.append(np.isin(np.arange(len(cuts)), nearest))
    return bins.with_cuts(np.concatenate(kept))


def _spread(cuts: np.ndarray, column: np.ndarray) -> np.ndarray:
    """Thresholds of one feature to keep: one in each quantile group that has some."""
    column = np.sort(column[~np.isnan(column)])
    below = np.searchsorted(column, cuts, side="right")
    part = below * MOST_CUTS // (len(column) + 1)
    _, first, n = np.unique(part, return_index=True, return_counts=True)
    kept = np.zeros(len(cuts), dtype=bool)
    kept[first + n // 2] = True
    return kept
