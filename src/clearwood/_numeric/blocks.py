"""Blocks of rows, with sums that do not depend on the order of computation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, islice
from typing import Any, Generic, TypeVar

import numpy as np

BLOCK_ROWS = 16_384
"""Rows per block; a different value changes results in the last bits."""

BLOCK_OF_ROWS = 65_536
"""Batch size of predictions; results do not depend on it."""

GROUP_BLOCKS = 16
"""Number of blocks added up first; sums of groups are then added in order.

Results depend on it in the last bits, too. On a cluster each worker sums a group: small
tables have enough groups for all workers, and large ones few results to transfer.
"""


def written_in_place(parts: Iterator[np.ndarray], n_rows: int) -> np.ndarray:
    """Concatenate results of batches of rows, in place.

    No batch is kept, so that little more memory is needed than for the result.
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


def map_blocks(function: Callable[[slice], np.ndarray], n_rows: int) -> np.ndarray:
    """Apply a function of single rows to batches of :data:`BLOCK_OF_ROWS` rows."""
    starts = range(0, max(n_rows, 1), BLOCK_OF_ROWS)
    # A generator would swallow an interrupt while it is closed.
    blocks = map(lambda start: slice(start, start + BLOCK_OF_ROWS), starts)  # noqa: C417
    return written_in_place(map(function, blocks), n_rows)


Block = TypeVar("Block", bound=tuple[Any, ...])
Other = TypeVar("Other", bound=tuple[Any, ...])


class Blocks(Generic[Block]):
    """A table in blocks of rows, each a (named) tuple of aligned arrays.

    A statistic that is a sum over rows is written as a pure module-level function of
    one block and the current parameters. ``map_sum`` adds its results in block order
    and fixed groups, so that the total is the same to the last bit for every storage.
    This class keeps blocks in memory; subclasses override ``__iter__`` or ``results``.

    Parameters
    ----------
    blocks : iterable of tuple of ndarray
        The arrays of a block have the same number of rows.

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
        """Results of ``function(block, *parameters)``, in block order."""
        for block in self:
            yield function(block, *parameters)

    def map_sum(
        self, function: Callable[..., tuple[Any, ...]], *parameters: Any
    ) -> tuple[Any, ...]:
        """Add the tuples ``function(block, *parameters)`` in block order, by groups."""
        return add_groups(self.results(function, *parameters))

    def take(self, rows: np.ndarray) -> tuple[np.ndarray, ...]:
        """Select rows by their position in all blocks, as one block."""
        ends = np.cumsum([len(block[0]) for block in self._blocks])
        picked = []
        for row in rows:
            i = int(np.searchsorted(ends, row, side="right"))
            block = self._blocks[i]
            picked.append([array[row - (ends[i] - len(array))] for array in block])
        return tuple(np.array(column) for column in zip(*picked))

    def gather(self) -> tuple[np.ndarray, ...]:
        """Concatenate all rows into one block."""
        return tuple(np.concatenate(arrays) for arrays in zip(*self._blocks))


def add_groups(parts: Iterator[tuple[Any, ...]]) -> tuple[Any, ...]:
    """Add results of blocks in groups, and then the sums of groups."""
    groups = iter(lambda: add_up(islice(parts, GROUP_BLOCKS)), None)
    totals = add_up(groups)
    if totals is None:
        raise ValueError("No blocks to sum over.")
    return totals


def add_up(parts: Iterable[tuple[Any, ...]]) -> tuple[Any, ...] | None:
    """Add tuples elementwise, in order; None if there are none."""
    totals: tuple[Any, ...] | None = None
    for part in parts:
        if totals is None:
            totals = tuple(part)
        else:
            totals = tuple(a + b for a, b in zip(totals, part, strict=True))
    return totals
