"""Simplification in one line."""

from __future__ import annotations

from typing import Any

from clearwood.ensembles import read_ensemble
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet
from clearwood.simplifiers.estimators import FABRulesClassifier, FABRulesRegressor

METHODS = ("fab", "em")


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
    method : {"fab", "em"}, default="fab"
        See :class:`FABRulesClassifier`.
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    **settings
        Further parameters of :class:`FABRulesClassifier`.

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
    kinds = {"classification": FABRulesClassifier, "regression": FABRulesRegressor}
    fab = kinds[ensemble.task](
        ensemble,
        method=method,
        max_rules=max_rules,
        random_state=random_state,
        **settings,
    )
    return fab.fit(X, y, sample_weight).rules_
