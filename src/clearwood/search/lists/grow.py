"""Ordered lists of boxes, grown box by box."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.lists.ascent import (
    SMALLEST_CHANGE,
    Ascent,
    BoxList,
    Problem,
    refine,
)
from clearwood.search.lists.gains import PoolGains
from clearwood.search.monotone import opened_pool

N_REFITTED = 4
"""Of these, those with which the whole list is refitted; one is kept."""

N_HALVED = 2
"""How often the penalty per literal is halved so that a list can grow further."""


def grow_lists(problem: Problem, pool: np.ndarray, max_boxes: int) -> list[BoxList]:
    """Lists of 0, 1, ... boxes, grown from shorter ones.

    At each step every box of the pool is tried at every position. The sides of the
    best are moved to where they fit best; with the best of these the whole list is
    refitted, and the best result is kept. Where nothing pays any more, the penalty
    per literal is halved, twice at most.

    Parameters
    ----------
    problem : Problem
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
    current = _constant(problem)
    found = {0: current}
    gains = PoolGains(problem, pool)
    n_halved = 0
    while len(current.boxes) < max_boxes:
        trials = _longer(problem, pool, gains, current)
        longer = [refine(problem, lst) for lst in trials]
        best = min(longer, key=lambda lst: lst.objective, default=current)
        if best.objective < current.objective - SMALLEST_CHANGE:
            current = best
            found[len(best.boxes)] = best
        elif n_halved < N_HALVED:
            # Long lists have small boxes, in which a literal wins less.
            n_halved += 1
            problem = problem.with_literal_penalty(problem.penalties.literal / 2)
            current = refine(problem, current)
        else:
            break
    return [found[size] for size in sorted(found)]


def _longer(
    problem: Problem, pool: np.ndarray, gains: PoolGains, current: BoxList
) -> list[BoxList]:
    """The most promising lists with one box more."""
    trials: dict[bytes, BoxList] = {}
    for box, position, value in gains.best(current, problem.penalties):
        ascent = Ascent(problem, _inserted(current, pool[box], position, value))
        ascent.improve(position)
        # Many boxes of the pool end in the same place.
        trials.setdefault(ascent.boxes.tobytes(), ascent.result())
    return sorted(trials.values(), key=lambda lst: lst.objective)[:N_REFITTED]


def _constant(problem: Problem) -> BoxList:
    everything = np.ones(problem.grid.n_rows, dtype=bool)
    none = np.zeros((0, len(problem.seen)), dtype=bool)
    value = problem.loss.best_value(everything)
    start = BoxList(none, (), value, np.inf)
    return Ascent(problem, start).result()


def _inserted(lst: BoxList, box: np.ndarray, position: int, value: Any) -> BoxList:
    boxes = np.insert(lst.boxes, position, box, axis=0)
    values = (*lst.values[:position], value, *lst.values[position:])
    return BoxList(boxes, values, lst.otherwise, np.inf)
