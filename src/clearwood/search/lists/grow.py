"""Ordered lists of boxes, grown box by box."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.candidates import Candidates
from clearwood.search.grid import contains
from clearwood.search.growth import N_REFITTED, N_SCREENED, grow, thinned
from clearwood.search.lists.ascent import (
    BoxList,
    ListAscent,
    ListProblem,
    in_none,
    refine,
)
from clearwood.search.monotone import kind_of, opened_pool, value_range

MOST_COLUMNS = 200
"""So many columns are summed at a time; a few more, as all of one position are."""


def grow_lists(problem: ListProblem, pool: np.ndarray, max_boxes: int) -> list[BoxList]:
    """Lists of 0, 1, ... boxes, grown from shorter ones.

    At each step every box of the pool is tried at every position. The sides of the
    best are moved to where they fit best; with the best of these the whole list is
    refitted, and the best result is kept. Where nothing pays any more, the penalty
    per literal is halved, twice at most.

    Parameters
    ----------
    problem : ListProblem
    pool : ndarray of bool of shape (n_pool, total number of bins)
        Boxes to choose from.
    max_boxes : int
        Most boxes in a list.

    Returns
    -------
    list of BoxList
        Longer from one to the next. The last may have fewer than ``max_boxes``
        boxes, where more do not pay.
    """
    if problem.signs is not None:
        pool = opened_pool(problem.grid, problem.signs, pool)
    few = thinned(problem)
    gains = ListGains(few, pool)

    def lengthen(problem: ListProblem, beam: list[BoxList]) -> list[BoxList]:
        return _longer(problem, gains, beam[0])

    found = grow(few, [_constant(few)], max_boxes, lengthen, _best_refined)
    return found if few is problem else [_on_all(problem, lst) for lst in found]


def _on_all(problem: ListProblem, found: BoxList) -> BoxList:
    """What the boxes of a list say, from all rows."""
    ascent = ListAscent(problem, found)
    ascent.refit()
    return ascent.result()


def _best_refined(problem: ListProblem, trials: list[BoxList]) -> list[BoxList]:
    """The best list that comes of some, if there are any."""
    refined = [refine(problem, trial) for trial in trials]
    return sorted(refined, key=lambda lst: lst.objective)[:1]


def _longer(problem: ListProblem, gains: ListGains, current: BoxList) -> list[BoxList]:
    """The most promising lists with one box more."""
    trials: dict[bytes, BoxList] = {}
    member = contains(problem.grid, current.boxes)
    for place, position, value in gains.best(problem, current):
        longer = inserted(current, gains.boxes[place], position, value)
        rows = np.insert(member, position, gains.member[place], axis=0)
        ascent = ListAscent(problem, longer, rows)
        ascent.refit()
        ascent.improve(position)
        # Many candidates end in the same place.
        trials.setdefault(ascent.boxes.tobytes(), ascent.result())
    return sorted(trials.values(), key=lambda lst: lst.objective)[:N_REFITTED]


class ListGains(Candidates):
    """What each candidate would gain at each position of a list."""

    def __init__(self, problem: ListProblem, boxes: np.ndarray) -> None:
        super().__init__(problem, boxes)
        if problem.signs is not None:
            kinds = [kind_of(self.grid, problem.signs, box) for box in boxes]
            self.kinds = np.array(kinds)

    def best(
        self, problem: ListProblem, current: BoxList
    ) -> list[tuple[int, int, Any]]:
        """Which candidate, its position and value: the best insertions, each once."""
        if not len(self):
            return []
        change, value = self.changes(problem, current)
        position, least = change.argmin(axis=1), change.min(axis=1)
        return [
            (b, int(position[b]), value[b, position[b]].tolist())
            for b in np.argsort(least, kind="stable")[:N_SCREENED].tolist()
            if np.isfinite(least[b])
        ]

    def changes(
        self, problem: ListProblem, current: BoxList
    ) -> tuple[np.ndarray, np.ndarray]:
        """Change of the objective, and the value, per candidate and position.

        Infinite where the box would catch too few rows.
        """
        loss, penalties = self.loss, problem.penalties
        member = contains(self.grid, current.boxes)
        now = loss.rows(current.otherwise)
        for rows, value in zip(member[::-1], current.values[::-1]):
            now = np.where(rows, loss.rows(value), now)
        columns, parts = [(member.any(axis=0) * loss.share)[:, None]], []
        for position in range(len(current.boxes) + 1):
            free = in_none(member[:position])
            columns += [(free * self.counts)[:, None], loss.gain_columns(free, now)]
            # Of hundreds of classes they would fill the memory.
            if sum(part.shape[1] for part in columns) > MOST_COLUMNS:
                parts.append(self.sums(np.concatenate(columns, axis=1)))
                columns = []
        if columns:
            parts.append(self.sums(np.concatenate(columns, axis=1)))
        sums = np.concatenate(parts, axis=1)
        fixed = penalties.overlap * sums[:, :1] + (
            penalties.literal * self.literals[:, None]
        )
        by_position = sums[:, 1:].reshape(len(sums), len(current.boxes) + 1, -1)
        change, values = loss.best_of(
            by_position[:, :, 1:].astype(np.float64),
            self._value_ranges(problem.signs, current),
        )
        enough = by_position[:, :, 0] >= problem.min_rows - 0.01
        return np.where(enough, change + fixed, np.inf), values

    def _value_ranges(
        self, signs: np.ndarray | None, current: BoxList
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The least and the largest that each candidate may say at each position."""
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
    ascent = ListAscent(problem, BoxList(none, (), value, np.inf))
    ascent.refit()
    return ascent.result()


def inserted(lst: BoxList, box: np.ndarray, position: int, value: Any) -> BoxList:
    """The list with one box more."""
    boxes = np.insert(lst.boxes, position, box, axis=0)
    values = (*lst.values[:position], value, *lst.values[position:])
    return BoxList(boxes, values, lst.otherwise, np.inf)
