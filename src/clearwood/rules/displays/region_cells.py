"""Regions of rules and predictions of the ensemble over two features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import Interval, Rule, RuleSet

GRID = 150
"""Grid points per axis for predictions of the ensemble."""


@dataclass(frozen=True)
class Box:
    """Projection of a rule's region onto two features.

    Attributes
    ----------
    number : int
        Number of the rule as printed.
    low, high : tuple of float
        Bounds on both features; infinite where there is none.
    prediction : float, or a class label
        Prediction of the rule.
    further : bool
        Whether the rule uses further features, so that the box is only a projection of
        its region.
    says : str
        The prediction in words.
    """

    number: int
    low: tuple[float, float]
    high: tuple[float, float]
    prediction: Any
    further: bool
    says: str = ""


def two_features(rules: RuleSet, features: Sequence[Any]) -> list[int]:
    """Positions of two different numeric features, given by position or name."""
    names = rules.features.names
    pair = []
    for feature in features:
        if isinstance(feature, str) and feature in names:
            pair.append(names.index(feature))
        elif not isinstance(feature, str) and 0 <= feature < len(names):
            pair.append(int(feature))
        else:
            raise InputError(
                f"features holds {feature!r}; expected a position below {len(names)} "
                f"or one of {list(names)}."
            )
    if len(pair) != 2 or pair[0] == pair[1]:
        raise InputError(f"features must be two different ones, found {features!r}.")
    for d in pair:
        if rules.features.categories[d] is not None:
            raise InputError(
                f"Feature {names[d]!r} holds categories and has no axis; choose two "
                "numeric features."
            )
    return pair


def most_used(rules: RuleSet) -> list[int]:
    """The two numeric features that most rules use, in their original order."""
    numeric = [d for d, c in enumerate(rules.features.categories) if c is None]
    if len(numeric) < 2:
        raise InputError(
            f"The rules read {len(numeric)} numeric feature(s); a picture of regions "
            "needs two."
        )
    used = [c.feature for rule in rules.rules for c in rule.conditions]
    return sorted(sorted(numeric, key=lambda d: -used.count(d))[:2])


def box_of(rule: Rule, number: int, pair: list[int], says: str = "") -> Box | None:
    """Box of a rule, or None if it uses neither feature."""
    of_feature = {c.feature: c for c in rule.conditions if isinstance(c, Interval)}
    here = [of_feature.get(d, Interval(d)) for d in pair]
    if not any(d in of_feature for d in pair):
        return None
    further = any(c.feature not in pair for c in rule.conditions)
    return Box(
        number,
        (here[0].low, here[1].low),
        (here[0].high, here[1].high),
        rule.prediction,
        further,
        says,
    )


def cell_edges(
    boxes: Sequence[Box], bounds: Sequence[tuple[float, float]]
) -> list[np.ndarray]:
    """Edges of the boxes within the bounds, along both axes."""
    edges = []
    for k, (low, high) in enumerate(bounds):
        every = [low, high, *(box.low[k] for box in boxes)]
        every += [box.high[k] for box in boxes]
        edges.append(np.unique(np.clip(every, low, high)))
    return edges


def held_cells(box: Box, edges: Sequence[np.ndarray]) -> np.ndarray:
    """Mask of the cells inside a box, of shape (along second, along first)."""
    first, second = (
        (low < middle) & (middle <= high)
        for low, high, part in zip(box.low, box.high, edges)
        for middle in [(part[1:] + part[:-1]) / 2]
    )
    return second[:, None] & first


def taken_cells(boxes: Sequence[Box], edges: Sequence[np.ndarray]) -> list[np.ndarray]:
    """For each box, the cells that an earlier box covers entirely."""
    taken = np.zeros((len(edges[1]) - 1, len(edges[0]) - 1), dtype=bool)
    before = []
    for box in boxes:
        before.append(taken)
        if not box.further:
            taken = taken | held_cells(box, edges)
    return before


def decided_cells(
    rules: RuleSet, pair: list[int], bounds: Sequence[tuple[float, float]]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The rule that predicts each cell, where the two features determine it.

    Parameters
    ----------
    rules : RuleSet
        A list, not a sum.
    pair : list of int
        Positions of the two features.
    bounds : sequence of (low, high)
        Range of both features in the chart.

    Returns
    -------
    first, second : ndarray
        Edges of cells along both axes.
    number : ndarray of int of shape (len(second) - 1, len(first) - 1)
        The rule as printed; 0 where it depends on other features.
    """
    boxes = [box_of(rule, n, pair) for n, rule in enumerate(rules, start=1)]
    edges = cell_edges([box for box in boxes if box is not None], bounds)
    number = np.zeros((len(edges[1]) - 1, len(edges[0]) - 1), dtype=int)
    free = np.ones(number.shape, dtype=bool)
    for n, (rule, box) in enumerate(zip(rules, boxes), start=1):
        held = free if box is None else free & held_cells(box, edges)
        # A rule on other features may hold anywhere; the default rule covers the rest.
        if not rule.conditions or (box is not None and not box.further):
            number[held] = n
        free = free & ~held
    return edges[0], edges[1], number


def predictions_on_grid(
    ensemble: Any, pair: list[int], points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """Predictions of the ensemble on a grid, if it uses these two features only."""
    if ensemble is None or any(c is not None for c in ensemble.features.categories):
        return None
    if not set(ensemble.feature[ensemble.feature >= 0].tolist()) <= set(pair):
        return None
    first, second = (np.linspace(*limits(column), GRID) for column in points.T)
    # The other features are not used, so any value will do.
    rows = np.zeros((GRID * GRID, ensemble.n_features))
    rows[:, pair[0]] = np.tile(first, GRID)
    rows[:, pair[1]] = np.repeat(second, GRID)
    return first, second, ensemble.predict(rows).reshape(GRID, GRID)


def limits(column: np.ndarray) -> tuple[float, float]:
    """Range of the finite values with a margin.

    Examples
    --------
    >>> limits(np.array([0.0, 100.0, np.nan]))
    (-4.0, 104.0)
    """
    finite = column[np.isfinite(column)]
    low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
    margin = 0.04 * (high - low) if high > low else 0.5
    return float(low - margin), float(high + margin)
