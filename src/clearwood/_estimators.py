"""What the house uses of scikit-learn's private parts.

They are imported here and nowhere else, so that a release of scikit-learn that moves
them breaks this file alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import _fit_context as fit_context
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import Interval, StrOptions

__all__ = [
    "Interval",
    "StrOptions",
    "fit_context",
    "parameter_names",
    "take_rows",
    "target_scale",
]


def parameter_names(estimator_class: Any) -> set[str]:
    """Names of the parameters that the constructor of an estimator takes.

    Examples
    --------
    >>> from sklearn.isotonic import IsotonicRegression
    >>> sorted(parameter_names(IsotonicRegression))
    ['increasing', 'out_of_bounds', 'y_max', 'y_min']
    """
    return set(estimator_class._get_param_names())


def target_scale(process: Any) -> tuple[float, float]:
    """Mean and scale by which a fitted Gaussian process has standardised its target.

    Examples
    --------
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> process = GaussianProcessRegressor(normalize_y=True).fit([[0], [1]], [2, 8])
    >>> target_scale(process)
    (5.0, 3.0)
    """
    # With and without standardising they have other shapes.
    mean, scale = process._y_train_mean, process._y_train_std
    return float(np.squeeze(mean)), float(np.squeeze(scale))
