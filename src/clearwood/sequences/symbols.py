"""Sequences of symbols of any type: characters of a text, words, numbers."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np

from clearwood._numeric.distinct import distinct
from clearwood._warned_once import users_level
from clearwood.columns.cells import is_missing, unwrapped
from clearwood.columns.sparse_tables import accepted
from clearwood.distributions.categorical import UNSEEN
from clearwood.exceptions import InputError, UnknownCategoriesWarning


def end_to_end(X: Any, lengths: Any = None) -> tuple[np.ndarray, Any]:
    """Concatenate the symbols of all sequences, and return the sequences' lengths.

    The rules for all inputs of symbol sequences:

    - A string is a sequence of its characters.
    - A list (tuple, iterator) of lists, arrays or strings holds a sequence each; but
      strings of a single character are symbols, and their list is one sequence.
    - Anything else is one sequence: a list of other symbols, and any array, Series or
      table of one column, where strings are symbols too, of any length (words).
    - With ``lengths`` X holds symbols, whatever it is; as many concatenated sequences
      as ``lengths`` has entries.

    Examples
    --------
    >>> symbols, lengths = end_to_end(["to", "be"])
    >>> symbols.tolist(), lengths
    (['t', 'o', 'b', 'e'], [2, 2])
    >>> symbols, lengths = end_to_end([["to", "be"], ["or"]])
    >>> symbols.tolist(), lengths
    (['to', 'be', 'or'], [2, 1])
    >>> end_to_end(["a", "b"])[1] is end_to_end(np.array(["to", "be"]))[1] is None
    True
    """
    X = list(X) if isinstance(X, Iterator) else X
    if lengths is not None or not _holds_sequences(X):
        return symbol_cells(X), lengths
    parts = [symbol_cells(own, f"Sequence {s}").tolist() for s, own in enumerate(X)]
    return symbol_cells(list(chain(*parts))), [len(part) for part in parts]


def _holds_sequences(X: Any) -> bool:
    if not isinstance(X, list | tuple):
        return False
    words = [own for own in X if isinstance(own, str) and len(own) != 1]
    others = [own for own in X if not isinstance(own, str)]
    if words and any(is_missing(own) for own in others):
        raise InputError(
            f"X is a list with None (or NaN) and the text {words[0]!r}; a list of "
            "texts holds a sequence of characters each. Leave None out; or pass an "
            "array, or a list in a list, if texts are symbols."
        )
    are_sequences = all(
        isinstance(own, list | tuple) or len(getattr(own, "shape", ())) > 0
        for own in others
    )
    return bool(words or others) and are_sequences


def symbol_cells(X: Any, name: str = "X") -> np.ndarray:
    """Steps of one sequence, as an array; a string is a sequence of its characters.

    Examples
    --------
    >>> symbol_cells("abba")
    array(['a', 'b', 'b', 'a'], dtype='<U1')
    >>> symbol_cells([[3], [5]])
    array([3, 5])
    """
    if isinstance(X, str):
        cells = np.array(list(X), dtype=str)
    elif isinstance(X, list | tuple) and len({type(cell) for cell in X}) > 1:
        cells = np.empty(len(X), dtype=object)  # or numbers would become texts
        cells[:] = X
    else:
        cells = np.asarray(accepted(unwrapped(X)))
    if cells.ndim == 2 and cells.shape[1] == 1:
        cells = cells[:, 0]
    if cells.ndim != 1:
        raise InputError(
            f"{name} has the shape {cells.shape}; a step is one symbol, so that it is "
            "a text, a list of symbols or a table of one column. For several columns "
            'take emission="mixed", "bernoulli" or "gaussian".'
        )
    if not len(cells):
        raise InputError(f"{name} is empty; a sequence has at least one step.")
    return cells


def symbols_in(cells: np.ndarray) -> np.ndarray:
    """Sorted distinct symbols.

    Examples
    --------
    >>> symbols_in(symbol_cells(["to", None, "be"])).tolist()
    ['be', 'to']
    """
    symbols = [symbol for symbol in _distinct(cells)[0] if not is_missing(symbol)]
    if not symbols:
        raise InputError("All steps of X are missing; there are no symbols to learn.")
    try:
        symbols.sort()
    except TypeError:  # of several types
        symbols.sort(key=lambda symbol: (str(type(symbol)), str(symbol)))
    if cells.dtype != object:
        return np.array(symbols, dtype=cells.dtype)
    return np.fromiter(symbols, dtype=object, count=len(symbols))


def symbol_codes(cells: np.ndarray, symbols: np.ndarray) -> np.ndarray:
    """Positions among the symbols: NaN for a missing step, -1 for an unknown symbol.

    Examples
    --------
    >>> symbol_codes(symbol_cells("abc"), np.array(["a", "c"]))
    array([ 0., -1.,  1.])
    """
    found, place = _distinct(cells)
    position = {symbol: float(i) for i, symbol in enumerate(symbols.tolist())}
    codes = np.array([
        np.nan if is_missing(symbol) else position.get(symbol, float(UNSEEN))
        for symbol in found
    ])  # fmt: skip
    if (codes == UNSEEN).any() and not (codes >= 0).any():
        warnings.warn(
            f"X holds none of the symbols that the model knows: found {found[:5]}, "
            f"it knows {symbols[:5].tolist()}; the text '1' is not the number 1.",
            UnknownCategoriesWarning,
            stacklevel=users_level(),
        )
    return codes[place]


def _distinct(cells: np.ndarray) -> tuple[list[Any], np.ndarray]:
    """Distinct cells, and the index of each cell's one."""
    if cells.dtype != object:
        values, _, place = distinct(cells)
        return values.tolist(), place
    first: dict[Any, int] = {}
    listed = cells.tolist()
    try:
        found = [first.setdefault(cell, len(first)) for cell in listed]
    except TypeError as error:
        raise InputError(
            f"A step of X is no symbol: {error}. Symbols are texts, numbers or other "
            "values that can be keys of a dict."
        ) from None
    return list(first), np.array(found)
