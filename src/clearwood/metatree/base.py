"""Base classes of the estimators of meta-trees and forests of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import fit_context
from clearwood._tables import is_read_in_blocks, open_rows
from clearwood._tables.learning import accepts_tables
from clearwood._warned_once import users_level, warned_once
from clearwood._words.labels import target_name, type_text
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.validation import (
    check_apart,
    check_table,
    check_target,
    check_weight,
    interval_ends,
)
from clearwood.distributions import LeafModel
from clearwood.exceptions import InputError, LostDigitsWarning
from clearwood.metatree.in_blocks import fit_table, learn_table
from clearwood.metatree.posterior.predictive import Predictive
from clearwood.metatree.posterior.structure import Structure

FAR = 1e6
"""Largest ratio of mean to standard deviation for a feature of linear leaves."""


class BaseMetaTreeEstimator(Estimator):
    """Base class that validates data and updates sufficient statistics."""

    _allows_missing = True
    _task: str
    leaf: Any

    def _start(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        """Choose the structure and the priors, and learn all rows."""
        raise NotImplementedError

    def _learn(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        raise NotImplementedError

    def _forget(self, X: Any, target: np.ndarray, weight: np.ndarray) -> None:
        raise NotImplementedError

    def _statistics(self, X: Any, target: np.ndarray, weight: np.ndarray) -> Any:
        """Sufficient statistics of some rows."""
        raise NotImplementedError

    def _add(self, parts: Iterable[Any], anew: bool) -> None:
        """Add statistics of parts of a table to the current ones, or to none."""
        raise NotImplementedError

    def _is_fitted(self) -> bool:
        return hasattr(self, "leaf_model_")

    def _find_classes(self, y: np.ndarray, classes: Any) -> None:
        """Set ``classes_`` of a classifier."""

    def _as_numbers(self, y: np.ndarray) -> np.ndarray:
        return y

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Choose the structure and learn all rows.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Text columns, and those declared categorical (also of numbers), are
            categories; cells may be missing. Or a table read in blocks: the path of
            Parquet files, a function that returns pandas frames, or a Dask collection.
            Of more than 200,000 rows a random sample of that size determines the
            structure and whatever else the first fit reads from the rows, and then all
            rows are learned.
        y : array-like of shape (n_samples,) or str
            Labels or values; for a table read in blocks, the name of a column.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows, as numbers of repetitions; may be fractional.

        Returns
        -------
        self
        """
        return self._fit(X, y, sample_weight, None)

    @fit_context
    @warned_once()
    def _fit(self, X: Any, y: Any, sample_weight: Any, classes: Any) -> Any:
        name = target_name(y)
        if is_read_in_blocks(X):
            fit_table(self, X, y, sample_weight, classes)
            self._target_name = name
            return self
        X, y, weight = self._check_rows(X, y, sample_weight, reset=True)
        self._find_classes(y, classes)
        target = self._as_numbers(y)
        # Rows of weight 0 are left out.
        counted = weight > 0
        if not counted.all():
            X, target, weight = _rows(X, counted), target[counted], weight[counted]
        self._start(X, target, weight)
        self._target_name = name
        return self

    def _more(self, X: Any, y: Any, sample_weight: Any) -> Any:
        if is_read_in_blocks(X):
            return learn_table(self, open_rows(X, y, sample_weight))
        X, y, weight = self._check_rows(X, y, sample_weight, reset=False)
        self._learn(X, self._as_numbers(y), weight)
        return self

    def unlearn(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Remove rows that were learned before.

        Exact given the structure, up to rounding, which matters if these rows are far
        larger than those that remain; a warning is issued then. The structure, and
        hyperparameters derived from the target, still depend on the rows that they were
        made from; fit anew to remove these completely. Rows that cannot have been
        learned raise an error, and nothing is changed.

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
                "None; pass one label or value per row."
            )
        X = check_table(self, X, reset=reset)
        check_apart(X, y)
        y = check_target(y, X.shape[0], numeric=self._task == "regression")
        return X, y, check_weight(sample_weight, X.shape[0])

    def _distributions(self, X: Any) -> Iterator[tuple[slice, Predictive]]:
        """Predictive distributions, in blocks of rows."""
        raise NotImplementedError

    def _check_queries(self, X: Any) -> Any:
        check_is_fitted(self)
        return check_table(self, X, reset=False)


def _rows(X: Any, keep: np.ndarray) -> Any:
    if not is_frame(X):
        return X[keep]
    import narwhals as nw

    return nw.from_native(X, eager_only=True).filter(keep.tolist()).to_native()


class CodedRows(NamedTuple):
    """Rows in the form that meta-trees read: codes, and features of linear leaves."""

    codes: np.ndarray
    x: np.ndarray | None


def rows_for(structure: Structure, leaf: LeafModel, encoded: np.ndarray) -> CodedRows:
    """Rows in the form that a meta-tree reads, from an encoded table."""
    coder = structure.coder
    return CodedRows(
        coder.codes_of(encoded), columns_of_leaf(leaf, coder.features, encoded)
    )


def encoded_for(
    structure: Structure, leaf: LeafModel, X: Any, *, whole: bool = False
) -> np.ndarray:
    """Encode the columns of a table that nodes and leaves read, or the whole table."""
    used = None if leaf.reads_features else structure.used_features
    return structure.coder.features.encode(X, used, whole=whole)


