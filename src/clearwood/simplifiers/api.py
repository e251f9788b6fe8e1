"""Simplification in one line."""

from __future__ import annotations

from typing import Any

from clearwood.ensembles import read_ensemble
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.simplifiers.estimators import FABRulesClassifier, FABRulesRegressor
from clearwood.simplifiers.list_estimators import RuleListClassifier, RuleListRegressor

METHODS = ("fab", "em", "list")


def simplify(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "fab",
    max_rules: int = 10,
    sample_weight: Any = None,
    random_state: Any = None,
    **settings: Any,
) -> RuleSet:
    """Explain a fitted tree ensemble by a few rules.

    Parameters
    ----------
    model : fitted ensemble or TreeEnsemble
        See :func:`~clearwood.read_ensemble` for what can be read.
    X : array-like or frame of shape (n_samples, n_features)
        Rows on which the rules shall speak for the model; its training rows do.
    y : array-like of shape (n_samples,), optional
        True labels or values, to report how precise the rules are.
    method : {"fab", "em", "list"}, default="fab"
        For "fab" and "em" see :class:`FABRulesClassifier`, for "list"
        :class:`RuleListClassifier`.
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    **settings
        Further parameters of the class that the method names.

    Returns
    -------
    RuleSet

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = simplify(forest, X, y, max_rules=4, random_state=0)
    >>> rules.n_rules <= 4
    True
    """
    if method not in METHODS:
        raise InputError(f"method must be one of {METHODS}, found {method!r}.")
    ensemble = read_ensemble(model)
    classifies = ensemble.task == "classification"
    make: Any
    if method == "list":
        make = RuleListClassifier if classifies else RuleListRegressor
    else:
        make = FABRulesClassifier if classifies else FABRulesRegressor
        settings["method"] = method
    estimator = make(
        ensemble, max_rules=max_rules, random_state=random_state, **settings
    )
    return estimator.fit(X, y, sample_weight).rules_
