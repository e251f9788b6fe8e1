"""Many starts, one answer: run restarts in parallel and choose among them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import spawn_generators
from clearwood._numeric.progress import progress
from clearwood.exceptions import InterruptedFitWarning
from clearwood.rules import RuleSet, Training, build_rule_set, region_conditions
from clearwood.rules.scores import fidelity
from clearwood.simplifiers.fab.components import (
    component_boxes,
    component_of,
    soft_values,
)
from clearwood.simplifiers.fab.inference import (
    Fit,
    Problem,
    fit_paper,
    make_problem,
    random_start,
)
from clearwood.simplifiers.fab.outputs import GaussianOutput, MultinomialOutput, Output
from clearwood.simplifiers.fab.reference import fit_reference, random_responsibility
from clearwood.simplifiers.fab.rules import refined_rules


@dataclass(frozen=True, eq=False)
class Job:
    """What all restarts share.

    Attributes
    ----------
    problem : Problem
        What is fitted.
    training : Training
        The rows, for printing rules and judging them.
    n_components : int
        Components to start from; 0 where there is nothing to fit.
    settings : dict
        Parameters of the estimator.
    """

    problem: Problem
    training: Training
    n_components: int
    settings: dict[str, Any]


def make_job(
    training: Training,
    settings: dict[str, Any],
) -> Job:
    """Set the problem up: output model, bins of the rows, number of components."""
    output: Output
    target, bins = training.taught, training.bins
    if training.classes:
        output = MultinomialOutput(len(training.classes))
    else:
        output = GaussianOutput.scaled_to(target, training.weight)
        target = output.scaled(target)
    problem = make_problem(
        training.codes, target, training.weight, bins, output,
        float(settings["statement_weight"]),
    )  # fmt: skip
    # One component alone would hold every row and say what `otherwise` says.
    n_components = min(max(settings["max_rules"] - 1, 2), problem.n_rows)
    if settings["max_rules"] == 1 or len(bins.statements.feature) == 0:
        n_components = 0
    return Job(problem, training, n_components, settings)


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

    def summary(self) -> dict[str, Any]:
        """What there is to know of a start that was not chosen."""
        return {
            "bound": self.bound,
            "n_components": len(self.fit.components),
            "n_iterations": len(self.fit.history),
            "converged": self.fit.converged,
            "fidelity": self.fidelity,
            "soft_fidelity": self.soft_fidelity,
        }


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
    problem, settings = job.problem, job.settings
    start, counts = random_start(problem, job.n_components, generator)
    options = {
        "max_iter": settings["max_iter"],
        "tol": settings["tol"] * problem.total_weight,
        "truncate": settings["method"] == "fab",
    }
    if settings["schedule"] == "paper":
        fit = fit_paper(problem, start, counts, **options)
    else:
        responsibility = random_responsibility(problem, job.n_components, generator)
        fit = fit_reference(problem, start, responsibility, **options)
    return judge(job, fit)


def judge(job: Job, fit: Fit) -> Restart:
    """Print the rules of a fit, and compare both with what they were fitted to."""
    training, classes, settings = job.training, job.training.classes, job.settings
    bins, parameters = job.problem.bins, fit.parameters
    boxes = component_boxes(
        bins,
        parameters.true_probability,
        parameters.false_probability,
        settings["kappa"],
    )
    if settings["rules"] == "refined":
        rules = refined_rules(
            boxes,
            training,
            max_rules=settings["max_rules"],
            round_cuts=settings["round_cuts"],
        )
    else:
        regions = [region_conditions(bins, box, training.seen) for box in boxes]
        rules = build_rule_set(
            [region for region in regions if region is not None],
            training,
            max_rules=settings["max_rules"],
            prune=settings["prune"],
            round_cuts=settings["round_cuts"],
        )
    taught = training.taught
    said: list[Any] = [rule.prediction for rule in rules]
    soft = soft_values(job.problem, fit, component_of(job.problem, fit, training.codes))
    if classes:
        taught, soft = taught.argmax(axis=1), soft.argmax(axis=1)
        said = [classes.index(label) for label in said]
    printed = np.array(said)[rules.apply_encoded(training.encoded)]
    task, weight = rules.task, training.weight
    return Restart(
        fit,
        rules,
        fidelity(taught, printed, task, weight),
        fidelity(taught, soft, task, weight),
    )
