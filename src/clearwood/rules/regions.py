"""From bins to conditions."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.rules.bins import FeatureBins
from clearwood.rules.conditions import CategorySet, Condition, Interval

EVERYTHING = object()
"""No condition at all."""


def region_conditions(
    bins: FeatureBins, allowed: np.ndarray, seen: np.ndarray
) -> tuple[Condition, ...] | None:
    """The conditions that allow some bins of every feature.

    Parameters
    ----------
    bins : FeatureBins
    allowed : ndarray of bool of shape (total number of bins,)
        Those of a numeric feature, but for the missing one, are neighbours.
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold training rows. Whether a missing value or an unknown
        category belongs to a region is only known where there were some.

    Returns
    -------
    tuple of Interval or CategorySet, or None
        None where no value of some feature is left.
    """
    conditions: list[Condition] = []
    for d in bins.used_features:
        part = slice(bins.bin_start[d], bins.bin_start[d] + bins.n_bins[d])
        make = _interval if bins.groups[d] is None else _category_set
        condition = make(bins, int(d), allowed[part], seen[part])
        if condition is None:
            return None
        if condition is not EVERYTHING:
            conditions.append(condition)
    return tuple(conditions)


def _interval(bins: FeatureBins, d: int, allowed: np.ndarray, seen: np.ndarray) -> Any:
    cuts, inside = bins.cuts[d], np.flatnonzero(allowed[:-1])
    missing = bool(allowed[-1] and seen[-1])
    if len(inside) == 0:
        return Interval(d, low=np.inf, missing=True) if missing else None
    if len(inside) == len(cuts) + 1:
        return Interval(d) if seen[-1] and not missing else EVERYTHING
    low = float(cuts[inside[0] - 1]) if inside[0] > 0 else -np.inf
    high = float(cuts[inside[-1]]) if inside[-1] < len(cuts) else np.inf
    return Interval(d, low, high, missing)


def _category_set(
    bins: FeatureBins, d: int, allowed: np.ndarray, seen: np.ndarray
) -> Any:
    n_groups = len(allowed) - 2
    # A missing value or an unknown category does not restrict what never had one.
    open_ends = (allowed[n_groups:] | ~seen[n_groups:]).all()
    if allowed[:n_groups].all() and open_ends:
        return EVERYTHING
    codes = tuple(np.flatnonzero(allowed[bins.groups[d]]).tolist())
    missing, unseen = (allowed[n_groups:] & seen[n_groups:]).tolist()
    if not seen[n_groups]:
        # "is not 'red'" and no word of missing values, of which nothing is known.
        missing = unseen
    if not codes and not missing and not unseen:
        return None
    return CategorySet(d, codes, missing, unseen)
