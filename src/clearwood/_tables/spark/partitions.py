"""Spark frames as blocks, computed where the partitions are; also with Spark Connect.

``mapInPandas`` applies a function to each block of a partition and returns its results,
one row each. A partition is cut into blocks by itself, so that rows need not move: sums
are those of other storages up to rounding.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import cloudpickle
import numpy as np

from clearwood._numeric import BLOCK_ROWS
from clearwood._numeric.blocks import add_groups
from clearwood._tables.rows import (
    RowBlocks,
    RowsOfTable,
    RowStream,
    _RowSelector,
    check_columns,
    errors_located,
    take_columns,
)
from clearwood.exceptions import ClearwoodError, InputError

RESULT = "part int, block int, result binary"
TYPES = {"U": "string", "O": "string", "i": "long", "b": "boolean", "f": "double"}
"""Types of predictions, by the kind of their array."""


class SparkRows(RowBlocks):
    """Rows of a Spark frame, cut into blocks within each partition.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
    y, weight : str or None
        Columns of the target and the weights.
    columns : list of str
        The other columns that are read.
    """

    columns: list[str]

    def __init__(
        self, frame: Any, y: str | None, weight: str | None, columns: list[str]
    ) -> None:
        super().__init__(columns)
        self._table, self._named = frame, (y, weight)

    def only(self, columns: Sequence[str]) -> SparkRows:
        """Select columns."""
        check_columns(columns, self.columns)
        rows = SparkRows(self._table, *self._named, list(columns))
        rows.__dict__.update({k: v for k, v in vars(self).items() if k == "_sizes"})
        return rows

    @property
    def n_rows(self) -> int:
        """Number of rows, counted once."""
        return sum(self._sizes.values())

    @cached_property
    def _sizes(self) -> dict[int, int]:
        """Number of rows of each partition that has any, in order."""
        if self.columns and len(self.columns) > 1:
            return self.only(self.columns[:1])._sizes
        sizes: dict[int, int] = {}
        for part, _, n_rows in self._collected(_InPartition(self, _n_rows_of, ())):
            sizes[part] = sizes.get(part, 0) + n_rows
        if not sizes:
            raise InputError("The Spark frame has no rows; pass one with rows.")
        return sizes

    def __len__(self) -> int:
        return len(self._lengths())

    def _lengths(self) -> list[int]:
        """Number of rows of each block."""
        return [
            min(BLOCK_ROWS, n_rows - start)
            for n_rows in self._sizes.values()
            for start in range(0, n_rows, BLOCK_ROWS)
        ]

    def _by_block(self, rows: np.ndarray) -> list[np.ndarray]:
        ends = np.cumsum(self._lengths())
        parts = np.split(rows, np.searchsorted(rows, ends[:-1]))
        return [part - start for part, start in zip(parts, [0, *ends[:-1]])]

    def __iter__(self) -> Iterator[RowsOfTable]:
        return self.results(_itself)

    def results(self, function: Callable[..., Any], *parameters: Any) -> Iterator[Any]:
        """Results of ``function(block, *parameters)``, partition by partition."""
        task = _InPartition(self, function, parameters, self._sizes)
        found = self._applied(task).toLocalIterator(prefetchPartitions=True)
        return (_result(row.result) for row in found)

    def map_sum(
        self, function: Callable[..., tuple[Any, ...]], *parameters: Any
    ) -> tuple[Any, ...]:
        """Add the results of ``function`` on all blocks, computed at the same time."""
        task = _InPartition(self, function, parameters, self._sizes)
        return add_groups(result for _, _, result in self._collected(task))

    def _collected(self, task: _InPartition) -> list[tuple[int, int, Any]]:
        found = [(*row[:2], _result(row[2])) for row in self._applied(task).collect()]
        return sorted(found, key=lambda row: row[:2])

    def _applied(self, task: _InPartition) -> Any:
        """Frame of the results of a task, not computed yet."""
        from pyspark.sql import functions, types

        decimals = {
            one.name
            for one in self._table.schema.fields
            if isinstance(one.dataType, types.DecimalType)
        }
        columns = []
        for i, name in enumerate(task.names):
            column = functions.col(_quoted(name))
            column = column.cast("double") if name in decimals else column
            # mapInPandas takes no names with dots.
            columns.append(column.alias(f"c{i}"))
        return self._table.select(columns).mapInPandas(task, RESULT)


def open_spark(X: Any, y: Any, weight: Any) -> SparkRows:
    """Open a Spark frame as blocks of rows."""
    if not hasattr(X, "mapInPandas"):
        raise InputError(
            f"X is a {type(X).__module__}.{type(X).__name__}; pass a frame of Spark "
            "SQL, of pandas-on-Spark: X.to_spark()."
        )
    for label, given in (("y", y), ("sample_weight", weight)):
        if given is not None and not isinstance(given, str):
            raise InputError(
                f"{label} is a {type(given).__name__}; for a Spark frame pass the name "
                "of a column."
            )
    columns = list(X.columns)
    check_columns([name for name in (y, weight) if name is not None], columns)
    return SparkRows(X, y, weight, [n for n in columns if n not in (y, weight)])


def predict_spark(
    function: Callable[[Any], np.ndarray],
    X: Any,
    columns: Sequence[str] | None,
    kind: np.dtype[Any],
    classes: Sequence[Any] | None,
) -> Any:
    """The frame with a further column: ``prediction``, or ``probabilities``, a list."""
    import pandas as pd
    from pyspark.sql import functions

    names = list(X.columns) if columns is None else list(columns) or X.columns[:1]
    name = "prediction" if classes is None else "probabilities"
    if name in X.columns:
        raise InputError(
            f"The Spark frame has a column {name!r} already; rename it, since "
            "predictions become a column of this name."
        )
    result = "array<double>" if classes is not None else TYPES[kind.kind]
    # By value: it may be defined in a session.
    data = cloudpickle.dumps(function)

    def predict(*cells: Any) -> Any:
        predictions = pickle.loads(data)(pd.DataFrame(dict(zip(names, cells))))
        return pd.Series(list(predictions))

    # Spark takes the kind of the function from its types.
    predict.__annotations__ = {"cells": pd.Series, "return": pd.Series}
    apply = functions.pandas_udf(predict, result)
    return X.withColumn(name, apply(*(functions.col(_quoted(x)) for x in names)))


def _quoted(name: str) -> str:
    """A column's name for Spark, which takes dots for fields of structures."""
    return "`" + name.replace("`", "``") + "`"


