"""Sequences as users hand them in."""

import numpy as np
import pytest
from tests.wording import refuses

from clearwood.exceptions import InputError
from clearwood.sequences.networks.steps import binary_columns, codes_of
from clearwood.sequences.symbols import symbol_cells


def test_missing_and_unseen_symbols_have_no_code():
    cells = symbol_cells(["b", None, "z", "a"])
    assert codes_of(cells, np.array(["a", "b"])).tolist() == [1, -1, -1, 0]


@pytest.mark.parametrize(
    "given",
    [
        lambda: binary_columns(np.zeros(3)),
        lambda: binary_columns(np.zeros((3, 2)), 4),
        lambda: binary_columns([[0, 2]]),
        lambda: binary_columns([["0", "x"]]),
    ],
)
def test_bad_input_is_named(given):
    with refuses(InputError):
        given()


def test_columns_may_have_gaps():
    found = binary_columns([[0, 1], [None, True]])
    np.testing.assert_array_equal(found, [[0, 1], [np.nan, 1]])
