"""Many starts, one answer: run restarts in parallel and choose among them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood._features import FeatureSpace
from clearwood._numeric import spawn_generators
from clearwood._numeric.progress import progress
from clearwood.exceptions import InterruptedFitWarning
from clearwood.rules import RuleSet, Training, build_rule_set
from clearwood.rules.rule_set import first_match
from clearwood.rules.scores import fidelity
from clearwood.simplify.components import (
    component_of,
    component_regions,
    soft_values,
)
from clearwood.simplify.fab import Fit, Problem, fit_paper, random_start
from clearwood.simplify.fab_reference import fit_reference, random_responsibility


@dataclass(frozen=True, eq=False)
class Job:
    """What all restarts share: the problem, the rows, and the settings."""

    problem: Problem
    training: Training
    codes: np.ndarray
    features: FeatureSpace
    classes: Sequence[Any]
    n_components: int
    method: str
    schedule: str
    kappa: float
    tol: float
    max_iter: int
    prune: str
    round_cuts: bool
    seen: np.ndarray


class Restart(NamedTuple):
    """One restart: its fit, its printed rules, and how good both are."""

    fit: Fit
    rules: RuleSet
    fidelity: float
    soft_fidelity: float

    @property
    def bound(self) -> float:
        """The lower bound at the end."""
        return self.fit.history[-1].bound

    def criterion(self, select: str) -> tuple[float, ...]:
        """What is to be large; among equals, fewer literals are better."""
        first = {
            "rules": self.fidelity,
            "soft": self.soft_fidelity,
            "bound": self.bound,
        }[select]
        return (first, -self.rules.n_literals, -self.rules.n_rules)


def run_restarts(
    job: Job, n_restarts: int, random_state: Any, n_jobs: int | None, verbose: bool
) -> list[Restart]:
    """Run restarts, each with its own generator, in threads.

    An interrupt (Ctrl-C) ends the run with those that are done, if there are any.
    """
    from joblib import Parallel, delayed

    generators = spawn_generators(random_state, n_restarts)
    # Threads, because the kernels release the GIL and all share the same rows.
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    done: list[Restart] = []
    try:
        finished = parallel(delayed(run_restart)(job, g) for g in generators)
        for restart in progress(finished, n_restarts, "restarts", verbose):
            done.append(restart)
    except KeyboardInterrupt:
        if not done:
            raise
        warnings.warn(
            f"Interrupted after {len(done)} of {n_restarts} restarts; "
            "the best of these is kept.",
            InterruptedFitWarning,
            stacklevel=3,
        )
    return done


def run_restart(job: Job, generator: np.random.Generator) -> Restart:
    """One restart from a random start to printed rules."""
    problem, truncate = job.problem, job.method == "fab"
    start, counts = random_start(problem, job.n_components, generator)
    options = {"max_iter": job.max_iter, "truncate": truncate}
    tol = job.tol * problem.total_weight
    if job.schedule == "paper":
        fit = fit_paper(
            problem, start, counts, tol=tol, inner_tol=1e-8, max_passes=1000, **options
        )
    else:
        responsibility = random_responsibility(problem, job.n_components, generator)
        fit = fit_reference(problem, start, responsibility, tol=tol, **options)
    return judge(job, fit)


def judge(job: Job, fit: Fit) -> Restart:
    """Print the rules of a fit, and compare both with what they were fitted to."""
    training = job.training
    regions = component_regions(
        job.problem.bins,
        fit.parameters.true_probability,
        fit.parameters.false_probability,
        job.seen,
        job.kappa,
    )
    rules = build_rule_set(
        [region for region in regions if region is not None],
        training,
        job.features,
        classes=job.classes,
        prune=job.prune,
        round_cuts=job.round_cuts,
    )
    matches = np.array([rule.matches(training.encoded) for rule in rules.rules])
    matches = matches.reshape(len(rules.rules), len(training.encoded)).T.astype(bool)
    soft = soft_values(fit, component_of(job.problem, fit, job.codes))
    if job.classes:
        taught = training.taught.argmax(axis=1)
        said = np.array([job.classes.index(rule.prediction) for rule in rules])
        soft = soft.argmax(axis=1)
        task = "classification"
    else:
        taught, task = training.taught, "regression"
        said = np.array([rule.prediction for rule in rules])
        soft = job.problem.output.unscaled(soft)
    printed = said[first_match(matches)]
    return Restart(
        fit,
        rules,
        fidelity(taught, printed, task, training.weight),
        fidelity(taught, soft, task, training.weight),
    )
