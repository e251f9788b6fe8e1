"""Outcomes of projected rules: values or rates, or class probabilities."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from clearwood._tables.learning import accepts_tables
from clearwood.columns.validation import check_table, label_positions
from clearwood.references import Reference
from clearwood.rules import RuleList


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
