"""Sums of boxes and a constant, grown box by box by a beam search."""

from __future__ import annotations

import numpy as np

from clearwood.search.candidates import candidate_boxes
from clearwood.search.grid import contains, n_literals
from clearwood.search.lists.gains import thinned
from clearwood.search.sums.ascent import (
    SMALLEST_CHANGE,
    BoxSum,
    SumAscent,
    SumProblem,
    refine_sum,
)

N_SCREENED = 24
"""Boxes of the pool whose sides are moved to where they fit best."""

N_REFITTED = 4
"""Of these, those with which the whole sum is refitted; twice the number of sums that
are grown on (``n_grown`` of the loss) where that is more. The best value alone often
ends where one box does the work of two, and no single move leads out; with log-odds
more sums than one gain nothing on other rows."""

SAME_DIGITS = 7
"""Decimals to which the objectives of two sums differ, unless they are the same."""

N_HALVED = 2
"""How often the penalty per literal is halved so that a sum can grow further."""

N_RESIDUAL_TREES = 9
"""Trees on what the sum leaves, whose nodes join the pool at every step."""


def grow_sums(
    problem: SumProblem,
    pool: np.ndarray,
    max_boxes: int,
    generator: np.random.Generator,
) -> list[BoxSum]:
    """Sums of 0, 1, ... boxes, grown by a beam search.

    At each step every box of the pool, and of a fresh one on what the sum leaves, is
    tried. The sides of the best are moved to where they fit best; with the best of
    these the whole sum is refitted, and the best results are grown further. Where
    nothing pays any more, the penalty per literal is halved, twice at most.

    Parameters
    ----------
    problem : SumProblem
    pool : ndarray of bool of shape (n_pool, total number of bins)
        Boxes to choose from.
    max_boxes : int
        Most boxes in a sum.
    generator : numpy.random.Generator
        Draws the trees on what the sum leaves.

    Returns
    -------
    list of BoxSum
        Longer from one to the next. The last may have fewer than ``max_boxes``
        boxes, where more do not pay.
    """
    beam = [_constant(problem)]
    found = {0: beam[0]}
    gains = _PoolGains(problem, pool)
    n_halved = 0
    while len(beam[0].boxes) < max_boxes and len(pool):
        fresh = _PoolGains(problem, _residual_pool(problem, beam[0], generator))
        longer = _refined(
            problem,
            [
                trial
                for one in beam
                if len(one.boxes) < max_boxes
                for trial in _longer(problem, [gains, fresh], one)
            ],
        )
        if longer and longer[0].objective < beam[0].objective - SMALLEST_CHANGE:
            beam = longer
            found[len(beam[0].boxes)] = beam[0]
        elif n_halved < N_HALVED:
            # Long sums have boxes of small effect, in which a literal wins less.
            n_halved += 1
            problem = problem._replace(literal=problem.literal / 2)
            beam = _refined(problem, beam)
        else:
            break
    return [found[size] for size in sorted(found)]


def _refined(problem: SumProblem, trials: list[BoxSum]) -> list[BoxSum]:
    """The best sums that come of the most promising ones, each once, best first."""
    n_grown = problem.loss.n_grown
    n_refitted = max(N_REFITTED, 2 * n_grown)
    trials = sorted(trials, key=lambda one: one.objective)[:n_refitted]
    best: dict[float, BoxSum] = {}
    for trial in trials:
        one = refine_sum(problem, trial)
        # Sums that end in the same place have the same objective.
        best.setdefault(round(one.objective, SAME_DIGITS), one)
    return [best[key] for key in sorted(best)][:n_grown]


def _residual_pool(
    problem: SumProblem, current: BoxSum, generator: np.random.Generator
) -> np.ndarray:
    """Nodes of trees on what the sum leaves of the target."""
    loss = problem.loss
    left = loss.target - loss.answers(current.scores(problem.grid))
    left = left[list(loss.free)]
    return candidate_boxes(
        problem.grid, left.T, loss.share, generator, n_trees=N_RESIDUAL_TREES
    )


def _longer(
    problem: SumProblem, pools: list[_PoolGains], current: BoxSum
) -> list[BoxSum]:
    """The most promising sums with one box more."""
    trials: dict[tuple[bytes, int], BoxSum] = {}
    choices = [choice for gains in pools for choice in gains.best(problem, current)]
    choices.sort(key=lambda choice: -choice[0])
    for _, box, output, value in choices[:N_SCREENED]:
        ascent = SumAscent(problem, _appended(current, box, output, value))
        ascent.improve(len(current.boxes))
        # Many boxes of the pool end in the same place.
        trials.setdefault((ascent.boxes[-1].tobytes(), output), ascent.result())
    return list(trials.values())


class _PoolGains:
    """What each box of a pool would gain if it joined a sum."""

    def __init__(self, problem: SumProblem, pool: np.ndarray) -> None:
        grid, self.loss, self.counts = thinned(
            problem.grid, problem.loss, problem.counts
        )
        self.grid, self.pool = grid, pool
        self.member = contains(grid, pool).astype(np.float32)
        self.literals = np.array(
            [n_literals(grid, box, problem.seen) for box in pool], dtype=int
        )

    def best(
        self, problem: SumProblem, current: BoxSum
    ) -> list[tuple[float, np.ndarray, int, float]]:
        """Gain, box, output and value of the best, each box once."""
        if not len(self.pool):
            return []
        gain, value = self.gains(problem, current)
        output = gain.argmax(axis=1)
        most, free = gain.max(axis=1), self.loss.free
        return [
            (float(most[b]), self.pool[b], free[output[b]], float(value[b, output[b]]))
            for b in np.argsort(-most, kind="stable")[:N_SCREENED].tolist()
            if np.isfinite(most[b])
        ]

    def gains(
        self, problem: SumProblem, current: BoxSum
    ) -> tuple[np.ndarray, np.ndarray]:
        """Fall of the objective, and the value, per box of the pool and free output.

        To second order, all other values as they are. Minus infinity where the box
        would hold too few rows.
        """
        answers = self.loss.answers(current.scores(self.grid))
        slopes = [self.loss.slopes(answers, c, 0.0) for c in self.loss.free]
        columns = np.array([self.counts, *(part for pair in slopes for part in pair)])
        sums = (self.member @ columns.T.astype(np.float32)).astype(np.float64)
        first, second = sums[:, 1::2], sums[:, 2::2] + problem.ridge
        gain = first**2 / (2 * second) - problem.literal * self.literals[:, None]
        enough = sums[:, :1] >= problem.min_rows - 0.01
        value = np.clip(-first / second, -self.loss.largest, self.loss.largest)
        return np.where(enough, gain, -np.inf), value


def _constant(problem: SumProblem) -> BoxSum:
    n_outputs = len(problem.loss.target)
    none = np.zeros((0, len(problem.seen)), dtype=bool)
    nothing, nowhere = np.zeros(0), np.zeros(0, dtype=np.int64)
    start = BoxSum(none, nothing, nowhere, np.zeros(n_outputs), np.inf)
    return refine_sum(problem, start)


def _appended(one: BoxSum, box: np.ndarray, output: int, value: float) -> BoxSum:
    return BoxSum(
        np.concatenate([one.boxes, box[None]]),
        np.append(one.values, value),
        np.append(one.outputs, output),
        one.constant,
        np.inf,
    )
