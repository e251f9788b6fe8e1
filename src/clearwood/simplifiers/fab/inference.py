"""Factorized asymptotic Bayesian inference of few rules (Hara & Hayashi 2018).

Algorithm 1 in the paper's order: start, E-step (eq. 13), truncation, M-step
(eq. 14), lower bound (eq. 12). Everything is computed on bins: the log-likelihood
of a row's statements (eq. 6) is a sum over features of one table entry each, and
the M-step's sums over statements are prefix sums of one histogram. An iteration
costs ``O(K (L + N D))``; the dense formulas cost ``O(K L N)``.

With ``omega = 0`` and no truncation this is the EM algorithm of appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import Block, Blocks, clipped_log, xlogx
from clearwood.rules import FeatureBins
from clearwood.simplifiers.fab import _kernels
from clearwood.simplifiers.fab.outputs import Output

TRUNCATION_SHARE = 1e-8
"""A component with a smaller share of the rows is dropped (delta of Algorithm 1)."""

START_PULL = 0.05
"""How far a component starts from all rows towards one row."""


class Parameters(NamedTuple):
    """Pi = (eta, alpha, phi) of K components.

    Attributes
    ----------
    true_probability, false_probability : ndarray of shape (n_statements, K)
        eta and 1 - eta. Both are kept: formed from a rounded eta near one, the
        second would lose its digits.
    share : ndarray of shape (K,)
        alpha.
    output : Normal or ClassProbabilities
        phi.
    """

    true_probability: np.ndarray
    false_probability: np.ndarray
    share: np.ndarray
    output: Any


@dataclass(frozen=True, eq=False)
class Problem:
    """All that stays the same during a fit; restarts share it.

    Attributes
    ----------
    blocks : Blocks
        Of ``(codes, target, weight)``; codes only of features with statements.
    bins : FeatureBins
        The bins that the codes refer to.
    bin_start : ndarray
        Where the bins of each column of ``codes`` begin.
    output : GaussianOutput or MultinomialOutput
        The model p(y|k).
    statement_weight : float
        Factor on the statements' log-likelihood and on L in omega.
    total_weight : float
        Sum of all row weights, N.
    """

    blocks: Blocks
    bins: FeatureBins
    bin_start: np.ndarray
    output: Output
    statement_weight: float
    total_weight: float

    @property
    def omega(self) -> float:
        """``(dim phi / K + L + 1) / 2`` of eq. 12."""
        n_statements = self.statement_weight * self.bins.n_statements
        return (self.output.n_parameters + n_statements + 1.0) / 2.0

    @property
    def n_rows(self) -> int:
        """Rows that differ in codes or target (per block)."""
        return sum(len(block[2]) for block in self.blocks)

    def without_rows(self) -> Problem:
        """What prediction needs."""
        return replace(self, blocks=Blocks([]))


class Iteration(NamedTuple):
    """What one iteration left behind."""

    bound: float
    n_components: int
    n_passes: int


class Fit(NamedTuple):
    """The end of one run from one start."""

    parameters: Parameters
    counts: np.ndarray
    components: np.ndarray
    history: tuple[Iteration, ...]
    converged: bool


class Sums(NamedTuple):
    """Sums over rows that determine the M-step and the lower bound."""

    histogram: np.ndarray
    counts: np.ndarray
    entropy: np.ndarray
    target: np.ndarray


def make_problem(
    codes: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    bins: FeatureBins,
    output: Output,
    statement_weight: float = 1.0,
) -> Problem:
    """Cut rows into blocks and merge equal ones; keep only features in use."""
    used = bins.used_features
    blocks = Blocks.from_arrays(
        np.ascontiguousarray(codes[:, used]), target, weight
    ).map(merge_equal_rows)
    return Problem(
        blocks, bins, bins.bin_start[used], output, statement_weight,
        float(weight.sum()),
    )  # fmt: skip


def merge_equal_rows(block: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Rows of equal codes and target become one row with their summed weight."""
    codes, target, weight = block
    n_rows = len(codes)
    values = np.ascontiguousarray(target).view(np.uint8).reshape(n_rows, -1)
    raw = np.hstack([codes.view(np.uint8).reshape(n_rows, -1), values])
    rows = np.ascontiguousarray(raw).view([("row", "V", raw.shape[1])]).reshape(-1)
    _, first, inverse = np.unique(rows, return_index=True, return_inverse=True)
    merged = np.bincount(inverse.reshape(-1), weights=weight, minlength=len(first))
    keep = first[merged > 0]
    return codes[keep], target[keep], merged[merged > 0]


