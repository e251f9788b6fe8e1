"""Dask frames and arrays as blocks, computed where the partitions are stored."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from clearwood._numeric import BLOCK_ROWS, Blocks
from clearwood._tables.dask_cluster import (
    check_workers,
    computed,
    n_threads,
    named_client,
)
from clearwood._tables.joining import check_kinds, kinds_of
from clearwood._tables.on_workers import WAVE_BLOCKS, Sealed, WorkerBlocks, run_on
from clearwood._tables.rows import (
    PartRows,
    RowBlocks,
    RowsOfTable,
    _RowSelector,
    errors_located,
    take_columns,
)
from clearwood._words.labels import type_text
from clearwood.exceptions import ClearwoodError, InputError

PARTITIONS_OF_THREAD = 2
"""Partitions per thread of the workers, for an even load."""


class _Cut(NamedTuple):
    """Partitions and row ranges of a block.

    Attributes
    ----------
    used : list of int
        Its partitions.
    spans : list of (int, int)
        Row range within each partition.
    """

    used: list[int]
    spans: list[tuple[int, int]]


class DaskRows(RowBlocks):
    """Rows of a Dask collection, cut into blocks of a fixed number of rows.

    Only the result of a function on each block is transferred to the client, where
    results are added in block order, whichever came first. Blocks are computed in
    waves, to bound the memory of the client.

    Parameters
    ----------
    columns : list of str or None
    parts : list of dask.delayed.Delayed
        Partitions, each a ``RowsOfTable``.
    """

    def __init__(self, columns: list[str] | None, parts: list[Any]) -> None:
        super().__init__(columns)
        self._parts = parts

    def only(self, columns: Sequence[str]) -> DaskRows:
        """Select columns."""
        from dask import delayed

        select = delayed(_select, pure=True)
        return DaskRows(list(columns), [select(p, list(columns)) for p in self._parts])

    @property
    def n_rows(self) -> int:
        """Number of rows, cached."""
        return int(self._sizes.sum())

    @cached_property
    def _sizes(self) -> np.ndarray:
        import dask

        with named_client() as client:
            if client is not None:
                check_workers(client)
        inspect = dask.delayed(_inspect, pure=True)
        sizes = self._run(
            computed, [inspect(part, i) for i, part in enumerate(self._parts)]
        )
        seen: dict[str, tuple[str, str]] = {}
        for number, (_, kinds) in enumerate(sizes):
            seen = check_kinds(kinds, f"partition {number}", seen)
        return np.array([n_rows for n_rows, _ in sizes], dtype=np.int64)

    def __iter__(self) -> Iterator[RowsOfTable]:
        return self.results(_identity)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Results of ``function(block, *parameters)``, in block order."""
        import dask

        run = dask.delayed(run_on, pure=False)
        shared = self._broadcast(parameters)
        of_block = function.for_block if isinstance(function, _RowSelector) else None
        held: dict[int, Any] = {}
        number = 0
        for wave in self._waves():
            tasks = []
            for used, spans in wave:
                applied = function if of_block is None else of_block(number)
                pieces = [held.get(i, self._parts[i]) for i in used]
                tasks.append(run(pieces, used, spans, applied, shared))
                number += 1
            # The next wave starts in the last partition, which is not computed twice.
            last = wave[-1].used[-1]
            tasks.append(held.get(last, self._parts[last]))
            *found, kept = self._run(dask.persist, tasks)
            held = {last: kept}
            yield from (sealed.content for sealed in self._run(computed, found))

    @contextmanager
    def kept(
        self, function: Callable[..., Any], *parameters: Any, n_jobs: int | None = None
    ) -> Iterator[Blocks[Any]]:
        """Apply ``function`` to every block; keep the results in the workers' memory.

        Without a cluster they are kept in a file, as for other tables.
        """
        with named_client() as client:
            pass
        if client is None:
            with super().kept(function, *parameters, n_jobs=n_jobs) as blocks:
                yield blocks
            return
        yield WorkerBlocks(self, function, parameters)

    def _broadcast(self, parameters: tuple[Any, ...]) -> Any:
        """Send parameters to the workers once."""
        import dask

        shared = dask.delayed(Sealed(parameters), pure=False, traverse=False)
        (shared,) = self._run(dask.persist, [shared])
        return shared

    def _waves(self) -> Iterator[list[_Cut]]:
        """Groups of blocks that are computed at the same time, in order."""
        n_parts = PARTITIONS_OF_THREAD * n_threads()
        wave: list[_Cut] = []
        for cut in self._cuts():
            wave.append(cut)
            spanned = 1 + cut.used[-1] - wave[0].used[0]
            if len(wave) >= WAVE_BLOCKS and spanned >= n_parts:
                yield wave
                wave = []
        if wave:
            yield wave

    def _cuts(self) -> Iterator[_Cut]:
        """Partitions and row ranges of each block."""
        ends = np.cumsum(self._sizes)
        starts = ends - self._sizes
        for first in range(0, max(self.n_rows, 1), BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, self.n_rows)
            used = np.flatnonzero((starts < last) & (ends > first))
            # A table without rows still has columns.
            used = used if len(used) else np.array([0])
            spans = [
                (int(max(first - starts[i], 0)), int(min(last, ends[i]) - starts[i]))
                for i in used
            ]
            yield _Cut(used.tolist(), spans)

    def _run(
        self, request: Callable[..., tuple[Any, ...]], tasks: list[Any]
    ) -> tuple[Any, ...]:
        """Run ``computed`` or ``dask.persist``; errors name the partition."""
        try:
            with named_client():
                return request(*tasks)
        except ClearwoodError:
            raise
        except Exception as error:
            # Dask's error does not name the partition.
            for number, part in enumerate(self._parts):
                try:
                    computed(part)
                except ClearwoodError:
                    raise
                except Exception as reason:  # whatever the partition raises
                    raise InputError(
                        f"Dask cannot compute partition {number}: "
                        f"{type(reason).__name__}: {reason}"
                    ) from reason
            raise InputError(
                f"Dask cannot compute this: {type(error).__name__}: {error}"
            ) from error


