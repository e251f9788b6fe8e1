"""Distinct rows of small codes, with their weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from clearwood._tables.rows import RowBlocks, RowsOfTable


def merged_rows(
    table: RowBlocks, codes: Callable[[RowsOfTable], tuple[np.ndarray, np.ndarray]]
) -> tuple[np.ndarray, np.ndarray]:
    """Find the distinct rows of a table, and the total weight of each.

    Each block is merged where it is stored, to transfer distinct rows only.

    Parameters
    ----------
    table : RowBlocks
    codes : callable
        From a block to its codes, unsigned integers of shape (n_rows, n_columns), and
        to row weights.

    Returns
    -------
    codes : ndarray of shape (n_distinct, n_columns)
        In an order that does not depend on the blocks.
    weight : ndarray of shape (n_distinct,)
    """
    parts: Iterator[Any] = table.results(_merged_block, codes)
    whole = next(parts)
    waiting: list[Any] = []
    for part in parts:
        waiting.append(part)
        # Occasionally, so that each row is merged few times.
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
    """Merge equal rows, adding their weights.

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
    """Index of the first of each distinct row, and the inverse indices.

    Rows are compared as bytes; distinct ones are sorted by their bytes.

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
