"""One-line simplification of a model."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from clearwood import simplifiers
from clearwood._estimators import parameter_names, take_rows
from clearwood._numeric import as_generator
from clearwood._tables import SAMPLE_ROWS, RowBlocks, RowsOfTable, is_read_in_blocks
from clearwood._words.labels import target_name, type_text
from clearwood._words.spelling import suggestion
from clearwood.ensembles.black_box import predicts, task_of
from clearwood.ensembles.read import needs_fit
from clearwood.ensembles.statistics import RISK, statistic_of_model
from clearwood.exceptions import InputError, OwnPredictionsWarning
from clearwood.outcomes import OUTCOMES, Outcome, Quantile
from clearwood.outcomes.survival import is_survival
from clearwood.rules import RuleSet
from clearwood.rules.several_targets import MultiOutputRules, shapes_outputs
from clearwood.simplifiers._common.explained_model import as_given, read_model
from clearwood.simplifiers._common.size_path import ENOUGH_ERRORS, deciding
from clearwood.simplifiers.estimates import METHODS, estimated, least_rows
from clearwood.simplifiers.large_tables import simplify_table
from clearwood.simplifiers.multi_output import simplify_outputs
from clearwood.simplifiers.pinned import (
    check_pinned,
    put_above,
    sizes_left,
    weight_left,
)
from clearwood.simplifiers.survival.models import predicted_by, predictor_of

KINDS = ("list", "tree", "additive")
"""Methods that "auto" chooses from, in order of how easily their rules are read."""

ORDERED_OR_SUM = {"monotonic_cst", "stability"}
"""Settings of methods whose rules predict aggregates of the model's predictions."""

KINDS_OF = {
    "classification": "Classifier",
    "regression": "Regressor",
    "survival": "Survival",
    "quantile": "Regressor",
    "effect": "Regressor",
}
"""Endings of the names of estimators, by task."""


def default_method(task: str, *, ordered: bool = False, stable: bool = False) -> str:
    """Method if none is named.

    Parameters
    ----------
    task : {"classification", "regression", "survival", "quantile", "effect"}
    ordered, stable : bool
        Whether settings require an ordered list, or a sum.

    Examples
    --------
    >>> default_method("regression"), default_method("regression", ordered=True)
    ('additive', 'list')
    """
    is_sum = stable or task == "regression"
    return "additive" if is_sum and not ordered else "list"


def estimator_class(method: str, task: str) -> Any:
    """Estimator class of a method.

    Parameters
    ----------
    method : str
        A key of ``METHODS``.
    task : {"classification", "regression", "survival", "quantile", "effect"}

    Examples
    --------
    >>> estimator_class("list", "regression").__name__
    'RuleListRegressor'
    """
    methods = simplifiers.METHODS
    if method not in methods:
        raise InputError(f"method must be one of {tuple(methods)}, found {method!r}.")
    name = methods[method] + KINDS_OF[task]
    is_estimate = OUTCOMES[task].estimates_truth
    if name not in simplifiers.__all__ or (is_estimate and method not in METHODS):
        raise InputError(
            f"method={method!r} is not for {task}; choose method='list' or 'tree'."
        )
    return getattr(simplifiers, name)


