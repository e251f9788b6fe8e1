"""Sparse tables, of which only the columns in use are made dense.

A SciPy matrix, or a pandas frame all of whose columns are sparse with fill value zero.
A tree ensemble depends on the columns in its splits, rules on the few in their
conditions; only those are extracted, as an ordinary table.
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
"""Bounds on its number of columns, whatever the number of rows."""


def is_sparse(X: Any) -> bool:
    """Whether a table is a sparse matrix, or a frame of sparse columns only.

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
    """Whether a table is a SciPy sparse matrix or array."""
    from scipy.sparse import issparse

    return bool(issparse(X))


def _sparse_kinds(X: Any) -> dict[int, Any]:
    """Dtypes of the sparse columns of a frame, by position."""
    if not (hasattr(X, "iloc") and hasattr(X, "columns")):
        return {}
    import pandas as pd

    kinds = enumerate(X.dtypes)
    return {d: kind for d, kind in kinds if isinstance(kind, pd.SparseDtype)}


def with_dense_columns(X: Any) -> Any:
    """Table in which the sparse columns of a frame, if any, are dense."""
    kinds = _sparse_kinds(X)
    return X.astype({X.columns[d]: kinds[d].subtype for d in kinds}) if kinds else X


def dense_blocks(X: Any, columns: Sequence[int], n_rows: int) -> Iterator[Any]:
    """Dense batches of some columns of a sparse table: arrays, or frames.

    At least one is returned.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> next(dense_blocks(csr_array([[0.0, 1.0, 2.0], [3.0, 0.0, 0.0]]), [0, 2], 9))
    array([[0., 2.],
           [3., 0.]])
    """
    columns = list(columns)
    # Selecting columns of a CSR matrix would search cell by cell.
    few = X.tocsc()[:, columns].tocsr() if is_matrix(X) else X.iloc[:, columns]
    for start in range(0, max(X.shape[0], 1), n_rows):
        rows = slice(start, start + n_rows)
        if is_matrix(few):
            yield few[rows].toarray()
        else:
            yield with_dense_columns(few.iloc[rows])


def columns_of(features: Any, X: Any, columns: Sequence[int]) -> Any:
    """Dense table of the columns of a sparse one that hold some features.

    The input of :meth:`FeatureSpace.taken` of the same features.
    """
    (table,) = blocks_of(features, X, columns, max(X.shape[0], 1))
    return table


def blocks_of(
    features: Any, X: Any, columns: Sequence[int], n_rows: int
) -> Iterator[Any]:
    """As :func:`columns_of`, in batches of rows."""
    if is_matrix(X):
        features.check_width(X.shape[1])
    else:
        found = features.as_in(X, columns).names
        position = {str(name): i for i, name in enumerate(X.columns)}
        columns = [position[found[d]] for d in columns]
    return dense_blocks(X, columns, n_rows)


def accepted(X: Any, accept_sparse: bool = False) -> Any:
    """Table in a form that an estimator accepts: sparse, or with dense columns."""
    if not is_matrix(X):
        return X if accept_sparse and is_sparse(X) else with_dense_columns(X)
    if accept_sparse:
        return in_order(X)
    raise InputError(
        "X is a sparse matrix, which only rule lists, trees and sums support; other "
        "methods read dense tables. Pass X.toarray(); of a large matrix, only the "
        "columns of interest."
    )


def in_order(X: Any) -> Any:
    """Canonical CSR or CSC matrix, in which each cell is stored once.

    Indices are int32 where possible: trees of scikit-learn read no others. The input is
    not changed.
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
    """Number of columns in which rules are searched for, given the number of rows.

    Examples
    --------
    >>> most_columns(500), most_columns(20_000), most_columns(10**6)
    (1000, 75, 64)
    """
    return min(max(MOST_CELLS // max(n_rows, 1), FEWEST_COLUMNS), MOST_COLUMNS)


@dataclass(frozen=True, eq=False)
class SparseRows:
    """Rows of a sparse table, with a selection of columns to be read as dense.

    Attributes
    ----------
    table : scipy CSR matrix
        All rows and columns.
    names : pandas Index or None
        Column names, for a frame.
    columns : ndarray of int
        Positions of the selected columns, ascending.
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
        """Select rows by position."""
        return replace(self, rows=self.rows[rows])

    def filled(self, encoded: np.ndarray, rows: np.ndarray) -> Any:
        """Sparse table with new cells in the selected columns.

        Parameters
        ----------
        encoded : ndarray of shape (n_rows, n_columns)
            New cells of the selected columns.
        rows : ndarray of int of shape (n_rows,)
            Rows from which the cells of all other columns are taken.
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
        """Per column of the whole table, rows and values of its nonzero cells.

        Parameters
        ----------
        codes : ndarray of shape (n_rows, n_columns), optional
            Bins of the selected columns, in place of values. All others have two: 1 for
            missing values, and 0.
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
