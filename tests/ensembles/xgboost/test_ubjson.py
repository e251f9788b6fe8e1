"""The UBJSON parser against a small writer of its own, and against damage."""

import struct
import tracemalloc

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from tests.wording import refuses, same_text

from clearwood import _memory
from clearwood.ensembles.xgboost.ubjson import parse_ubjson
from clearwood.exceptions import ModelFormatError

# Type marker, struct code and smallest and largest value of the integers.
INTEGERS = [
    (b"i", ">b", -(2**7), 2**7 - 1),
    (b"U", ">B", 0, 2**8 - 1),
    (b"I", ">h", -(2**15), 2**15 - 1),
    (b"l", ">i", -(2**31), 2**31 - 1),
    (b"L", ">q", -(2**63), 2**63 - 1),
]
ARRAYS = {"i1": b"i", "u1": b"U", "i2": b"I", "i4": b"l", "i8": b"L", "f4": b"d"}


def integer(value, wide=False):
    """As the smallest type that holds it, or as the widest."""
    for marker, code, low, high in INTEGERS[4:] if wide else INTEGERS:
        if low <= value <= high:
            return marker + struct.pack(code, value)
    raise AssertionError(value)


def text(value, wide=False):
    raw = value.encode()
    return integer(len(raw), wide) + raw


def write(value, counted=False, wide=False):
    """UBJSON of a value; ``counted``: containers say how many values they hold."""
    if isinstance(value, np.ndarray):
        marker = ARRAYS[value.dtype.str[1:]]
        raw = value.astype(value.dtype.newbyteorder(">")).tobytes()
        return b"[$" + marker + b"#" + integer(value.size, wide) + raw
    if isinstance(value, dict | list):
        opening, closing = (b"{", b"}") if isinstance(value, dict) else (b"[", b"]")
        if counted:
            opening, closing = opening + b"#" + integer(len(value), wide), b""
        if isinstance(value, dict):
            parts = [text(k, wide) + write(v, counted, wide) for k, v in value.items()]
        else:
            parts = [write(v, counted, wide) for v in value]
        return opening + b"".join(parts) + closing
    if isinstance(value, str):
        return b"S" + text(value, wide)
    if isinstance(value, bool) or value is None:
        return {None: b"Z", True: b"T", False: b"F"}[value]
    if isinstance(value, int):
        return integer(value, wide)
    return b"D" + struct.pack(">d", value)


numbers = st.one_of(
    *(
        st.lists(st.integers(low, high), max_size=5).map(
            lambda values, dtype=dtype: np.array(values, dtype)
        )
        for dtype, low, high in [
            ("i1", -(2**7), 2**7 - 1),
            ("u1", 0, 255),
            ("i2", -(2**15), 2**15 - 1),
            ("i4", -(2**31), 2**31 - 1),
            ("i8", -(2**63), 2**63 - 1),
        ]
    ),
    st.lists(st.floats(width=32), max_size=5).map(lambda v: np.array(v, "f4")),
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(max_size=8),
)
documents = st.recursive(
    scalars | numbers,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
    max_leaves=12,
)


def assert_equal(found, expected):
    assert type(found) is type(expected)
    if isinstance(expected, dict):
        assert list(found) == list(expected)
        for key in expected:
            assert_equal(found[key], expected[key])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            assert_equal(one, other)
    elif isinstance(expected, np.ndarray):
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    else:
        assert found == expected


@given(documents, st.booleans(), st.booleans())
def test_reads_what_was_written(document, counted, wide):
    written = write(document, counted, wide)
    assert_equal(parse_ubjson(written, "file"), document)


@given(documents, st.booleans())
@settings(max_examples=50)
def test_refuses_every_truncation_and_every_addition(document, counted):
    written = write(document, counted)
    for end in range(len(written)):
        with pytest.raises(ModelFormatError, match=r"^file: \w+ \d+: "):
            parse_ubjson(written[:end], "file")
    for more in (b"\0", b"Z", b"}", written):
        with pytest.raises(ModelFormatError, match=r"^file: \w+ \d+: "):
            parse_ubjson(written + more, "file")


@given(documents, st.integers(0, 10**6), st.integers(0, 255))
def test_a_changed_byte_is_read_or_refused(document, place, byte):
    damaged = bytearray(write(document))
    damaged[place % len(damaged)] = byte
    try:
        parse_ubjson(bytes(damaged), "file")
    except ModelFormatError as error:
        assert str(error).startswith("file: ")


@given(st.binary(max_size=40))
@example(b"[" * 2000)
@example(b"{i\0" * 2000)
def test_any_bytes_are_read_or_refused(data):
    try:
        parse_ubjson(data, "file")
    except ModelFormatError as error:
        assert str(error).startswith("file: ")


def test_all_forms_of_the_format():
    assert parse_ubjson(b"N[N$i#Ni\x02\x01\xff", "file").tolist() == [1, -1]
    assert parse_ubjson(b"[NTNZN]N", "file") == [True, None]
    assert parse_ubjson(b"{$i#i\x01i\x01a\x05", "file") == {"a": 5}
    assert parse_ubjson(b"[$S#i\x02i\x01ai\x01b", "file") == ["a", "b"]
    assert parse_ubjson(b"[$[#i\x02]T]", "file") == [[], [True]]
    assert parse_ubjson(b"Cx", "file") == "x"
    assert parse_ubjson(b"d\x3f\x80\x00\x00", "file") == 1.0
    doubles = b"[$D#i\x01\x3f\xf0" + bytes(6)
    assert parse_ubjson(doubles, "file").tolist() == [1.0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"H",
        b"[$Z#L" + struct.pack(">q", 2**40),
        b"[$T#i\x05",
        b"[$F#i\x05",
        b"[$N#i\x05",
        b"[$i\x01]",
        b"[#i\xff",
        b"[#D" + struct.pack(">d", 3),
        b"[$i#L" + struct.pack(">q", 2**62),
        b"[$d#i\x02\0\0\0\0",
        b"Si\x02\xff\xfe",
        b"SL" + struct.pack(">q", -1),
        b"{i\x01aTi\x01aF}",
        b"{T}",
        b"[]]",
        b"[" * 200,
        b"[$[#i\x01" * 200,
    ],
)
def test_refuses(data):
    with refuses(ModelFormatError):
        parse_ubjson(data, "file")


@pytest.mark.parametrize("unit", [b"[]", b"{}", b"i\x9c", b"Z", b"[$i#i\0", b"Si\0"])
def test_small_values_do_not_fill_the_memory(unit, monkeypatch):
    spare = 2**18
    monkeypatch.setattr(_memory, "SPARE", spare)
    data = b"[" + unit * (2**18 // len(unit)) + b"]"
    tracemalloc.start()
    try:
        parse_ubjson(data, "file")
    except ModelFormatError as error:
        same_text(str(error))
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert peak < spare + 10 * len(data)


def test_keys_are_one_object():
    entry = {"left_children_of_the_tree": 1}
    one, other = parse_ubjson(write([entry, entry]), "file")
    assert next(iter(one)) is next(iter(other))