def columns_of_leaf(
    leaf: LeafModel, features: FeatureSpace, encoded: np.ndarray
) -> np.ndarray | None:
    """Features of linear leaves, after a column of ones for an intercept, if any."""
    if not leaf.reads_features:
        return None
    width, read = encoded.shape[1], int(leaf.n_columns or 0) - 1
    if read not in (width, width + 1):
        raise InputError(
            f"leaf_model has {read} features, but X has {width}; its prior mean "
            "requires one number per feature, after one for an optional intercept."
        )
    if not np.isfinite(encoded).all():
        row, d = np.argwhere(~np.isfinite(encoded))[0]
        raise InputError(
            f"Feature {features.names[d]!r} is missing or infinite in row {row}, which "
            f"{type(leaf).__name__} does not accept; impute it, or use a leaf_model "
            "with a constant value per leaf."
        )
    if read == width + 1:
        encoded = np.column_stack([np.ones(len(encoded)), encoded])
    return encoded


def warn_of_far_columns(x: np.ndarray, names: Sequence[str]) -> None:
    """Warn if linear leaves, whose prior is centred at 0, cannot distinguish rows."""
    mean, spread = np.abs(x.mean(axis=0)), x.std(axis=0)
    far = (spread > 0) & (mean > FAR * spread)
    if far.any():
        # Behind a column of ones, if there is one.
        name = [*names][int(far.argmax()) - (x.shape[1] - len(names))]
        warnings.warn(
            f"Feature {name!r} is so far from 0, compared with its standard "
            "deviation, that linear leaves lose precision; subtract its mean.",
            LostDigitsWarning,
            stacklevel=users_level(),
        )


def check_mergeable(one: Any, other: Any) -> None:
    """Raise unless both estimators are fitted, of one type and with equal classes."""
    check_is_fitted(one)
    check_is_fitted(other)
    if one is other:
        raise InputError(
            "Cannot merge an estimator into itself: its rows would count twice."
        )
    if type(one) is not type(other):
        raise InputError(f"Cannot merge {type_text(other)} into {type_text(one)}.")
    classes, others = getattr(one, "classes_", ()), getattr(other, "classes_", ())
    if list(classes) != list(others):
        raise InputError(
            f"Cannot merge: the classes are {np.asarray(classes).tolist()} and "
            f"{np.asarray(others).tolist()}; pass all classes to the first call of "
            "partial_fit."
        )


class MetaTreeClassifierMixin(ClassifierMixin, BaseMetaTreeEstimator):
    """Base class of the classifiers."""

    _task = "classification"
    classes_: np.ndarray

    def _find_classes(self, y: np.ndarray, classes: Any) -> None:
        found = np.unique(y)
        if classes is not None:
            known = np.unique(np.asarray(classes))
            strange = np.setdiff1d(found, known)
            if strange.size:
                raise InputError(
                    f"y holds {strange.tolist()[0]!r}, which is not among the classes "
                    f"{known.tolist()}; pass all classes."
                )
            found = known
        self.classes_ = found

    def _as_numbers(self, y: np.ndarray) -> np.ndarray:
        code = np.searchsorted(self.classes_, y)
        code = np.minimum(code, len(self.classes_) - 1)
        strange = self.classes_[code] != y
        if strange.any():
            row = int(strange.argmax())
            raise InputError(
                f"y is {y[row : row + 1].tolist()[0]!r} in row {row}, which is not "
                f"among the classes "
                f"{self.classes_.tolist()} of the first fit; pass all classes to the "
                "first call of partial_fit."
            )
        return code

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Learn more rows; the first call fixes the structure.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes, in the first call; the same, or None, later.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if not self._is_fitted():
            return self._fit(X, y, sample_weight, classes)
        known = self.classes_ if classes is None else np.unique(np.asarray(classes))
        if not np.array_equal(known, self.classes_):
            raise InputError(
                f"classes are not those of the first fit, {self.classes_.tolist()}; "
                "omit them. Pass weights of rows by name: sample_weight=..."
            )
        return self._more(X, y, sample_weight)

    def _probabilities(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    def _labels(self, X: Any) -> np.ndarray:
        best = self._probabilities(X).argmax(axis=1)
        return self.classes_[best]

    @accepts_tables(shares=True)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities, averaged over all prunings of each tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask a lazy collection.
        """
        return self._probabilities(X)

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        return self._labels(X)

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """Log probability of observed labels; the negative mean is the log loss.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        p = self.predict_proba(X)
        label = self._as_numbers(check_target(y, len(p), numeric=False))
        return np.log(p[np.arange(len(p)), label])


class MetaTreeRegressorMixin(RegressorMixin, BaseMetaTreeEstimator):
    """Base class of the regressors."""

    _task = "regression"

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn more rows; the first call fixes the structure.

        It also fixes hyperparameters derived from the target.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if self._is_fitted():
            return self._more(X, y, sample_weight)
        return self._fit(X, y, sample_weight, None)

    def _means(self, X: Any) -> np.ndarray:
        raise NotImplementedError

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Mean of the predictive distribution, averaged over all prunings of each tree.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        return self._means(X)

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """Log density (for counts: log probability) of observed targets.

        Its mean is a score of the whole predictive distribution.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        y = check_target(y, np.shape(X)[0], numeric=True)
        parts = [p.log_density(y[rows]) for rows, p in self._distributions(X)]
        return np.concatenate(parts)

    def predict_quantile(self, X: Any, quantile: Any = 0.5) -> np.ndarray:
        """Quantiles of the predictive distribution.

        With the default prior they account for its estimation from the same rows, and
        are infinite for a single row, except for the median.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        quantile : float or array-like of shape (n_quantiles,), default=0.5
            Strictly between 0 and 1.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_quantiles)
        """
        return np.concatenate([p.quantile(quantile) for _, p in self._distributions(X)])

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Central prediction interval with a given coverage.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        return self.predict_quantile(X, interval_ends(coverage))
