"""Base class of the estimators that turn an ensemble into rules."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from sklearn import ensemble as ensembles
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from clearwood._base import Estimator
from clearwood._estimators import Interval, StrOptions, fit_context
from clearwood._numeric import as_generator
from clearwood._numeric.fold_roles import CV
from clearwood._tables import RowBlocks
from clearwood._words.labels import marked_names, target_name
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.validation import (
    check_apart,
    check_excluded,
    check_range,
    check_table,
    check_weight,
)
from clearwood.exceptions import ClassOrderWarning, InputError, PoorFidelityWarning
from clearwood.outcomes import ClassProbabilities, Mean, Outcome, outcome_of
from clearwood.rules import FeatureBins, RuleSet, Training
from clearwood.simplifiers._common.cross_fitting import Change, cross_fit, with_folds
from clearwood.simplifiers._common.explained_model import fitted_model, require_trees
from clearwood.simplifiers._common.flaws import (
    Flaw,
    SingleSplit,
    best_single_split,
    class_order_warning,
    diagnose,
)
from clearwood.simplifiers._common.predictions import Model, class_positions, read_rows
from clearwood.simplifiers._common.presets import preset_in_words, use_preset

CORE: dict[str, Any] = {
    "estimator": "no_validation",
    "n_rules": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
    "max_rules": [Interval(Integral, 1, None, closed="left")],
    "min_samples_leaf": [Interval(Integral, 1, None, closed="left")],
    "learn_from": [StrOptions({"model", "labels"})],
    "exclude_features": "no_validation",
    "round_thresholds": ["boolean"],
    "n_jobs": [None, Integral],
    "verbose": ["verbose"],
    "cv": CV,
    "random_state": "no_validation",
}
"""Constraints of the parameters that every simplifier has, in this order.

