"""Random restarts: fit, print the rules of each, and choose the best."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import fab as _kernels
from clearwood._numeric import spawn_generators
from clearwood._numeric.progress import progress
from clearwood.exceptions import InterruptedFitWarning
from clearwood.rules import RuleSet, Training
from clearwood.simplifiers.fab.inference import (
    Fit,
    Mixture,
    MixtureProblem,
    Parameters,
    RowBlock,
)
from clearwood.simplifiers.fab.rules import component_boxes

START_PULL = 0.05
"""Share by which an initial component moves from all rows towards one row."""


class Restart(NamedTuple):
    """One restart: its mixture, its rules, and the quality of both.

    Fidelities are to the target of the fit, on the training rows.
    """

    fit: Fit
    mixture: Mixture
    rules: RuleSet
    fidelity: float
    soft_fidelity: float

    @property
    def bound(self) -> float:
        """Lower bound at the end."""
        return self.fit.history[-1].bound

    def merit(self, *, soft: bool) -> tuple[float, ...]:
        """Criterion that the best restart maximizes; ties go to fewer literals.

        Fidelity of the printed rules or, as in the paper, of the mixture (``soft``).
        """
        first = self.soft_fidelity if soft else self.fidelity
        return (first, -self.rules.n_literals, -self.rules.n_rules)

    def summary(self) -> dict[str, Any]:
        """Summary of a restart for ``restarts_``."""
        return {
            "bound": self.bound,
            "n_components": self.fit.history[-1].n_components,
            "n_iterations": len(self.fit.history),
            "converged": self.fit.converged,
            "fidelity": self.fidelity,
            "soft_fidelity": self.soft_fidelity,
        }


def run_restarts(
    problem: MixtureProblem,
    training: Training,
    n_components: int,
    fit_mixture: Callable[..., Fit],
    print_rules: Callable[..., RuleSet],
    *,
    n_init: int,
    generator: np.random.Generator,
    n_jobs: int | None = None,
    verbose: bool = False,
) -> list[Restart]:
    """Run restarts, each with its own generator, in threads.

    After an interrupt (Ctrl-C) the completed ones are returned, if there are any.

    Parameters
    ----------
    problem : MixtureProblem
    training : Training
        Rows to evaluate rules on.
    n_components : int
        Number of components at the start.
    fit_mixture : callable
        Returns a ``Fit`` from a start (its parameters, and counts of the components).
    print_rules : callable
        Returns rules from boxes (n_boxes, total number of bins of the grid).
    n_init : int
    generator : Generator
    n_jobs : int, optional
        Number of threads.
    verbose : bool, default=False
        Whether to show a progress bar.

    Returns
    -------
    list of Restart
    """
    from joblib import Parallel, delayed

    # Threads, because the kernels release the GIL and all share the same rows.
    parallel = Parallel(n_jobs=n_jobs, prefer="threads", return_as="generator")
    done: list[Restart] = []
    try:
        finished = parallel(
            delayed(run_restart)(
                problem, training, n_components, fit_mixture, print_rules, own
            )
            for own in spawn_generators(generator, n_init)
        )
        for restart in progress(finished, n_init, "restarts", verbose):
            done.append(restart)
    except KeyboardInterrupt:
        if not done:
            raise
        warnings.warn(
            f"Interrupted after {len(done)} of {n_init} restarts; "
            "the best of these is kept.",
            InterruptedFitWarning,
            stacklevel=6,
        )
    return done


def run_restart(
    problem: MixtureProblem,
    training: Training,
    n_components: int,
    fit_mixture: Callable[..., Fit],
    print_rules: Callable[..., RuleSet],
    generator: np.random.Generator,
) -> Restart:
    """One restart, from a random start to printed rules and their fidelity."""
    fit = fit_mixture(*random_start(problem, n_components, generator))
    return judged(fit, problem, training, print_rules)


def judged(
    fit: Fit,
    problem: MixtureProblem,
    training: Training,
    print_rules: Callable[..., RuleSet],
) -> Restart:
    """A fit with its printed rules and the fidelity of both on the training rows."""
    eta, not_eta = fit.parameters.true_probability, fit.parameters.false_probability
    boxes = component_boxes(problem.bins, eta, not_eta)
    rules = print_rules(boxes[:, training.used_bins])
    mixture = Mixture.of(problem, fit.parameters)
    outcome, weight = training.outcome, training.weight
    target = outcome.point(training.target)
    soft = outcome.point(mixture.predict(training.codes))
    codes = np.array([outcome.code(rule.prediction) for rule in rules])
    printed = codes[rules.apply_encoded(training.encoded)]
    return Restart(
        fit,
        mixture,
        rules,
        outcome.fidelity(target, printed, weight),
        outcome.fidelity(target, soft, weight),
    )


def random_start(
    problem: MixtureProblem, n_components: int, generator: np.random.Generator
) -> tuple[Parameters, np.ndarray]:
    """Random start, of one of two kinds with equal probability.

    The paper only says "randomly". Either eta is uniform, which leaves the first M-step
    free but eliminates most components when there are many statements; or every
    component is like all rows, shifted slightly towards one of them, which keeps more
    components. Each finds good rules on data where the other does not.
    """
    weight = np.concatenate([rows.weight for rows in problem.blocks])
    picked = generator.choice(len(weight), size=n_components, p=weight / weight.sum())
    codes, target, _ = problem.blocks.take(picked)
    if generator.random() < 0.5:
        n_statements = len(problem.bins.statements.feature)
        true = generator.random((n_statements, n_components))
        false = 1.0 - true
    else:
        (all_rows,) = problem.blocks.map_sum(_row_histogram, problem)
        single = np.zeros((len(all_rows), n_components))
        _kernels.add_to_histogram(single, codes, problem.bin_start, np.eye(len(picked)))
        mixed = (1.0 - START_PULL) * all_rows / weight.sum() + START_PULL * single
        true, false = problem.bins.mass_of_statements(mixed)
    share = np.full(n_components, 1.0 / n_components)
    start = Parameters(true, false, share, problem.output.around(target))
    return start, share * problem.total_weight


def _row_histogram(rows: RowBlock, problem: MixtureProblem) -> tuple[np.ndarray]:
    histogram = np.zeros((int(problem.bins.n_bins.sum()), 1))
    _kernels.add_to_histogram(
        histogram, rows.codes, problem.bin_start, rows.weight[:, None]
    )
    return (histogram,)
