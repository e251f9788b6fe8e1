"""One rule list that approximates a model of several numeric targets.

The steps are those of a list for one target (``rule_list``); these differ:

1. ``_fitted_model``: the model by its predictions, a column per target.
2. The loss is the squared error of the standardized targets, averaged over them
   (``_Means``), so that every target counts alike, whatever its unit.
3. ``_print``: the regions become one list per target, with equal conditions.
4. ``_fit_rows``: the shrinkage for new rows is estimated for each target by itself,
   from the same lists of parts of the rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from clearwood._estimators import fit_context, parameter_names
from clearwood._numeric import variance
from clearwood._numeric.fold_roles import N_FOLDS
from clearwood._warned_once import users_level
from clearwood._words.labels import type_text
from clearwood._words.spelling import suggestion
from clearwood.columns.validation import check_apart, check_target
from clearwood.ensembles.black_box import BlackBox, predicts, task_of, wrap_model
from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.ensembles.read import needs_fit
from clearwood.exceptions import ClassOrderWarning, InputError, PoorFidelityWarning
from clearwood.outcomes import Mean
from clearwood.rules import Training
from clearwood.rules.building.new_rows import (
    evaluate_apart,
    fit_shrinkage,
    with_expectations,
)
from clearwood.rules.several_targets import MultiOutputRules, names_of_targets
from clearwood.simplifiers._common.cross_fitting import left_out_parts
from clearwood.simplifiers._common.flaws import best_single_split, diagnose
from clearwood.simplifiers._common.own_cuts import with_own_cuts_in
from clearwood.simplifiers.rule_list import RuleListRegressor

NOT_FOR_OUTPUTS = {"estimator", "monotonic_cst", "class_weight"}
"""Parameters of lists that need one target."""


@dataclass(frozen=True)
class _Means(Mean):
    """Means of several values, in units in which the variances of all sum to one."""

    def check(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Validate a column of numbers per target."""
        columns = np.asarray(values).T
        return np.column_stack(
            [check_target(one, n_rows, numeric=True, name=name) for one in columns]
        )

    def losses(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Squared differences, summed over the targets."""
        return ((truth - predicted) ** 2).sum(axis=-1)

    def scale(self, answers: np.ndarray, weight: np.ndarray) -> Any:
        """Means of the targets, and their units."""
        spread = np.sqrt([variance(column, weight) for column in answers.T])
        known = np.where(spread > 0, spread, 1.0) * max(1, (spread > 0).sum()) ** 0.5
        return np.average(answers, axis=0, weights=weight), known


class _MultiOutputList(RuleListRegressor):
    rules_: Any
    _outcome = _Means()
    _reads_sparse = False

    def _fitted_model(self, default: Any, X: Any, y: Any, weight: Any) -> Any:
        model = self.estimator
        if needs_fit(model):
            if y is None:
                raise InputError("The model is not fitted; pass Y, or a fitted model.")
            model = fit_to_table(deepcopy(model), X, y, weight)
        n_targets = self._n_targets
        black_box = wrap_model(model, X, None, "regression", n_outputs=n_targets)
        return model, with_own_cuts_in(black_box, X, slice(None))

    def _print(self, training: Training, path: Sequence[Any]) -> Any:
        by_target = [
            super(_MultiOutputList, self)._print(of_target(training, j), path)
            for j in range(self._n_targets)
        ]
        return [
            MultiOutputRules(
                tuple(one.with_target(name) for one, name in zip(lists, self._names))
            )
            for lists in zip(*by_target)
        ]

    @fit_context
    def _fit_rows(self, X: Any, y: Any, *more: Any, table: Any = None) -> Any:
        training, generator = self._begin(X, y, *more)
        warn_of_order(training, self._names)
        about = self._find_rules(training, generator)
        about["cuts"] = self.ensemble_.split_source
        parts = []
        if training.labels is not None and len(training) >= N_FOLDS:
            parts = list(left_out_parts(self, training))
        lists = []
        for j, rules in enumerate(self.rules_.lists):
            rows = of_target(training, j)
            if parts:
                apart = [
                    evaluate_apart(
                        found.lists[j], of_target(kept, j), of_target(new, j)
                    )
                    for found, kept, new in parts
                ]
                shrinkage = fit_shrinkage(apart, rows.outcome)
                rules = with_expectations(rules, rows, shrinkage)
            known = about | rows.hashes() | self._flaws(rules, rows)
            lists.append(rules.with_metadata(model=self.ensemble_.source, **known))
        self.rules_ = MultiOutputRules(tuple(lists))
        return self

    def _flaws(self, rules: Any, rows: Training) -> dict[str, str]:
        """Warn where a single split approximates a target better than all rules."""
        if self._most_rules == 1:
            return {}
        split = best_single_split(rows, self.min_samples_leaf)
        found = diagnose(rules, rows, split, self.min_samples_leaf)
        texts = [f"For the target {rules.target!r}: {flaw.text}" for flaw in found]
        for text in texts:
            remedy = "Allow more rules (max_rules), or simplify this target by itself."
            warnings.warn(
                f"{text} {remedy}", PoorFidelityWarning, stacklevel=users_level()
            )
        return {"warning": " ".join(texts)} if texts else {}


def warn_of_order(training: Training, names: Sequence[str]) -> None:
    """Warn if the predictions correlate better with the targets in another order.

    Of chance, sums of correlations differ by up to about two standard errors.
    """
    if training.labels is None:
        return
    predicted, true = training.model_predictions, training.labels
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.corrcoef(predicted, true, rowvar=False)
    found = np.nan_to_num(found[: len(names), len(names) :])
    _, place = linear_sum_assignment(-found)
    gain = (found[range(len(names)), place] - found.diagonal()).sum()
    if gain > 0.1 + 2 / len(true) ** 0.5:
        order = [names[j] for j in place]
        warnings.warn(
            f"The model's predictions correlate better with the targets in the order "
            f"{order} than in that of Y, {list(names)}: pass the columns of Y in the "
            "order in which the model predicts them.",
            ClassOrderWarning,
            stacklevel=users_level(),
        )


def of_target(training: Training, j: int) -> Training:
    """The same rows with one of the targets."""
    labels, target = training.labels, np.ascontiguousarray(training.target[:, j])
    one = replace(
        training,
        target=target,
        labels=None if labels is None else labels[:, j],
        model_predictions=training.model_predictions[:, j],
        outcome=Mean(),
        scale=None,
    )
    one.__dict__["codes"] = training.codes
    return one


def simplify_outputs(
    model: Any,
    X: Any,
    Y: Any,
    sample_weight: Any,
    groups: Any,
    **settings: Any,
) -> MultiOutputRules:
    """Approximate a model of several numeric targets by one rule list.

    Parameters
    ----------
    model : model or callable
        That predicts an array of shape (n_samples, n_targets), fitted or not.
    X : array-like or frame of shape (n_samples, n_features)
    Y : array-like or frame of shape (n_samples, n_targets), or None
    sample_weight, groups : array-like of shape (n_samples,) or None
    **settings
        Parameters of :class:`RuleListRegressor`.

    Returns
    -------
    MultiOutputRules
    """
    if not predicts(model) or isinstance(model, BlackBox):
        raise InputError(
            f"The model is {type_text(model)}; for several targets pass a model or a "
            "function that predicts a column per target, or one target."
        )
    if hasattr(model, "predict") and task_of(model) == "classification":
        unfitted = needs_fit(model)
        raise InputError(
            f"The model predicts several classes at once; {'fit it, and ' * unfitted}"
            "simplify one output at a time with simplify(lambda X: "
            "model.predict_proba(X)[j], X, Y[:, j]), or, as numbers, pass a function "
            "that returns a probability per row and target."
        )
    known = parameter_names(RuleListRegressor) - NOT_FOR_OUTPUTS
    unknown = sorted(set(settings) - known)
    if unknown:
        raise InputError(
            f"Rules for several targets have no setting {unknown[0]!r}; it has "
            f"{', '.join(sorted(known))}.{suggestion(unknown[0], known)}"
        )
    for name in getattr(Y, "columns", ()):
        check_apart(X, Y[name])
    n_targets = getattr(model, "n_outputs_", 0) if Y is None else np.shape(Y)[1]
    made = _MultiOutputList(model, **settings)
    made._n_targets, made._names = n_targets, names_of_targets(Y, n_targets)
    return made._fit_rows(X, Y, sample_weight, groups).rules_