def _result(data: bytes) -> Any:
    """Result of a block, or its error."""
    result = pickle.loads(data)
    if isinstance(result, Exception):
        raise result
    return result


# Functions that run on the workers


class _InPartition:
    """Apply a function to all blocks of a partition."""

    def __init__(
        self,
        rows: SparkRows,
        function: Callable[..., Any],
        parameters: tuple[Any, ...],
        sizes: dict[int, int] | None = None,
    ) -> None:
        # By value: they may be defined in a session.
        self._function = cloudpickle.dumps((function, parameters))
        self._columns, self._named, self._sizes = rows.columns, rows._named, sizes
        named = [name for name in rows._named if name is not None]
        self.names = list(dict.fromkeys([*rows.columns, *named]))

    def __call__(self, frames: Iterator[Any]) -> Iterator[Any]:
        import pandas as pd
        from pyspark import TaskContext

        part = TaskContext.get().partitionId()
        try:
            for block, result in enumerate(self._results(part, frames)):
                data = cloudpickle.dumps(result)
                yield pd.DataFrame({"part": part, "block": block, "result": [data]})
        except ClearwoodError as error:
            data = cloudpickle.dumps(error)
            yield pd.DataFrame({"part": part, "block": -1, "result": [data]})

    def _results(self, part: int, frames: Iterator[Any]) -> Iterator[Any]:
        filled = (frame for frame in frames if len(frame))
        first = next(filled, None)
        place, n_rows = f"partition {part}", 0

        def parts(_: Any) -> Iterator[tuple[str, RowsOfTable]]:
            for frame in chain([first], filled):
                frame.columns = self.names
                yield place, take_columns(frame, *self._named, self._columns)

        function, parameters = pickle.loads(self._function)
        number = _first_block(part, self._sizes or {})
        stream = RowStream(self._columns, parts)
        for pieces, block in stream._placed() if first is not None else ():
            n_rows += block.n_rows
            if isinstance(function, _RowSelector):
                result = function.for_block(number)(block)
            else:
                with errors_located(*pieces):
                    result = function(block, *parameters)
            number += 1
            yield result
        if self._sizes is not None and n_rows != self._sizes.get(part, 0):
            raise InputError(
                f"{place} of the Spark frame has {n_rows} rows, but had "
                f"{self._sizes.get(part, 0)} before: it is computed anew with other "
                "rows on every pass. Call cache() or persist() on it, or write it to "
                "a table first."
            )


def _first_block(part: int, sizes: dict[int, int]) -> int:
    return sum(-(-n_rows // BLOCK_ROWS) for p, n_rows in sizes.items() if p < part)


def _n_rows_of(block: RowsOfTable) -> int:
    return block.n_rows


def _itself(block: RowsOfTable) -> RowsOfTable:
    return block
