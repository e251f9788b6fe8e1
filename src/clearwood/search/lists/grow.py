"""Ordered lists of boxes, grown box by box."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood._numeric import rounded
from clearwood.search.candidates import Candidates
from clearwood.search.grid import contains
from clearwood.search.growth import (
    N_REFITTED,
    N_SCREENED,
    grow,
    narrowed,
    thinned,
    widened,
)
from clearwood.search.lists.ascent import (
    BoxList,
    ListAscent,
    ListProblem,
    first_box,
    refine,
)
from clearwood.search.monotone import kind_of, opened_pool, value_range


def grow_lists(problem: ListProblem, pool: np.ndarray, max_boxes: int) -> list[BoxList]:
    """Lists of 0, 1, ... boxes, grown from shorter ones.

    At each step every candidate box is tried at every position. The sides of the best
    are optimized; with the best of these the whole list is refitted, and the best
    result is kept. If no box lowers the objective, the penalty per literal is halved,
    at most twice.

    Parameters
    ----------
    problem : ListProblem
    pool : ndarray of bool of shape (n_pool, total number of bins)
        Candidate boxes.
    max_boxes : int
        Maximum number of boxes in a list.

    Returns
    -------
    list of BoxList
        By number of boxes. The last may have fewer than ``max_boxes``, if more do not
        lower the objective.
    """
    if problem.signs is not None:
        pool = opened_pool(problem.grid, problem.signs, pool)

    thin = thinned(problem)
    few, pool, is_kept = narrowed(thin, pool)
    gains = ListGains(few, pool)

    def lengthen(problem: ListProblem, beam: list[BoxList]) -> list[BoxList]:
        return _longer(problem, gains, beam[0])

    found = grow(few, [_constant(few)], max_boxes, lengthen, _best_refined)
    found = [widened(one, is_kept) for one in found]
    return (
        found
        if thin is problem
        else [ListAscent(problem, one).refitted() for one in found]
    )


def _best_refined(problem: ListProblem, trials: list[BoxList]) -> list[BoxList]:
    """Refine some lists; the best of them, or none if there were none."""
    refined = [refine(problem, trial) for trial in trials]
    return sorted(refined, key=lambda lst: lst.objective)[:1]


def _longer(problem: ListProblem, gains: ListGains, current: BoxList) -> list[BoxList]:
    trials: dict[bytes, tuple[float, ListAscent]] = {}
    member = contains(problem.grid, current.boxes)
    best = gains.best(problem, current)
    inside = contains(problem.grid, gains.boxes[[place for place, _, _ in best]])
    for (place, position, value), own in zip(best, inside):
        longer = inserted(current, gains.boxes[place], position, value)
        rows = with_line(member, position, own)
        ascent = ListAscent(problem, longer, rows)
        ascent.refit()
        ascent.improve(position)
        # Many candidates lead to the same list.
        key = ascent.boxes.tobytes()
        if key not in trials:
            trials[key] = ascent.objective(), ascent
    ordered = sorted(trials.values(), key=lambda trial: trial[0])
    return [ascent.result() for _, ascent in ordered[:N_REFITTED]]


class ListGains(Candidates):
    """Gain of each candidate at each position of a list."""

    def __init__(self, problem: ListProblem, boxes: np.ndarray) -> None:
        super().__init__(problem, boxes)
        if problem.signs is not None:
            kinds = [kind_of(self.grid, problem.signs, box) for box in boxes]
            self.kinds = np.array(kinds)

    def best(
        self, problem: ListProblem, current: BoxList
    ) -> list[tuple[int, int, Any]]:
        """The best insertions, each once: candidate, position and value."""
        if not len(self):
            return []
        change, value = self.changes(problem, current)
        position, least = change.argmin(axis=1), change.min(axis=1)
        return [
            (b, int(position[b]), self.loss.value(value[b, position[b]]))
            for b in np.argsort(least, kind="stable")[:N_SCREENED].tolist()
            if np.isfinite(least[b])
        ]

    def changes(
        self, problem: ListProblem, current: BoxList
    ) -> tuple[np.ndarray, np.ndarray]:
        """Change of the objective, and the value, per candidate and position.

        Infinite if the box would have too few rows.
        """
        sums = self._sums_by_position(current)
        fixed = problem.penalties.overlap * sums[:, 0, :1] + (
            problem.penalties.literal * self.literals[:, None]
        )
        change, values = self.loss.best_of(
            sums[:, :, 2:], self._value_ranges(problem.signs, current)
        )
        enough = sums[:, :, 1] >= problem.min_samples_leaf - 0.01
        return rounded(np.where(enough, change + fixed, np.inf)), values

    def _sums_by_position(self, current: BoxList) -> np.ndarray:
        """Sums over the rows of each candidate that no box before a position decides.

        Of shape (n_boxes, n_positions, n_columns): shares of rows that are in another
        box (of all of them at the first position), support, and the columns of the
        loss.
        """
        loss, member = self.loss, contains(self.grid, current.boxes)
        line, values = first_box(member), [*current.values, current.otherwise]
        now = np.empty(len(line))
        for j, value in enumerate(values):
            now[line == j] = loss.rows(value)[line == j]
        columns = loss.gain_columns(now)
        overlap = loss.share * (line < len(member))
        columns = np.column_stack([overlap, self.counts, columns])
        sums = self.sums(columns, line.astype(np.int32), len(values))
        # A box takes over the rows of the boxes after its position.
        return np.ascontiguousarray(np.cumsum(sums[:, ::-1], axis=1)[:, ::-1])

    def _value_ranges(
        self, signs: np.ndarray | None, current: BoxList
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """Minimum and maximum of the value of each candidate at each position."""
        if signs is None:
            return None
        kinds = [kind_of(self.grid, signs, box) for box in current.boxes]
        values = [*current.values, current.otherwise]
        low, high = np.empty((2, len(self), len(values)))
        for position in range(len(values)):
            for kind in (-1, 0, 1):
                cells = self.kinds == kind, position
                low[cells], high[cells] = value_range(values, kinds, position, kind)
        return low, high


def _constant(problem: ListProblem) -> BoxList:
    everything = np.ones(problem.grid.n_rows, dtype=bool)
    none = np.zeros((0, len(problem.seen)), dtype=bool)
    value = problem.loss.best_value(everything)
    return ListAscent(problem, BoxList(none, (), value, np.inf)).refitted()


def inserted(lst: BoxList, box: np.ndarray, position: int, value: Any) -> BoxList:
    """The list with a box inserted."""
    boxes = with_line(lst.boxes, position, box)
    values = (*lst.values[:position], value, *lst.values[position:])
    return BoxList(boxes, values, lst.otherwise, np.inf)


def with_line(table: np.ndarray, position: int, line: np.ndarray) -> np.ndarray:
    """A table with a row inserted."""
    return np.concatenate([table[:position], line[None], table[position:]])
