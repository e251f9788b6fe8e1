"""Sums of boxes and a constant, grown box by box and refitted together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood.search import _kernels
from clearwood.search.boxes import Grid, contains, n_literals
from clearwood.search.lists import LEAST_ROWS, MOST_GAIN_ROWS
from clearwood.search.pool import candidate_boxes
from clearwood.search.sum_losses import SumLoss

N_SCREENED = 24
"""Boxes of the pool whose sides are moved to where they fit best."""

N_REFITTED = 8
"""Of these, those with which the whole sum is refitted."""

N_KEPT = 4
"""Of the refitted, those that are grown further. The best alone often ends where one
box does the work of two, and no single move leads out."""

SAME_DIGITS = 7
"""Decimals to which the objectives of two sums differ, unless they are the same."""

N_HALVED = 2
"""How often the penalty per literal is halved so that a sum can grow further."""

N_RESIDUAL_TREES = 9
"""Trees on what the sum leaves, whose nodes join the pool at every step."""

MOST_SWEEPS = 20
"""Most rounds over all boxes of a sum, and over sides and value of one box."""

MOST_NEWTON_STEPS = 50
"""Most steps to the best values."""

SMALLEST_RIDGE = 1e-9
"""Ridge where only a common shift of all constants is unknown."""

SMALLEST_STEP = 1e-6
"""Newton's steps are halved down to this."""

SMALLEST_SLOPE = 1e-9
"""Newton's method ends when no factor has a steeper slope."""

SMALLEST_GAIN = 1e-12
"""Newton's method ends when the objective falls by less."""

SMALLEST_CHANGE = 1e-9
"""A sum changes only if its objective falls by more than this."""


class SumProblem(NamedTuple):
    """What a sum is fitted to.

    Attributes
    ----------
    grid : Grid
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold rows.
    loss : SquaredSumLoss or ClassSumLoss
    literal : float
        Penalty per literal.
    ridge : float
        Penalty on half the square of each value, so that none runs away.
    counts : ndarray of float64 of shape (n_rows,)
        How much a row counts towards ``LEAST_ROWS``: 0 for a made one.
    """

    grid: Grid
    seen: np.ndarray
    loss: SumLoss
    literal: float
    ridge: float
    counts: np.ndarray


class BoxSum(NamedTuple):
    """Boxes, each of which adds its value to one output of the rows in it.

    Attributes
    ----------
    boxes : ndarray of bool of shape (n_boxes, total number of bins)
    values : ndarray of shape (n_boxes,)
        What each box adds.
    outputs : ndarray of int of shape (n_boxes,)
        To which output.
    constant : ndarray of shape (n_outputs,)
        What every row begins with.
    objective : float
        Loss and penalties on the rows it was fitted to.
    """

    boxes: np.ndarray
    values: np.ndarray
    outputs: np.ndarray
    constant: np.ndarray
    objective: float

    def scores(self, grid: Grid) -> np.ndarray:
        """The sums of each row: (n_outputs, n_rows)."""
        return _scores(self, contains(grid, self.boxes))

    def predict(self, grid: Grid) -> np.ndarray:
        """What is said of each row: a value, or of several outputs the largest."""
        scores = self.scores(grid)
        return scores.argmax(axis=0) if len(scores) > 1 else scores[0]


def make_sum_problem(
    grid: Grid, loss: SumLoss, literal: float, ridge: float, counts: np.ndarray
) -> SumProblem:
    """Put together what a sum is fitted to."""
    counts = counts.astype(np.float64)
    return SumProblem(grid, grid.seen(), loss, literal, ridge, counts)


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
    trials = sorted(trials, key=lambda one: one.objective)[:N_REFITTED]
    best: dict[float, BoxSum] = {}
    for trial in trials:
        one = refine_sum(problem, trial)
        # Sums that end in the same place have the same objective.
        best.setdefault(round(one.objective, SAME_DIGITS), one)
    return [best[key] for key in sorted(best)][:N_KEPT]


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


def refine_sum(problem: SumProblem, start: BoxSum) -> BoxSum:
    """Refit all values and improve box after box until the objective stops falling.

    Boxes that do not pay for their literals, the others being refitted, are dropped,
    and so is a box that holds the rows of another one, or all but these.

    Parameters
    ----------
    problem : SumProblem
    start : BoxSum

    Returns
    -------
    BoxSum
    """
    ascent = SumAscent(problem, start)
    while True:
        ascent.run()
        if not (ascent.drop_twin() or ascent.drop_idle()):
            return ascent.result()


