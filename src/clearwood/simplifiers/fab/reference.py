"""FAB and EM in the update order of the authors' program (defragTrees).

It differs from ``inference`` in what the papers leave open: two
passes of eq. 13 in each of the first five iterations and at most ten later, every
pass smoothed by 1e-10, a pass kept only if it raises the bound, and the last
iteration thrown away. From one start the two can end in different models.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._numeric import Block, Blocks, xlogx
from clearwood.simplifiers.fab.inference import (
    TRUNCATION_SHARE,
    Fit,
    Iteration,
    Parameters,
    Problem,
    Sums,
    _kernels,
    keep_components,
    lower_bound,
    m_step,
    sums_of_block,
    with_log_joint,
)

SMOOTHING = 1e-10
FEW_PASSES, MANY_PASSES, EARLY_ITERATIONS = 2, 10, 5


def fit_reference(
    problem: Problem,
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
    problem : Problem
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
    rows = _with_start(problem.blocks, responsibility)
    joined = _join(rows, with_log_joint(problem, parameters))
    counts, expected = joined.map_sum(_counts_and_expected)
    bound = float(expected) - omega * float(np.log(counts + 1.0).sum())
    history: list[Iteration] = []
    for iteration in range(max_iter):
        joined = _join(rows, with_log_joint(problem, parameters))
        n_passes = 1
        if truncate:
            most = FEW_PASSES if iteration < EARLY_ITERATIONS else MANY_PASSES
            joined, n_passes = _passes(joined, counts, omega, most, tol)
        else:
            joined = joined.map(_pass, np.zeros(len(components)))
        sums = Sums(*joined.map_sum(_sums, problem, parameters.output))
        kept = sums.counts > TRUNCATION_SHARE * problem.total_weight
        if not truncate:
            kept[:] = True
        new_rows = joined.map(_keep_columns, kept)
        sums, before = keep_components(problem, kept, sums, parameters)
        updated = m_step(problem, sums, before, total=float(sums.counts.sum()))
        new_bound = lower_bound(problem, sums, before, updated, omega)
        history.append(Iteration(new_bound, int(kept.sum()), n_passes))
        if new_bound - bound < tol:
            if not truncate:
                # The program's EM discards the shares alone: the rest it has
                # already overwritten.
                parameters = updated._replace(share=parameters.share)
            return Fit(parameters, counts, components, tuple(history), True)
        bound, parameters, counts, rows = new_bound, updated, sums.counts, new_rows
        components = components[kept]
    return Fit(parameters, counts, components, tuple(history), False)


def random_responsibility(
    problem: Problem, n_components: int, generator: np.random.Generator
) -> np.ndarray:
    """Responsibilities drawn at random, as the program starts."""
    drawn = generator.random((problem.n_rows, n_components))
    return drawn / drawn.sum(axis=1, keepdims=True)


def _with_start(blocks: Blocks, responsibility: np.ndarray) -> Blocks:
    ends = np.cumsum([len(block[2]) for block in blocks])
    parts = np.split(responsibility, ends[:-1])
    return Blocks((*block[:3], part) for block, part in zip(blocks, parts))


def _join(rows: Blocks, with_joint: Blocks) -> Blocks:
    """Blocks of codes, target, weight, log joint, responsibility."""
    return Blocks((*new, old[-1]) for old, new in zip(rows, with_joint))


def _passes(
    rows: Blocks, counts: np.ndarray, omega: float, most: int, tol: float
) -> tuple[Blocks, int]:
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


def _pass(block: Block, penalty: np.ndarray) -> Block:
    new = _kernels.responsibilities(block[3], penalty)
    if new.shape[1] > 1:
        new += SMOOTHING
        new /= new.sum(axis=1, keepdims=True)
    return (*block[:4], new)


def _expected(block: Block) -> tuple[float]:
    weight, log_joint, responsibility = block[2], block[3], block[4]
    terms = responsibility * log_joint - xlogx(responsibility)
    return (float((weight[:, None] * terms).sum()),)


def _counts_and_expected(block: Block) -> tuple[np.ndarray, float]:
    counts = (block[2][:, None] * block[4]).sum(axis=0)
    return (counts, *_expected(block))


def _sums(block: Block, problem: Problem, output_parameters: Any) -> Sums:
    return sums_of_block(block[:3], block[4], problem, output_parameters)


def _keep_columns(block: Block, kept: np.ndarray) -> Block:
    return (*block[:3], np.ascontiguousarray(block[4][:, kept]))