def open_dask(X: Any, y: Any, weight: Any) -> DaskRows:
    """Open a Dask frame, or two-dimensional array, as blocks of rows."""
    from dask import delayed

    make = delayed(_rows_of, pure=True)
    if hasattr(X, "columns"):
        columns = [str(name) for name in X.columns]
        parts = [[part] for part in X.to_delayed()]
    else:
        columns = None
        parts = [[part] for part in X.rechunk({1: -1}).to_delayed()[:, 0]]
    names: list[str | None] = []
    for label, given in (("y", y), ("sample_weight", weight)):
        names.append(given if isinstance(given, str) else None)
        if isinstance(given, str):
            if given not in (columns or ()):
                raise InputError(
                    f"The table has no column {given!r}; it has {columns}."
                )
            parts = [[*part, None] for part in parts]
            continue
        values = [None] * len(parts)
        if given is not None:
            if not hasattr(given, "to_delayed"):
                raise InputError(
                    f"{label} is {type_text(given)}; for a Dask table pass the "
                    "name of a column, or a Dask collection."
                )
            values = list(given.to_delayed())
        if len(values) != len(parts):
            raise InputError(
                f"X has {len(parts)} partitions, {label} {len(values)}; pass "
                "collections with the same partitions."
            )
        parts = [[*part, other] for part, other in zip(parts, values)]
    inputs = (
        None if columns is None else [name for name in columns if name not in names]
    )
    rows = [make(*part, names, inputs, number) for number, part in enumerate(parts)]
    return DaskRows(inputs, rows)


# Functions that run on the workers


def _rows_of(
    X: Any,
    y: Any,
    weight: Any,
    names: list[str | None],
    columns: list[str] | None,
    number: int,
) -> RowsOfTable:
    place = f"partition {number}"
    if hasattr(X, "columns"):
        X = X.rename(columns=str)
        with errors_located(PartRows(place, 0, 0)):
            held = take_columns(X, names[0], names[1], columns)
        y, weight = (
            b if a is None else a for a, b in zip((held.y, held.weight), (y, weight))
        )
        X = held.X
    rest = [None if part is None else np.asarray(part) for part in (y, weight)]
    for label, part in zip(("y", "sample_weight"), rest):
        if part is not None and len(part) != len(X):
            raise InputError(
                f"{place}: X has {len(X)} rows, {label} {len(part)}; both must "
                "have the same rows."
            )
    return RowsOfTable(X, *rest)


def _select(rows: RowsOfTable, columns: list[str]) -> RowsOfTable:
    return rows._replace(X=rows.X[columns])


def _inspect(rows: RowsOfTable, number: int) -> tuple[int, dict[str, str]]:
    with errors_located(PartRows(f"partition {number}", 0, rows.n_rows)):
        return rows.n_rows, kinds_of(rows.X, rows.y)


def _identity(block: RowsOfTable) -> RowsOfTable:
    return block
