"""Texts of the data: which are refused, and how categories are printed."""

import numpy as np
import pytest
from tests.wording import refuses

from clearwood._words.labels import check_text, label_text, type_text
from clearwood.exceptions import InputError


@pytest.mark.parametrize("half", ["\ud800", "\udbff", "\udc00", "\udfff"])
def test_the_text_with_half_a_character_is_named(half):
    with refuses(InputError):
        check_text(["a", 3, f"b{half}", "c"], "The class")


def test_whole_characters_are_let_in():
    check_text(["", "\ud7ff\ue000", "\U0001f332", None, 2.5], "The class")


def test_categories_that_a_hash_stands_for_are_printed_bare_if_they_are_numbers():
    texts = ["5", "-5", "5.0", "", "٥"]
    assert [label_text(t, "hash") for t in texts] == ["5", "-5", "'5.0'", "''", "'٥'"]
    assert [label_text(t) for t in ("5", 5, True)] == ["'5'", "5", "True"]


def test_types_have_their_article():
    found = [*map(type_text, (1, "one", range(1), memoryview(b"")))]
    assert found == ["an int", "a str", "a range", "a memoryview"]
    assert type_text(np.zeros(1)) == "an ndarray"
