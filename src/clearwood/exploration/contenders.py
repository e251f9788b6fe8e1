"""The models that an exploration fits, the cheapest first."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple

import numpy as np

from clearwood.ensembles.raw_tables import fit_to_table
from clearwood.metatree import MetaTreeClassifier, MetaTreeRegressor
from clearwood.projection import ProjectedLinearRegression, ProjectedLogisticRegression
from clearwood.sbfc import SelectiveBayesianForestClassifier
from clearwood.simplifiers import (
    AdditiveRulesClassifier,
    AdditiveRulesRegressor,
    DistilledTreeClassifier,
    DistilledTreeRegressor,
    RuleListClassifier,
    RuleListRegressor,
)

MOST_PARTS = 30
"""Maximum number of literals or terms of a recommended model."""

FEW_PARTS = 10
"""Maximum number of terms of a short linear model."""

RIDGE = 1.0
"""Penalty of a linear model, per standard deviation of its terms."""

BOOSTING = "gradient boosting"


class Contender(NamedTuple):
    """A model to fit.

    Attributes
    ----------
    name : str
    fit : callable
        From rows, targets, the gradient boosting that was fitted to the same rows, and
        a seed to a fitted estimator.
    parts : str
        What its size counts; empty if it cannot be printed in full.
    sizes : tuple of int
        Maximum numbers of rules: one fit gives rules of all sizes.
    is_held_out : bool
        Whether no row that it is scored on took part in its fit.
    """

    name: str
    fit: Callable[[Any, np.ndarray, Any, int], Any]
    parts: str = ""
    sizes: tuple[int, ...] = ()
    is_held_out: bool = True

    @property
    def title(self) -> str:
        """Its name at the start of a sentence."""
        return self.name[0].upper() + self.name[1:]

    def of_sizes(self, fitted: Any) -> list[Any]:
        """The fitted model in each size, with few enough literals."""
        if not self.sizes:
            return [fitted]
        named = [rules.with_target(fitted.rules_.target) for rules in fitted.path_]
        short = [rules for rules in named if rules.n_literals <= MOST_PARTS]
        return [
            _with_rules(fitted, [r for r in short if r.n_rules <= size][-1])
            for size in self.sizes
        ]

    def size(self, fitted: Any) -> float:
        """Number of literals or terms; NaN if it cannot be printed in full."""
        if self.parts == "literals":
            return float(fitted.rules_.n_literals)
        return float(np.count_nonzero(fitted.coef_)) if self.parts else math.nan

    def text(self, fitted: Any) -> str:
        """The model in full."""
        return fitted.summary() if self.parts == "terms" else str(fitted.rules_)


def _with_rules(fitted: Any, rules: Any) -> Any:
    other = copy(fitted)
    other.rules_ = rules
    return other


def _boosting(kind: str) -> Callable[..., Any]:
    def fit(X: Any, y: np.ndarray, _: Any, seed: int) -> Any:
        from sklearn import ensemble

        model = getattr(ensemble, f"HistGradientBoosting{kind}")(random_state=seed)
        return fit_to_table(model, _with_values(X), y)

    return fit


def _with_values(X: Any) -> Any:
    """The rows; columns without any value, which boosting cannot bin, are constant."""
    X = X.copy()
    for name in X:
        kind = X[name].dtype
        if kind.kind in "fMm" and X[name].isna().all():
            X[name] = 0
            X[name] = X[name].astype(kind)
    return X


def _linear(kind: Any, max_terms: int = MOST_PARTS) -> Callable[..., Any]:
    def fit(X: Any, y: np.ndarray, boosting: Any, seed: int) -> Any:
        n_classes = len(np.unique(y)) if kind is ProjectedLogisticRegression else 1
        # Of more than two classes, each has a coefficient of each term.
        most = max(max_terms // n_classes if n_classes > 2 else max_terms, 1)
        return kind(boosting, alpha=RIDGE, max_terms=most, draws="mean").fit(X, y)

    return fit


def _average(kind: Any) -> Callable[..., Any]:
    return lambda X, y, boosting, seed: kind(random_state=seed).fit(X, y)


def _rules(kind: Any, n_rules: int, **settings: Any) -> Callable[..., Any]:
    def fit(X: Any, y: np.ndarray, boosting: Any, seed: int) -> Any:
        size = {"n_rules": n_rules, "max_rules": n_rules, "random_state": seed}
        return kind(boosting, **size, **settings).fit(X, y)

    return fit


def _sum_of_forest(X: Any, y: np.ndarray, boosting: Any, seed: int) -> Any:
    """Sum of rules that approximates the Bayesian forest instead of the boosting."""
    forest = _average(SelectiveBayesianForestClassifier)(X, y, None, seed)
    fit = _rules(AdditiveRulesClassifier, SUMS[-1], n_synthetic=0)
    return fit(X, y, forest, seed)


SUMS, LISTS = (4, 8, 16), (5, 10)
"""Sizes of sums of rules, and of lists and trees."""


def _contenders(
    kind: str, line: Any, average: Any, rules: tuple[Any, Any, Any]
) -> list[Contender]:
    """Contenders of both tasks."""
    of_labels = _rules(rules[0], SUMS[-1], learn_from="labels")
    return [
        Contender(BOOSTING, _boosting(kind)),
        Contender("linear model", _linear(line), "terms"),
        Contender("short linear model", _linear(line, FEW_PARTS), "terms"),
        Contender("meta-tree", _average(average)),
        Contender("sum of rules", of_labels, "literals", SUMS),
        Contender("tree", _rules(rules[1], LISTS[-1]), "literals", LISTS),
        Contender("rule list", _rules(rules[2], LISTS[-1]), "literals", LISTS),
    ]


def contenders(task: str) -> list[Contender]:
    """The models for a task; the first is what the others are compared with."""
    if task == "regression":
        rules = AdditiveRulesRegressor, DistilledTreeRegressor, RuleListRegressor
        line = ProjectedLinearRegression
        return _contenders("Regressor", line, MetaTreeRegressor, rules)
    rules = AdditiveRulesClassifier, DistilledTreeClassifier, RuleListClassifier
    line = ProjectedLogisticRegression
    found = _contenders("Classifier", line, MetaTreeClassifier, rules)
    forest = Contender("Bayesian forest", _average(SelectiveBayesianForestClassifier))
    of_forest = Contender(
        "sum of rules of the forest", _sum_of_forest, "literals", SUMS
    )
    return [*found[:3], forest, *found[3:5], of_forest, *found[5:]]
