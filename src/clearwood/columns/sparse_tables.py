"""Tables that are mostly zeros, of which only the columns that count become dense.

A matrix of scipy, or a frame of pandas all of whose columns are sparse around zero. The
trees of an ensemble depend on the columns that they ask, rules on the few that they
name; those are read side by side as an ordinary table, and no more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from clearwood.exceptions import InputError

MOST_CELLS = 1_500_000
"""Cells of the dense table in which rules are searched for (12 MB)."""

FEWEST_COLUMNS, MOST_COLUMNS = 64, 1000
"""Its columns, however many rows there are, and however few."""


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix, or a frame of sparse columns alone.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> is_sparse(csr_array([[0.0, 1.0]])), is_sparse(np.array([[0.0, 1.0]]))
    (True, False)
    """
    return is_matrix(X) or (
        bool(kinds := _sparse_kinds(X))
        and len(kinds) == X.shape[1]
        and all(kind.fill_value == 0 for kind in kinds.values())
    )


def is_matrix(X: Any) -> bool:
    """Whether a table is a sparse matrix or array of scipy."""
    from scipy.sparse import issparse

    return bool(issparse(X))


def _sparse_kinds(X: Any) -> dict[int, Any]:
    """The types of the sparse columns of a frame, by position."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return {}
    import pandas as pd

    kinds = enumerate(X.dtypes)
    return {d: kind for d, kind in kinds if isinstance(kind, pd.SparseDtype)}


def with_dense_columns(X: Any) -> Any:
    """A table whose sparse columns, if it is a frame that has some, are dense."""
    kinds = _sparse_kinds(X)
    return X.astype({X.columns[d]: kinds[d].subtype for d in kinds}) if kinds else X


def dense_blocks(X: Any, columns: Sequence[int], n_rows: int) -> Iterator[Any]:
    """Some columns of a sparse table, so many rows at a time: arrays, or frames.

    There is one at least.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> next(dense_blocks(csr_array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]), [0, 2], 9))
    array([[0., 2.],
           [3., 0.]])
    """
    columns = list(columns)
    # By columns a matrix of rows would be searched cell by cell.
    few = X.tocsc()[:, columns].tocsr() if is_matrix(X) else X.iloc[:, columns]
    for start in range(0, max(X.shape[0], 1), n_rows):
        rows = slice(start, start + n_rows)
        if is_matrix(few):
            yield few[rows].toarray()
        else:
            yield with_dense_columns(few.iloc[rows])


def columns_of(features: Any, X: Any, columns: Sequence[int]) -> Any:
    """The columns of a sparse table that hold some features, as a dense one.

    What :meth:`FeatureSpace.taken` of the same features encodes.
    """
    (table,) = blocks_of(features, X, columns, max(X.shape[0], 1))
    return table


def blocks_of(
    features: Any, X: Any, columns: Sequence[int], n_rows: int
) -> Iterator[Any]:
    """As :func:`columns_of`, so many rows at a time."""
    if is_matrix(X):
        features.check_width(X.shape[1])
    else:
        found = features.as_in(X, columns).names
        position = {str(name): i for i, name in enumerate(X.columns)}
        columns = [position[found[d]] for d in columns]
    return dense_blocks(X, columns, n_rows)


def accepted(X: Any, accept_sparse: bool = False) -> Any:
    """A table as an estimator can take it: sparse, or with dense columns."""
    if not is_matrix(X):
        return X if accept_sparse and is_sparse(X) else with_dense_columns(X)
    if accept_sparse:
        return in_order(X)
    raise InputError(
        "X is a sparse matrix, of which only lists, trees and sums of rules can be "
        "found; all else reads dense tables. Hand in X.toarray(); of a large one the "
        "columns that matter."
    )


def in_order(X: Any) -> Any:
    """The same matrix by rows or by columns, every cell stored once.

    Positions are int32 where they can be: trees of scikit-learn read no others. What
    was handed in is never changed.
    """
    matrix = X if X.format in ("csr", "csc") else X.tocsr()
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    small = max(*matrix.shape, matrix.nnz) <= np.iinfo(np.int32).max
    if small and matrix.indices.dtype != np.int32:
        positions = (part.astype(np.int32) for part in (matrix.indices, matrix.indptr))
        matrix = type(matrix)((matrix.data, *positions), shape=matrix.shape)
    return matrix


def _by_rows(X: Any) -> Any:
    """A sparse table as a CSR matrix."""
    if is_matrix(X):
        return in_order(X).tocsr()
    from scipy.sparse import csc_matrix

    columns = [X.iloc[:, d].array for d in range(X.shape[1])]
    stored = [column.sp_index.to_int_index().indices for column in columns]
    values = [column.sp_values.astype(np.float64) for column in columns]
    starts = np.cumsum([0, *map(len, stored)])
    cells = np.concatenate(values), np.concatenate(stored), starts
    return csc_matrix(cells, shape=X.shape).tocsr()


def most_columns(n_rows: int) -> int:
    """In how many columns of so many rows rules are searched for.

    Examples
    --------
    >>> most_columns(500), most_columns(20_000), most_columns(10**6)
    (1000, 75, 64)
    """
    return min(max(MOST_CELLS // max(n_rows, 1), FEWEST_COLUMNS), MOST_COLUMNS)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a sparse table, some columns of which are read as a dense one.

    Attributes
    ----------
    table : scipy CSR matrix
        All rows and columns.
    names : pandas Index or None
        Of a frame, those of its columns.
    columns : ndarray of int
        Positions of the columns that are read, ascending.
    rows : ndarray of int
        Positions of the rows.
    """

    table: Any
    names: Any
    columns: np.ndarray
    rows: np.ndarray

    @classmethod
    def of(cls, X: Any, columns: np.ndarray) -> SparseRows:
        """All rows of a sparse table."""
        names = None if is_matrix(X) else X.columns
        table = _by_rows(X).astype(np.float64, copy=False)
        return cls(table, names, columns, np.arange(X.shape[0]))

    def take(self, rows: np.ndarray | slice) -> SparseRows:
        """Some of the rows, by position."""
        return replace(self, rows=self.rows[rows])

    def filled(self, encoded: np.ndarray, rows: np.ndarray) -> Any:
        """A sparse table like the first one, with other cells in the columns read.

        Parameters
        ----------
        encoded : ndarray of shape (n_rows, n_columns)
            What these hold.
        rows : ndarray of int of shape (n_rows,)
            Which rows' cells stand in all others.
        """
        part = self.table[self.rows[rows]]
        part.data[np.isin(part.indices, self.columns)] = 0
        part.eliminate_zeros()
        row, column = np.nonzero(encoded)
        cells = (encoded[row, column], (row, self.columns[column]))
        filled = part + type(part)(cells, shape=part.shape)
        if self.names is None:
            return filled
        import pandas as pd

        return pd.DataFrame.sparse.from_spmatrix(filled, columns=self.names)

    def stored(
        self, codes: np.ndarray | None = None
    ) -> Iterator[tuple[np.ndarray | slice, np.ndarray]]:
        """Per column of the whole table, rows and what they hold that is not zero.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_columns), optional
            Bins of the columns read, in place of values. All others have two: 1 for
            missing cells, and 0.
        """
        table = self.table[self.rows].tocsc()
        place = {d: i for i, d in enumerate(self.columns.tolist())}
        for d, (start, stop) in enumerate(zip(table.indptr, table.indptr[1:])):
            rows, cells = table.indices[start:stop], table.data[start:stop]
            if codes is None:
                yield rows, cells
            elif d in place:
                yield slice(None), codes[:, place[d]]
            else:
                missing = np.isnan(cells)
                yield rows[missing], np.ones(missing.sum())
