"""Predictions of projected rules: values or rates, or class probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._tables.learning import accepts_tables
from clearwood.columns.validation import (
    check_table,
    interval_ends,
    label_positions,
)
from clearwood.projection.leaves import Leaves
from clearwood.projection.predictive_draws import PredictiveDraws
from clearwood.references import Reference
from clearwood.rules import RuleList


class ProjectedPredictions:
    """Mixin for rules with the predictions of each draw of their reference."""

    rules_: RuleList
    leaves_: Leaves

    @accepts_tables()
    def predict(self, X: Any) -> np.ndarray:
        """Predict with the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples,)
            For Dask a lazy collection.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict(check_table(self, X, reset=False))

    def predict_interval(self, X: Any, coverage: float = 0.9) -> np.ndarray:
        """Prediction interval of an observation, or interval of a class probability.

        In regression the interval is for an observation. Where targets of the training
        rows are known (``y``, or those of the reference if it was made with the same
        rows), it is estimated from those of each rule, with some weight on those of all
        rules. Otherwise it includes the variation of the reference's draws, their
        noise, and what the rule leaves out, with one variance for all rules, and holds
        if the reference is right. For counts it is that of a rate. For classes it
        is for each class's mean probability in the rule, and has zero width where the
        reference has one draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        coverage : float, default=0.9

        Returns
        -------
        ndarray of shape (n_samples, 2) or (n_samples, n_classes, 2)
            Lower and upper ends.
        """
        check_is_fitted(self, "rules_")
        ends = interval_ends(coverage)
        predictive = self._predictive(check_table(self, X, reset=False))
        return np.stack([predictive.quantile(end) for end in ends], axis=-1)

    def _predictive(self, X: Any) -> PredictiveDraws:
        """Predictive distributions of rows under the rules, draw by draw."""
        encoded = self.rules_.encode(X)
        return self.leaves_.predictive(self.rules_.apply_encoded(encoded))

    def predict_draws(self, X: Any) -> np.ndarray:
        """Means, rates or class probabilities under each posterior draw.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_draws, n_samples) or (n_draws, n_samples, n_classes)
        """
        check_is_fitted(self, "rules_")
        return self._predictive(check_table(self, X, reset=False)).draws


class ProjectedValues(RegressorMixin):
    """Mixin for rules that predict a mean or a rate."""

    _task = "regression"
    reference_: Reference
    rules_: RuleList

    def _family(self) -> str:
        return "counts" if self.reference_.task == "counts" else "mean"

    def _positions(self, y: np.ndarray) -> np.ndarray:
        return y


class ProjectedClasses(ClassifierMixin):
    """Mixin for rules that predict class probabilities."""

    _task = "classification"
    rules_: RuleList
    classes_: np.ndarray

    def _family(self) -> str:
        return "classes"

    def _positions(self, y: np.ndarray) -> np.ndarray:
        return label_positions(y, self.classes_, "reference")

    @accepts_tables(shares=True)
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of the printed rule that applies to each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Or a table read in blocks, as in ``fit``.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            For Dask a lazy collection.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_proba(check_table(self, X, reset=False))
