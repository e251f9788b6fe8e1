"""Rows of small codes that are equal, once each, with how many there are."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clearwood._tables.rows import RowBlocks, RowsOfTable


def merged_rows(
    table: RowBlocks, codes: Callable[[RowsOfTable], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """The distinct rows of a table, and the sum of the weights of each.

    Blocks are merged where they are, so that equal rows travel once.

    Parameters
    ----------
    table : RowBlocks
    codes : callable
        From a block to its codes, unsigned integers of shape (n_rows, n_columns), and
        to the weights of its rows.

    Returns
    -------
    codes : ndarray of shape (n_distinct, n_columns)
        In an order that only they themselves decide.
    weight : ndarray of shape (n_distinct,)
    """
    parts: Iterator[Any] = table.results(_merged_block, codes)
    whole = next(parts)
    waiting: list[Any] = []
    for part in parts:
        waiting.append(part)
        # Now and then, so that each row is merged few times.
        if sum(len(codes) for codes, _ in waiting) > len(whole[0]):
            whole, waiting = _merged_parts([whole, *waiting]), []
    return _merged_parts([whole, *waiting])


def _merged_block(
    rows: RowsOfTable, codes: Callable[[RowsOfTable], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    return merge(*codes(rows))


def _merged_parts(parts: list[Any]) -> tuple[np.ndarray, np.ndarray]:
    return merge(*(np.concatenate(column) for column in zip(*parts)))


def merge(codes: np.ndarray, weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Equal rows once, with the sum of their weights.

    Examples
    --------
    >>> codes = np.array([[1, 0], [0, 2], [1, 0]], dtype=np.uint8)
    >>> [part.tolist() for part in merge(codes, np.array([1.0, 2.0, 0.5]))]
    [[[0, 2], [1, 0]], [2.0, 1.5]]
    """
    if not codes.size:
        return codes[:1], np.array([weight.sum()])[: len(codes)]
    first, place = equal_rows(codes)
    return codes[first], np.bincount(place, weight, len(first))


def equal_rows(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of each distinct row the first place, and which of these every row equals.

    Rows are compared byte by byte, and distinct ones come in the order of their bytes.

    Examples
    --------
    >>> equal_rows(np.array([[1, 0], [0, 2], [1, 0]], dtype=np.uint8))
    (array([1, 0]), array([1, 0, 1]))
    """
    whole = np.ascontiguousarray(table)
    # One record of bytes per row, so that whole rows are compared.
    record = np.dtype((np.void, whole.shape[1] * whole.itemsize))
    keys = whole.view(record)[:, 0]
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return first, place
