import numpy as np
import pandas as pd
import pytest
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix

from clearwood.columns.sparse_tables import (
    SparseRows,
    dense_blocks,
    in_order,
    is_sparse,
    with_dense_columns,
)

TABLE = np.array([[0.0, 2.0, 0.0], [1.5, 0.0, np.nan], [0.0, 0.0, 4.0]])


def frozen(matrix):
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    return matrix


def test_every_cell_is_stored_once_and_nothing_handed_in_changes():
    data, columns, starts = [1.0, 1.0, 4.0, 0.0], [1, 1, 2, 0], [0, 2, 4]
    for kind in (np.int32, np.int64):
        given = csr_matrix((2, 3))
        given.data = np.array(data)
        given.indices, given.indptr = np.array(columns, kind), np.array(starts, kind)
        found = in_order(frozen(given))
        assert found.has_canonical_format and found.indices.dtype == np.int32
        np.testing.assert_array_equal(found.toarray(), [[0, 2, 0], [0, 0, 4]])
        assert given.indices.tolist() == columns and given.data.tolist() == data
        assert given.indices.dtype == kind


@pytest.mark.parametrize("kind", [csr_array, csc_array, coo_array])
def test_any_format_is_read(kind):
    assert in_order(kind(TABLE)).format in ("csr", "csc")
    made = SparseRows.of(in_order(kind(TABLE)), np.array([0]))
    np.testing.assert_array_equal(made.table.toarray(), TABLE)


def test_rows_are_filled_where_they_are_read():
    rows = SparseRows.of(csr_array(TABLE), np.array([0, 2])).take(np.array([2, 1]))
    filled = rows.filled(np.array([[7.0, 0.0], [np.nan, 8.0]]), np.array([1, 0]))
    np.testing.assert_array_equal(filled.toarray(), [[7, 0, 0], [np.nan, 0, 8]])
    frame = pd.DataFrame.sparse.from_spmatrix(csr_matrix(TABLE), columns=list("abc"))
    rows = SparseRows.of(frame, np.array([1]))
    filled = rows.filled(np.array([[9.0]]), np.array([1]))
    assert is_sparse(filled) and list(filled) == list("abc")
    np.testing.assert_array_equal(filled, [[1.5, 9.0, np.nan]])


def test_only_frames_that_are_zeros_but_for_a_few_cells_are_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(csr_matrix(TABLE))
    assert is_sparse(frame)
    for dense in (frame.assign(more=1.0), frame.astype(pd.SparseDtype(float, np.nan))):
        assert not is_sparse(dense)
        np.testing.assert_array_equal(with_dense_columns(dense).iloc[:, :3], TABLE)
        assert not isinstance(with_dense_columns(dense).dtypes[0], pd.SparseDtype)
    plain = frame.sparse.to_dense()
    assert with_dense_columns(plain) is plain


def test_blocks_of_rows_are_the_table():
    frame = pd.DataFrame.sparse.from_spmatrix(csr_matrix(TABLE))
    for table in (csr_array(TABLE), csc_array(TABLE), frame):
        blocks = list(dense_blocks(table, [2, 0], 2))
        assert [len(block) for block in blocks] == [2, 1]
        np.testing.assert_array_equal(np.concatenate(blocks), TABLE[:, [2, 0]])
    (empty,) = dense_blocks(csr_array((0, 3)), [1], 5)
    assert empty.shape == (0, 1)
