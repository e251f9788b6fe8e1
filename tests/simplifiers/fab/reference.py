"""FAB and EM in the update order of the authors' program (defragTrees): an oracle.

It differs from ``inference`` in what the papers leave open: two
passes of eq. 13 in each of the first five iterations and at most ten later, every
pass smoothed by 1e-10, a pass kept only if it raises the bound, and the last
iteration thrown away. From one start the two can end in different models.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._kernels import fab as _kernels
from clearwood._numeric import Blocks, xlogx
from clearwood.simplifiers.fab.inference import (
    TRUNCATION_SHARE,
    Fit,
    Iteration,
    MixtureProblem,
    Parameters,
    RowBlock,
    Sums,
    keep_components,
    lower_bound,
    m_step,
    sums_of_rows,
    with_log_joint,
)

SMOOTHING = 1e-10
FEW_PASSES, MANY_PASSES, EARLY_ITERATIONS = 2, 10, 5


class SharedRows(NamedTuple):
    """One block of rows, their log joint and their responsibilities."""

    codes: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    log_joint: np.ndarray
    beta: np.ndarray


def fit_reference(
    problem: MixtureProblem,
    start: Parameters,
    responsibility: np.ndarray,
    *,
    max_iter: int = 1000,
    tol: float = 1e-6,
    truncate: bool = True,
) -> Fit:
    """Fit from one start in the program's order.

    Parameters
    ----------
    problem : MixtureProblem
        Rows, bins, output model.
    start : Parameters
        Pi at the start.
    responsibility : ndarray of shape (n_merged_rows, K)
        q(U) at the start. A pass that does not raise the bound leaves it as it
        is, so that here, unlike in the paper's order, its rows matter.
    max_iter : int
        Most iterations.
    tol : float
        Stop, and discard the iteration, when the bound rises by less; also the
        least rise after which a further pass is made.
    truncate : bool
        With False, EM at fixed K.

    Returns
    -------
    Fit
        Of the last accepted state; of EM, as in the program, with the shares of
        that state and all else of the discarded one.
    """
    omega = problem.omega if truncate else 0.0
    parameters, components = start, np.arange(len(start.share))
    ends = np.cumsum([len(rows.weight) for rows in problem.blocks])[:-1]
    betas = np.split(responsibility, ends)
    rows = _share(problem, parameters, betas)
    counts, expected = rows.map_sum(_counts_and_expected)
    bound = float(expected) - omega * float(np.log(counts + 1.0).sum())
    history: list[Iteration] = []
    for iteration in range(max_iter):
        rows = _share(problem, parameters, betas)
        n_passes = 1
        if truncate:
            most = FEW_PASSES if iteration < EARLY_ITERATIONS else MANY_PASSES
            rows, n_passes = _passes(rows, counts, omega, most, tol)
        else:
            rows = rows.map(_pass, np.zeros(len(components)))
        sums = Sums(*rows.map_sum(_sums, problem, parameters.output))
        kept = sums.counts > TRUNCATION_SHARE * problem.total_weight
        if not truncate:
            kept[:] = True
        new_betas = [np.ascontiguousarray(block.beta[:, kept]) for block in rows]
        sums, before = keep_components(kept, sums, parameters)
        # The program divides by what is left of the rows' weight.
        updated = m_step(problem, sums, before)
        updated = updated._replace(share=sums.counts / float(sums.counts.sum()))
        new_bound = lower_bound(problem, sums, before, updated, omega)
        history.append(Iteration(new_bound, int(kept.sum()), n_passes))
        if new_bound - bound < tol:
            if not truncate:
                # The program's EM discards the shares alone: the rest it has
                # already overwritten.
                parameters = updated._replace(share=parameters.share)
            return Fit(parameters, counts, components, tuple(history), True)
        bound, parameters, counts, betas = new_bound, updated, sums.counts, new_betas
        components = components[kept]
    return Fit(parameters, counts, components, tuple(history), False)


def random_responsibility(
    problem: MixtureProblem, n_components: int, generator: np.random.Generator
) -> np.ndarray:
    """Responsibilities drawn at random, as the program starts."""
    drawn = generator.random((problem.n_rows, n_components))
    return drawn / drawn.sum(axis=1, keepdims=True)


def _share(
    problem: MixtureProblem, parameters: Parameters, betas: list[np.ndarray]
) -> Blocks[SharedRows]:
    scored = with_log_joint(problem, parameters)
    return Blocks(SharedRows(*rows, beta) for rows, beta in zip(scored, betas))


def _passes(
    rows: Blocks[SharedRows], counts: np.ndarray, omega: float, most: int, tol: float
) -> tuple[Blocks[SharedRows], int]:
    """Passes of eq. 13; each is kept only if it raises the bound."""
    (expected,) = rows.map_sum(_expected)
    bound = float(expected) - omega * float(np.log(counts + 1.0).sum())
    for done in range(1, most + 1):
        tried = rows.map(_pass, omega / (counts + 1.0))
        new_counts, expected = tried.map_sum(_counts_and_expected)
        new_bound = float(expected) - omega * float(np.log(new_counts + 1.0).sum())
        if new_bound > bound:
            rows, counts = tried, new_counts
        if new_bound - bound < tol:
            return rows, done
        bound = new_bound
    return rows, most


def _pass(rows: SharedRows, penalty: np.ndarray) -> SharedRows:
    beta = _kernels.responsibilities(rows.log_joint, penalty)
    if beta.shape[1] > 1:
        beta += SMOOTHING
        beta /= beta.sum(axis=1, keepdims=True)
    return rows._replace(beta=beta)


def _expected(rows: SharedRows) -> tuple[float]:
    terms = rows.beta * rows.log_joint - xlogx(rows.beta)
    return (float((rows.weight[:, None] * terms).sum()),)


def _counts_and_expected(rows: SharedRows) -> tuple[np.ndarray, float]:
    counts = (rows.weight[:, None] * rows.beta).sum(axis=0)
    return (counts, *_expected(rows))


def _sums(rows: SharedRows, problem: MixtureProblem, output_parameters: Any) -> Sums:
    plain = RowBlock(rows.codes, rows.target, rows.weight)
    return sums_of_rows(plain, rows.beta, problem, output_parameters)
