"""Conditions under which rows pass from a node of T_max to each of its children."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._words.numbers import shortest_between
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.coder import BinCoder, ValueCoder
from clearwood.metatree.posterior.structure import Structure
from clearwood.rules.conditions import (
    CategorySet,
    Condition,
    Interval,
    combine_literals,
)

STOP = -1
"""Marks, in place of a child, the rows that stop at the node."""


def reading_features(structure: Structure) -> FeatureSpace:
    """Features for printed rules: given values are categories.

    A feature that is split by its values 0, 1, ... becomes categorical with these
    integers, so that other numbers are unseen categories, as in the tree.

    Examples
    --------
    >>> from clearwood.metatree import given
    >>> reading_features(given([0], n_values=[2, 3])).categories
    ((0, 1), ())
    """
    coder, features = structure.coder, structure.coder.features
    if isinstance(coder, BinCoder):
        return features
    categories, lookup = list(features.categories), list(features.lookup)
    for d, labels in enumerate(features.categories):
        if labels is None:
            # For features without a split a file may hold any number of values.
            n_values = int(coder.n_values[d]) if d in structure.used_features else 0
            categories[d] = tuple(range(n_values))
            lookup[d] = "integer"
    return replace(features, categories=tuple(categories), lookup=tuple(lookup))


def branches(structure: Structure, node: int) -> Iterator[tuple[Condition, int]]:
    """Condition of each child of an inner node, then of the rows that stop.

    Parameters
    ----------
    structure : Structure
    node : int

    Yields
    ------
    condition : Interval or CategorySet
    child : int
        Child number, or ``STOP``.

    Examples
    --------
    >>> from clearwood.metatree import given
    >>> tree = given([0], n_values=2)
    >>> for condition, child in branches(tree, 0):
    ...     condition.text(reading_features(tree)), child
    ('x0 is 0', 0)
    ('x0 is 1', 1)
    ('x0 not in {0, 1}', -1)
    """
    child_of_code = structure.child_of_codes(node)
    feature = int(structure.feature[node])
    coder = structure.coder
    for child in (*range(int(structure.n_children[node])), STOP):
        inside = child_of_code == child
        if isinstance(coder, BinCoder) and coder.bins.groups[feature] is None:
            condition = _interval(coder, feature, inside)
        else:
            condition = _category_set(coder, feature, inside)
        if condition is not None:
            yield condition, child


def _interval(coder: BinCoder, d: int, inside: np.ndarray) -> Condition | None:
    """Interval between two cuts, and whether it includes missing values."""
    cuts, missing = coder.bins.cuts[d], bool(inside[-1])
    bins = np.flatnonzero(inside[:-1])
    if not len(bins):
        return Interval(d, low=np.inf, missing=True) if missing else None
    if bins[-1] - bins[0] + 1 != len(bins):
        raise InputError(
            f"A child has values of {coder.features.names[d]!r} that are not "
            "contiguous; such a tree cannot be printed."
        )
    low = _short(cuts[bins[0] - 1]) if bins[0] > 0 else -np.inf
    high = _short(cuts[bins[-1]]) if bins[-1] < len(cuts) else np.inf
    return Interval(d, low, high, missing)


def _short(cut: float) -> float:
    """Shortest number that separates rows as a cut does, up to rounding.

    scikit-learn rounds a value to single precision before it compares it. The exact
    bound therefore lies halfway between two such numbers, and is long. Any number with
    the same rounding is as good.

    Examples
    --------
    >>> _short(0.8000000417232512), _short(0.8000001)
    (0.8, 0.8000001)
    """
    above = float(np.nextafter(cut, np.inf))
    with np.errstate(over="ignore"):
        single = np.float32(cut)
        before = np.nextafter(single, np.float32(-np.inf))
        is_bound = single <= cut and single < np.float32(above) < np.inf
    if not is_bound:
        return float(cut)
    # The numbers that are rounded to the last one on this side.
    low = 0.5 * (float(before) + float(single))
    return shortest_between(float(np.nextafter(low, np.inf)), above, near=float(single))


def _category_set(coder: Any, d: int, inside: np.ndarray) -> Condition | None:
    """Categories by their codes; further ones, and further values, are unseen."""
    missing, unseen = bool(inside[-2]), bool(inside[-1])
    if isinstance(coder, ValueCoder):
        labels = coder.features.categories[d]
        n = int(coder.n_values[d]) if labels is None else len(labels)
        known = inside[: int(coder.n_values[d])][:n]
        of_label = np.append(known, np.full(n - len(known), unseen))
    else:
        of_label = inside[coder.bins.groups[d]]
    codes = tuple(np.flatnonzero(of_label).tolist())
    if not codes and not missing and not unseen:
        return None
    return CategorySet(d, codes, missing, unseen)


def still_open(
    condition: Condition, way: dict[int, Condition]
) -> tuple[Condition, Condition] | None:
    """Condition below others: in printed form, and combined with them.

    Parameters
    ----------
    condition : Interval or CategorySet
    way : dict of int to (Interval or CategorySet)
        Condition on each feature on the path.

    Returns
    -------
    printed, joined : Interval or CategorySet
        The first omits what is impossible on this path. None if no row can come.
    """
    known = way.get(condition.feature)
    if known is None:
        return condition, condition
    joined = combine_literals((known, condition))[0]
    if isinstance(joined, CategorySet):
        some = joined.codes or joined.missing or joined.unseen
        return (joined, joined) if some else None
    if joined.low >= joined.high:
        if not joined.missing:
            return None
        joined = Interval(joined.feature, low=np.inf, missing=True)
        return joined, joined
    assert isinstance(condition, Interval)
    return replace(condition, missing=joined.missing), joined
