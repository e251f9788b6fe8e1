"""Values of hostile documents are refused where they stand, good ones are read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clearwood.codec.documents import (
    Place,
    first_repeated,
    parse_json,
    plain_integer,
    plain_number,
    refuse_repeated,
    shown,
)
from clearwood.exceptions import ModelFormatError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@given(JSON, st.sampled_from([None, 1, 4]))
def test_good_json_is_read_whatever_its_white_space(document, indent):
    data = json.dumps(document, indent=indent).encode()
    assert parse_json(data, "m.json") == document


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a": 1, "b": 2, "a": 3}', "the key 'a' occurs twice"),
        (b"\xff", "not text in UTF-8"),
        (b"9" * 5000, "4300 digits"),
        (b"[1,\n2,]", "line 2, column 3"),
        (b"[1] 2", "Extra data"),
        (b"", "line 1, column 1"),
    ],
)
def test_bad_json(data, message):
    with pytest.raises(ModelFormatError, match=f"^m.json: no sound JSON, .*{message}"):
        parse_json(data, "m.json")


BAD = [
    ("text", {}, [1], "an array"),
    ("text", {}, "a\ud800", "half a character"),
    ("flag", {}, 2, "found 2, expected true or false"),
    ("flag", {}, 1, "found 1, expected true or false"),
    ("flag", {"from_number": True}, 2, "found 2, expected true or false"),
    ("flag", {"from_number": True}, 1.0, "true or false"),
    ("only", {}, {"a": 1}, "f.json: a: not a field"),
    ("labels", {}, [1, None], r"f.json\[1\]: found None, expected a text"),
    ("labels", {}, ["a", float("nan")], r"f.json\[1\]: found nan"),
    ("labels", {}, ["a", "\ud800"], r"f.json\[1\].*half a character"),
    ("labels", {}, ["b", "a", "b"], "found the label 'b' twice"),
    ("labels", {}, "ab", "found 'ab', expected an array"),
    ("parsed", {}, "{", "no sound JSON"),
    ("integer", {}, 1.0, "expected a whole number"),
    ("integer", {}, True, "found True"),
    ("integer", {}, "1", "found '1'"),
    ("integer", {"from_text": True}, "1_0", "found '1_0'"),
    ("integer", {"from_text": True}, " 1", "found ' 1'"),
    ("integer", {"from_text": True}, "9" * 30, "whole number"),
    ("integer", {"low": 0}, -1, "at least 0"),
    ("integer", {"high": 3}, 4, "at most 3"),
    ("integer", {"low": 1, "high": 3}, 10**400, "many digits.*from 1 to 3"),
    ("number", {}, "0.5", "finite number"),
    ("number", {}, float("nan"), "found nan"),
    ("number", {}, 10**400, "many digits"),
    ("number", {"from_text": True}, "inf", "'inf'"),
    ("number", {"from_text": True}, "\u0663", "finite number"),
    ("items", {}, {"a": 1}, "an object, expected an array"),
    ("integers", {}, [1, 2.0], r"f.json\[1\]: found 2.0"),
    ("integers", {}, [1, True], r"f.json\[1\]: found True"),
    ("integers", {}, [1, "2"], r"f.json\[1\]: found '2'"),
    ("integers", {}, [[1], 2], r"f.json\[0\]: found an array"),
    ("integers", {}, 3, "found 3, expected an array"),
    ("integers", {}, [2**63], "at most 64 bits"),
    ("integers", {}, [2**63, -1], "at most 64 bits"),
    ("integers", {}, [10**30], "at most 64 bits"),
    ("integers", {"length": 2}, [1], "found 1 entries, expected 2"),
    ("integers", {"low": 0}, [1, -1], r"f.json\[1\]: found -1.*at least 0"),
    ("integers", {"high": 3}, [9, 1], r"f.json\[0\]: found 9.*at most 3"),
    ("integers", {}, np.array([1.5]), "other or too large"),
    ("numbers", {}, [1, None], r"f.json\[1\]: found None"),
    ("numbers", {}, [1, float("inf")], r"f.json\[1\]: found inf.*finite"),
    ("numbers", {}, [10**400, 1.5], "64 bits"),
    ("keys", {}, [], "expected an object"),
]


@pytest.mark.parametrize(("method", "options", "value", "message"), BAD)
def test_bad_values(method, options, value, message):
    with pytest.raises(ModelFormatError, match=message) as caught:
        getattr(Place(value, "f.json"), method)(**options)
    assert str(caught.value).startswith("f.json")


def test_good_values():
    assert Place("x", "f").text() == "x"
    assert (
        Place(1, "f").flag(from_number=True) is True
        and Place(False, "f").flag() is False
    )
    assert Place("12", "f").integer(0, 12, from_text=True) == 12
    assert Place("5E-1", "f").number(from_text=True) == 0.5
    assert Place(2**70, "f").number() == 2.0**70
    integers = Place([1, 2**62], "f").integers(length=2, low=1)
    assert integers.dtype == np.int64 and integers.tolist() == [1, 2**62]
    assert Place([], "f").integers(length=0).size == 0
    numbers = Place([1, 2.5, float("nan")], "f").numbers(finite=False)
    assert numbers.dtype == np.float64 and np.isnan(numbers[2])
    assert Place([1, 10**25], "f").numbers().tolist() == [1.0, 1e25]
    assert Place(np.array([1, 2], np.uint8), "f").integers().tolist() == [1, 2]


def test_every_place_has_a_name():
    top = Place({"a": {"b": [{"c": 1}]}, "n": np.arange(2)}, "f.json")
    assert top["a"]["b"].items()[0]["c"].where == "f.json: a.b[0].c"
    assert top["n"].items()[1].value == 1
    assert "a" in top and "c" not in top and top.get("c") is None
    assert top.get("a").keys() == ["b"]
    with pytest.raises(ModelFormatError, match=r"f.json: a: found no 'z', expected"):
        top["a"]["z"]


@given(st.floats(allow_nan=False, allow_infinity=False), st.integers(-(10**18), 10**18))
def test_plain_numbers_are_read(number, integer):
    assert plain_number(repr(number)) == number
    assert plain_number(f"{number:.17g}") == number
    assert plain_integer(str(integer)) == integer


@pytest.mark.parametrize(
    "text", ["", " 1", "1 ", "1_0", "0x1", "inf", "nan", "1e", "--1"]
)
def test_no_plain_number(text):
    assert plain_number(text) is None and plain_integer(text) is None


def test_shown_is_short():
    for value in ("x" * 10**5, b"x" * 10**5, 10**400, [1] * 10**5, {"a": 1}, None):
        assert len(shown(value)) <= 60


def test_what_occurs_twice_is_found_in_time():
    # To ask of every name whether it is among those before would take hours.
    names = [*map(str, range(300_000)), "7"]
    assert first_repeated(names) == "7"
    assert first_repeated(names[:-1]) is None
    with pytest.raises(ModelFormatError, match="found the name '7' twice"):
        refuse_repeated(names, Place(names, "f"), "the name")


def test_small_values_of_a_small_file_are_read():
    assert len(parse_json(f"[{','.join(['[]'] * 50_000)}]".encode(), "model.json"))
