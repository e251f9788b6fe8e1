"""One job: fit a method to the rows of a part, and say what its rules say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from clearwood.rules import RuleSet
from clearwood.simplifiers.api import make_simplifier, settings_of
from clearwood.simplifiers.comparison.parts import (
    Answer,
    Job,
    Part,
    Problem,
    few_sizes,
)
from clearwood.simplifiers.comparison.peers import PEERS, fit_peer

ONE_BY_ONE = ("fab", "em")
"""Methods that need a fit for every size; the others give all in one."""

UNTUNED: dict[str, Any] = {"tune": None}
"""Choosing settings by cross-validation takes ten times as long, in every fit."""


def groups_of(method: str, max_rules: int) -> list[tuple[int, ...]]:
    """Sizes that one fit gives, for all fits that a method needs."""
    if method in ONE_BY_ONE:
        return [(size,) for size in few_sizes(max_rules)]
    return [tuple(range(1, max_rules + 1))]


def fit_job(problem: Problem, job: Job) -> list[Answer]:
    """Do one job.

    Parameters
    ----------
    problem : Problem
    job : Job

    Returns
    -------
    list of Answer
        By growing size asked for.
    """
    part = problem.parts[job.part]
    if job.method in PEERS:
        return fit_peer(problem, job, part)
    return _fit_ours(problem, job, part)


def _fit_ours(problem: Problem, job: Job, part: Part) -> list[Answer]:
    most = max(job.sizes)
    known = settings_of(job.method, problem.task)
    wanted = {"max_rules": most, "n_rules": most, "random_state": part.seed, **UNTUNED}
    estimator = make_simplifier(
        problem.ensembles[part.ensemble],
        job.method,
        problem.task,
        **{name: value for name, value in wanted.items() if name in known},
    )
    # Labels only tell how precise the final rules are; the search must not see them.
    y = problem.y if part.kind == "all" else None
    estimator.fit(problem.X, y, sample_weight=part.weight)
    found = getattr(estimator, "path_", None)
    every = [estimator.rules_] if found is None else list(found)
    # Those of a path do not say where they come from.
    about = estimator.rules_.about
    every = [rules.with_about(**about).with_target(problem.target) for rules in every]
    return _answers(problem, job, part, every)


def _answers(
    problem: Problem, job: Job, part: Part, found: Sequence[RuleSet]
) -> list[Answer]:
    encoded = found[0].features.encode(problem.X)[part.told]
    weight = problem.weight[part.told]
    is_last = part.kind == "all"
    answers = []
    for rules in found:
        matches = rules._matches_encoded(encoded)
        # Of one fit for one size all that is found is of that size.
        asked = max(rules.n_rules, min(job.sizes))
        coverage = overlap = np.nan
        if len(encoded):
            coverage = float(np.average(matches.any(axis=1), weights=weight))
            overlap = float(np.average(matches.sum(axis=1), weights=weight))
        answers.append(
            Answer(
                asked,
                rules.n_rules,
                rules.n_literals,
                problem.positions(rules.predict_encoded(encoded)),
                coverage,
                overlap,
                rules if is_last else None,
                str(rules) if is_last else "",
            )
        )
    return answers
