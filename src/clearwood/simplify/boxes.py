"""Rules seen along two features: boxes, and what the ensemble says around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from clearwood.exceptions import InputError
from clearwood.rules import Interval, RuleSet

GRID = 150
"""Points per axis at which the ensemble is asked."""


@dataclass(frozen=True)
class Box:
    """A rule's region over two features.

    Attributes
    ----------
    number : int
        Number of the rule as printed.
    low, high : tuple of float
        Bounds on both features; infinite where there is none.
    prediction : float, or a class label
        What the rule says.
    further : bool
        Whether the rule asks other features too, so that the box is only the
        shadow of its region.
    """

    number: int
    low: tuple[float, float]
    high: tuple[float, float]
    prediction: Any
    further: bool


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


def box_of(rule: Any, number: int, pair: list[int]) -> Box | None:
    """The box of a rule, or None where it asks neither feature."""
    asked = {c.feature: c for c in rule.conditions if isinstance(c, Interval)}
    here = [asked.get(d, Interval(d)) for d in pair]
    if not any(d in asked for d in pair):
        return None
    further = any(c.feature not in pair for c in rule.conditions)
    return Box(
        number,
        (here[0].low, here[1].low),
        (here[0].high, here[1].high),
        rule.prediction,
        further,
    )


def said_on_grid(
    ensemble: Any, pair: list[int], points: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """What the ensemble says on a grid, where only these two features matter."""
    if ensemble is None or any(c is not None for c in ensemble.features.categories):
        return None
    if not set(ensemble.feature[ensemble.feature >= 0].tolist()) <= set(pair):
        return None
    first, second = (np.linspace(*limits(column), GRID) for column in points.T)
    # The other features are never asked, so any number will do.
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
