"""Factorized asymptotic Bayesian inference of few rules (Hara & Hayashi 2018).

A row n has a target y and truth values s_l in {0, 1} of the L statements of the
ensemble, such as ``x_d > b``. Given component k of a mixture of K, all of these are
independent, with parameters Pi: p(y, s, k) = alpha_k p(y | phi_k) prod_l p(s_l |
eta_kl). Rows belong to components with responsibilities beta_nk; N_k is their sum over
rows, and a component costs omega log(N_k + 1) in the bound (eq. 12).

:func:`fit_mixture` is Algorithm 1: E-step, truncation, M-step, lower bound. Everything
is computed on bins: the log-likelihood of a row's statements (eq. 6) is a sum over
features of one table entry each, and the M-step's sums over statements are prefix sums
of one histogram. With N rows and D features an iteration costs ``O(K (L + N D))``, the
dense formulas ``O(K L N)``; each pass of eq. 13 adds ``O(K N)`` to both. The records of
a fit come after the algorithm, then the steps in its order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import fab as _kernels
from clearwood._numeric import Blocks, clipped_log, product, xlogx
from clearwood._numeric.progress import progress
from clearwood._tables.merging import equal_rows
from clearwood.rules import FeatureBins
from clearwood.simplifiers.fab.outputs import Output

TRUNCATION_SHARE = 1e-8
"""A component with a smaller alpha is dropped (delta of Algorithm 1)."""

SMALLEST = np.finfo(np.float64).tiny
"""Mass below which the means of a component are undefined."""


def fit_mixture(
    problem: MixtureProblem,
    start: Parameters,
    counts: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    inner_tol: float = 1e-8,
    max_passes: int = 1000,
    truncate: bool = True,
    verbose: bool = False,
) -> Fit:
    """Algorithm 1 from one start; with ``truncate=False``, EM (appendix A).

    EM has omega = 0, one pass of eq. 13, and keeps all components that contain any row.

    Parameters
    ----------
    problem : MixtureProblem
        Rows, bins, output model.
    start : Parameters
        Pi at the start.
    counts : ndarray of shape (K,)
        N_k at the start. Eq. 13 depends on the previous responsibilities only through
        these sums, so they are not kept.
    max_iter : int
        Maximum number of iterations.
    tol : float
        Stop when the bound changes by less.
    inner_tol : float
        End the E-step when no count N_k changes by more than this share of N_k + 1.
    max_passes : int
        Maximum number of passes per E-step. Each raises the bound, so any number is
        valid; with none, the counts of the previous iteration are used, and an
        iteration is a single pass over the rows.
    truncate : bool
        Whether components are penalised and dropped.
    verbose : bool
        Whether to show a progress bar.

    Returns
    -------
    Fit
    """
    omega = problem.omega if truncate else 0.0
    # Without omega eq. 13 does not depend on the counts: one pass is exact.
    most_passes = max_passes if truncate else min(max_passes, 1)
    parameters, components = start, np.arange(len(start.share))
    history: list[Iteration] = []
    bound, converged = -np.inf, False
    for _ in progress(range(max_iter), max_iter, "iterations at most", verbose):
        # E-step (eq. 13)
        scored = with_log_joint(problem, parameters)
        counts, n_passes = _settle_counts(scored, counts, omega, inner_tol, most_passes)
        # beta at these counts; all further steps need only sums of it over rows.
        penalty = omega / (counts + 1.0)
        sums = Sums(*scored.map_sum(_sums, penalty, problem, parameters.output))
        # Region truncation; EM drops only components without mass to divide by
        least = TRUNCATION_SHARE * problem.total_weight if truncate else SMALLEST
        kept = sums.counts >= least
        sums, parameters = keep_components(kept, sums, parameters)
        components = components[kept]
        # M-step (eq. 14)
        before, parameters = parameters, m_step(problem, sums, parameters)
        counts = sums.counts
        # Lower bound (eq. 12)
        new_bound = lower_bound(problem, sums, before, parameters, omega)
        history.append(Iteration(new_bound, len(components), n_passes))
        converged = abs(new_bound - bound) < tol
        bound = new_bound
        if converged:
            break
    return Fit(parameters, counts, components, tuple(history), converged)


class Parameters(NamedTuple):
    """Pi = (eta, alpha, phi) of K components.

    Attributes
    ----------
    true_probability, false_probability : ndarray of shape (n_statements, K)
        eta and 1 - eta. Both are kept: formed from a rounded eta near one, the
        second would lose its digits.
    share : ndarray of shape (K,)
        alpha.
    output : Normal or Multinomial
        phi.
    """

    true_probability: np.ndarray
    false_probability: np.ndarray
    share: np.ndarray
    output: Any


@dataclass(frozen=True, eq=False)
class MixtureProblem:
    """Constants of a fit, shared by restarts.

    Attributes
    ----------
    blocks : Blocks
        Of ``RowBlock``.
    bins : FeatureBins
        The bins that the codes refer to.
    bin_start : ndarray
        Start of the bins of each column of ``codes``.
    output : GaussianOutput or MultinomialOutput
        The model p(y|k).
    statement_weight : float
        Factor on the statements' log-likelihood and on L in omega.
    total_weight : float
        Sum of all row weights, N.
    """

    blocks: Blocks[RowBlock]
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
        """Number of rows that differ in codes or target (per block)."""
        return sum(len(rows.weight) for rows in self.blocks)


class RowBlock(NamedTuple):
    """One block of rows.

    Attributes
    ----------
    codes : ndarray of unsigned integers of shape (n_rows, n_features)
        Bins of the features with statements.
    target : ndarray of shape (n_rows,) or (n_rows, n_classes)
    weight : ndarray of shape (n_rows,)
    """

    codes: np.ndarray
    target: np.ndarray
    weight: np.ndarray


class ScoredBlock(NamedTuple):
    """Block of rows with ``log f_k = log p(y|k) p(s|k) p(k)`` (n_rows, K)."""

    codes: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    log_joint: np.ndarray


class Sums(NamedTuple):
    """Sums over rows that determine the M-step and the lower bound.

    The mass of a row in a component is its responsibility times its weight.

    Attributes
    ----------
    histogram : ndarray of shape (total number of bins, K)
        Mass of the rows in every bin.
    counts : ndarray of shape (K,)
        N_k, the mass of all rows.
    entropy : ndarray of shape (K,)
        Entropy of the responsibilities.
    target : ndarray of shape (n_sums, K)
        Sums of the targets: see ``statistics`` of the output model.
    """

    histogram: np.ndarray
    counts: np.ndarray
    entropy: np.ndarray
    target: np.ndarray


class Iteration(NamedTuple):
    """Record of one iteration."""

    bound: float
    n_components: int
    n_passes: int


class Fit(NamedTuple):
    """Result of one run from one start."""

    parameters: Parameters
    counts: np.ndarray
    components: np.ndarray
    history: tuple[Iteration, ...]
    converged: bool


def with_log_joint(
    problem: MixtureProblem, parameters: Parameters
) -> Blocks[ScoredBlock]:
    """Rows with ``log f_k``, which the E-step compares components by."""
    return problem.blocks.map(
        _with_log_joint,
        statement_table(problem, parameters),
        np.log(parameters.share),
        problem,
        parameters.output,
    )


def statement_table(problem: MixtureProblem, parameters: Parameters) -> np.ndarray:
    """``log p(s|k)`` of eq. 6, one entry per bin and component."""
    weight = problem.statement_weight * problem.bins.statements.weight[:, None]
    return problem.bins.sum_over_statements(
        weight * clipped_log(parameters.true_probability),
        weight * clipped_log(parameters.false_probability),
    )


def _with_log_joint(
    rows: RowBlock,
    table: np.ndarray,
    log_share: np.ndarray,
    problem: MixtureProblem,
    output_parameters: Any,
) -> ScoredBlock:
    log_joint = problem.output.log_density(rows.target, output_parameters) + log_share
    _kernels.add_looked_up(log_joint, rows.codes, problem.bin_start, table)
    return ScoredBlock(*rows, log_joint)


def _settle_counts(
    scored: Blocks[ScoredBlock],
    counts: np.ndarray,
    omega: float,
    inner_tol: float,
    max_passes: int,
) -> tuple[np.ndarray, int]:
    """Counts N_k at the fixed point of eq. 13, and the number of passes.

    Besides the parameters, beta depends on them alone.
    """
    for done in range(1, max_passes + 1):
        last = counts
        (counts,) = scored.map_sum(_counts, omega / (last + 1.0))
        if np.all(np.abs(counts - last) <= inner_tol * (counts + 1.0)):
            return counts, done
    return counts, max_passes


def _counts(rows: ScoredBlock, penalty: np.ndarray) -> tuple[np.ndarray]:
    return (_kernels.responsibility_counts(rows.log_joint, penalty, rows.weight),)


def _sums(
    rows: ScoredBlock,
    penalty: np.ndarray,
    problem: MixtureProblem,
    output_parameters: Any,
) -> Sums:
    responsibility = _kernels.responsibilities(rows.log_joint, penalty)
    return sums_of_rows(rows, responsibility, problem, output_parameters)


def sums_of_rows(
    rows: RowBlock | ScoredBlock,
    responsibility: np.ndarray,
    problem: MixtureProblem,
    output_parameters: Any,
) -> Sums:
    """The sums of one block under given responsibilities beta."""
    mass = responsibility * rows.weight[:, None]
    histogram = np.zeros((int(problem.bins.n_bins.sum()), mass.shape[1]))
    _kernels.add_to_histogram(histogram, rows.codes, problem.bin_start, mass)
    return Sums(
        histogram,
        mass.sum(axis=0),
        -(rows.weight[:, None] * xlogx(responsibility)).sum(axis=0),
        problem.output.statistics(rows.target, mass, output_parameters),
    )


def keep_components(
    kept: np.ndarray, sums: Sums, parameters: Parameters
) -> tuple[Sums, Parameters]:
    """Region truncation: drop all components but those marked in ``kept``."""
    if kept.all():
        return sums, parameters
    output = parameters.output
    return Sums(*(part[..., kept] for part in sums)), Parameters(
        parameters.true_probability[:, kept],
        parameters.false_probability[:, kept],
        parameters.share[kept],
        output._make(part[kept] for part in output),
    )


def m_step(problem: MixtureProblem, sums: Sums, before: Parameters) -> Parameters:
    """Eq. 14, from sums over rows."""
    true_mass, false_mass = problem.bins.mass_of_statements(sums.histogram)
    return Parameters(
        true_mass / sums.counts,
        false_mass / sums.counts,
        sums.counts / problem.total_weight,
        problem.output.m_step(sums.counts, sums.target, before.output),
    )


def lower_bound(
    problem: MixtureProblem,
    sums: Sums,
    before: Parameters,
    parameters: Parameters,
    omega: float,
) -> float:
    """Eq. 12 after an M-step, without another pass over the rows.

    ``before`` are the parameters of the E-step: a Gaussian's ``sums.target`` are sums
    of ``y - before.mean`` and its square.
    """
    statements = float((sums.histogram * statement_table(problem, parameters)).sum())
    output = problem.output.expected_log_density(
        sums.counts, sums.target, before.output, parameters.output
    )
    shares = float((sums.counts * np.log(parameters.share)).sum())
    penalty = omega * float(np.log(sums.counts + 1.0).sum())
    return statements + output + shares + float(sums.entropy.sum()) - penalty


def make_problem(
    codes: np.ndarray,
    target: np.ndarray,
    weight: np.ndarray,
    bins: FeatureBins,
    output: Output,
    statement_weight: float = 1.0,
) -> MixtureProblem:
    """Split rows into blocks and merge equal ones; keep only features in use."""
    used = bins.used_features
    blocks = Blocks.from_arrays(
        np.ascontiguousarray(codes[:, used]), target, weight
    ).map(merge_equal_rows)
    return MixtureProblem(
        blocks, bins, bins.bin_start[used], output, statement_weight,
        float(weight.sum()),
    )  # fmt: skip


def merge_equal_rows(block: tuple[np.ndarray, np.ndarray, np.ndarray]) -> RowBlock:
    """Merge rows of equal codes and target, summing their weights.

    Rows of zero weight are dropped.
    """
    codes, target, weight = block
    n_rows = len(codes)
    values = np.ascontiguousarray(target).view(np.uint8).reshape(n_rows, -1)
    raw = np.hstack([codes.view(np.uint8).reshape(n_rows, -1), values])
    first, place = equal_rows(raw)
    merged = np.bincount(place, weights=weight, minlength=len(first))
    keep = first[merged > 0]
    return RowBlock(codes[keep], target[keep], merged[merged > 0])


class Mixture(NamedTuple):
    """Mixture for prediction, without the rows of its fit.

    Attributes
    ----------
    bins : FeatureBins
    features : ndarray of int of shape (n_features_used,)
        Features with statements.
    table : ndarray of shape (total number of bins, K)
        ``log p(s|k)`` of eq. 6.
    log_share : ndarray of shape (K,)
    values : ndarray of shape (K,) or (K, n_classes)
        Prediction of each component (eq. 11): a value, or class probabilities.
    """

    bins: FeatureBins
    features: np.ndarray
    table: np.ndarray
    log_share: np.ndarray
    values: np.ndarray

    @classmethod
    def of(cls, problem: MixtureProblem, parameters: Parameters) -> Mixture:
        """Mixture with given parameters."""
        return cls(
            problem.bins,
            problem.bins.used_features,
            statement_table(problem, parameters),
            np.log(parameters.share),
            problem.output.values(parameters.output),
        )

    def codes(self, X: Any) -> np.ndarray:
        """Bins of all features (n_rows, n_features) of a table."""
        encoded = self.bins.features.encode(X, self.features.tolist())
        return self.bins.transform_encoded(encoded)

    def predict(self, codes: np.ndarray) -> np.ndarray:
        """Prediction of the most probable component (eq. 10 and 11)."""
        return self.values[self._scores(codes).argmax(axis=1)]

    def average(self, codes: np.ndarray) -> np.ndarray:
        """Mean of ``p(y|s)``: predictions of all components, weighted by ``p(k|s)``."""
        nothing = np.zeros_like(self.log_share)
        return product(
            _kernels.responsibilities(self._scores(codes), nothing), self.values
        )

    def _scores(self, codes: np.ndarray) -> np.ndarray:
        """``log p(s|k) p(k)``, rows by components."""
        scores = np.tile(self.log_share, (len(codes), 1))
        used = np.ascontiguousarray(codes[:, self.features])
        start = self.bins.bin_start[self.features]
        _kernels.add_looked_up(scores, used, start, self.table)
        return scores
