"""``compare``: number of rules against error, for all methods."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from clearwood._numeric import as_generator
from clearwood._numeric.fold_roles import check_groups
from clearwood._warned_once import users_level, warned_once
from clearwood._words.labels import target_name
from clearwood._words.spelling import suggests_parameters
from clearwood.columns.frames import read_once
from clearwood.columns.sparse_tables import is_matrix
from clearwood.columns.validation import check_apart, check_table, check_weight
from clearwood.comparison.fits import groups_of
from clearwood.comparison.folds import Job, Problem, deal_folds, make_jobs, make_parts
from clearwood.comparison.frontier import Frontier
from clearwood.comparison.models import (
    Models,
    fit_afresh,
    pickled,
    read_fitted,
    short_name,
)
from clearwood.comparison.peers import PEERS, is_installed
from clearwood.comparison.point import OF_MODEL
from clearwood.comparison.processes import JobsDone, run_jobs
from clearwood.comparison.scores import (
    constant_error,
    make_held_out,
    mean_error,
    points_of,
    warnings_in_words,
    with_frontier,
)
from clearwood.ensembles.black_box import task_of
from clearwood.ensembles.read import needs_fit
from clearwood.ensembles.statistics import ORDER, quantile_level, statistic_of_model
from clearwood.exceptions import InputError, InterruptedFitWarning
from clearwood.outcomes import OUTCOMES, Outcome, outcome_of
from clearwood.outcomes.effect import EffectScores
from clearwood.outcomes.survival import is_survival
from clearwood.rules.several_targets import shapes_outputs
from clearwood.simplifiers import METHODS
from clearwood.simplifiers._common.explained_model import as_given
from clearwood.simplifiers._common.flaws import warn_of_class_order


@warned_once()
@read_once()
@suggests_parameters
def compare(
    model: Any,
    X: Any,
    y: Any,
    *,
    methods: Any = "all",
    max_rules: int = 10,
    cv: Any = 5,
    n_refits: int = 5,
    scoring: str = "log_loss",
    time_limit: float | None = 120.0,
    peers: bool | str = False,
    sample_weight: Any = None,
    groups: Any = None,
    column_info: Any = None,
    n_jobs: int | None = None,
    random_state: Any = None,
    verbose: bool = False,
) -> Frontier:
    """Compare methods by size, error and stability of their rules.

    Every method is fitted to the model's predictions for part of the rows, in all
    sizes, and evaluated on the others; then fitted to all rows, which gives the rules
    to be read, and to bootstrap samples, which measure their stability. Fits run in
    separate processes.

    Parameters
    ----------
    model : model, callable, path, TreeEnsemble or unfitted estimator
        A fitted one is not refitted: it may have seen the rows on which the rules are
        evaluated. Then its error, and that of the rules, is lower than on new rows, and
        so is their fidelity, as rules do not reproduce what it memorized. An unfitted
        scikit-learn estimator is fitted without the held-out rows each time. A model
        without readable trees is used through its predictions, see :func:`simplify`;
        methods that need trees are then reported as failures.
    X : array-like or frame of shape (n_samples, n_features)
        Or a sparse matrix, which lists, trees and additive rules accept; the other
        methods are then reported as failures.
    y : array-like of shape (n_samples,)
        True labels or values.
    methods : "all" or sequence of str, default="all"
        Methods of :func:`simplify`, and peers: "imodels:RuleFit", "imodels:FIGS",
        "imodels:GreedyRuleList" (extra ``compare``) and "te2rules" (not for commercial
        use, so in no extra; it chooses the number of rules itself, without
        ``max_rules``).
    max_rules : int, default=10
        Maximum number of rules, the default rule included.
    cv : int, splitter of scikit-learn or iterable, default=5
        Number of folds, stratified by class, or how rows are held out, such as
        ``TimeSeriesSplit()`` for rows ordered by time.
    n_refits : int, default=5
        Number of bootstrap samples; 0 omits stability.
    scoring : {"log_loss", "error"}, default="log_loss"
        Criterion by which rules are *enough*: the log loss of their probabilities
        relative to that of the model, or the error. By error, a constant would be
        enough where a class is rare. In regression it is the mean squared error; of
        rules for a ranking model, whose scores have no error against true values, that
        against its scores.
    time_limit : float or None, default=120.0
        Seconds for all fits of one method. A fit that takes longer is stopped, and the
        results so far are kept. Peers have 30 s at most. A process that is not ready
        for its first fit after 30 s is reported on stderr, and stopped after 600 s.
    peers : {"auto", True, False}, default=False
        Whether "all" includes peers: those that are installed, all, or none.
    sample_weight : array-like of shape (n_samples,), optional
        Row weights, for fits and scores.
    groups : array-like of shape (n_samples,), optional
        Group of each row, such as a patient: rows of a group are held out together,
        bootstrap samples are of whole groups, and so are standard errors.
    column_info : mapping of str to mapping, optional
        Display name, unit and description per column, see :meth:`RuleSet.with_columns`.
    n_jobs : int or None, default=None
        Number of parallel processes, as in scikit-learn. Results do not depend on it,
        except for fits stopped by the time limit.
    random_state : int, Generator, RandomState or None, default=None
        Seed.
    verbose : bool, default=False
        Show progress on stderr.

    Returns
    -------
    Frontier

    Raises
    ------
    InputError
        The data are invalid, or all methods failed.

    Notes
    -----
    On Ctrl-C the result holds what was completed until then, with a warning.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> forest = RandomForestClassifier(n_estimators=20, random_state=0).fit(X, y)
    >>> found = compare(forest, X, y, methods=["tree"], cv=3, n_refits=0, max_rules=4,
    ...     random_state=0)
    >>> [point.n_rules for point in found.points], found.best(3).n_rules
    ([1, 2, 3, 4], 3)
    """
    begin = time.perf_counter()
    names = _check_methods(methods, peers)
    _check_numbers(max_rules, cv, n_refits, time_limit)
    if scoring not in ("log_loss", "error"):
        raise InputError(f"scoring must be 'log_loss' or 'error', found {scoring!r}.")
    n_workers = _n_workers(n_jobs)
    target = target_name(y)
    refitted = model is not None and needs_fit(model)
    model = as_given(model)
    _check_task(model, y)
    outcome = OUTCOMES[task_of(model, X, y)]
    X, y, weight, groups = _check_data(X, y, sample_weight, groups, outcome, cv)
    # Folds, an estimator without a seed, and then one per part.
    generator = as_generator(random_state)
    dealer, spare = generator.spawn(2)
    folds = deal_folds(y, cv, outcome.is_share, dealer, groups)
    generators = generator.spawn(len(folds) + 1 + n_refits)
    if refitted:
        seed = int(spare.integers(2**31))
        given = None if sample_weight is None else weight
        models = fit_afresh(model, X, y, given, folds, seed)
    else:
        models = read_fitted(model, X, y)
    ensemble = models.ensembles[-1]
    if column_info is not None:
        # Raises here if it is invalid, before anything that takes long.
        ensemble.features.with_info(column_info)
    # Warns once of unknown categories; the workers' warnings are not shown.
    encoded = X if is_matrix(X) else ensemble.encode(X)
    if outcome.is_share and not refitted:
        warn_of_class_order(ensemble, encoded, y)
    problem = Problem(
        X,
        y,
        weight,
        sample_weight is not None,
        models.ensembles,
        _labels(models, y),
        make_parts(folds, weight, n_refits, not refitted, generators, groups),
        target,
        pickled(models.originals) if "te2rules" in names else (),
        groups,
        cv if hasattr(cv, "split") else None,
    )
    sizes = {name: groups_of(name, int(max_rules)) for name in names}
    jobs = [
        job for name in names for job in make_jobs(name, sizes[name], problem.parts)
    ]
    done = run_jobs(problem, jobs, n_workers, time_limit, verbose)
    held, orders_only = make_held_out(problem), ensemble.statistic == ORDER
    if orders_only:
        # The level of a ranking score is not that of the true values.
        held = held._replace(truth=held.target)
    points = [
        point
        for name in names
        for point in points_of(name, sizes[name], problem, held, done.replies)
    ]
    failures = _failures(jobs, {point.method for point in points}, done)
    _say_what_happened(done, bool(points), failures, len(jobs))
    error, spread = mean_error(held.target, held, problem.outcome)
    constant = constant_error(held, problem.outcome)
    scoring = scoring if outcome.is_share else "error"
    if orders_only:
        scoring, error, spread, constant = OF_MODEL, math.nan, math.nan, math.nan
    found = Frontier(
        problem.outcome.task,
        short_name(ensemble),
        len(y),
        len(folds),
        int(n_refits),
        error,
        spread,
        refitted,
        with_frontier(points),
        failures,
        time.perf_counter() - begin,
        ensemble.features.names,
        outcome_of(ensemble.classes).classes,
        scoring=scoring,
        constant_error=constant,
    )
    return found if column_info is None else found.with_columns(column_info)


def _check_methods(methods: Any, peers: bool | str) -> list[str]:
    known = [*METHODS, *PEERS]
    if peers not in (True, False, "auto"):
        raise InputError(f"peers must be 'auto', True or False, found {peers!r}.")
    if isinstance(methods, str) and methods == "all":
        added = [name for name in PEERS if peers is True or is_installed(name)]
        return [*METHODS, *(added if peers else [])]
    if isinstance(methods, str):
        names = [methods]
    else:
        names = list(methods) if isinstance(methods, Iterable) else [methods]
    unknown = [name for name in names if name not in known]
    if unknown or not names:
        raise InputError(
            f"methods must be 'all' or some of {known}, found {unknown or names}."
        )
    # Always in the same order, without duplicates.
    return [name for name in known if name in names]


def _check_task(model: Any, y: Any) -> None:
    """Reject models and targets of which classes and means are no summary."""
    known = statistic_of_model(model)
    if is_survival(y) or hasattr(model, "predict_survival_function"):
        what, remedy = "survival", "the rules of each method by evaluate_survival"
    elif shapes_outputs(y):
        what = "several targets"
        remedy = "one target at a time, with lambda X: model.predict(X)[:, j] as model"
    elif isinstance(y, EffectScores):
        what = "effects"
        remedy = 'the rules of simplify(model, X, y, task="effect", ...) by evaluate'
    elif quantile_level(known) is not None:
        what, remedy = known, "the rules of simplify(model, X, y) by evaluate"
    else:
        return
    raise InputError(
        "compare is for models that predict classes or means, and this one predicts "
        f"{what}; compare {remedy}."
    )


def _check_numbers(max_rules: Any, cv: Any, n_refits: Any, time_limit: Any) -> None:
    limits = {"max_rules": (max_rules, 1), "n_refits": (n_refits, 0)}
    if not (hasattr(cv, "split") or np.iterable(cv)):
        limits["cv"] = (cv, 2)
    for name, (value, least) in limits.items():
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            raise InputError(
                f"{name} is {value!r}; expected a whole number from {least}."
            )
    if n_refits == 1:
        raise InputError("n_refits is 1; expected 2 or more, or 0 for none.")
    if time_limit is not None and not (
        isinstance(time_limit, Real) and float(time_limit) > 0
    ):
        raise InputError(
            f"time_limit is {time_limit!r}; expected seconds above 0, or None."
        )


def _check_data(
    X: Any, y: Any, sample_weight: Any, groups: Any, outcome: Outcome, cv: Any
) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray | None]:
    """Rows of positive weight, validated."""
    from clearwood._estimators import take_rows

    if y is None:
        raise InputError(
            "compare needs y, the true labels or values: the errors of the model and "
            "of its rules are computed from them."
        )
    X = check_table(BaseEstimator(), X, reset=True, sparse=is_matrix(X))
    check_apart(X, y)
    y = outcome.check(y, X.shape[0])
    weight, groups = check_weight(sample_weight, len(y)), check_groups(groups, len(y))
    counted = np.flatnonzero(weight)
    if len(counted) < len(y):
        X, y, weight = take_rows(X, counted), y[counted], weight[counted]
        groups = None if groups is None else groups[counted]
    if isinstance(cv, int | np.integer) and len(y) < cv:
        raise InputError(
            f"There are {len(y)} rows of positive weight, fewer than cv={cv} folds; "
            f"set cv={max(len(y), 2)} or less, or pass more rows."
        )
    return X, y, weight, groups


def _labels(models: Models, y: np.ndarray) -> np.ndarray:
    """All labels, predicted or true, in order; empty in regression."""
    known = [e.classes for e in models.ensembles if e.classes is not None]
    return np.unique(np.concatenate([y, *known])) if known else np.zeros(0)


def _n_workers(n_jobs: Any) -> int:
    from joblib import effective_n_jobs

    if n_jobs is not None and (not isinstance(n_jobs, Integral) or n_jobs == 0):
        raise InputError(
            f"n_jobs is {n_jobs!r}; expected a number of processes, -1 for one per "
            "core, or None for one."
        )
    return int(effective_n_jobs(n_jobs))


def _failures(
    jobs: Sequence[Job], with_points: set[str], outcome: JobsDone
) -> tuple[tuple[str, str], ...]:
    """Methods that did not complete all jobs, or found nothing, with the reasons."""
    found = []
    for name in dict.fromkeys(job.method for job in jobs):
        done = all(job in outcome.replies for job in jobs if job.method == name)
        why = outcome.failures.get(name, "")
        if not done and not why:
            why = "interrupted"
        if not done and name in with_points:
            why += "; the results until then are kept"
        if done and name not in with_points:
            why = "found no rules of this size"
        if why:
            found.append((name, why))
    return tuple(found)


def _say_what_happened(
    outcome: JobsDone, has_points: bool, failures: tuple[tuple[str, str], ...], n: int
) -> None:
    """Issue warnings, or raise if there are no results."""
    if not has_points and outcome.interrupted:
        raise KeyboardInterrupt
    if not has_points:
        reasons = "; ".join(f"{method}: {why}" for method, why in failures)
        remedy = ""
        if "stopped after" in reasons:
            remedy = (
                "; for fits that were stopped set a larger time_limit, or a smaller cv "
                "or max_rules"
            )
        raise InputError(f"No method found rules{remedy}. {reasons}")
    if outcome.interrupted:
        warnings.warn(
            f"Interrupted after {len(outcome.replies)} of {n} fits; the result covers "
            "these.",
            InterruptedFitWarning,
            stacklevel=users_level(),
        )
    for text in warnings_in_words(outcome.replies):
        warnings.warn(text, stacklevel=users_level())
