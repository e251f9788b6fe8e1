"""Values of hostile documents are refused where they stand, good ones are read."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wording import refuses

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
    max_leaves=5,
)


@given(JSON, st.sampled_from([None, 1, 4]))
def test_good_json_is_read_whatever_its_white_space(document, indent):
    data = json.dumps(document, indent=indent).encode()
    assert parse_json(data, "m.json") == document


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"[" * 100_000, id="deep array"),
        pytest.param(b'{"a":' * 100_000, id="deep object"),
        b'{"a": 1, "b": 2, "a": 3}',
        b"\xff",
        pytest.param(b"9" * 5000, id="digits"),
        b"[1,\n2,]",
        b"[1] 2",
        b"",
    ],
)
def test_bad_json(data):
    with refuses(ModelFormatError):
        parse_json(data, "m.json")


BAD = [
    ("text", {}, [1]),
    ("text", {}, "a\ud800"),
    ("flag", {}, 2),
    ("flag", {}, 1),
    ("flag", {"from_number": True}, 2),
    ("flag", {"from_number": True}, 1.0),
    ("only", {}, {"a": 1}),
    ("labels", {}, [1, None]),
    ("labels", {}, ["a", float("nan")]),
    ("labels", {}, ["a", "\ud800"]),
    ("labels", {}, ["b", "a", "b"]),
    ("labels", {}, "ab"),
    ("parsed", {}, "{"),
    ("integer", {}, 1.0),
    ("integer", {}, True),
    ("integer", {}, "1"),
    ("integer", {"from_text": True}, "1_0"),
    ("integer", {"from_text": True}, " 1"),
    ("integer", {"from_text": True}, "9" * 30),
    ("integer", {"low": 0}, -1),
    ("integer", {"high": 3}, 4),
    ("integer", {"low": 1, "high": 3}, 10**400),
    ("number", {}, "0.5"),
    ("number", {}, float("nan")),
    ("number", {}, 10**400),
    ("number", {"from_text": True}, "inf"),
    ("number", {"from_text": True}, "\u0663"),
    ("items", {}, {"a": 1}),
    ("integers", {}, [1, 2.0]),
    ("integers", {}, [1, True]),
    ("integers", {}, [1, "2"]),
    ("integers", {}, [[1], 2]),
    ("integers", {}, 3),
    ("integers", {}, [2**63]),
    ("integers", {}, [2**63, -1]),
    ("integers", {}, [10**30]),
    ("integers", {"length": 2}, [1]),
    ("integers", {"low": 0}, [1, -1]),
    ("integers", {"high": 3}, [9, 1]),
    ("integers", {}, np.array([1.5])),
    ("numbers", {}, [1, None]),
    ("numbers", {}, [1, float("inf")]),
    ("numbers", {}, [10**400, 1.5]),
    ("keys", {}, []),
]


@pytest.mark.parametrize(("method", "options", "value"), BAD)
def test_bad_values(method, options, value):
    with refuses(ModelFormatError) as caught:
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
    with refuses(ModelFormatError, match="f.json.*'z'"):
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
    with refuses(ModelFormatError, match="'7'"):
        refuse_repeated(names, Place(names, "f"), "the name")


def test_small_values_of_a_small_file_are_read():
    assert len(parse_json(f"[{','.join(['[]'] * 50_000)}]".encode(), "model.json"))
