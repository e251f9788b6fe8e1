"""Sums of boxes and a constant, grown box by box by a beam search."""

from __future__ import annotations

import numpy as np

from clearwood._numeric import rounded
from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.candidates import Candidates, candidate_boxes
from clearwood.search.growth import (
    N_HALVED,
    N_REFITTED,
    N_SCREENED,
    grow,
    narrowed,
    thinned,
    widened,
)
from clearwood.search.sums.ascent import (
    BoxSum,
    SumAscent,
    SumProblem,
    refine_sum,
)

SAME_DIGITS = 7
"""Decimals to which the objectives of two sums are compared."""

N_RESIDUAL_TREES = 5
"""Number of trees on the residuals, whose nodes are candidates at every step.

With nine, sums were no better.
"""


def grow_sums(
    problem: SumProblem,
    pool: np.ndarray,
    max_boxes: int,
    generator: np.random.Generator,
) -> list[BoxSum]:
    """Sums of 0, 1, ... boxes, grown by a beam search.

    At each step every candidate box, and those of fresh trees on the residuals, is
    tried. The sides of the best are optimized; with the best of these the whole sum is
    refitted, and the best results are grown further. If no box lowers the objective,
    the penalty per literal is halved, at most twice.

    Parameters
    ----------
    problem : SumProblem
    pool : ndarray of bool of shape (n_pool, total number of bins)
        Candidate boxes.
    max_boxes : int
        Maximum number of boxes in a sum.
    generator : numpy.random.Generator
        Generator of the trees on the residuals.

    Returns
    -------
    list of BoxSum
        By number of boxes. The last may have fewer than ``max_boxes``, if more do not
        lower the objective.
    """
    if not len(pool):
        return [_constant(problem)]

    thin = thinned(problem)
    few, pool, is_kept = narrowed(thin, pool)
    gains = SumGains(few, pool)

    def lengthen(problem: SumProblem, beam: list[BoxSum]) -> list[BoxSum]:
        fresh = SumGains(problem, _residual_pool(problem, beam[0], generator))
        beam = [one for one in beam if len(one.boxes) < max_boxes]
        return _longer(problem, [gains, fresh], beam)

    found = grow(few, [_constant(few)], max_boxes, lengthen, best_refined)
    found = [widened(one, is_kept) for one in found]
    return (
        found
        if thin is problem
        else [SumAscent(problem, one).refitted() for one in found]
    )


def select_sums(
    problem: SumProblem,
    pool: np.ndarray,
    frequency: np.ndarray,
    stability: float,
    max_boxes: int,
) -> list[BoxSum]:
    """Sums of 0, 1, ... candidates as they are, selected by gain and frequency.

    At each step the candidate of largest gain ** (1 - stability) * frequency **
    stability is added, of those with a gain, and all values are refitted. The penalty
    per literal is that with which :func:`grow_sums` ends.

    Parameters
    ----------
    problem : SumProblem
    pool : ndarray of bool of shape (n_pool, total number of bins)
        Candidate boxes.
    frequency : ndarray of shape (n_pool,)
        How often each was found, above 0.
    stability : float
        From 0 to 1.
    max_boxes : int
        Maximum number of boxes in a sum.

    Returns
    -------
    list of BoxSum
        By number of boxes.
    """
    problem = problem.with_literal_penalty(problem.literal / 2**N_HALVED)
    thin = thinned(problem)
    gains, found = SumGains(thin, pool), [_constant(thin)]
    often = frequency[:, None] ** stability
    is_left = np.ones((len(pool), len(thin.loss.free)), dtype=bool)
    while len(found) <= max_boxes:
        ascent = SumAscent(thin, found[-1])
        gain, value = (g[:, 0] for g in gains.gains(thin, [ascent.answers()]))
        gain = np.where(is_left & (gain > SMALLEST_CHANGE), gain, 0.0)
        if not gain.any():
            break
        # A power of zero may be one.
        score = np.where(gain > 0.0, gain ** (1.0 - stability) * often, 0.0)
        b, k = np.unravel_index(score.argmax(), score.shape)
        is_left[b, k] = False
        output, own = thin.loss.free[k], float(value[b, k])
        longer = _appended(found[-1], pool[b], output, own, np.inf)
        found.append(SumAscent(thin, longer).refitted())
    if thin is problem:
        return found
    return [SumAscent(problem, one).refitted() for one in found]


