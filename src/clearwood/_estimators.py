"""What the house uses of scikit-learn's private parts, and what a fit leaves behind.

Those parts are imported here and nowhere else, so that a release of scikit-learn that
moves them breaks this file alone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import _safe_indexing as take_rows
from sklearn.utils._param_validation import Interval, StrOptions

from clearwood.columns.frames import read_once

__all__ = [
    "Interval",
    "StrOptions",
    "columns_made_of",
    "columns_of_parts",
    "fit_context",
    "parameter_names",
    "take_rows",
    "target_scale",
]


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Check the parameters before a fit; take all back that a failed one has set.

    An error or Ctrl-C leaves the estimator with the fit that it had before, or with
    none, and never with a part of each. That holds as long as fits make new objects
    and change none of an earlier fit.

    Examples
    --------
    >>> from sklearn.base import BaseEstimator
    >>> class Broken(BaseEstimator):
    ...     _parameter_constraints = {}
    ...     @fit_context
    ...     def fit(self, X, y):
    ...         self.classes_ = ["new"]
    ...         raise KeyboardInterrupt
    >>> broken = Broken()
    >>> broken.classes_ = ["old"]
    >>> try:
    ...     broken.fit([[0.0]], [1.0])
    ... except KeyboardInterrupt:
    ...     print(broken.classes_)
    ['old']
    """

    @functools.wraps(fit)
    def fit_or_leave(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        try:
            if not get_config()["skip_parameter_validation"]:
                self._validate_params()
            with read_once():
                return fit(self, *args, **kwargs)
        except BaseException as error:
            # One step, so that a second Ctrl-C finds nothing half done.
            self.__dict__ = before
            if _interrupted(error):
                raise KeyboardInterrupt from None
            if getattr(error, "row", None) is not None:
                from clearwood._tables.learning import refuse_sampled

                refuse_sampled(error, *args, **kwargs)
            raise

    return fit_or_leave


def _interrupted(error: BaseException | None) -> bool:
    """Whether an error is what code in C has made of Ctrl-C.

    Where such code calls a line of Python and Ctrl-C comes there, it raises an error of
    its own, which only says "caused by KeyboardInterrupt".

    Examples
    --------
    >>> error = ValueError("not a valid buffer")
    >>> _interrupted(error)
    False
    >>> error.__cause__ = KeyboardInterrupt()
    >>> _interrupted(error)
    True
    """
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error is not None


def parameter_names(estimator_class: Any) -> set[str]:
    """Names of the parameters that the constructor of an estimator takes.

    Examples
    --------
    >>> from sklearn.isotonic import IsotonicRegression
    >>> sorted(parameter_names(IsotonicRegression))
    ['increasing', 'out_of_bounds', 'y_max', 'y_min']
    """
    return set(estimator_class._get_param_names())


def columns_of_parts(transformer: Any) -> list[tuple[Any, list[int]]]:
    """The parts of a fitted ColumnTransformer, in the order of what they make.

    Each with the positions of the columns that it is handed.

    Examples
    --------
    >>> from sklearn.compose import make_column_transformer
    >>> parts = make_column_transformer(("passthrough", [1]), remainder="drop")
    >>> columns_of_parts(parts.fit([[1.0, 2.0]]))[0][1]
    [1]
    """
    places = transformer._transformer_to_input_indices
    return [(part, list(places[name])) for name, part, _ in transformer.transformers_]


def columns_made_of(encoder: Any) -> list[range]:
    """Per column that a fitted encoder is handed, the positions of what it makes.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> columns_made_of(OneHotEncoder().fit([["a", 1], ["b", 1]]))
    [range(0, 2), range(2, 3)]
    """
    n_columns = len(encoder.categories_)
    made = getattr(encoder, "_n_features_outs", None)
    if made is None:
        made = [len(encoder.get_feature_names_out()) // n_columns] * n_columns
    ends = np.cumsum([0, *made]).tolist()
    return [range(start, end) for start, end in zip(ends, ends[1:])]


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
