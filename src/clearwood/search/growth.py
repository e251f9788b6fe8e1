"""Growing lists and sums box by box: what both have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clearwood.search.ascent import SMALLEST_CHANGE

MOST_ROWS = 20_000
"""Rows on which boxes and splits are searched for; what they say comes from all."""

MOST_SCORES = 5_000_000
"""Rows times scores of a row: of hundreds of classes fewer rows are searched."""

FEWEST_ROWS = 5000
"""So many are searched however many scores a row has."""

N_SCREENED = 24
"""Candidates whose sides are moved to where they fit best."""

N_REFITTED = 4
"""Of these, those with which the whole list or sum is refitted."""

N_HALVED = 2
"""How often the penalty per literal is halved so that they can grow further."""


def grow(
    problem: Any,
    beam: list[Any],
    max_boxes: int,
    lengthen: Callable[[Any, list[Any]], list[Any]],
    refine_all: Callable[[Any, list[Any]], list[Any]],
) -> list[Any]:
    """Lists or sums of more and more boxes.

    Where nothing pays any more, the penalty per literal is halved, twice at most.

    Parameters
    ----------
    problem : ListProblem or SumProblem
    beam : list of (BoxList or BoxSum)
        What is grown further at the same time, the best first.
    max_boxes : int
        Most boxes.
    lengthen : callable
        From a problem and a beam to all promising ones with a box more.
    refine_all : callable
        From a problem and some of them to the best that come of them, best first.

    Returns
    -------
    list of (BoxList or BoxSum)
        The best of each size, longer from one to the next.
    """
    found = {len(beam[0].boxes): beam[0]}
    n_halved = 0
    while len(beam[0].boxes) < max_boxes:
        longer = refine_all(problem, lengthen(problem, beam))
        if longer and longer[0].objective < beam[0].objective - SMALLEST_CHANGE:
            beam = longer
            found[len(beam[0].boxes)] = beam[0]
        elif n_halved < N_HALVED:
            # Later boxes are small or of little effect: in them a literal wins less.
            n_halved += 1
            problem = problem.with_literal_penalty(problem.literal / 2)
            beam = refine_all(problem, beam)
        else:
            break
    return [found[size] for size in sorted(found)]


def some_rows(n_rows: int, n_scores: int) -> np.ndarray | None:
    """A random part of very many rows, always the same; None where they are few."""
    most = min(MOST_ROWS, max(MOST_SCORES // n_scores, FEWEST_ROWS))
    if n_rows <= most:
        return None
    return np.random.default_rng(0).permutation(n_rows)[:most]


def thinned(problem: Any) -> Any:
    """A ListProblem or SumProblem on a random part of very many rows.

    What the rows count is scaled up to the same total.
    """
    rows = some_rows(problem.grid.n_rows, problem.loss.n_scores)
    if rows is None:
        return problem
    counts = problem.counts
    scale = counts.sum() / max(counts[rows].sum(), 1.0)
    return problem._replace(
        grid=problem.grid.take(rows),
        loss=problem.loss.take(rows),
        counts=counts[rows] * scale,
    )
