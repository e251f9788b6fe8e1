"""What the estimators of trees and forests share: they learn, and forget, rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils.validation import check_is_fitted

from clearwood._features import is_frame
from clearwood._validation import check_table, check_target, check_weight
from clearwood.ensembles.casts import FLOAT32_LIMIT
from clearwood.exceptions import InputError
from clearwood.metatree.posterior.predictive import Predictive


class LearnsByStatistics(BaseEstimator):
    """Checks data, and learns and forgets rows; the rest is for the subclasses."""

    _task: str
    leaf: Any

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _start(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        """Fix what stays, structures and priors, and learn all rows."""
        raise NotImplementedError

    def _learn(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        raise NotImplementedError

    def _forget(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        raise NotImplementedError

    def _is_fitted(self) -> bool:
        return hasattr(self, "leaf_")

    def _find_classes(self, y: np.ndarray, classes: Any) -> None:
        """Set ``classes_``, where there are any."""

    def _as_numbers(self, y: np.ndarray) -> np.ndarray:
        return y

    # The parameters may hold fitted models, which keep their own settings.
    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Choose the structure, and learn all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Columns of labels are categories; cells may be empty.
        y : array-like of shape (n_samples,)
            Labels or values.
        sample_weight : array-like of shape (n_samples,), optional
            How often each row counts; fractions are welcome.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, None)

    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Any:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=True)
        self._find_classes(y, classes)
        target = self._as_numbers(y)
        # A row that does not count is as good as none.
        counted = weight > 0
        if not counted.all():
            X, target, weight = _rows(X, counted), target[counted], weight[counted]
        self._start(X, target, weight)
        return self

    def _more(self, X: Any, y: Any, sample_weight: Any) -> Any:
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        self._learn(X, self._as_numbers(y), weight)
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Take rows out again that were learned before.

        Exact given the structure. The structure, and hyperparameters that were read
        off the target, still know rows they were made from; fit anew to forget
        these altogether.

        Parameters
        ----------
        X, y, sample_weight
            Rows as they were learned.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        self._forget(X, self._as_numbers(y), weight)
        return self

    def _check_rows(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool
    ) -> tuple[Any, np.ndarray, np.ndarray]:
        if y is None:
            raise InputError(
                f"{type(self).__name__} requires y to be passed, but the target y is "
                "None; give one label or value per row."
            )
        X = check_table(self, X, reset=reset)
        y = check_target(y, X.shape[0], numeric=self._task == "regression")
        return X, y, check_weight(sample_weight, X.shape[0])

    def _distributions(self, X: Any) -> Iterator[tuple[slice, Predictive]]:
        """Predictive distributions, some rows at a time."""
        raise NotImplementedError

    def _check_queries(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_table(self, X, reset=False)


def _rows(X: Any, keep: np.ndarray) -> Any:
    """Some of the rows of an array or frame."""
    if not is_frame(X):
        return X[keep]
    import narwhals as nw

    return nw.from_native(X, eager_only=True).filter(keep.tolist()).to_native()


def check_finite(encoded: np.ndarray, names: tuple[str, ...]) -> None:
    """Refuse numbers that scikit-learn's trees cannot take as float32."""
    too_large = np.abs(encoded) > FLOAT32_LIMIT
    if too_large.any():
        row, d = np.argwhere(too_large)[0]
        raise InputError(
            f"Feature {names[d]!r} holds {encoded[row, d]} in row {row}: infinity, or "
            "too large for float32, in which scikit-learn grows trees. Replace it by "
            "a finite number."
        )


def check_mergeable(one: Any, other: Any) -> None:
    """Refuse estimators not fitted, of different kinds, or with other classes."""
    check_is_fitted(one)
    check_is_fitted(other)
    if type(one) is not type(other):
        raise InputError(
            f"Cannot merge a {type(other).__name__} into a {type(one).__name__}."
        )
    classes, others = getattr(one, "classes_", ()), getattr(other, "classes_", ())
    if list(classes) != list(others):
        raise InputError(
            f"Cannot merge: the classes are {np.asarray(classes).tolist()} and "
            f"{np.asarray(others).tolist()}; give partial_fit all classes when it is "
            "first called."
        )
