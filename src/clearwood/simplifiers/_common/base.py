"""What all estimators that turn an ensemble into rules share."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import fit_context
from clearwood._numeric import as_generator
from clearwood._validation import check_table, check_target, check_weight
from clearwood.exceptions import InputError
from clearwood.rules import FeatureBins, RuleSet, Training
from clearwood.simplifiers._common.constraints import Limits, read_limits
from clearwood.simplifiers._common.teacher import (
    Teacher,
    get_teacher,
    warn_of_unknown_categories,
)

LARGEST_VALUE = 1e140
"""Sums of a billion squares of such values are still numbers."""


class RulesFromEnsemble(BaseEstimator):
    """Checks the data, gets the ensemble, and predicts by the printed rules.

    A subclass finds the rules in ``_find_rules``.
    """

    _task: str
    estimator: Any
    random_state: Any
    rules_: RuleSet
    target = "ensemble"
    statement_counts = "distinct"
    forbidden: Any = ()
    monotonic_cst: Any = None

    @staticmethod
    def _default_estimator() -> Any:
        raise NotImplementedError

    def _find_rules(
        self, teacher: Teacher, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        """Set ``rules_`` and the like; the answer goes into what rules say of them."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._default_estimator() if self.estimator is None else self.estimator
        if hasattr(inner, "__sklearn_tags__"):
            tags.input_tags.allow_nan = get_tags(inner).input_tags.allow_nan
        return tags

    # A fitted ensemble in `estimator` keeps its own settings.
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows.
        y : array-like of shape (n_samples,), optional
            Labels or values. Not needed when ``estimator`` is fitted and the rules
            are fitted to what it says; then their precision is not known.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.

        Returns
        -------
        self
        """
        X = check_table(self, X, reset=True)
        n_samples, target_name = X.shape[0], getattr(y, "name", None)
        weight = check_weight(sample_weight, n_samples)
        if y is not None:
            y = check_target(y, n_samples, numeric=self._task == "regression")
        # The ensemble's seed comes first, so that the search does not depend on it.
        generator = as_generator(self.random_state)
        default = self._default_estimator().set_params(
            random_state=int(generator.integers(2**31))
        )
        teacher = get_teacher(
            self.estimator,
            default,
            X,
            y,
            weight if sample_weight is not None else None,
            self._task,
        )
        self.estimator_, self.ensemble_ = teacher.model, teacher.ensemble
        if teacher.classes:
            self.classes_ = np.asarray(self.ensemble_.classes)

        training = self._training(teacher, X, y, weight)
        self.bins_ = FeatureBins.from_ensemble(
            self.ensemble_,
            missing_seen=np.isnan(training.encoded).any(axis=0),
            counts=self.statement_counts,
        )
        about = self._find_rules(teacher, training, generator)
        self.rules_ = self.rules_.with_about(model=self.ensemble_.source, **about)
        if target_name:
            self.rules_ = self.rules_.with_target(str(target_name))
        return self

    def _training(self, teacher: Teacher, X: Any, y: Any, weight: Any) -> Training:
        """The rows that count, and what the rules shall say of them."""
        counted = weight > 0
        labels = None if y is None else teacher.label_codes(y)
        encoded = teacher.ensemble.encode(X)
        warn_of_unknown_categories(teacher.ensemble, encoded)
        said = teacher.says_encoded(encoded)
        if not teacher.classes:
            check_range(said, "What the ensemble says")
        taught = teacher.taught(said, labels, self.target)
        return Training(
            encoded[counted],
            taught[counted],
            None if labels is None else labels[counted],
            weight[counted],
            (said.argmax(axis=1) if teacher.classes else said)[counted],
        )

    def _limits(self, teacher: Teacher) -> Limits:
        """What rules may not ask, and where they must rise or fall."""
        features = self.bins_.features
        return read_limits(
            self.forbidden,
            self.monotonic_cst,
            features,
            list(getattr(self, "feature_names_in_", features.names)),
            len(teacher.classes),
        )

    def predict(self, X: Any) -> np.ndarray:
        """What the printed rules say.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict(check_table(self, X, reset=False))


def check_range(values: np.ndarray, name: str) -> None:
    """Refuse values whose squares, or those of their differences, are not numbers."""
    low, high = float(values.min()), float(values.max())
    size = max(abs(low), abs(high), high - low)
    if size > LARGEST_VALUE or 0 < high - low < 1 / LARGEST_VALUE:
        raise InputError(
            f"{name} lies between {low:.3g} and {high:.3g}, which cannot be squared in "
            "float64; fit the ensemble to a target in other units."
        )


class ClassifiesByRules(ClassifierMixin):
    """Rules that say a class."""

    _task = "classification"
    rules_: RuleSet

    @staticmethod
    def _default_estimator() -> Any:
        return HistGradientBoostingClassifier()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the printed rule that decides each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Means, on the rule's training rows, of what the rules were fitted to.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_proba(check_table(self, X, reset=False))


class PredictsByRules(RegressorMixin):
    """Rules that say a value."""

    _task = "regression"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A few steps cannot follow a plane through ten features, which is what
        # scikit-learn means by a reasonable score.
        tags.regressor_tags.poor_score = True
        return tags

    @staticmethod
    def _default_estimator() -> Any:
        return HistGradientBoostingRegressor()