A method adds its own after ``round_thresholds``; one without a need for a maximum
allows ``max_rules=None``, too.
"""

LARGEST_WEIGHT = 1e100
"""Inverse of the smallest value that the largest row weight may have."""


class BaseRuleExtractor(Estimator):
    """Validate the data, get the ensemble, and predict by the printed rules.

    A subclass is a method. Steps of a fit; those with an asterisk have a version of
    their own in ``BaseSizePath`` or in a method:

    1. ``_begin``: validated rows, the ensemble, and the target (``_training``*).
    2. ``_find_rules``*: the method itself.
    3. ``cross_fit``: estimates for new rows, by rules of parts of the rows
       (``_refit``*), which replace the statistics (``_change_rules``*).
    4. ``_diagnostics``: warnings of what makes the rules unsuitable (``_remedy``*).
    """

    _outcome: Outcome
    estimator: Any
    n_rules: int | str = "auto"
    max_rules: int | None
    min_samples_leaf: int
    learn_from: str = "model"
    exclude_features: Any = ()
    round_thresholds: bool = True
    n_jobs: int | None
    verbose: bool
    cv: Any = None
    random_state: Any
    statement_counts = "distinct"
    preset: str | None = None
    # With preset="paper": the values of parameters at their defaults.
    _paper: Mapping[str, Any] = {}
    _needs_trees = False
    _reads_sparse = False
    _method_remedy = (
        "Allow more rules (max_rules, --max-rules), or find the method of highest "
        "fidelity (compare)."
    )
    rules_: RuleSet
    ensemble_: Any
    bins_: FeatureBins
    shrinkage_: dict[str, float] | None
    single_split_fidelity_: float

    @staticmethod
    def _default_estimator() -> Any:
        raise NotImplementedError

    def _find_rules(
        self, training: Training, generator: np.random.Generator
    ) -> dict[str, str]:
        """Set ``rules_`` and the like; the result is added to the rules' ``about``."""
        raise NotImplementedError

    def _learn_table(self, table: RowBlocks, training: Training) -> dict[str, str]:
        """Continue on all rows of a table, where a method can, and record it."""
        return {}

    def _refit(self, training: Training, generator: np.random.Generator) -> RuleSet:
        """Rules of the same kind and size from a part of the rows alone.

        The ensemble's predictions for other rows are not used, as it may have learnt
        the very labels that these rules are then evaluated by.
        """
        other = copy(self)
        other.set_params(n_jobs=None, verbose=False, round_thresholds=False)
        other._find_rules(training, generator)
        return other.rules_

    def _change_rules(self, change: Change) -> None:
        """Replace the rules of all sizes, as by those with estimates for new rows."""
        path = getattr(self, "path_", (self.rules_,))
        chosen = [rules is self.rules_ for rules in path].index(True)
        path = tuple(map(change, path))
        self.rules_ = path[chosen]
        if hasattr(self, "path_"):
            self.path_ = path

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = self._default_estimator() if self.estimator is None else self.estimator
        if hasattr(inner, "__sklearn_tags__"):
            inner_tags = get_tags(inner).input_tags
            tags.input_tags.allow_nan = inner_tags.allow_nan
            tags.input_tags.sparse = self._reads_sparse and inner_tags.sparse
        return tags

    def fit(
        self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None
    ) -> Any:
        """Fit the rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
            Training rows. Lists, trees and sums also accept sparse matrices.
        y : array-like of shape (n_samples,), optional
            Labels or values. Not needed if ``estimator`` is fitted and the rules are
            fitted to its predictions; then their precision is unknown.
        sample_weight : array-like of shape (n_samples,), optional
            Row weights.
        groups : array-like of shape (n_samples,), optional
            Group of each row, such as a patient: rows of a group are held out together
            wherever rows are held out.

        Returns
        -------
        self
        """
        return self._fit_rows(X, y, sample_weight, groups)

    @fit_context
    def _fit_rows(
        self, X: Any, y: Any, *more: Any, table: RowBlocks | None = None
    ) -> Any:
        """Fit the rules; if the rows are a sample of a table, continue on all rows."""
        given = use_preset(self)
        name, (training, generator) = target_name(y), self._begin(X, y, *more)
        about = self._find_rules(training, generator)
        if table is not None:
            about |= self._learn_table(table, training)
        self.shrinkage_ = None
        found = None if training.labels is None else cross_fit(self, training)
        if found is not None:
            self.shrinkage_, with_estimates = found
            self._change_rules(with_estimates)
        features, excluded = self.bins_.features, training.exclude_features
        about |= training.hashes()
        about |= marked_names(features.names, exclude_features=excluded)
        if self.learn_from == "labels":
            about.setdefault("learn_from", "labels")
        about |= preset_in_words(self)
        if self.ensemble_.split_source:
            about["cuts"] = self.ensemble_.split_source
        if self.ensemble_.statistic and self.learn_from != "labels":
            about["predicts"] = self.ensemble_.statistic
        flaws = self._diagnostics(training)
        if flaws:
            about["warning"] = " ".join(flaws)
        rules = self.rules_.with_metadata(model=self.ensemble_.source, **about)
        self.rules_ = rules.with_target(name)
        if training.others is not None:
            # Rules on a subset of columns of a sparse table are mapped back to all.
            columns, info = training.others.columns, [*self.ensemble_.features.info]
            for d, own in zip(columns, self.rules_.features.info):
                info[d] = own
            features = replace(self.ensemble_.features, info=tuple(info))
            self._move(features, dict(enumerate(columns.tolist())))
            self.bins_ = training.bins.in_columns(features, columns)
        self.__dict__ |= given
        return self

    def _begin(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None
    ) -> tuple[Training, np.random.Generator]:
        """Validate the table, get the ensemble, and prepare the training data."""
        self._check_sizes()
        X = check_table(self, X, reset=True, sparse=self._reads_sparse)
        n_samples = X.shape[0]
        weight = check_weight(sample_weight, n_samples)
        check_weight_size(weight)
        if y is not None:
            check_apart(X, y)
            y = self._check_y(y, n_samples)
        # The ensemble's seed is drawn first, so that the search does not depend on it.
        generator = as_generator(self.random_state)
        default = self._default_estimator().set_params(
            random_state=int(generator.integers(2**31))
        )
        given = None if sample_weight is None else weight
        self.estimator_, self.ensemble_ = self._fitted_model(default, X, y, given)
        if self._needs_trees:
            require_trees(self.ensemble_, type(self).__name__)
        if self.ensemble_.classes is not None:
            self.classes_ = np.asarray(self.ensemble_.classes)
        labels = y if self._outcome.is_share else None
        training = self._training(self.ensemble_, X, y, weight)
        training = with_folds(training, self.cv, groups, labels, weight).in_one_order()
        self.bins_ = training.bins
        return training, generator

    def _check_y(self, y: Any, n_samples: int) -> np.ndarray:
        """Validate labels or values."""
        return self._outcome.check(y, n_samples)

    def _fitted_model(self, default: Any, X: Any, y: Any, weight: Any) -> Any:
        """The model as passed in or fitted here, and as it was read."""
        task = self._outcome.model_task
        return fitted_model(self.estimator, default, X, y, weight, task)

    def _move(self, features: FeatureSpace, place: dict[int, int]) -> None:
        """Map all rules to the columns of their features in a table."""
        self.rules_ = self.rules_.in_columns(features, place)

    def _diagnostics(self, training: Training) -> list[str]:
        """Warn of what makes the rules unsuitable as an explanation."""
        split = best_single_split(training, self.min_samples_leaf)
        self.single_split_fidelity_ = split.fidelity
        order, poor = None, []
        if training.classes and training.labels is not None:
            order = class_order_warning(
                training.classes, training.labels, training.model_predictions
            )
        # A single rule has a single prediction, as requested.
        if self._most_rules != 1:
            flaws = diagnose(self.rules_, training, split, self.min_samples_leaf)
            poor = [f"{d.text} {self._remedy(d, training, split)}" for d in flaws]
        if order:
            warnings.warn(order, ClassOrderWarning, stacklevel=5)
        for text in poor:
            warnings.warn(text, PoorFidelityWarning, stacklevel=5)
        return [order, *poor] if order else poor

    def _remedy(self, flaw: Flaw, training: Training, split: SingleSplit) -> str:
        """Suggest how to avoid a flaw."""
        if not len(training.used_features):
            return "Exclude fewer features (exclude_features, --exclude-features)."
        if flaw.kind == "constant":
            return (
                "Use a list, a tree or a sum, which are fitted to probabilities "
                "(method='list', --method list)."
            )
        return self._method_remedy

    @property
    def _most_rules(self) -> Any:
        """Maximum number of rules: requested or by default; None for no limit."""
        return self.max_rules if self.n_rules == "auto" else int(self.n_rules)

    def _check_sizes(self) -> None:
        if self.n_rules == "auto" or self.max_rules is None:
            return
        if int(self.n_rules) > self.max_rules:
            raise InputError(
                f"n_rules={self.n_rules} is more than max_rules={self.max_rules}, the "
                "maximum; raise max_rules or lower n_rules."
            )

    def _training(
        self, ensemble: Model, X: Any, y: Any, weight: np.ndarray
    ) -> Training:
        """The rows of positive weight and the target of the rules."""
        outcome = outcome_of(ensemble.classes, self._outcome)
        labels = None if y is None else class_positions(ensemble, y)
        table, encoded, answers, others = read_rows(ensemble, X)
        target = self._target(answers, labels)
        counted = weight > 0
        encoded = np.asfortranarray(encoded if counted.all() else encoded[counted])
        missing_seen = np.zeros(ensemble.n_features, bool)
        columns = slice(None) if others is None else others.columns
        missing_seen[columns] = np.isnan(encoded).any(axis=0)
        bins = FeatureBins.from_ensemble(
            ensemble, missing_seen=missing_seen, counts=self.statement_counts
        )
        if others is not None:
            bins, others = bins.taken(others.columns), others.take(counted)
        bins = replace(bins, features=bins.features.with_kinds(encoded, table))
        return Training(
            encoded,
            target[counted],
            None if labels is None else labels[counted],
            weight[counted],
            outcome.point(answers)[counted],
            bins,
            outcome.classes,
            check_excluded(self.exclude_features, bins.features, self._columns()),
            others=others,
            outcome=outcome,
        )

    def _target(self, answers: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
        """Target of the fit: the ensemble's predictions, or the labels."""
        check_range(answers, "The model's predictions")
        if self.learn_from == "model":
            return answers
        if labels is None:
            raise InputError(
                "learn_from='labels' requires y to be passed, but the target y is None."
            )
        return outcome_of(self.ensemble_.classes, self._outcome).certain(labels)

    def _columns(self) -> list[str]:
        """Names of the table's columns, of which the ensemble may read only some."""
        return list(getattr(self, "feature_names_in_", self.ensemble_.features.names))

    def predict(self, X: Any) -> np.ndarray:
        """Predict by the printed rules.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict(self._checked(X))

    def _checked(self, X: Any) -> Any:
        return check_table(self, X, reset=False, sparse=self._reads_sparse)


def check_weight_size(weight: np.ndarray) -> None:
    """Raise an error if sums of weights, or products with squares, lose all digits."""
    largest = float(weight.max())
    if not 1 / LARGEST_WEIGHT <= largest <= LARGEST_WEIGHT:
        raise InputError(
            f"The largest sample_weight is {largest:.3g}; expected one from "
            f"{1 / LARGEST_WEIGHT:g} to {LARGEST_WEIGHT:g}. Rescale all weights by a "
            "common factor."
        )


class RuleClassifierMixin(ClassifierMixin):
    """Mixin of rules for classification."""

    _outcome: Outcome = ClassProbabilities()
    rules_: RuleSet
    _checked: Any

    @staticmethod
    def _default_estimator() -> Any:
        return ensembles.HistGradientBoostingClassifier()

    def predict_proba(self, X: Any) -> np.ndarray:
        """Predict class probabilities by the printed rule that predicts each row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Estimates for new rows if labels were given to the fit (``shrinkage_``);
            else means of the target of the fit.
        """
        check_is_fitted(self, "rules_")
        return self.rules_.predict_proba(self._checked(X))


class RuleRegressorMixin(RegressorMixin):
    """Mixin of rules for regression."""

    _outcome: Outcome = Mean()

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # A few steps cannot approximate a plane through ten features, which is what
        # scikit-learn means by a reasonable score.
        tags.regressor_tags.poor_score = True
        return tags

    @staticmethod
    def _default_estimator() -> Any:
        return ensembles.HistGradientBoostingRegressor()