def fit_paper(
    problem: Problem,
    start: Parameters,
    counts: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    inner_tol: float = 1e-8,
    max_passes: int = 1000,
    truncate: bool = True,
) -> Fit:
    """Algorithm 1 from one start; with ``truncate=False``, EM (appendix A).

    Parameters
    ----------
    problem : Problem
        Rows, bins, output model.
    start : Parameters
        Pi at the start.
    counts : ndarray of shape (K,)
        Sum over rows of q(u_k) at the start; of q, eq. 13 needs no more.
    max_iter : int
        Most iterations.
    tol : float
        Stop when the bound moves by less.
    inner_tol : float
        End the E-step when no count N_k moves by more than this share of N_k + 1.
    max_passes : int
        Most passes of one E-step. Each raises the bound, so any number is sound.
    truncate : bool
        Whether components are penalised and dropped.

    Returns
    -------
    Fit
    """
    omega = problem.omega if truncate else 0.0
    parameters, components = start, np.arange(len(start.share))
    history: list[Iteration] = []
    bound, converged = -np.inf, False
    while len(history) < max_iter and not converged:
        # E-step
        rows = with_log_joint(problem, parameters)
        counts, n_passes = _e_step(
            rows, counts, omega, inner_tol, max_passes if truncate else 1
        )
        penalty = omega / (counts + 1.0)
        sums = Sums(*rows.map_sum(_sums, penalty, problem, parameters.output))
        # Region truncation
        if truncate:
            kept = sums.counts >= TRUNCATION_SHARE * problem.total_weight
            sums, parameters = keep_components(problem, kept, sums, parameters)
            components = components[kept]
        # M-step
        before, parameters = parameters, m_step(problem, sums, parameters)
        counts = sums.counts
        new_bound = lower_bound(problem, sums, before, parameters, omega)
        history.append(Iteration(new_bound, len(components), n_passes))
        converged = abs(new_bound - bound) < tol
        bound = new_bound
    return Fit(parameters, counts, components, tuple(history), converged)


def with_log_joint(problem: Problem, parameters: Parameters) -> Blocks:
    """Blocks with ``log f_k = log p(y|k) p(s|k) p(k)`` as a further array."""
    return problem.blocks.map(
        _append_log_joint,
        statement_table(problem, parameters),
        np.log(parameters.share),
        problem,
        parameters.output,
    )


def statement_table(problem: Problem, parameters: Parameters) -> np.ndarray:
    """``log p(s|k)`` of eq. 6, one entry per bin and component."""
    weight = problem.statement_weight * problem.bins.statements.weight[:, None]
    return problem.bins.sum_over_statements(
        weight * clipped_log(parameters.true_probability),
        weight * clipped_log(parameters.false_probability),
    )


def _append_log_joint(
    block: Block,
    table: np.ndarray,
    log_share: np.ndarray,
    problem: Problem,
    output_parameters: Any,
) -> Block:
    codes, target, weight = block[:3]
    log_joint = problem.output.log_density(target, output_parameters) + log_share
    _kernels.add_looked_up(log_joint, codes, problem.bin_start, table)
    return codes, target, weight, log_joint


def _e_step(
    rows: Blocks, counts: np.ndarray, omega: float, inner_tol: float, max_passes: int
) -> tuple[np.ndarray, int]:
    """Repeat eq. 13 until the counts stand still; beta depends on them alone."""
    for done in range(1, max_passes + 1):
        before = counts
        (counts,) = rows.map_sum(_counts, omega / (before + 1.0))
        if np.all(np.abs(counts - before) <= inner_tol * (counts + 1.0)):
            return counts, done
    return counts, max_passes


def _counts(block: Block, penalty: np.ndarray) -> tuple[np.ndarray]:
    return (_kernels.responsibility_counts(block[3], penalty, block[2]),)


