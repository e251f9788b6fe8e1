"""Private API of scikit-learn that Clearwood uses, and restoring of failed fits.

It is imported here and nowhere else, so that a release of scikit-learn that moves it
breaks this file alone.
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
    "output_columns",
    "columns_of_transformers",
    "fit_context",
    "parameter_names",
    "take_rows",
    "target_scale",
]


def fit_context(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Validate the parameters before a fit; restore the attributes if it fails.

    An error or Ctrl-C leaves the estimator with its earlier fit, or unfitted, and never
    with a part of each. Fits must create new objects and not modify those of an earlier
    fit.

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
    def restoring_fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        try:
            if not get_config()["skip_parameter_validation"]:
                self._validate_params()
            with read_once():
                return fit(self, *args, **kwargs)
        except BaseException as error:
            # In one step, so that a second Ctrl-C cannot leave a partial state.
            self.__dict__ = before
            if _interrupted(error):
                raise KeyboardInterrupt from None
            if getattr(error, "row", None) is not None:
                from clearwood._tables.learning import raise_in_sample

                raise_in_sample(error, *args, **kwargs)
            raise

    return restoring_fit


def _interrupted(error: BaseException | None) -> bool:
    """Whether Ctrl-C caused an error.

    C code that is interrupted while it calls Python raises an error of its own, with
    the KeyboardInterrupt as its cause.

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
    """Names of the constructor parameters of an estimator.

    Examples
    --------
    >>> from sklearn.isotonic import IsotonicRegression
    >>> sorted(parameter_names(IsotonicRegression))
    ['increasing', 'out_of_bounds', 'y_max', 'y_min']
    """
    return set(estimator_class._get_param_names())


def columns_of_transformers(transformer: Any) -> list[tuple[Any, list[int]]]:
    """Transformers of a fitted ColumnTransformer, in output order.

    Each with the positions of its input columns.

    Examples
    --------
    >>> from sklearn.compose import make_column_transformer
    >>> parts = make_column_transformer(("passthrough", [1]), remainder="drop")
    >>> columns_of_transformers(parts.fit([[1.0, 2.0]]))[0][1]
    [1]
    """
    places = transformer._transformer_to_input_indices
    return [(part, list(places[name])) for name, part, _ in transformer.transformers_]


def output_columns(encoder: Any) -> list[range]:
    """Per input column of a fitted encoder, the positions of its output columns.

    Examples
    --------
    >>> from sklearn.preprocessing import OneHotEncoder
    >>> output_columns(OneHotEncoder().fit([["a", 1], ["b", 1]]))
    [range(0, 2), range(2, 3)]
    """
    n_columns = len(encoder.categories_)
    made = getattr(encoder, "_n_features_outs", None)
    if made is None:
        made = [len(encoder.get_feature_names_out()) // n_columns] * n_columns
    ends = np.cumsum([0, *made]).tolist()
    return [range(start, end) for start, end in zip(ends, ends[1:])]


def target_scale(process: Any) -> tuple[float, float]:
    """Mean and scale of the standardized target of a fitted Gaussian process.

    Examples
    --------
    >>> from sklearn.gaussian_process import GaussianProcessRegressor
    >>> process = GaussianProcessRegressor(normalize_y=True).fit([[0], [1]], [2, 8])
    >>> target_scale(process)
    (5.0, 3.0)
    """
    # Their shapes depend on ``normalize_y``.
    mean, scale = process._y_train_mean, process._y_train_std
    return float(np.squeeze(mean)), float(np.squeeze(scale))