def make_simplifier(
    model: Any,
    method: str,
    task: str,
    *,
    outcome: Outcome | None = None,
    **settings: Any,
) -> Any:
    """Unfitted estimator of a method.

    Parameters
    ----------
    model : estimator, callable or TreeEnsemble
    method : str
        A key of ``METHODS``.
    task : {"classification", "regression", "survival", "quantile", "effect"}
    outcome : Outcome, optional
        For quantiles and effects, their type.
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
            f"{', '.join(sorted(known))}.{suggestion(unknown[0], known)}"
        )
    if outcome is not None:
        settings = {"min_samples_leaf": least_rows(outcome)} | settings
    made = make(model, **settings)
    if outcome is not None:
        made._outcome = outcome
    return made


def simplify(
    model: Any,
    X: Any,
    y: Any = None,
    *,
    method: str | None = None,
    task: str | None = None,
    quantile: float | None = None,
    treatment: Any = None,
    propensity: Any = None,
    max_rules: int = 10,
    sample_weight: Any = None,
    groups: Any = None,
    random_state: Any = None,
    column_info: Any = None,
    pinned: Any = None,
    max_samples: int = SAMPLE_ROWS,
    **settings: Any,
) -> RuleSet | MultiOutputRules:
    """Explain a tree ensemble, or any other model, by a few rules.

    Parameters
    ----------
    model : model, callable, path or TreeEnsemble
        See :func:`~clearwood.read_ensemble` for the ensembles that can be read. Of any
        other model, and of a function that returns a value or a class label per row, or
        a probability per row and class, only predictions are used; rules then choose
        their own thresholds, and methods that need trees ("in-trees", "node-harvest")
        raise an error. An unfitted estimator is fitted to ``X, y``.
    X : array-like or frame of shape (n_samples, n_features)
        Rows on which the rules are fitted to the model, usually its training rows. Or a
        table larger than memory, read in blocks: a Parquet file or a folder of them, a
        function that returns an iterator of pandas frames, a frame or an array of Dask,
        a frame of Spark.
        "list", "tree" and "additive" also accept a sparse matrix or frame, which is
        never made dense as a whole.
    y : array-like of shape (n_samples,), or str, optional
        True labels or values, to report the precision of the rules; for a table read in
        blocks, the name of a column. For a survival model, survival times as a
        structured array, or a frame with two columns (:class:`RuleListSurvival`). For
        a model of several numeric targets, an array or frame with a column per target.
    method : str, optional
        By default "additive" for values, which is closer to most models than a list of
        as many rules, or with ``stability``; and "list" for classes, or if ``pinned``
        or ``monotonic_cst`` is given. "list": :class:`RuleListClassifier`; "tree":
        :class:`DistilledTreeClassifier`; "born-again":
        :class:`BornAgainTreeClassifier`; "additive": :class:`AdditiveRulesClassifier`;
        "in-trees": :class:`InTreesClassifier`; "fab" and "em":
        :class:`FABRulesClassifier`; "node-harvest": :class:`NodeHarvestClassifier`; or
        the regressor of the same name. For survival, quantiles and effects "list" and
        "tree" only. "auto" fits a list, a tree and a sum ("additive"), and returns the
        best on held-out rows by ``scoring``; the first of those within half a standard
        error of it.
    task : {"quantile", "effect", "regression"}, optional
        "quantile": every rule predicts a quantile of ``y`` for new rows; the default if
        ``y`` is passed and the objective of the model is a quantile other than the
        median. "effect": ``model`` predicts the effect of a treatment on an outcome,
        such as a function that returns the conditional average treatment effect of each
        row. "regression": rules predict the mean of the model's predictions.
    quantile : float, optional
        Level of the quantile, such as 0.9; by default that of the model.
    treatment : array-like of shape (n_samples,), optional
        For effects, 1 for treated rows and 0 for others; ``y`` is the outcome. Rules
        then predict doubly robust estimates of the effect on new rows.
    propensity : float or array-like of shape (n_samples,), optional
        Known probability of treatment, as in a randomized trial; by default it is
        estimated from X.
    max_rules : int, default=10
        Maximum number of rules, the default rule (``otherwise``) included.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights.
    groups : array-like of shape (n_samples,), optional
        Group of each row, such as a patient: rows of a group are held out together
        wherever rows are held out. Not for a table read in blocks.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    column_info : mapping of str to mapping, optional
        Per column the display ``name``, the ``unit`` and the ``description``; see
        :meth:`RuleSet.with_columns`.
    pinned : RuleList, optional
        Rules to keep unchanged, such as ``rules[:2]``, or rules edited by hand
        (``drop``, ``change``, ``add``); its default rule is ignored. They come first,
        and the method finds the others on the rows that they do not cover; only for
        methods that return ordered lists. Statistics of pinned rules are computed on
        these rows, except estimates for new rows that they already have.
    max_samples : int, default=200_000
        For a table read in blocks, the number of rows in the search for rules, a random
        sample that is the same in every call; statistics of the rules are then computed
        on all rows, and "fab" and "em" continue the fit on all. ``about["sample"]`` has
        the fidelity of the rules on both.
    **settings
        Further parameters of the estimator class.

    Returns
    -------
    RuleSet or MultiOutputRules
        The latter for several targets: one list, each rule of which predicts all.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> rules = simplify(forest, X, y, max_rules=4, random_state=0)
    >>> rules.n_rules <= 4
    True

    A given rule stays, and the method finds the others:

    >>> mine = rules[:0].add("petal width (cm) > 1.8 then 2")
    >>> again = simplify(forest, X, y, pinned=mine, max_rules=4, random_state=0)
    >>> print(again[0].conditions == mine[0].conditions, again.n_rules <= 4)
    True True
    """
    if not is_survival(y):
        model = as_given(model)
    settings["max_rules"] = max_rules

    def find(rows: RowsOfTable, table: RowBlocks | None = None) -> tuple[RuleSet, Any]:
        return _find(
            model, rows, groups, table, method, random_state, pinned, outcome, settings
        )

    ensemble, outcome, rows = None, None, RowsOfTable(X, y, sample_weight)
    special = {"task": task, "quantile": quantile, "treatment": treatment}
    has_outputs = _has_outputs(model, X, y, settings)
    if (shapes_outputs(y) and (has_outputs or not is_survival(y))) or (
        y is None and has_outputs
    ):
        single = special | {"propensity": propensity, "pinned": pinned}
        for name, value in single.items():
            if value is not None:
                raise InputError(
                    f"{name} is for one target, and there are several; leave it out, "
                    "or simplify one target at a time, as a function of the table."
                )
        if method not in (None, "list") or is_read_in_blocks(X):
            raise InputError(
                "For several targets the method is 'list', and the table in memory; "
                "leave method out, or simplify one target at a time, as a function of "
                "the table: lambda X: model.predict(X)[:, j]."
            )
        settings["random_state"] = random_state
        found = simplify_outputs(model, X, y, sample_weight, groups, **settings)
        return found if column_info is None else found.with_columns(column_info)
    if is_read_in_blocks(X):
        for name, value in (special | {"groups": groups}).items():
            if value is not None:
                raise InputError(
                    f"{name} is for tables in memory; pass a sample of the table, or "
                    f"leave {name} out."
                )
        rules = simplify_table(find, model, X, y, sample_weight, max_samples)
    else:
        if not is_survival(y):
            outcome, rows = estimated(
                model,
                rows,
                groups,
                random_state,
                propensity=propensity,
                is_free=method in (None, *METHODS)
                and pinned is None
                and not ORDERED_OR_SUM & set(settings),
                **special,
            )
        rules, ensemble = find(rows)
        if outcome is not None:
            rules = rules.with_target(target_name(y))
    if column_info is not None:
        rules = rules.with_columns(column_info)
    return rules.found_for(ensemble)


def _has_outputs(model: Any, X: Any, y: Any, settings: dict[str, Any]) -> bool:
    """Whether a model predicts several targets.

    A frame of two, one of which is 0 or 1, looks like survival times.
    """
    if hasattr(model, "predict_survival_function"):
        return False  # the outputs of survival forests are times
    if getattr(model, "n_outputs_", 1) > 1:
        return True
    is_unclear = hasattr(y, "columns") and is_survival(y) and predicts(model)
    if not is_unclear or "horizons" in settings or is_read_in_blocks(X):
        return False
    if needs_fit(model):
        from sklearn.utils import get_tags

        library = type(model).__module__.partition(".")[0]
        if library not in ("sklearn", "xgboost") or statistic_of_model(model) == RISK:
            return False
        return get_tags(model).target_tags.multi_output
    few = take_rows(X, np.arange(min(len(y), 3)))
    return predicted_by(predictor_of(model), few).shape[1:] == (2,)


def _find(
    model: Any,
    rows: RowsOfTable,
    groups: Any,
    table: RowBlocks | None,
    method: str | None,
    random_state: Any,
    pinned: Any,
    outcome: Outcome | None,
    settings: dict[str, Any],
) -> tuple[RuleSet, Any]:
    """Rules, and the model that they explain as it reads such rows.

    If the table has more rows than these, some methods learn from all.
    """
    X, y, sample_weight = rows
    task: str = "survival" if is_survival(y) else task_of(model, X, y)
    if outcome is not None:
        if isinstance(outcome, Quantile) and task == "classification":
            raise InputError("Classes have no quantiles; leave quantile and task out.")
        task = outcome.task
    of_survival = hasattr(model, "predict_survival_function")
    if task != "survival" and of_survival and not isinstance(model, RuleSet):
        raise InputError(
            f"The model is {type_text(model)}, which predicts survival; pass y as "
            "survival times, a structured array or a frame with an event indicator and "
            "a time; or, to approximate its risk scores, its method predict as the "
            "model."
        )
    is_estimate = task == "survival" or OUTCOMES[task].estimates_truth
    limited = pinned is not None or method == "auto" or ORDERED_OR_SUM & set(settings)
    if is_estimate and limited:
        raise InputError(
            f"For the task {task}, pinned rules, method='auto' and "
            f"{' and '.join(sorted(ORDERED_OR_SUM))} are not available; leave them "
            "out, and choose method='list' or 'tree'."
        )
    ordered = pinned is not None or "monotonic_cst" in settings
    stable = bool(settings.get("stability"))
    method = method or default_method(task, ordered=ordered, stable=stable)
    left = sample_weight
    if pinned is not None:
        model = read_model(model, X, y, task=task)
        check_pinned(pinned, model, method)
        left = weight_left(pinned, X, sample_weight)
        settings = sizes_left(pinned, settings)
        table = None  # The rows that pinned rules do not cover are unknown.
    if method == "auto":
        seed = int(as_generator(random_state).integers(2**31))
        found = fit_best_kind(model, (X, y, left, groups), seed, **settings)
    else:
        settings = settings | {"random_state": random_state}
        made = make_simplifier(model, method, task, outcome=outcome, **settings)
        found = made._fit_rows(X, y, left, groups, table=table)
    rules = found.rules_
    if pinned is not None:
        rules = put_above(pinned, rules, model, X, y, sample_weight)
    return rules, found.ensemble_


def fit_best_kind(model: Any, rows: tuple[Any, ...], seed: int, **settings: Any) -> Any:
    """Fit the kind of rules that is best on held-out rows.

    Parameters
    ----------
    model : model, fitted or not
    rows : tuple
        Arguments of ``fit``.
    seed : int
    **settings
        Parameters that all kinds share.

    Returns
    -------
    fitted estimator
    """
    task = task_of(model, *rows[:2])
    if settings.get("n_rules", "auto") != "auto":
        raise InputError(
            "method='auto' compares methods at the sizes that they choose; set "
            "max_rules instead of n_rules, or name the method."
        )
    found, judged, warned = {}, {}, {}
    cache: dict[Any, Any] = {}  # shared between all kinds
    for kind in KINDS:
        estimator = make_simplifier(model, kind, task, random_state=seed, **settings)
        with warnings.catch_warnings(record=True) as warned[kind]:
            warnings.simplefilter("always")
            estimator._choose_size(*rows, cache=cache)
        # Read, fitted and evaluated once for all kinds.
        model = estimator.ensemble_
        found[kind], judged[kind] = estimator, _held_out(estimator)
    best = max(KINDS, key=lambda kind: judged[kind][0])
    least = judged[best][0] - ENOUGH_ERRORS * judged[best][1]
    taken = next(kind for kind in KINDS if judged[kind][0] >= least)
    best_kind = found[taken]
    with warnings.catch_warnings(record=True) as of_fit:
        warnings.simplefilter("always")
        best_kind.fit(*rows)
    del best_kind._cache
    # Only the first kind has read the model itself.
    of_model = [w for w in warned[KINDS[0]] if w.category is OwnPredictionsWarning]
    for warning in dict.fromkeys([*of_model, *warned[taken], *of_fit]):
        warnings.warn(str(warning.message), warning.category, stacklevel=3)
    scoring = best_kind.scoring
    by_loss = (OUTCOMES[task].scoring if scoring == "auto" else scoring) == "log_loss"
    figures = {
        kind: 1 - judged[kind][0] if by_loss else judged[kind][0] for kind in KINDS
    }
    text = ", ".join(f"{kind} {figure:.3g}" for kind, figure in figures.items())
    of_what = "on held-out rows" + ", log loss beyond the model's own" * by_loss
    best_kind.rules_ = best_kind.rules_.with_metadata(kinds=f"{of_what}: {text}")
    return best_kind


def _held_out(found: Any) -> tuple[float, float]:
    """Score of the chosen size on held-out rows, and its error."""
    if found.cv_results_ is None:
        return 0.0, 0.0  # A single rule, or hardly a row: there is no choice.
    score, error = deciding(found.cv_results_)
    return score[found.n_rules_ - 1], error[found.n_rules_ - 1]
