"""Fitted projections in files, and back: what they say, without their reference."""

from __future__ import annotations

import json
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._estimators import set_read_settings
from clearwood.codec.documents import Place
from clearwood.exceptions import InputError, ModelFormatError
from clearwood.projection.base import ProjectedRules
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
from clearwood.projection.terms import MISSING, Terms
from clearwood.references import Reference
from clearwood.rules import RuleList
from clearwood.rules.serialise import (
    columns_to_dict,
    features_to_dict,
    read_columns,
    read_features,
    rules_from_json,
    rules_to_json,
)

KINDS: dict[str, Any] = {
    kind.__name__: kind
    for kind in (
        ProjectedRuleListClassifier,
        ProjectedRuleListRegressor,
        ProjectedTreeClassifier,
        ProjectedTreeRegressor,
        ProjectedLinearRegression,
        ProjectedLogisticRegression,
    )
}


SETTINGS = (
    "max_leaf_nodes", "alpha", "most_leaf_nodes", "family", "draws", "refine",
    "n_rules", "max_rules", "tolerance", "min_rows", "round_cuts", "penalty",
    "strength", "forbidden", "random_state",
)  # fmt: skip
"""Parameters that are kept, for people to read."""


class NotSaved(Reference):
    """Stands for a reference that is not in the file of what was made of it.

    Parameters
    ----------
    description : str
        What the reference was.
    classes : sequence, optional
        Those of a classifier.
    n_draws : int, default=1
        How many draws it had.
    is_posterior : bool, default=True
        Whether they were of a posterior.
    """

    def __init__(
        self,
        description: str,
        classes: Any = None,
        n_draws: int = 1,
        is_posterior: bool = True,
    ) -> None:
        self.description = description
        self.n_draws, self.is_posterior = n_draws, is_posterior
        self.task = "regression" if classes is None else "classification"
        self.classes = None if classes is None else np.array(classes)

    def draws(self, X: Any) -> np.ndarray:
        """Refuse: files hold what a proxy says, not its reference."""
        raise InputError(
            f"The reference ({self.description}) was not saved with its proxy; to fit "
            "again, set one: set_params(reference=...)."
        )


