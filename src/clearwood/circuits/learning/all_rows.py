"""EM statistics over all rows of a table larger than memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from clearwood._tables import RowBlocks, RowsOfTable
from clearwood.circuits.compiled import Compiled
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.validation import LARGEST_VALUE
from clearwood.exceptions import InputError

Step = Callable[..., Any]


class AllRows:
    """Rows of a table in blocks, read anew in every pass.

    Parameters
    ----------
    table : RowBlocks
    steps : sequence of callable
        Transformations of a block of the table, applied in order, to encoded rows.
    """

    def __init__(self, table: RowBlocks, steps: Sequence[Step]) -> None:
        self._table, self._steps = table, tuple(steps)

    def then(self, step: Step, *parameters: Any) -> AllRows:
        """The same rows after one more transformation."""
        step = partial(_with_parameters, step, parameters) if parameters else step
        return AllRows(self._table, (*self._steps, step))

    def count(self) -> int:
        """Number of rows; some steps drop rows."""
        return int(self._table.map_sum(_counted, self._steps)[0])

    def expected(self, compiled: Compiled) -> tuple[float, np.ndarray, list[Any]]:
        """The E-step, see :meth:`Compiled.expected`: sums over blocks, in their order.

        The log-likelihood is the mean over rows.
        """
        n_rows, likelihood, edges, *leaves = self._table.map_sum(
            _expected, self._steps, compiled
        )
        return float(likelihood) / max(n_rows, 1), edges, leaves


def _with_parameters(step: Step, parameters: Sequence[Any], values: Any) -> Any:
    return step(values, *parameters)


def _read(rows: RowsOfTable, steps: Sequence[Step]) -> np.ndarray:
    read: Any = rows
    for step in steps:
        read = step(read)
    return np.ascontiguousarray(read)


def _counted(rows: RowsOfTable, steps: Sequence[Step]) -> tuple[int]:
    return (len(_read(rows, steps)),)


def _expected(
    rows: RowsOfTable, steps: Sequence[Step], compiled: Compiled
) -> tuple[Any, ...]:
    values = _read(rows, steps)
    likelihood, edges, leaves = compiled.expected(values, np.ones(len(values)))
    return len(values), likelihood, edges, *leaves


def check_far(values: np.ndarray, features: FeatureSpace) -> np.ndarray:
    """Raise an error for numbers that are too large, as for a table in memory."""
    for j, (name, labels) in enumerate(zip(features.names, features.categories)):
        far = np.abs(values[:, j]) > LARGEST_VALUE
        if labels is None and far.any():
            raise InputError(
                f"Column {name!r} holds {values[far, j][0]:.3g}, which cannot be "
                "squared in float64; give it in other units."
            )
    return values