class SumAscent:
    """Coordinate ascent over the boxes of one sum.

    Parameters
    ----------
    problem : SumProblem
    start : BoxSum
    """

    def __init__(self, problem: SumProblem, start: BoxSum) -> None:
        self.problem = problem
        self.boxes = start.boxes.copy()
        self.values = start.values.copy()
        self.outputs = start.outputs
        self.constant = start.constant
        self.member = contains(problem.grid, self.boxes)
        self.literals = self._count_literals()

    def run(self) -> None:
        """Refit the values and sweep over the boxes while that helps."""
        self.refit()
        before = self.objective()
        for _ in range(MOST_SWEEPS):
            for k in range(len(self.boxes)):
                self.improve(k)
            self.refit()
            now = self.objective()
            if now > before - SMALLEST_CHANGE:
                break
            before = now

    def improve(self, k: int) -> None:
        """Find a better value and better sides for one box, the others as they are."""
        grid, seen, loss, literal, ridge, _ = self.problem
        output, value = int(self.outputs[k]), float(self.values[k])
        scores = self.scores()
        scores[output] -= value * self.member[k]
        answers = loss.answers(scores)
        now = loss.change(answers, output, value)[self.member[k]].sum()
        now += 0.5 * ridge * value**2 + literal * self.literals[k]
        found = self._improved(k, answers, output, value)
        if found[0] < now - _kernels.SMALLEST_CHANGE:
            _, self.boxes[k], self.values[k] = found
            self.member[k] = contains(grid, self.boxes[k][None])[0]
            self.literals[k] = n_literals(grid, self.boxes[k], seen)

    def _improved(
        self, k: int, answers: np.ndarray, output: int, value: float
    ) -> tuple[float, np.ndarray, float]:
        """Sides and value in turns, while the cost falls."""
        grid, seen, loss, literal, ridge, counts = self.problem
        best = np.inf, self.boxes[k], value
        for _ in range(MOST_SWEEPS):
            box = best[1].copy()
            cost = _kernels.improve_box(
                *grid, seen, loss.change(answers, output, value), counts, box,
                literal, float(LEAST_ROWS),
            )  # fmt: skip
            cost += 0.5 * ridge * value**2
            if cost > best[0] - SMALLEST_CHANGE:
                return best
            best = cost, box, value
            rows = np.flatnonzero(contains(grid, box[None])[0])
            value = best_value(loss, answers, output, rows, ridge, value)
        return best

    def refit(self) -> None:
        """The best constant and values for the boxes as they are."""
        self.constant, self.values = best_values(
            self.problem, self.member, self.outputs, self.constant, self.values
        )

    def drop_idle(self) -> bool:
        """Drop the box that pays least, if it does not pay; whether there was one."""
        least, best = self.objective() + SMALLEST_CHANGE, None
        for k in np.flatnonzero(self._may_be_idle()).tolist():
            fewer = SumAscent(self.problem, self._without(k))
            fewer.refit()
            if (then := fewer.objective()) < least:
                least, best = then, fewer
        if best is None:
            return False
        self.__dict__.update(best.__dict__)
        return True

    def _may_be_idle(self) -> np.ndarray:
        """Boxes without which the objective would hardly rise.

        Without a factor, and with all others refitted, a quadratic function rises by
        half its square over its place in the inverse of the second derivatives.
        """
        problem, answers = self.problem, self.problem.loss.answers(self.scores())
        design, outputs, ridge = _design(problem, self.member, self.outputs)
        curvature = problem.loss.curvature(answers, design, outputs) + np.diag(ridge)
        spread = np.diag(np.linalg.pinv(curvature))[len(design) - len(self.boxes) :]
        rise = self.values**2 / (2.0 * np.maximum(spread, 1e-300))
        # Far off, other losses rise less than their curvature says.
        return rise < 2.0 * problem.literal * self.literals + SMALLEST_CHANGE

    def drop_twin(self) -> bool:
        """Drop a box that says no more than one before; whether there was one.

        Values that are split among several cost less ridge, which is no reason to
        print a box twice.
        """
        told: set[tuple[int, bytes]] = set()
        for k, (output, rows) in enumerate(zip(self.outputs, self.member)):
            # Rows and their complement differ by the constant.
            key = int(output), np.packbits(rows ^ rows[0]).tobytes()
            if key in told:
                self.__dict__.update(SumAscent(self.problem, self._without(k)).__dict__)
                return True
            told.add(key)
        return False

    def _without(self, k: int) -> BoxSum:
        kept = np.arange(len(self.boxes)) != k
        return BoxSum(
            self.boxes[kept],
            self.values[kept],
            self.outputs[kept],
            self.constant,
            np.inf,
        )

    def _count_literals(self) -> np.ndarray:
        grid, seen = self.problem.grid, self.problem.seen
        return np.array([n_literals(grid, box, seen) for box in self.boxes], dtype=int)

    def scores(self) -> np.ndarray:
        """The sums of each row."""
        return _scores(self, self.member)

    def objective(self) -> float:
        """Loss and penalties of the sum as it is."""
        problem = self.problem
        loss = problem.loss.rows(self.scores()).sum()
        ridge = 0.5 * problem.ridge * (self.values**2).sum()
        return float(loss + ridge + problem.literal * self.literals.sum())

    def result(self) -> BoxSum:
        """The sum as it is."""
        return BoxSum(
            self.boxes, self.values, self.outputs, self.constant, self.objective()
        )


