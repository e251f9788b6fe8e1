"""Sequences as users have them, and as networks read them."""

from __future__ import annotations

import warnings
from itertools import chain
from typing import Any

import numpy as np

from clearwood.exceptions import InputError, UnknownCategoriesWarning

INSIDE = (str, list, tuple, np.ndarray)


def end_to_end(X: Any, lengths: Any = None) -> tuple[list[Any], np.ndarray]:
    """Symbols of all sequences, one after the other, and the sequences' lengths.

    A text is a sequence of characters; a list of texts, lists or arrays is a sequence
    each; anything else is one sequence of symbols, or as many as ``lengths`` says.

    Examples
    --------
    >>> symbols, lengths = end_to_end(["to", "be"])
    >>> symbols, lengths.tolist()
    (['t', 'o', 'b', 'e'], [2, 2])
    """
    several = lengths is None and isinstance(X, list | tuple) and len(X) > 0
    if several and all(isinstance(own, INSIDE) for own in X):
        parts = [_symbols(own) for own in X]
        lengths = [len(part) for part in parts]
        return list(chain(*parts)), check_lengths(lengths, sum(lengths))
    symbols = _symbols(X)
    return symbols, check_lengths(lengths, len(symbols))


def _symbols(X: Any) -> list[Any]:
    if isinstance(X, str):
        return list(X)
    if isinstance(X, list | tuple):
        return list(X)
    values = np.asarray(X)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1:
        raise InputError(
            f"X has the shape {values.shape}; a sequence of symbols has one column. "
            "Of a series with several columns say what is to be predicted: y."
        )
    return values.tolist()


def check_lengths(lengths: Any, n_steps: int) -> np.ndarray:
    """Lengths of sequences that stand end to end; by default it is one."""
    found = np.asarray([n_steps] if lengths is None else lengths)
    if n_steps == 0:
        raise InputError("X is empty; give at least one step.")
    if found.ndim != 1 or found.dtype.kind not in "iu" or not (found > 0).all():
        raise InputError("lengths holds positive whole numbers: of steps per sequence.")
    if found.sum() != n_steps:
        raise InputError(f"lengths add up to {found.sum()}, but X has {n_steps} steps.")
    return found.astype(np.int64)


def distinct(symbols: list[Any]) -> list[Any]:
    """All symbols that occur, in order where they have one; missing ones are none."""
    found = [symbol for symbol in dict.fromkeys(symbols) if not _is_missing(symbol)]
    try:
        return sorted(found)
    except TypeError:
        return found


def encode(symbols: list[Any], known: list[Any]) -> np.ndarray:
    """Positions of symbols among those that are known; -1 of others and missing ones.

    Examples
    --------
    >>> encode(["b", None, "a"], ["a", "b"]).tolist()
    [1, -1, 0]
    """
    position = {symbol: i for i, symbol in enumerate(known)}
    codes = np.array([position.get(symbol, -1) for symbol in symbols], dtype=np.int64)
    unseen = [s for s in dict.fromkeys(symbols) if s not in position]
    unseen = [symbol for symbol in unseen if not _is_missing(symbol)]
    if unseen:
        warnings.warn(
            f"{len(unseen)} symbols were not there in the fit, {unseen[0]!r} for one; "
            "they count as missing, and scores leave them out.",
            UnknownCategoriesWarning,
            stacklevel=4,
        )
    return codes


def _is_missing(symbol: Any) -> bool:
    return symbol is None or symbol != symbol


def binary_columns(X: Any, n_columns: int | None = None) -> np.ndarray:
    """A series of zeros and ones, NaN where missing."""
    values = np.asarray(X)
    if values.ndim != 2 or n_columns not in (None, values.shape[1]):
        wanted = "a number of" if n_columns is None else n_columns
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
        found = values[wrong][0]
        raise InputError(
            f"X holds {found!r}; columns hold 0 and 1, or NaN where missing. Turn "
            "numbers into flags first, with BinaryBinner for example."
        )
    return numbers
