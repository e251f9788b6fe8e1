"""What the estimators take where the user leaves the choice to them."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.conjugate import (
    CategoricalDirichlet,
    LeafModel,
    NormalNormalGamma,
)
from clearwood.conjugate.counts import Counts
from clearwood.exceptions import InputError

ROWS_OF_MEAN = 0.2
"""What the prior mean of a leaf is worth, in rows."""

SHAPE_OF_PRECISION = 1.5
"""Of the gamma distribution of a leaf's precision: three degrees of freedom."""

SHARE_OF_VARIANCE = 0.1
"""Prior mode of a leaf's variance, as a share of the target's."""

LEAST_VARIANCE = 1e-280
"""Of a target; the squares of what is smaller lose their digits. 0 has this as well."""

ROUNDING = 2.0**-53
"""By which float64 is wrong, as a share of the number."""

SHARE_IN_FORESTS = 0.01
"""The same in a forest: its trees may be large, as the average over them smooths."""


def make_leaf(
    leaf: Any,
    classes: np.ndarray | None,
    target: np.ndarray,
    weight: np.ndarray,
    share: float = SHARE_OF_VARIANCE,
) -> LeafModel:
    """The leaf model, from the parameter of an estimator and the rows of its fit.

    Parameters
    ----------
    leaf : "auto" or LeafModel
    classes : ndarray or None
        None for values.
    target, weight : ndarray of shape (n_rows,)
    share : float
        Of the target's variance that a leaf's is expected to have.
    """
    n_classes = None if classes is None else len(classes)
    if isinstance(leaf, str) and leaf == "auto":
        if n_classes is None:
            return leaf_for_values(target, weight, share)
        return leaf_for_classes(n_classes)
    if not isinstance(leaf, LeafModel):
        raise InputError(
            f"leaf is {leaf!r}; expected 'auto' or a leaf model such as "
            "NormalNormalGamma()."
        )
    counts = isinstance(leaf, Counts)
    if (n_classes is not None) != counts or (counts and leaf.n_stats != n_classes):
        wanted = "values" if n_classes is None else f"{n_classes} classes"
        raise InputError(
            f"leaf is {leaf!r}, which does not fit the target; expected a leaf for "
            f"{wanted}."
        )
    return leaf


def leaf_for_classes(n_classes: int) -> CategoricalDirichlet:
    """Pseudo-counts that add up to one row: of two classes Jeffreys' prior."""
    return CategoricalDirichlet.symmetric(n_classes, 1.0 / n_classes)


def leaf_for_values(
    y: np.ndarray, weight: np.ndarray, share: float = SHARE_OF_VARIANCE
) -> NormalNormalGamma:
    """A wide prior about the mean of the target, on the scale of its variance.

    Examples
    --------
    >>> leaf_for_values(np.array([1.0, 5.0]), np.ones(2))
    NormalNormalGamma(m=3.0, kappa=0.2, alpha=1.5, beta=1.0)
    """
    NormalNormalGamma().check_target(y)
    # Relative to the largest, so that tiny weights do not vanish in products.
    weight = weight / weight.max()
    mean = float(np.average(y, weights=weight))
    variance = float(np.average((y - mean) ** 2, weights=weight))
    varies = bool(y.min() < y.max())
    if varies and variance < LEAST_VARIANCE:
        raise InputError(
            f"y lies between {y.min()} and {y.max()}, too near each other for their "
            "squares; multiply y by a large number."
        )
    beta = (SHAPE_OF_PRECISION + 1.0) * share * variance
    # Values that are equal, or differ by rounding only, have a scale as well.
    least = ROUNDING if varies else 1e-9
    beta = max(beta, (least * mean) ** 2) or LEAST_VARIANCE
    return NormalNormalGamma(mean, ROWS_OF_MEAN, SHAPE_OF_PRECISION, beta)
