"""Simplification in one line."""

from __future__ import annotations

from typing import Any

from clearwood import simplifiers
from clearwood._estimators import parameter_names
from clearwood.ensembles import read_ensemble
from clearwood.exceptions import InputError
from clearwood.rules import RuleSet


def estimator_class(method: str, task: str) -> Any:
    """The class that a method names.

    Parameters
    ----------
    method : str
        A key of ``METHODS``.
    task : {"classification", "regression"}

    Examples
    --------
    >>> estimator_class("list", "regression").__name__
    'RuleListRegressor'
    """
    methods = simplifiers.METHODS
    if method not in methods:
        raise InputError(f"method must be one of {tuple(methods)}, found {method!r}.")
    kind = "Classifier" if task == "classification" else "Regressor"
    return getattr(simplifiers, f"{methods[method]}{kind}")


def make_simplifier(model: Any, method: str, task: str, **settings: Any) -> Any:
    """The estimator that a method names, not yet fitted.

    Parameters
    ----------
    model : fitted ensemble or TreeEnsemble
    method : str
        A key of ``METHODS``.
    task : {"classification", "regression"}
    **settings
        Parameters of the estimator.

    Returns
    -------
    estimator
    """
    make = estimator_class(method, task)
    if method in ("fab", "em"):
        settings["method"] = method
    known = parameter_names(make) - {"estimator"}
    unknown = sorted(set(settings) - known)
    if unknown:
        raise InputError(
            f"method={method!r} has no setting {unknown[0]!r}; it has "
            f"{', '.join(sorted(known))}."
        )
    return make(model, **settings)


def simplify(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str = "list",
    max_rules: int = 10,
    sample_weight: Any = None,
    random_state: Any = None,
    column_info: Any = None,
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
    method : str, default="list"
        "list": :class:`RuleListClassifier`; "tree": :class:`DistilledTreeClassifier`;
        "born-again": :class:`BornAgainTreeClassifier`; "additive":
        :class:`AdditiveRulesClassifier`; "in-trees": :class:`InTreesClassifier`; "fab"
        and "em": :class:`FABRulesClassifier`; "node-harvest":
        :class:`NodeHarvestClassifier`; or the regressor of the same name.
    max_rules : int, default=10
        Most lines printed, ``otherwise`` included.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    column_info : mapping of str to mapping, optional
        Per column what people call it (``name``), its ``unit`` and ``description``;
        see :meth:`RuleSet.with_columns`.
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
    ensemble = read_ensemble(model)
    estimator = make_simplifier(
        ensemble,
        method,
        ensemble.task,
        max_rules=max_rules,
        random_state=random_state,
        **settings,
    )
    rules = estimator.fit(X, y, sample_weight).rules_
    return rules if column_info is None else rules.with_columns(column_info)
