"""Default leaf models and priors of the estimators."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from clearwood._warned_once import users_level
from clearwood._words.numbers import share_text
from clearwood.distributions import (
    CategoricalDirichlet,
    LeafModel,
    NormalNormalGamma,
)
from clearwood.distributions.counts import Counts
from clearwood.exceptions import DegenerateDensityWarning, InputError

ROWS_OF_MEAN = 0.2
"""Weight of the prior mean of a leaf, in rows."""

SHAPE_OF_PRECISION = 1.5
"""Shape of the gamma prior of a leaf's precision: three degrees of freedom."""

SHARE_OF_VARIANCE = 0.1
"""Prior mode of a leaf's variance, as a share of the target's."""

LENT = 8.0
"""Pseudo-rows that nodes of classes lend their children, in a fitted tree.

Those of values lend none: the RMSE would improve, but a random target would get splits.
In a tree that is grown here the number is chosen by cross-validation."""

SAME_STEP = 1e-6
"""Tolerance for multiples of a step, as a share of the range of the values."""

LARGE_ATOM, FINE_STEP = 0.1, 0.01
"""Share of rows at one value, and step per standard deviation, that no density fits."""

FEW_VALUES = 10
"""Up to this many distinct values are treated as counts, not as a density."""

LEAST_VARIANCE = 1e-280
"""Least variance of a target; below, squares lose digits. Also used for zero."""

ROUNDING = 2.0**-53
"""Relative rounding error of float64."""

SHARE_IN_FORESTS = 0.01
"""``SHARE_OF_VARIANCE`` of a forest: averaging smooths, so that trees may be large."""


def make_leaf(
    leaf: Any,
    classes: np.ndarray | None,
    target: np.ndarray,
    weight: np.ndarray,
    *,
    forest: bool = False,
    lent: float = 0.0,
) -> LeafModel:
    """Leaf model from the parameter of an estimator and the rows of its fit.

    Without classes it is one of regression. In a ``forest`` many trees are averaged, so
    that each may be large. Nodes of classes lend their children ``lent`` pseudo-rows.
    """
    n_classes = None if classes is None else len(classes)
    if isinstance(leaf, str) and leaf == "auto":
        if n_classes is None:
            if forest:
                return leaf_for_values(target, weight, SHARE_IN_FORESTS)
            found = leaf_for_values(target, weight)
            warn_of_atoms(target, weight)
            return replace(found, rounding=step_of(target))
        return leaf_for_classes(n_classes, lent)
    if not isinstance(leaf, LeafModel):
        raise InputError(
            f"leaf_model is {leaf!r}; expected 'auto' or a leaf model such as "
            "NormalNormalGamma()."
        )
    counts = isinstance(leaf, Counts)
    if (n_classes is not None) != counts or (counts and leaf.n_stats != n_classes):
        wanted = "values" if n_classes is None else f"{n_classes} classes"
        raise InputError(
            f"leaf_model is {leaf!r}, which does not fit the target; expected one for "
            f"{wanted}."
        )
    return leaf


def leaf_for_classes(n_classes: int, lent: float = 0.0) -> CategoricalDirichlet:
    """Dirichlet prior of total weight one; for two classes Jeffreys' prior."""
    return CategoricalDirichlet.symmetric(n_classes, 1.0 / n_classes, lent)


def leaf_for_values(
    y: np.ndarray, weight: np.ndarray, share: float = SHARE_OF_VARIANCE
) -> NormalNormalGamma:
    """Weakly informative prior about the mean of the target, scaled by its variance.

    Examples
    --------
    >>> leaf_for_values(np.array([1.0, 5.0]), np.ones(2))
    NormalNormalGamma(m=3.0, kappa=0.2, ..., lent=0.0, estimated_from=2.0)
    """
    NormalNormalGamma().check_target(y)
    # Relative to the largest, so that products of tiny weights do not underflow.
    weight = weight / weight.max()
    mean = float(np.average(y, weights=weight))
    variance = float(np.average((y - mean) ** 2, weights=weight))
    varies = bool(y.min() < y.max())
    if varies and variance < LEAST_VARIANCE:
        raise InputError(
            f"y lies between {y.min()} and {y.max()}, too close for their squares in "
            "float64; multiply y by a large number."
        )
    beta = (SHAPE_OF_PRECISION + 1.0) * share * variance
    # A scale for values that are constant, or differ by rounding only.
    least = ROUNDING if varies else 1e-9
    beta = max(beta, (least * mean) ** 2) or LEAST_VARIANCE
    n = float(weight.sum() ** 2 / (weight**2).sum())
    return NormalNormalGamma(
        mean, ROWS_OF_MEAN, SHAPE_OF_PRECISION, beta, estimated_from=n
    )


def step_of(y: np.ndarray) -> float:
    """Largest step of which all values are multiples, up to a common offset.

    0 if there is none, or if no value is repeated: few values identify a step only if
    some are repeated.

    Examples
    --------
    >>> step_of(np.array([3.0, 5.0, 5.0, 11.0])), step_of(np.array([0.1, 0.2, 0.35]))
    (2.0, 0.0)
    """
    values = np.unique(y)
    if len(values) in (1, len(y)):
        return 0.0
    gap = np.diff(values)
    step, slack = float(gap.min()), SAME_STEP * float(values[-1] - values[0])
    # Euclid's algorithm, on all differences at once.
    while step > slack:
        rest = gap % step
        rest = np.minimum(rest, step - rest)
        if rest.max() <= slack:
            return step
        step = float(rest[rest > slack].min())
    return 0.0


def warn_of_atoms(y: np.ndarray, weight: np.ndarray) -> None:
    """Warn if many rows share one value among others without a common step."""
    values, place = np.unique(y, return_inverse=True)
    share = np.bincount(place, weight) / weight.sum()
    most = int(share.argmax())
    fine = step_of(y) < FINE_STEP * y.std()
    if fine and share[most] >= LARGE_ATOM and len(values) > FEW_VALUES:
        warnings.warn(
            f"{share_text(share[most])} of y are {values[most]:g}, and the others are "
            "continuous: a normal distribution does not describe this point mass, and "
            "log densities and intervals are unreliable in leaves with such rows. "
            "Predict first whether y has this value.",
            DegenerateDensityWarning,
            stacklevel=users_level(),
        )
