"""Sequences as users hand them in."""

import numpy as np
import pytest

from clearwood.exceptions import InputError
from clearwood.sequences.networks.steps import binary_columns, codes_of, end_to_end

SPELLINGS = {
    "texts": (["ab", "a"], None),
    "lists": ([["a", "b"], ["a"]], None),
    "arrays": ((np.array(["a", "b"]), np.array(["a"])), None),
    "text and lengths": ("aba", [2, 1]),
    "array and lengths": (np.array(["a", "b", "a"]), [2, 1]),
    "column": (np.array([["a"], ["b"], ["a"]]), [2, 1]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_hold_the_same(name):
    symbols, lengths = end_to_end(*SPELLINGS[name])
    assert symbols.tolist() == ["a", "b", "a"] and lengths == [2, 1]


def test_lists_of_numbers_and_arrays_of_words_are_one_sequence():
    assert end_to_end([3, 1, 3])[1] is None
    symbols, lengths = end_to_end(np.array(["to", "be"]))
    assert symbols.tolist() == ["to", "be"] and lengths is None


def test_sequences_of_several_types_stay_what_they_are():
    assert end_to_end([["a", 1], [None, "b"]])[0].tolist() == ["a", 1, None, "b"]


def test_missing_and_unseen_symbols_have_no_code():
    cells = end_to_end([["b", None], ["z", "a"]])[0]
    assert codes_of(cells, np.array(["a", "b"])).tolist() == [1, -1, -1, 0]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: end_to_end(""), "empty"),
        (lambda: end_to_end([]), "empty"),
        (lambda: end_to_end(["ab", ""]), "empty"),
        (lambda: end_to_end(np.zeros((3, 2))), r"\(3, 2\).*one column"),
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