def _sums(
    block: Block, penalty: np.ndarray, problem: Problem, output_parameters: Any
) -> Sums:
    responsibility = _kernels.responsibilities(block[3], penalty)
    return sums_of_block(block, responsibility, problem, output_parameters)


def sums_of_block(
    block: Block, responsibility: np.ndarray, problem: Problem, output_parameters: Any
) -> Sums:
    """The sums of one block under given responsibilities beta."""
    codes, target, weight = block[:3]
    mass = responsibility * weight[:, None]
    histogram = np.zeros((int(problem.bins.n_bins.sum()), mass.shape[1]))
    _kernels.add_to_histogram(histogram, codes, problem.bin_start, mass)
    return Sums(
        histogram,
        mass.sum(axis=0),
        -(weight[:, None] * xlogx(responsibility)).sum(axis=0),
        problem.output.statistics(target, mass, output_parameters),
    )


def keep_components(
    problem: Problem, kept: np.ndarray, sums: Sums, parameters: Parameters
) -> tuple[Sums, Parameters]:
    """Drop the columns of the components that do not stay."""
    if kept.all():
        return sums, parameters
    sums = Sums(
        sums.histogram[:, kept],
        sums.counts[kept],
        sums.entropy[kept],
        sums.target[:, kept],
    )
    return sums, Parameters(
        parameters.true_probability[:, kept],
        parameters.false_probability[:, kept],
        parameters.share[kept],
        problem.output.keep(parameters.output, kept),
    )


def m_step(
    problem: Problem, sums: Sums, before: Parameters, total: float | None = None
) -> Parameters:
    """Eq. 14, from sums over rows."""
    true_mass, false_mass = problem.bins.mass_of_statements(sums.histogram)
    return Parameters(
        true_mass / sums.counts,
        false_mass / sums.counts,
        sums.counts / (problem.total_weight if total is None else total),
        problem.output.m_step(sums.counts, sums.target, before.output),
    )


def lower_bound(
    problem: Problem,
    sums: Sums,
    before: Parameters,
    parameters: Parameters,
    omega: float,
) -> float:
    """Eq. 12 after an M-step; no row is looked at again.

    ``before`` are the parameters around which ``sums.target`` was taken.
    """
    statements = float((sums.histogram * statement_table(problem, parameters)).sum())
    output = problem.output.expected_log_density(
        sums.counts, sums.target, before.output, parameters.output
    )
    shares = float((sums.counts * np.log(parameters.share)).sum())
    penalty = omega * float(np.log(sums.counts + 1.0).sum())
    return statements + output + shares + float(sums.entropy.sum()) - penalty


def random_start(
    problem: Problem, n_components: int, generator: np.random.Generator
) -> tuple[Parameters, np.ndarray]:
    """A random start, of one of two kinds at even odds.

    The paper only says "randomly". Either eta is uniform, which leaves the first
    M-step free but kills most components when there are many statements; or every
    component is like all rows, pulled a little towards one of them, which keeps
    more components alive. Each finds good rules on data where the other does not.
    """
    weight = np.concatenate([block[2] for block in problem.blocks])
    rows = generator.choice(len(weight), size=n_components, p=weight / weight.sum())
    codes, target, _ = problem.blocks.take(rows)
    if generator.random() < 0.5:
        n_statements = len(problem.bins.statements.feature)
        true = generator.random((n_statements, n_components))
        false = 1.0 - true
    else:
        (everyone,) = problem.blocks.map_sum(_row_histogram, problem)
        single = np.zeros((len(everyone), n_components))
        _kernels.add_to_histogram(single, codes, problem.bin_start, np.eye(len(rows)))
        mixed = (1.0 - START_PULL) * everyone / weight.sum() + START_PULL * single
        true, false = problem.bins.mass_of_statements(mixed)
    share = np.full(n_components, 1.0 / n_components)
    start = Parameters(true, false, share, problem.output.around(target))
    return start, share * problem.total_weight


def _row_histogram(block: Block, problem: Problem) -> tuple[np.ndarray]:
    codes, _, weight = block
    histogram = np.zeros((int(problem.bins.n_bins.sum()), 1))
    _kernels.add_to_histogram(histogram, codes, problem.bin_start, weight[:, None])
    return (histogram,)