def to_archive(estimator: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """What is kept of a fitted projection: all that it says of rows.

    Parameters
    ----------
    estimator : ProjectedTree..., ProjectedRuleList... or ProjectedLinear...

    Returns
    -------
    document : dict
    arrays : dict of str to ndarray
    """
    kind = type(estimator).__name__
    if KINDS.get(kind) is not type(estimator):
        raise InputError(f"Cannot save a {kind}; expected one of {list(KINDS)}.")
    check_is_fitted(estimator, "n_features_in_")
    document = columns_to_dict(estimator)
    document["settings"] = _settings_of(estimator)
    reference = estimator.reference_
    document["reference"] = reference.description
    document["n_draws"] = int(reference.n_draws)
    document["is_posterior"] = bool(reference.is_posterior)
    if isinstance(estimator, ProjectedRules):
        if getattr(estimator, "draw_trees_", None) is not None:
            raise InputError(
                "A tree for every draw cannot be saved; save the rules_, or fit with "
                "draws='shared', whose leaves hold all draws."
            )
        leaves = estimator.leaves_
        document["rules"] = json.loads(rules_to_json(estimator.rules_))
        arrays = {"share": leaves.share, "means": leaves.means}
        if leaves.variances is not None:
            arrays["variances"] = leaves.variances
        document["has_variances"] = leaves.variances is not None
        return document, arrays
    terms = estimator.terms_
    document |= features_to_dict(terms.features)
    return document, {
        "feature": terms.feature,
        "category": terms.category,
        "centre": terms.centre,
        "unit": terms.unit,
        "intercept": estimator.intercept_draws_,
        "coef": estimator.coef_draws_,
        "mean_intercept": estimator.intercept_,
        "mean_coef": estimator.coef_,
    }


def _settings_of(estimator: Any) -> dict[str, Any]:
    settings = estimator.get_params()
    kept = {name: settings[name] for name in SETTINGS if name in settings}
    if "forbidden" in kept:
        kept["forbidden"] = [
            column if isinstance(column, str) else int(column)
            for column in kept["forbidden"]
        ]
    seed = kept.pop("random_state", None)
    if isinstance(seed, Integral):  # A generator has moved on.
        kept["random_state"] = int(seed)
    return kept


def from_archive(top: Place, array: Callable[..., np.ndarray]) -> Any:
    """Read what :func:`to_archive` kept; anything else is a ModelFormatError."""
    kind = top["kind"].text()
    classes = None if top["classes"].value is None else top["classes"].labels()
    if (classes is None) == (kind.endswith(("Classifier", "LogisticRegression"))):
        raise ModelFormatError("classes: do not fit the kind.")
    n_draws, is_posterior = top["n_draws"].integer(low=1), top["is_posterior"].flag()
    read = NotSaved(top["reference"].text(), classes, n_draws, is_posterior)
    estimator = KINDS[kind](reference=read)
    estimator.reference_ = estimator.reference
    _set_settings(estimator, top["settings"].value)
    fill = _read_rules if issubclass(KINDS[kind], ProjectedRules) else _read_terms
    fill(estimator, top, array, classes)
    return estimator


def _set_settings(estimator: Any, settings: Any) -> None:
    """Give an estimator the parameters that it was saved with."""
    set_read_settings(estimator, settings, SETTINGS)
    forbidden = settings.get("forbidden", [])
    if not isinstance(forbidden, list) or not all(
        type(column) in (str, int) for column in forbidden
    ):
        raise ModelFormatError("settings: forbidden: expected a list of columns.")
    if type(settings.get("random_state", 0)) is not int:
        raise ModelFormatError("settings: random_state: expected a whole number.")


def _read_rules(estimator: Any, top: Place, array: Any, classes: Any) -> None:
    rules = rules_from_json(json.dumps(top["rules"].value))
    if not isinstance(rules, RuleList) or rules.classes != tuple(classes or ()):
        raise ModelFormatError("rules: do not fit the kind, or the classes.")
    n = rules.n_rules
    shape = (-1, n) if classes is None else (-1, n, len(classes))
    means, share = array("means", "f", *shape), array("share", "f", n)
    variances = None
    if top["has_variances"].value:
        variances = array("variances", "f", len(means), n)
        if not (np.isfinite(variances) & (variances > 0)).all():
            raise ModelFormatError("variances: expected numbers above 0.")
    is_sound = np.isfinite(means).all() and len(means) > 0
    if classes is not None or variances is None:
        is_sound = is_sound and bool((means >= 0).all())
    if not is_sound or not (np.isfinite(share) & (share >= 0)).all():
        raise ModelFormatError("means, share: expected finite numbers, none below 0.")
    read_columns(estimator, top, rules.features.n_features)
    estimator.rules_ = rules
    estimator.leaves_ = Leaves(share, means, variances)


def _read_terms(estimator: Any, top: Place, array: Any, classes: Any) -> None:
    features = read_features(top)
    feature = array("feature", "i", -1)
    n = len(feature)
    category = array("category", "i", n)
    sizes = np.array([len(labels or ()) for labels in features.categories])
    is_known = (feature >= 0) & (feature < features.n_features)
    is_term = is_known & (category >= MISSING)
    if not is_term.all() or not (category < sizes[feature]).all():
        raise ModelFormatError("feature, category: expected those of the model.")
    outputs = 1 if classes is None or len(classes) == 2 else len(classes)
    centre, unit = array("centre", "f", n), array("unit", "f", n)
    intercepts = array("intercept", "f", -1, outputs)
    numbers = {
        "intercept_draws_": intercepts,
        "coef_draws_": array("coef", "f", len(intercepts), outputs, n),
        "intercept_": array("mean_intercept", "f", outputs),
        "coef_": array("mean_coef", "f", outputs, n),
    }
    is_finite = all(np.isfinite(values).all() for values in numbers.values())
    is_scale = np.isfinite(centre) & np.isfinite(unit) & (unit > 0)
    if not is_finite or not is_scale.all() or not len(intercepts):
        raise ModelFormatError("coefficients: expected finite numbers, units above 0.")
    read_columns(estimator, top, features.n_features)
    estimator.terms_ = Terms(features, feature, category, centre, unit)
    for name, values in numbers.items():
        setattr(estimator, name, values)
