"""Sequences as users hand them in."""

import numpy as np
import pytest

from clearwood.exceptions import InputError
from clearwood.sequences.networks.steps import binary_columns, codes_of
from clearwood.sequences.symbols import symbol_cells


def test_missing_and_unseen_symbols_have_no_code():
    cells = symbol_cells(["b", None, "z", "a"])
    assert codes_of(cells, np.array(["a", "b"])).tolist() == [1, -1, -1, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: binary_columns(np.zeros(3)), r"\(3,\).*row for every step"),
        (lambda: binary_columns(np.zeros((3, 2)), 4), "4 columns"),
        (lambda: binary_columns([[0, 2]]), "holds np.int64.2.*flags"),
        (lambda: binary_columns([["0", "x"]]), "text"),
    ],
)
def test_bad_input_is_named(given, message):
    with pytest.raises(InputError, match=message):
        given()


def test_columns_may_have_gaps():
    found = binary_columns([[0, 1], [None, True]])
    np.testing.assert_array_equal(found, [[0, 1], [np.nan, 1]])
