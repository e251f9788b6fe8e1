"""Serialization of fitted projections, without their reference."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood import codec
from clearwood.exceptions import InputError
from clearwood.projection.estimators import (
    ProjectedTreeClassifier,
    ProjectedTreeRegressor,
)
from clearwood.projection.leaves import Leaves
from clearwood.projection.lists import (
    ProjectedRuleListClassifier,
    ProjectedRuleListRegressor,
)
from clearwood.projection.logistic import (
    ProjectedLinearRegression,
    ProjectedLogisticRegression,
)
from clearwood.projection.predictive_draws import NORMAL_ENDS
from clearwood.projection.survival_trees import ProjectedTreeSurvival
from clearwood.projection.terms import MISSING, Terms
from clearwood.references import Reference
from clearwood.references.base import Task
from clearwood.rules import RuleList
from clearwood.rules.serialise import RULES


class NotSaved(Reference):
    """Placeholder for a reference that is not in the file of its projection.

    Parameters
    ----------
    description : str
        Description of the reference.
    n_draws : int
        Number of its draws.
    is_posterior : bool
        Whether these were from a posterior distribution.
    task : str
    classes : sequence
        Class labels of a classifier.
    """

    def __init__(
        self,
        description: str,
        n_draws: int,
        is_posterior: bool,
        task: Task,
        classes: tuple[Any, ...],
    ) -> None:
        self.description = description
        self.n_draws, self.is_posterior = n_draws, is_posterior
        self.task = task
        self.classes = np.array(classes) if classes else None

    def draws(self, X: Any) -> np.ndarray:
        """Raise: files hold the predictions of a proxy, not its reference."""
        raise InputError(
            f"The reference ({self.description}) was not saved with its proxy; to "
            "refit, set one: set_params(reference=...)."
        )


COMMON = (
    *codec.COLUMNS,
    codec.Settings(
        "n_leaf_nodes", "alpha", "complexity", "max_leaf_nodes", "family", "draws",
        "refine", "n_rules", "max_rules", "tolerance", "min_samples_leaf",
        "round_thresholds", "penalty", "max_terms", "exclude_features", "random_state",
        unless_none=("random_state", "max_terms"),
    ),
    codec.Field("reference", codec.TEXT),
    codec.Field("n_draws", codec.integer(1)),
    codec.Field("is_posterior", codec.FLAG),
)  # fmt: skip


def _of_rules(means: codec.Array) -> tuple[Any, ...]:
    return (
        *COMMON,
        codec.Field("rules", RULES, "rules_", size="rules"),
        codec.Array("share", "f", "rules", check=codec.NOT_NEGATIVE),
        means,
        codec.Field("has_variances", codec.FLAG),
        codec.Together(
            codec.Array("variances", "f", "draws rules", check=codec.POSITIVE)
        ),
        codec.Together(codec.Array("errors", "f", "rules levels", check=codec.FINITE)),
    )


OF_SHARES = _of_rules(
    codec.Array("means", "f", "draws rules classes", check=codec.NOT_NEGATIVE)
)
OF_INTERVALS = _of_rules(
    codec.Array("means", "f", "draws rules intervals", check=codec.NOT_NEGATIVE)
)
OF_VALUES = _of_rules(codec.Array("means", "f", "draws rules", check=codec.FINITE))
OF_TERMS = (
    *COMMON,
    codec.FEATURES,
    codec.Array("feature", "i", "terms", below="features"),
    codec.Array("category", "i", "terms"),
    codec.Array("centre", "f", "terms", check=codec.FINITE),
    codec.Array("unit", "f", "terms", check=codec.POSITIVE),
    codec.Array("intercept", "f", "draws outputs", "intercept_draws_", codec.FINITE),
    codec.Array("coef", "f", "draws outputs terms", "coef_draws_", codec.FINITE),
    codec.Array("mean_intercept", "f", "outputs", "intercept_", codec.FINITE),
    codec.Array("mean_coef", "f", "outputs terms", "coef_", codec.FINITE),
)


def _take(estimator: Any) -> dict[str, Any]:
    reference = estimator.reference_
    return {
        "reference": reference.description,
        "n_draws": reference.n_draws,
        "is_posterior": reference.is_posterior,
    }


def _take_rules(estimator: Any) -> dict[str, Any]:
    if getattr(estimator, "draw_trees_", None) is not None:
        raise InputError(
            "A proxy with a tree per draw cannot be saved; save its rules_, or fit "
            "with draws='shared', whose leaves store all draws."
        )
    leaves = estimator.leaves_._asdict()
    leaves["has_variances"] = leaves["variances"] is not None
    unset = {name: codec.UNSET for name, value in leaves.items() if value is None}
    return _take(estimator) | leaves | unset


def _take_terms(estimator: Any) -> dict[str, Any]:
    return _take(estimator) | estimator.terms_._asdict()


def _make_estimator(kind: Any, values: dict[str, Any], n_columns: int) -> Any:
    """Estimator without its predictions, with a placeholder for its reference."""
    exclude_features = values["settings"].get("exclude_features", [])
    is_list = isinstance(exclude_features, list) and set(
        map(type, exclude_features)
    ) <= {str, int}
    codec.require(is_list, "settings: exclude_features", "a list of columns")
    estimator = codec.filled(kind(reference=None), values, n_columns)
    estimator.reference = estimator.reference_ = NotSaved(
        values["reference"], values["n_draws"], values["is_posterior"], kind._task,
        codec.classes_of(estimator),
    )  # fmt: skip
    return estimator


def _make_rules(kind: Any, values: dict[str, Any]) -> Any:
    rules, share, means = (values[name] for name in ("rules_", "share", "means"))
    variances = values["variances"] if values["has_variances"] else None
    estimator = _make_estimator(kind, values, rules.features.n_features)
    fits = isinstance(rules, RuleList) and rules.classes == codec.classes_of(estimator)
    codec.require(fits, "rules", "a list, of the same classes")
    has_all = variances is not codec.UNSET
    codec.require(has_all, "variances", "numbers above 0", "none")
    least = 0 if variances is None else -np.inf
    codec.require((means >= least).all() and len(means), "means", "draws, none below 0")
    n_shares = len(rules.outcome.horizons) + 1
    fits = means.ndim == 2 or bool(rules.classes) or means.shape[2] == n_shares
    codec.require(fits, "means", "one per interval between horizons")
    errors = None if values["errors"] is codec.UNSET else values["errors"]
    fits = errors is None or errors.shape[1] == len(NORMAL_ENDS)
    codec.require(fits, "errors", f"{len(NORMAL_ENDS)} quantiles")
    estimator.leaves_ = Leaves(share, means, variances, errors)
    return estimator


def _make_terms(kind: Any, values: dict[str, Any]) -> Any:
    terms = Terms(*(values[name] for name in Terms._fields))
    sizes = np.array([len(labels or ()) for labels in terms.features.categories])
    in_range = (terms.category >= MISSING) & (terms.category < sizes[terms.feature])
    codec.require(in_range, "feature, category", "those of the model")
    estimator = _make_estimator(kind, values, terms.features.n_features)
    n_classes = len(codec.classes_of(estimator))
    fits = len(estimator.intercept_) == (n_classes if n_classes > 2 else 1)
    fits &= len(estimator.intercept_draws_) > 0
    codec.require(fits, "intercept", "one per draw and class")
    estimator.terms_ = terms
    return estimator


SAVED = codec.by_name(
    codec.Saved(ProjectedRuleListClassifier, OF_SHARES, _make_rules, _take_rules),
    codec.Saved(ProjectedRuleListRegressor, OF_VALUES, _make_rules, _take_rules),
    codec.Saved(ProjectedTreeClassifier, OF_SHARES, _make_rules, _take_rules),
    codec.Saved(ProjectedTreeRegressor, OF_VALUES, _make_rules, _take_rules),
    codec.Saved(ProjectedTreeSurvival, OF_INTERVALS, _make_rules, _take_rules),
    codec.Saved(ProjectedLinearRegression, OF_TERMS, _make_terms, _take_terms),
    codec.Saved(ProjectedLogisticRegression, OF_TERMS, _make_terms, _take_terms),
)
