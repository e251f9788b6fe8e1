"""Fits of one method to the rows of one part, as run by a worker."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood._estimators import take_rows
from clearwood.columns.sparse_tables import is_matrix
from clearwood.comparison.folds import (
    Job,
    Part,
    Problem,
    Reply,
    SizedAnswer,
    few_sizes,
)
from clearwood.comparison.peers import PEERS, fit_peer
from clearwood.exceptions import (
    ClassOrderWarning,
    ClearwoodError,
    PoorFidelityWarning,
    UnknownCategoriesWarning,
)
from clearwood.outcomes import OUTCOMES
from clearwood.rules import RuleSet
from clearwood.simplifiers.api import make_simplifier

LONGEST_ERROR = 500
"""Maximum number of characters of an error message."""

ONE_BY_ONE = ("fab", "em")
"""Methods that need a fit for every size; the others give all sizes in one."""

QUICKEST: dict[str, dict[str, Any]] = {
    "fab": {"n_init": 1},
    "em": {"n_init": 1},
}
"""Settings of fits that only load modules."""


def groups_of(method: str, max_rules: int) -> list[tuple[int, ...]]:
    """Sizes of each of the fits that a method needs."""
    if method in ONE_BY_ONE:
        return [(size,) for size in few_sizes(max_rules)]
    return [tuple(range(1, max_rules + 1))]


def fit_job(problem: Problem, job: Job) -> list[SizedAnswer]:
    """Run one job.

    Parameters
    ----------
    problem : Problem
    job : Job

    Returns
    -------
    list of SizedAnswer
        By increasing requested size.
    """
    part = problem.parts[job.part]
    if job.method in PEERS:
        return fit_peer(problem, job, part)
    return _fit_ours(problem, job, part)


def _fit_ours(problem: Problem, job: Job, part: Part) -> list[SizedAnswer]:
    most = max(job.sizes)
    estimator = make_simplifier(
        problem.ensembles[part.ensemble],
        job.method,
        problem.outcome.task,
        n_rules=most,
        max_rules=most,
        random_state=part.seed,
    )
    # Labels only give estimates of the final rules; the search must not see them.
    y = groups = None
    if part.kind == "all":
        y, groups = problem.y, problem.groups
        estimator.set_params(cv=problem.cv)
    estimator.fit(problem.X, y, sample_weight=part.weight, groups=groups)
    found = [estimator.rules_] if job.method in ONE_BY_ONE else estimator.path_
    # Those of a path do not record their origin.
    about = {**estimator.rules_.about}
    about.pop("warning", None)  # Applies to the largest.
    found = [
        rules.with_metadata(**about).with_target(problem.target) for rules in found
    ]
    return _answers(problem, job, part, found)


def _answers(
    problem: Problem, job: Job, part: Part, found: Sequence[RuleSet]
) -> list[SizedAnswer]:
    weight = problem.weight[part.test]
    is_last = part.kind == "all"
    answers = []
    for rules, (read, encoded) in zip(found, _read(problem, part, found)):
        matches = read.matches_encoded(encoded)
        # A single fit for one size has that size throughout.
        requested = max(rules.n_rules, min(job.sizes))
        coverage = overlap = np.nan
        if len(encoded):
            coverage = float(np.average(matches.any(axis=1), weights=weight))
            overlap = float(np.average(matches.sum(axis=1), weights=weight))
        answers.append(
            SizedAnswer(
                requested,
                rules.n_rules,
                rules.n_literals,
                problem.positions(read.predictions_by(matches)),
                coverage,
                overlap,
                rules if is_last else None,
                str(rules) if is_last else "",
                _sure(problem, read, matches) if part.kind == "fold" else None,
            )
        )
    return answers


def _read(
    problem: Problem, part: Part, found: Sequence[RuleSet]
) -> list[tuple[RuleSet, np.ndarray]]:
    """Encoded rows for the rules, all and those to predict."""
    if is_matrix(problem.X):
        rows = take_rows(problem.X, part.test)
        return [rules.read(rows) for rules in found]
    encoded = found[0].features.encode(problem.X)[part.test]
    return [(rules, encoded) for rules in found]


def _sure(problem: Problem, rules: RuleSet, matches: np.ndarray) -> np.ndarray | None:
    if not rules.classes:
        return None
    return problem.spread_out(rules.answers_by(matches), rules.classes)


def warm_up(method: str, task: str) -> None:
    """Load the modules of a method, so that this does not count as fit time.

    Parameters
    ----------
    method : str
        Peers are not loaded.
    task : {"classification", "regression"}
    """
    if method in PEERS:
        return
    tree = OUTCOMES[task].tree_class()
    for n_rows in (20, 600):  # codes of one byte and of two
        X = np.arange(float(n_rows))[:, None]
        y = np.arange(n_rows) // 2 % 2
        estimator = make_simplifier(
            tree(random_state=0).fit(X, y),
            method,
            task,
            n_rules=2,
            max_rules=2,
            random_state=0,
            **QUICKEST.get(method, {}),
        )
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                estimator.fit(X, y)
        except ClearwoodError:
            pass  # The job itself will report the reason.


def do_job(problem: Problem, job: Job) -> Reply:
    """Fit, with the time taken, the warnings issued and the reason of a failure.

    Parameters
    ----------
    problem : Problem
    job : Job

    Returns
    -------
    Reply
    """
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Held-out fidelity is shown beside the rules; and categories are the same
        # in all fits.
        warnings.simplefilter("ignore", PoorFidelityWarning)
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        warnings.simplefilter("ignore", ClassOrderWarning)
        try:
            answers = fit_job(problem, job)
        except Exception as error:
            return Reply([], time.perf_counter() - begin, _in_words(error))
    reports = [(w.category.__name__, " ".join(str(w.message).split())) for w in caught]
    if job.method in PEERS:
        reports = []  # Warnings of other packages, which users cannot resolve here.
    return Reply(answers, time.perf_counter() - begin, "", tuple(reports))


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = "out of memory"
    elif not isinstance(error, ClearwoodError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST_ERROR else text[:LONGEST_ERROR] + " ..."
