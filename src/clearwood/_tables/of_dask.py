"""Frames and arrays of Dask: the work goes where the partitions are."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from clearwood._numeric import BLOCK_ROWS
from clearwood._tables.joining import check_kinds
from clearwood._tables.rows import (
    RowBlocks,
    RowsOfTable,
    _Picking,
    join_rows,
    told_where,
)
from clearwood.exceptions import ClearwoodError, InputError


class DaskRows(RowBlocks):
    """Partitions of Dask, cut anew into blocks of a fixed number of rows.

    Of each block only what a function makes of it travels to the client, where it is
    added in the order of the blocks, whoever was first.

    Parameters
    ----------
    columns : list of str or None
    parts : list of dask.delayed.Delayed
        Each a ``RowsOfTable``.
    """

    def __init__(self, columns: list[str] | None, parts: list[Any]) -> None:
        super().__init__(columns)
        self._parts = parts

    def only(self, columns: Sequence[str]) -> DaskRows:
        """The same rows with some columns."""
        from dask import delayed

        chosen = delayed(_chosen, pure=True)
        return DaskRows(list(columns), [chosen(p, list(columns)) for p in self._parts])

    @property
    def n_rows(self) -> int:
        """Number of rows, counted once."""
        return int(self._sizes.sum())

    @cached_property
    def _sizes(self) -> np.ndarray:
        from dask import delayed

        look = delayed(_look, pure=True)
        looks = self._compute([look(part) for part in self._parts])
        seen: dict[str, tuple[str, str]] = {}
        for number, (_, head) in enumerate(looks):
            if head is not None:
                seen = check_kinds(head, f"partition {number}", seen)
        return np.array([n_rows for n_rows, _ in looks], dtype=np.int64)

    def __iter__(self) -> Iterator[RowsOfTable]:
        return self.results(_itself)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """What ``function(block, *parameters)`` is of each block, in their order."""
        from dask import delayed

        shared = delayed(parameters, pure=False, traverse=False)
        run = delayed(_run, pure=False)
        tasks = []
        for number, (place, pieces, spans) in enumerate(self._cuts()):
            own = function.of(number) if isinstance(function, _Picking) else function
            tasks.append(run(pieces, spans, place, own, shared))
        yield from self._compute(tasks)

    def _cuts(self) -> Iterator[tuple[str, list[Any], list[tuple[int, int]]]]:
        """For each block its partitions, and which of their rows it takes."""
        ends = np.cumsum(self._sizes)
        starts = ends - self._sizes
        for first in range(0, max(self.n_rows, 1), BLOCK_ROWS):
            last = min(first + BLOCK_ROWS, self.n_rows)
            used = np.flatnonzero((starts < last) & (ends > first))
            # A table without rows has its columns all the same.
            used = used if len(used) else np.array([0])
            spans = [
                (int(max(first - starts[i], 0)), int(min(last, ends[i]) - starts[i]))
                for i in used
            ]
            place = f"partition {used[0]}"
            if len(used) > 1:
                place += f" to {used[-1]}"
            yield place, [self._parts[i] for i in used], spans

    def _compute(self, tasks: list[Any]) -> tuple[Any, ...]:
        import dask

        try:
            return dask.compute(*tasks)
        except ClearwoodError:
            raise
        except Exception as error:
            # Dask does not tell which partition it was.
            for number, part in enumerate(self._parts):
                try:
                    dask.compute(part)
                except Exception as reason:  # Whatever the partition raises.
                    if isinstance(reason, OSError):
                        break  # Of the scheduler, most likely.
                    raise InputError(
                        f"Dask cannot compute partition {number}: "
                        f"{type(reason).__name__}: {reason}"
                    ) from reason
            raise InputError(
                f"Dask cannot compute this: {type(error).__name__}: {error}. See "
                "whether its scheduler is there."
            ) from error


def open_dask(X: Any, y: Any, weight: Any) -> DaskRows:
    """A frame of Dask, or an array of two dimensions, as blocks of rows."""
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
        beside = [None] * len(parts)
        if given is not None:
            if not hasattr(given, "to_delayed"):
                raise InputError(
                    f"{label} is a {type(given).__name__}; for a table of Dask hand in "
                    "the name of its column, or a collection of Dask."
                )
            beside = list(given.to_delayed())
        if len(beside) != len(parts):
            raise InputError(
                f"X has {len(parts)} partitions, {label} {len(beside)}; give both the "
                "same, with the same rows."
            )
        parts = [[*part, other] for part, other in zip(parts, beside)]
    rows = [
        make(*part, names, f"partition {number}") for number, part in enumerate(parts)
    ]
    own = None if columns is None else [name for name in columns if name not in names]
    return DaskRows(own, rows)


# What runs where the partitions are


def _rows_of(
    X: Any, y: Any, weight: Any, names: list[str | None], place: str
) -> RowsOfTable:
    from clearwood._tables.opening import take_columns

    if hasattr(X, "columns"):
        X = X.rename(columns=str)
        held = take_columns(X, names[0], names[1], None)
        y, weight = (
            b if a is None else a for a, b in zip((held.y, held.weight), (y, weight))
        )
        X = held.X
    rest = [None if part is None else np.asarray(part) for part in (y, weight)]
    for label, part in zip(("y", "sample_weight"), rest):
        if part is not None and len(part) != len(X):
            raise InputError(
                f"{place}: X has {len(X)} rows, {label} {len(part)}; give both the "
                "same rows."
            )
    return RowsOfTable(X, *rest)


def _chosen(rows: RowsOfTable, columns: list[str]) -> RowsOfTable:
    return rows._replace(X=rows.X[columns])


def _look(rows: RowsOfTable) -> tuple[int, Any]:
    """How many rows there are, and a row that says what they hold."""
    X = rows.X
    if not hasattr(X, "columns"):
        return rows.n_rows, None
    return rows.n_rows, _heads(X)


def _heads(X: Any) -> Any:
    """Of each column the first cell that is not missing, where there is one."""
    import pandas as pd

    return pd.DataFrame(
        {
            name: column.dropna().head(1).reset_index(drop=True)
            for name, column in X.items()
        }
    )


def _itself(block: RowsOfTable) -> RowsOfTable:
    return block


def _run(
    pieces: list[RowsOfTable],
    spans: list[tuple[int, int]],
    place: str,
    function: Callable[..., Any],
    parameters: tuple[Any, ...],
) -> Any:
    block = join_rows([rows.at(slice(a, b)) for rows, (a, b) in zip(pieces, spans)])
    with told_where(place):
        return function(block, *parameters)
