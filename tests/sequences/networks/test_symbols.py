"""Sequences as users hand them in."""

import numpy as np
import pytest

from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.sequences.networks.symbols import (
    binary_columns,
    check_lengths,
    distinct,
    encode,
    end_to_end,
)

SPELLINGS = {
    "texts": (["ab", "a"], None),
    "lists": ([["a", "b"], ["a"]], None),
    "arrays": ((np.array(["a", "b"]), np.array(["a"])), None),
    "text and lengths": ("aba", [2, 1]),
    "array and lengths": (np.array(["a", "b", "a"]), [2, 1]),
    "column": (np.array([["a"], ["b"], ["a"]]), np.array([2, 1])),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spellings_hold_the_same(name):
    symbols, lengths = end_to_end(*SPELLINGS[name])
    assert symbols == ["a", "b", "a"] and lengths.tolist() == [2, 1]


def test_lists_of_numbers_and_of_pairs_are_one_sequence():
    assert end_to_end([3, 1, 3])[1].tolist() == [3]
    words = np.array(["to", "be"])
    assert end_to_end(words) == (["to", "be"], np.array([2]))


def test_symbols_are_in_order_where_they_have_one():
    assert distinct([3, 1, None, 3, float("nan")]) == [1, 3]
    assert distinct(["b", 1, None]) == ["b", 1]


def test_missing_symbols_are_no_unseen_ones():
    assert encode([None, "a", np.nan], ["a"]).tolist() == [-1, 0, -1]
    with pytest.warns(UnknownCategoriesWarning, match="1 symbols.*'z'.*missing"):
        assert encode(["z", "a", "z"], ["a"]).tolist() == [-1, 0, -1]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (lambda: end_to_end(""), "empty"),
        (lambda: end_to_end([]), "empty"),
        (lambda: end_to_end("abc", [2, 2]), "add up to 4, but X has 3"),
        (lambda: end_to_end("abc", [3, 0]), "positive"),
        (lambda: end_to_end(["ab", ""]), "positive"),
        (lambda: check_lengths([1.5, 1.5], 3), "whole"),
        (lambda: end_to_end(np.zeros((3, 2))), r"\(3, 2\).*one column.*y"),
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
