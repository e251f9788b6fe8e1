"""What boxes of a pool would gain in a list."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.search.grid import Grid, contains, n_literals
from clearwood.search.lists.ascent import (
    BoxList,
    Penalties,
    Problem,
    in_none,
)
from clearwood.search.monotone import kind_of, value_range

MOST_GAIN_ROWS = 20_000
"""Rows on which boxes of the pool are compared."""

N_SCREENED = 24
"""Boxes of the pool whose sides are moved to where they fit best."""


def thinned(grid: Grid, loss: Any, counts: np.ndarray) -> tuple[Grid, Any, np.ndarray]:
    """Grid, loss and counts of a random part of very many rows.

    What the rows count is scaled up to the same total.
    """
    if grid.n_rows <= MOST_GAIN_ROWS:
        return grid, loss, counts
    rows = np.random.default_rng(0).permutation(grid.n_rows)[:MOST_GAIN_ROWS]
    scale = counts.sum() / max(counts[rows].sum(), 1.0)
    return grid.take(rows), loss.take(rows), counts[rows] * scale


class PoolGains:
    """What each box of a pool would gain at each position of a list."""

    def __init__(self, problem: Problem, pool: np.ndarray) -> None:
        grid, seen, loss, _, counts, self.signs, self.min_rows = problem
        grid, self.loss, self.counts = thinned(grid, loss, counts)
        self.grid = grid
        self.member = contains(grid, pool).astype(np.float32)
        self.literals = np.array([n_literals(grid, box, seen) for box in pool])
        if self.signs is not None:
            self.kinds = np.array([kind_of(grid, self.signs, box) for box in pool])

    def best(
        self, current: BoxList, penalties: Penalties
    ) -> list[tuple[int, int, Any]]:
        """Box, position and value of the best insertions, each box once."""
        if not len(self.member):
            return []
        change, value = self.changes(current, penalties)
        chosen: list[tuple[int, int, Any]] = []
        best_position = change.argmin(axis=1)
        best_change = change.min(axis=1)
        for box in np.argsort(best_change, kind="stable")[:N_SCREENED].tolist():
            if np.isfinite(best_change[box]):
                position = int(best_position[box])
                chosen.append((box, position, value[box, position].item()))
        return chosen

    def changes(
        self, current: BoxList, penalties: Penalties
    ) -> tuple[np.ndarray, np.ndarray]:
        """Change of the objective, and the value, per box of the pool and position.

        Infinite where the box would catch too few rows.
        """
        member = contains(self.grid, current.boxes)
        now = self._loss_now(current, member)
        columns = [(member.any(axis=0) * self.loss.share)[:, None]]
        for position in range(len(current.boxes) + 1):
            free = in_none(member[:position])
            columns += [(free * self.counts)[:, None]]
            columns += [self.loss.gain_columns(free, now)]
        sums = self.member @ np.concatenate(columns, axis=1).astype(np.float32)
        fixed = penalties.overlap * sums[:, :1] + (
            penalties.literal * self.literals[:, None]
        )
        by_position = sums[:, 1:].reshape(len(sums), len(current.boxes) + 1, -1)
        change, value = self.loss.best_of(
            by_position[:, :, 1:].astype(np.float64), self._between(current)
        )
        enough = by_position[:, :, 0] >= self.min_rows - 0.01
        return np.where(enough, change + fixed, np.inf), value

    def _between(self, current: BoxList) -> tuple[np.ndarray, np.ndarray] | None:
        """The least and the largest that each box may say at each position."""
        if self.signs is None:
            return None
        kinds = [kind_of(self.grid, self.signs, box) for box in current.boxes]
        said = [*current.values, current.otherwise]
        low, high = np.empty((2, len(self.kinds), len(said)))
        for position in range(len(said)):
            for kind in (-1, 0, 1):
                rows = self.kinds == kind, position
                low[rows], high[rows] = value_range(said, kinds, position, kind)
        return low, high

    def _loss_now(self, current: BoxList, member: np.ndarray) -> np.ndarray:
        now = self.loss.rows(current.otherwise)
        for rows, value in zip(member[::-1], current.values[::-1]):
            now = np.where(rows, self.loss.rows(value), now)
        return now