def best_value(
    loss: SumLoss,
    answers: np.ndarray,
    output: int,
    rows: np.ndarray,
    ridge: float,
    start: float,
) -> float:
    """The value that costs least if it is added to one output of some rows.

    Newton's method on one convex function, with the interval halved where a step
    leaves it.

    Parameters
    ----------
    loss : SquaredSumLoss or ClassSumLoss
    answers : ndarray of shape (n_outputs, n_rows)
        What is said of the rows without the value.
    output : int
    rows : ndarray of int
        Positions.
    ridge : float
        Penalty on half its square.
    start : float
        Where to begin.

    Returns
    -------
    float
    """
    part = type(loss)(loss.target[:, rows], loss.share[rows])
    answers = answers[:, rows]
    low, high, value = -loss.largest, loss.largest, start
    for _ in range(MOST_NEWTON_STEPS):
        first, second = part.slopes(answers, output, value)
        slope = first.sum() + ridge * value
        low, high = (value, high) if slope < 0 else (low, value)
        then = value - slope / max(second.sum() + ridge, 1e-300)
        if not low <= then <= high:
            then = 0.5 * (low + high)
        if abs(then - value) <= 1e-10 * max(1.0, abs(then)):
            return float(then)
        value = then
    return float(value)


def best_values(
    problem: SumProblem,
    member: np.ndarray,
    outputs: np.ndarray,
    constant: np.ndarray,
    values: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """The constant and the values that cost least together.

    Newton's method, with steps halved until the loss falls; for squares one step.

    Parameters
    ----------
    problem : SumProblem
    member : ndarray of bool of shape (n_boxes, n_rows)
        Which rows are in which box.
    outputs : ndarray of int of shape (n_boxes,)
    constant, values : ndarray
        Where to begin.

    Returns
    -------
    tuple of ndarray
        Constant (n_outputs,) and values (n_boxes,).
    """
    loss = problem.loss
    free, n_free = np.array(loss.free), len(loss.free)
    design, output_of, ridge = _design(problem, member, outputs)

    def scores_of(factors: np.ndarray) -> np.ndarray:
        scores = np.zeros((len(constant), design.shape[1]))
        for c in free:
            scores[c] = factors[output_of == c] @ design[output_of == c]
        return scores

    def cost(factors: np.ndarray) -> float:
        penalty = 0.5 * (ridge * factors**2).sum()
        return float(loss.rows(scores_of(factors)).sum() + penalty)

    factors = np.concatenate([constant[free], values])
    now = cost(factors)
    for _ in range(MOST_NEWTON_STEPS):
        answers = loss.answers(scores_of(factors))
        slope = ridge * factors
        for c in free:
            mine = output_of == c
            slope[mine] += design[mine] @ loss.slopes(answers, c, 0.0)[0]
        if np.abs(slope).max() < SMALLEST_SLOPE:
            break
        curvature = loss.curvature(answers, design, output_of) + np.diag(ridge)
        step = np.linalg.lstsq(curvature, slope, rcond=1e-13)[0]
        then = cost(factors - step)
        while then > now and np.abs(step).max() > SMALLEST_STEP:
            step = step / 2
            then = cost(factors - step)
        if then >= now:
            break
        factors, gained, now = factors - step, now - then, then
        if gained <= SMALLEST_GAIN:
            break
    best = constant.copy()
    best[free] = factors[:n_free]
    return best, factors[n_free:]


def _design(
    problem: SumProblem, member: np.ndarray, outputs: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Constants and boxes as lines over rows, the output and ridge of each."""
    free = np.array(problem.loss.free)
    every = np.ones((len(free), member.shape[1]))
    # Several constants are known but for a common shift; this keeps it at none.
    slight = SMALLEST_RIDGE if len(free) > 1 else 0.0
    ridge = np.repeat([slight, problem.ridge], [len(free), len(member)])
    design = np.concatenate([every, member.astype(np.float64)])
    return design, np.concatenate([free, outputs]), ridge


class _PoolGains:
    """What each box of a pool would gain if it joined a sum."""

    def __init__(self, problem: SumProblem, pool: np.ndarray) -> None:
        grid, rows = problem.grid, np.arange(problem.grid.n_rows)
        self.counts, self.loss = problem.counts, problem.loss
        if len(rows) > MOST_GAIN_ROWS:
            rows = np.random.default_rng(0).permutation(rows)[:MOST_GAIN_ROWS]
            grid, self.loss = grid.take(rows), problem.loss.take(rows)
            share_real = problem.counts.sum() / max(problem.counts[rows].sum(), 1.0)
            self.counts = problem.counts[rows] * share_real
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
        enough = sums[:, :1] >= LEAST_ROWS - 0.01
        value = np.clip(-first / second, -self.loss.largest, self.loss.largest)
        return np.where(enough, gain, -np.inf), value


def _scores(lines: BoxSum | SumAscent, member: np.ndarray) -> np.ndarray:
    scores = np.repeat(lines.constant[:, None], member.shape[1], axis=1)
    for rows, value, output in zip(member, lines.values, lines.outputs):
        scores[output] += value * rows
    return scores


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
