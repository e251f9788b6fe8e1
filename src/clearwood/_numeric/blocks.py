"""Rows in fixed blocks, and sums over them that do not depend on who adds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import numpy as np

BLOCK_ROWS = 16_384
"""Rows per block; part of what determines a result to the last bit."""

SAID_ROWS = 65_536
"""Rows that something is said of at a time; no part of what is said."""

GROUP_BLOCKS = 16
"""Blocks that are added up first; what they give is then added group by group.

Part of what determines a result, too. On a cluster a group is what a worker adds up by
itself: of few rows there are enough groups for all, of very many few numbers travel.
"""


def written_in_place(parts: Iterator[np.ndarray], n_rows: int) -> np.ndarray:
    """What is said of blocks of rows, one after the other, as one array.

    No part is kept, so that many rows take little more than what is said of them.
    """
    first = next(parts)
    if len(first) == n_rows:
        return first
    whole = np.empty((n_rows, *first.shape[1:]), first.dtype)
    start = 0
    for part in chain([first], parts):
        rows = slice(start, start + len(part))
        np.copyto(whole[rows], part, casting="no")
        start = rows.stop
    return whole


def said_by_blocks(says: Callable[[slice], np.ndarray], n_rows: int) -> np.ndarray:
    """What is said of each row by itself, :data:`SAID_ROWS` at a time."""
    starts = range(0, max(n_rows, 1), SAID_ROWS)
    # No generator, which would swallow an interrupt while it is closed.
    blocks = map(lambda start: slice(start, start + SAID_ROWS), starts)  # noqa: C417
    return written_in_place(map(says, blocks), n_rows)


Block = TypeVar("Block", bound=tuple[Any, ...])
Other = TypeVar("Other", bound=tuple[Any, ...])


class Blocks(Generic[Block]):
    """A table cut into blocks of rows, each block a (named) tuple of aligned arrays.

    A statistic that is a sum over rows is written as a module-level pure function
    of one block and the current parameters. ``map_sum`` adds its results in block
    order and fixed groups, so the total is the same to the last bit on every back-end.
    This one keeps the blocks in memory; others say in ``__iter__`` or ``results`` where
    theirs come from.

    Parameters
    ----------
    blocks : iterable of tuple of ndarray
        The arrays of one block have equally many rows.

    Examples
    --------
    >>> import numpy as np
    >>> def moments(block, centre):
    ...     (x,) = block
    ...     return np.array([len(x)]), ((x - centre) ** 2).sum(axis=0)
    >>> blocks = Blocks.from_arrays(np.arange(5.0), block_rows=2)
    >>> blocks.map_sum(moments, 2.0)
    (array([5]), np.float64(10.0))
    """

    def __init__(self, blocks: Iterable[Block]) -> None:
        self._blocks = list(blocks)

    @classmethod
    def from_arrays(
        cls, *arrays: np.ndarray, block_rows: int = BLOCK_ROWS
    ) -> Blocks[tuple[np.ndarray, ...]]:
        """Cut aligned arrays into blocks of ``block_rows`` rows (views, no copies)."""
        n_rows = len(arrays[0])
        starts = range(0, max(n_rows, 1), block_rows)
        return Blocks(tuple(a[i : i + block_rows] for a in arrays) for i in starts)

    def __len__(self) -> int:
        return len(self._blocks)

    def __iter__(self) -> Iterator[Block]:
        return iter(self._blocks)

    def map(self, function: Callable[..., Other], *parameters: Any) -> Blocks[Other]:
        """Replace every block by ``function(block, *parameters)``."""
        return Blocks(function(block, *parameters) for block in self._blocks)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """What ``function(block, *parameters)`` is of each block, in their order."""
        for block in self:
            yield function(block, *parameters)

    def map_sum(
        self, function: Callable[..., tuple[Any, ...]], *parameters: Any
    ) -> tuple[Any, ...]:
        """Add the tuples ``function(block, *parameters)`` in block order, by groups."""
        return add_groups(self.results(function, *parameters))

    def take(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Some rows, by their position in all blocks, as one block."""
        ends = np.cumsum([len(block[0]) for block in self._blocks])
        picked = []
        for row in rows:
            i = int(np.searchsorted(ends, row, side="right"))
            block = self._blocks[i]
            picked.append([array[row - (ends[i] - len(array))] for array in block])
        return tuple(np.array(column) for column in zip(*picked))

    def gather(self) -> tuple[np.ndarray, ...]:
        """All rows in one block again."""
        return tuple(np.concatenate(arrays) for arrays in zip(*self._blocks))


def add_groups(parts: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    """What blocks give, added up in groups, and then group by group."""
    groups = iter(lambda: add_up(islice(parts, GROUP_BLOCKS)), None)
    totals = add_up(groups)
    if totals is None:
        raise ValueError("No blocks to sum over.")
    return totals


def add_up(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """Tuples added up, one after the other; None where there are none."""
    totals: tuple[Any, ...] | None = None
    for part in parts:
        if totals is None:
            totals = tuple(part)
        else:
            totals = tuple(a + b for a, b in zip(totals, part, strict=True))
    return totals
