"""Encoding of sequences for networks."""

from __future__ import annotations

from typing import Any

import numpy as np

from clearwood.columns.sparse_tables import accepted
from clearwood.exceptions import InputError
from clearwood.sequences.symbols import symbol_codes


def codes_of(cells: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Positions among known symbols; -1 for other symbols, and missing ones.

    Examples
    --------
    >>> codes_of(np.array(["b", "x", "a"]), np.array(["a", "b"])).tolist()
    [1, -1, 0]
    """
    return np.nan_to_num(symbol_codes(cells, known), nan=-1).astype(np.int64)


def binary_columns(X: Any, n_columns: int | None = None) -> np.ndarray:
    """A series of zeros and ones, NaN where missing."""
    values = np.asarray(accepted(X))
    if values.ndim != 2 or n_columns not in (None, values.shape[1]):
        wanted = "some" if n_columns is None else n_columns
        raise InputError(
            f"X has the shape {values.shape}; expected a row for every step and "
            f"{wanted} columns."
        )
    try:
        numbers = np.array(values, dtype=np.float32)
    except (TypeError, ValueError):
        raise InputError("X holds text; columns hold 0 and 1.") from None
    wrong = ~(np.isnan(numbers) | (numbers == 0) | (numbers == 1))
    if wrong.any():
        raise InputError(
            f"X holds {values[wrong][0]!r}; columns hold 0 and 1, or NaN where "
            "missing. Turn numbers into flags first, with BinaryBinner for example."
        )
    return numbers