def best_refined(problem: SumProblem, trials: list[BoxSum]) -> list[BoxSum]:
    """The best sums after refining some, each once, best first.

    The best one alone often ends with one box in the place of two, a local optimum of
    single moves; with log-odds, more sums than one gain nothing on other rows.
    """
    known: dict[tuple[bytes, bytes], SumAscent] = {}
    best: dict[float, BoxSum] = {}
    for trial in trials:
        ascent = SumAscent(problem, trial, known)
        one = ascent.refine()
        if not ascent.is_known():
            # Sums that become equal have the same objective.
            best.setdefault(round(one.objective, SAME_DIGITS), one)
    return [best[key] for key in sorted(best)][: problem.loss.n_grown]


def _residual_pool(
    problem: SumProblem, current: BoxSum, generator: np.random.Generator
) -> np.ndarray:
    loss = problem.loss
    left = loss.target - SumAscent(problem, current).answers()
    left = left[list(loss.free)]
    return candidate_boxes(
        problem.grid, left.T, loss.share, generator, n_trees=N_RESIDUAL_TREES
    )


def _longer(
    problem: SumProblem, pools: list[SumGains], beam: list[BoxSum]
) -> list[BoxSum]:
    """The most promising sums with one more box, the best first."""
    ascents = [SumAscent(problem, one) for one in beam]
    answers = [ascent.answers() for ascent in ascents]
    boxes = [box for pool in pools for box in pool.boxes]
    found = [(pool.literals, *pool.gains(problem, answers)) for pool in pools]
    literals, gain, value = map(np.concatenate, zip(*found))
    best, most, trials = gain.argmax(axis=2), gain.max(axis=2), []
    for i, ascent in enumerate(ascents):
        places = np.argsort(-most[:, i], kind="stable")[:N_SCREENED]
        places = places[np.isfinite(most[places, i])]
        own = np.array([boxes[b] for b in places], dtype=bool)
        own, output = own.reshape(-1, len(problem.seen)), best[places, i]
        values, outputs = value[places, i, output], np.array(problem.loss.free)[output]
        costs = ascent.improved(own, literals[places], outputs, values)
        trials += [(beam[i], *one) for one in zip(own, outputs, values, costs)]
    # Many candidates lead to the same sum: it counts once.
    trials = [trial for trial in trials if trial[-1] < np.inf]
    trials.sort(key=lambda trial: trial[-1])
    n_refitted = max(N_REFITTED, 2 * problem.loss.n_grown)
    return [_appended(*trial) for trial in trials[:n_refitted]]


class SumGains(Candidates):
    """Gain of each candidate when added to a sum."""

    def gains(
        self, problem: SumProblem, answers: list[np.ndarray]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Decrease of the objective, and the value, per candidate, sum and output.

        To second order, with all other values fixed. Minus infinity if the box would
        have too few rows. ``answers`` are the current predictions of each sum; outputs
        are the free ones.
        """
        slopes = [self.loss.slopes(one, c) for one in answers for c in self.loss.free]
        firsts, seconds = zip(*slopes)
        if not self.loss.is_class:
            seconds = seconds[:1]  # the same for all
        columns = np.array([self.counts, *firsts, *seconds])
        nowhere = np.zeros(self.grid.n_rows, dtype=np.int32)
        sums = self.sums(columns.T, nowhere, 1)[:, 0]
        first = sums[:, 1 : len(firsts) + 1]
        second = sums[:, len(firsts) + 1 :] + problem.ridge
        gain = first**2 / (2 * second) - problem.literal * self.literals[:, None]
        enough = sums[:, :1] >= problem.min_samples_leaf - 0.01
        value = np.clip(-first / second, -self.loss.largest, self.loss.largest)
        shape = len(self), len(answers), len(self.loss.free)
        gain = rounded(np.where(enough, gain, -np.inf))
        return gain.reshape(shape), value.reshape(shape)


def _constant(problem: SumProblem) -> BoxSum:
    n_outputs = len(problem.loss.target)
    none = np.zeros((0, len(problem.seen)), dtype=bool)
    nothing, nowhere = np.zeros(0), np.zeros(0, dtype=np.int64)
    start = BoxSum(none, nothing, nowhere, np.zeros(n_outputs), np.inf)
    return refine_sum(problem, start)


def _appended(
    one: BoxSum, box: np.ndarray, output: int, value: float, objective: float
) -> BoxSum:
    return BoxSum(
        np.concatenate([one.boxes, box[None]]),
        np.append(one.values, value),
        np.append(one.outputs, output),
        one.constant,
        objective,
    )
