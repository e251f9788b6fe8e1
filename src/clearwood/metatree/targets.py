"""Estimators whose targets are labels, and those whose targets are numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin

from clearwood._validation import check_target
from clearwood.exceptions import InputError
from clearwood.metatree.base import LearnsByStatistics


class LearnsClasses(ClassifierMixin, LearnsByStatistics):
    """Targets are labels."""

    _task = "classification"
    classes_: np.ndarray
    predict_proba: Any

    def _find_classes(self, y: np.ndarray, classes: Any) -> None:
        found = np.unique(y)
        if classes is not None:
            known = np.unique(np.asarray(classes))
            strange = np.setdiff1d(found, known)
            if strange.size:
                raise InputError(
                    f"y holds {strange.tolist()[0]!r}, which is not among the classes "
                    f"{known.tolist()}; name all classes there will be."
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
                f"{self.classes_.tolist()} of the first fit; name all classes in the "
                "first call of partial_fit."
            )
        return code

    def partial_fit(
        self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None
    ) -> Any:
        """Learn more rows; the first call chooses the structure, which then stays.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        classes : array-like of shape (n_classes,), optional
            All classes there will be; only the first call looks at them.
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        self
        """
        if self._is_fitted():
            return self._more(X, y, sample_weight)
        self._validate_params()
        return self._fit(X, y, sample_weight, classes)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """Log probability of known labels; minus its mean is the log loss.

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


class LearnsValues(RegressorMixin, LearnsByStatistics):
    """Targets are numbers."""

    _task = "regression"

    def partial_fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Learn more rows; the first call chooses the structure, which then stays.

        So do hyperparameters that are read off the target.

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
        self._validate_params()
        return self._fit(X, y, sample_weight, None)

    def log_density(self, X: Any, y: Any) -> np.ndarray:
        """Log density (of counts: log probability) of known targets.

        Its mean is a score that judges the whole predictive distribution.

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
        """Interval that holds the target with a given probability, in the middle.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        ndarray of shape (n_samples, 2)
            Lower and upper ends.
        """
        if not 0 < coverage < 1:
            raise InputError(f"coverage is {coverage}, expected between 0 and 1.")
        return self.predict_quantile(X, [0.5 - coverage / 2, 0.5 + coverage / 2])
