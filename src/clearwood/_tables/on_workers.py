"""Blocks computed once from a table, in the memory of a cluster's workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from clearwood._numeric.blocks import GROUP_BLOCKS, add_up
from clearwood._tables.dask_cluster import await_answer, computed, named_client
from clearwood._tables.kept import StoredBlocks
from clearwood._tables.rows import PartRows, RowsOfTable, errors_located, join_rows

if TYPE_CHECKING:
    from clearwood._tables.of_dask import DaskRows

WAVE_BLOCKS = 64
"""Blocks that are computed at the same time, whose results the client holds.

More where they lie in fewer partitions than the workers have threads to use.
"""


class WorkerBlocks(StoredBlocks[Any]):
    """Blocks computed once and kept in the memory of the workers, by groups.

    For a sum, parameters are sent to the workers, and one sum per group is returned.
    Groups lost with a worker are computed again by others.

    Parameters
    ----------
    rows : DaskRows
    function : callable
        Applied to each block of rows; its result is kept.
    parameters : tuple
        Parameters of the function.
    """

    def __init__(
        self, rows: DaskRows, function: Callable[..., Any], parameters: tuple[Any, ...]
    ) -> None:
        import dask

        self._rows = rows
        make = dask.delayed(_compute_group, pure=False)
        shared = rows._broadcast(parameters)
        cuts = list(rows._cuts())
        groups = []
        for i in range(0, len(cuts), GROUP_BLOCKS):
            group = cuts[i : i + GROUP_BLOCKS]
            first, last = group[0].used[0], group[-1].used[-1]
            pieces = rows._parts[first : last + 1]
            groups.append(make(pieces, first, Sealed(group), function, shared))
        self._groups = rows._run(dask.persist, groups)

    def map_sum(
        self, function: Callable[..., tuple[Any, ...]], *parameters: Any
    ) -> tuple[Any, ...]:
        """Add the results of ``function`` on the blocks, by groups, in block order."""
        totals = add_up(self._sums(function, parameters))
        assert totals is not None  # a table without rows still has a block
        return totals

    def _owners(self) -> list[tuple[str, ...]]:
        """Workers that hold each group; empty for a group that failed."""
        from distributed import futures_of, wait

        with named_client() as client:
            if client is None:  # Dask raises the error when it computes
                return [()] * len(self._groups)
            futures = futures_of(self._groups)

            async def made() -> Any:
                await wait(futures)
                return await client.who_has(futures)

            with client.as_current():
                held = await_answer(client, made, works=True)
        return [held[group.key] for group in self._groups]

    def _sums(
        self, function: Callable[..., Any], parameters: tuple[Any, ...]
    ) -> Iterator[Any]:
        import dask

        run = dask.delayed(_sum_group, pure=False)
        shared = self._rows._broadcast(parameters)
        # By default Dask lets idle workers copy groups, and drops the first copy.
        owned = list(zip(self._groups, self._owners()))
        for i in range(0, len(owned), WAVE_BLOCKS):
            tasks = []
            for group, owner in owned[i : i + WAVE_BLOCKS]:
                with dask.annotate(workers=owner, allow_other_workers=True):
                    tasks.append(run(group, function, shared))
            yield from (sums.content for sums in self._rows._run(computed, tasks))


# Functions that run on the workers


def _compute_group(
    pieces: list[RowsOfTable],
    first: int,
    group: Sealed,
    function: Callable[..., Any],
    parameters: Sealed,
) -> Sealed:
    """Blocks of some partitions, of which ``first`` is the index of the first."""
    return Sealed(
        [
            run_on([pieces[i - first] for i in used], used, spans, function, parameters)
            for used, spans in group.content
        ]
    )


def _sum_group(
    group: Sealed, function: Callable[..., tuple[Any, ...]], parameters: Sealed
) -> Sealed:
    return Sealed(
        add_up(function(block.content, *parameters.content) for block in group.content)
    )


class Sealed:
    """Wrapper that hides a value from Dask, which interprets some tuples as tasks."""

    def __init__(self, content: Any) -> None:
        self.content = content


def run_on(
    pieces: list[RowsOfTable],
    used: list[int],
    spans: list[tuple[int, int]],
    function: Callable[..., Any],
    parameters: Sealed,
) -> Sealed:
    """Apply a function to the rows of some partitions, as one block."""
    block = join_rows([rows.at(slice(a, b)) for rows, (a, b) in zip(pieces, spans)])
    where = [PartRows(f"partition {i}", a, b - a) for i, (a, b) in zip(used, spans)]
    with errors_located(*where):
        return Sealed(function(block, *parameters.content))
