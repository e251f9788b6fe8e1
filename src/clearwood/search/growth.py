"""Growing lists and sums box by box, shared by both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from clearwood.search.ascent import SMALLEST_CHANGE
from clearwood.search.grid import Grid

MOST_ROWS = 20_000
"""Maximum number of rows in a search for boxes and splits; values use all rows."""

MOST_SCORES = 5_000_000
"""Maximum of rows times scores of a row: with hundreds of classes, fewer rows."""

MOST_FEATURES = 1000
"""Number of features above which only those of candidate boxes are searched."""

FEWEST_ROWS = 5000
"""Minimum number of rows in a search, however many scores a row has."""

N_SCREENED = 24
"""Number of candidates whose sides are optimized."""

N_REFITTED = 4
"""Of these, the number with which the whole list or sum is refitted."""

N_HALVED = 2
"""Maximum number of times the penalty per literal is halved for further growth."""


def grow(
    problem: Any,
    beam: list[Any],
    max_boxes: int,
    lengthen: Callable[[Any, list[Any]], list[Any]],
    refine_all: Callable[[Any, list[Any]], list[Any]],
) -> list[Any]:
    """Lists or sums with a growing number of boxes.

    If no box lowers the objective, the penalty per literal is halved, at most twice.

    Parameters
    ----------
    problem : ListProblem or SumProblem
    beam : list of (BoxList or BoxSum)
        Lists or sums that are extended in parallel, the best first.
    max_boxes : int
        Maximum number of boxes.
    lengthen : callable
        Function of a problem and a beam that returns promising ones with one more box.
    refine_all : callable
        Function of a problem and some of them that returns the best refined ones, best
        first.

    Returns
    -------
    list of (BoxList or BoxSum)
        The best of each size, ascending.
    """
    found = {len(beam[0].boxes): beam[0]}
    n_halved = 0
    while len(beam[0].boxes) < max_boxes:
        longer = refine_all(problem, lengthen(problem, beam))
        if longer and longer[0].objective < beam[0].objective - SMALLEST_CHANGE:
            beam = longer
            found[len(beam[0].boxes)] = beam[0]
        elif n_halved < N_HALVED:
            # Later boxes are small or of little effect: in them a literal gains less.
            n_halved += 1
            problem = problem.with_literal_penalty(problem.literal / 2)
            beam = refine_all(problem, beam)
        else:
            break
    return [found[size] for size in sorted(found)]


def narrowed(problem: Any, pool: np.ndarray) -> tuple[Any, np.ndarray, np.ndarray]:
    """A ListProblem or SumProblem and boxes without the features that no box restricts.

    Only if there are very many: most of them are irrelevant, and every move of a box
    would examine each.

    Returns
    -------
    problem : ListProblem or SumProblem
    pool : ndarray of bool of shape (n_pool, number of bins kept)
    is_kept : ndarray of bool of shape (total number of bins,)
        The bins of the remaining features; see :func:`widened`.
    """
    grid, is_shut = problem.grid, np.logical_not(pool.all(axis=0))
    is_needed = np.ones(len(grid.n_bins), dtype=bool)
    if len(is_needed) > MOST_FEATURES:
        is_needed = np.logical_or.reduceat(is_shut, grid.start)
    if is_needed.all() or not is_needed.any():
        return problem, pool, np.ones(len(problem.seen), dtype=bool)
    is_kept = np.repeat(is_needed, grid.n_bins)
    left = Grid.of(
        grid.columns[is_needed].T, grid.n_bins[is_needed], grid.is_category[is_needed]
    )
    fewer = problem._replace(grid=left, seen=problem.seen[is_kept])
    if getattr(problem, "signs", None) is not None:
        fewer = fewer._replace(signs=problem.signs[is_needed])
    return fewer, np.ascontiguousarray(pool[:, is_kept]), is_kept


def widened(found: Any, is_kept: np.ndarray) -> Any:
    """A BoxList or BoxSum mapped back to all features."""
    boxes = np.ones((len(found.boxes), len(is_kept)), dtype=bool)
    boxes[:, is_kept] = found.boxes
    return found._replace(boxes=boxes)


def some_rows(n_rows: int, n_scores: int) -> np.ndarray | None:
    """A fixed random sample of very many rows; None if there are few."""
    most = min(MOST_ROWS, max(MOST_SCORES // n_scores, FEWEST_ROWS))
    if n_rows <= most:
        return None
    return np.random.default_rng(0).permutation(n_rows)[:most]


def thinned(problem: Any) -> Any:
    """A ListProblem or SumProblem on a random sample of very many rows.

    Row counts are scaled up to the same total.
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
