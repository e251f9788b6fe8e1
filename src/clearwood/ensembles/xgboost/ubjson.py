"""Parser of UBJSON, the binary form of JSON that XGBoost writes.

It returns the structures of the JSON parser, with numpy arrays where the file holds
arrays of one number type, so one reader serves both. Every count is checked against the
remaining bytes, and the memory that a hostile file could claim by few bytes is bounded.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from clearwood._memory import check_memory, memory_bound
from clearwood.codec.documents import refuse_damaged

# Big-endian, by the format; the letters are its type markers.
NUMBERS: dict[bytes, np.dtype[Any]] = {
    b"i": np.dtype(">i1"),
    b"U": np.dtype(">u1"),
    b"I": np.dtype(">i2"),
    b"l": np.dtype(">i4"),
    b"L": np.dtype(">i8"),
    b"d": np.dtype(">f4"),
    b"D": np.dtype(">f8"),
}
CONSTANTS = {b"Z": None, b"T": True, b"F": False}

MOST_LEVELS = 100
"""Deepest nesting of containers; XGBoost needs nine."""

# Memory of one value in Python, as a rough upper bound in bytes.
CONTAINER, ARRAY, SCALAR = 300, 250, 60


def parse_ubjson(data: bytes, name: str) -> Any:
    r"""Parse one UBJSON value.

    Parameters
    ----------
    data : bytes
        The whole file.
    name : str
        The file's name, for messages.

    Returns
    -------
    dict, list, ndarray, str, int, float, bool or None
        Arrays that declare a number type become numpy arrays of that type.

    Raises
    ------
    ModelFormatError
        Names the byte at which the file is invalid.

    Examples
    --------
    >>> parse_ubjson(b"{i\x01aU\x07i\x01b[$U#i\x03\x01\x02\x03}", "model.ubj")
    {'a': 7, 'b': array([1, 2, 3], dtype=uint8)}
    """
    parser = _Parser(data, name)
    value = parser.value(parser.marker(), 0)
    parser.skip_no_operations()
    if parser.position != len(data):
        parser.fail(f"{len(data) - parser.position} further bytes", "the end")
    return value


class _Parser:
    """Input bytes, and the read position."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data = data
        self.name = name
        self.position = 0
        self.memory_left = memory_bound(len(data)) - len(data)
        # One string object per key, as many trees share it.
        self.keys: dict[str, str] = {}

    def fail(self, found: str, expected: str) -> NoReturn:
        refuse_damaged(f"{self.name}: byte {self.position}", found, expected)

    def spend(self, memory: int) -> None:
        self.memory_left -= memory
        if self.memory_left < 0:
            # The total is unknown, as the rest is not read.
            check_memory(memory_bound(len(self.data)) + 1, len(self.data), self.name)

    def take(self, count: int) -> bytes:
        left = len(self.data) - self.position
        if count > left:
            self.fail(f"the end after {left} bytes", f"{count} more bytes")
        self.position += count
        return self.data[self.position - count : self.position]

    def skip_no_operations(self) -> None:
        while self.data[self.position : self.position + 1] == b"N":
            self.position += 1

    def marker(self) -> bytes:
        self.skip_no_operations()
        return self.take(1)

    def peek(self) -> bytes:
        self.skip_no_operations()
        return self.data[self.position : self.position + 1]

    def value(self, marker: bytes, depth: int) -> Any:
        if marker == b"{":
            return self.object(depth)
        if marker == b"[":
            return self.array(depth)
        self.spend(SCALAR)
        if marker == b"S":
            return self.string()
        if marker == b"C":
            return self.text(1)
        if marker in NUMBERS:
            return self.number(NUMBERS[marker])
        if marker in CONSTANTS:
            return CONSTANTS[marker]
        self.position -= 1
        self.fail(f"{marker!r}", "the marker of a value")

    def number(self, dtype: np.dtype) -> Any:
        return np.frombuffer(self.take(dtype.itemsize), dtype)[0].item()

    def string(self) -> str:
        return self.text(self.count("the length of a text"))

    def text(self, length: int) -> str:
        start = self.position
        raw = self.take(length)
        # A character outside ASCII can take two or four bytes in memory.
        self.spend(length if raw.isascii() else 4 * length)
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            self.position = start
            self.fail("bytes that are not UTF-8", "text")

    def count(self, meaning: str) -> int:
        """Read a non-negative integer, the number of items that follow."""
        start = self.position
        marker = self.marker()
        if marker not in NUMBERS or NUMBERS[marker].kind == "f":
            self.position = start
            self.fail(f"{marker!r}", f"an integer, {meaning}")
        count = self.number(NUMBERS[marker])
        left = len(self.data) - self.position
        if not 0 <= count <= left:
            self.position = start
            self.fail(f"{count} as {meaning}", f"0 to {left}, the bytes that are left")
        return count

    def header(self) -> tuple[bytes | None, int | None]:
        """Type and count of a container, if it declares them."""
        kind, count = None, None
        if self.peek() == b"$":
            self.marker()
            kind = self.take(1)
            # These have no payload, so nothing would bound their number.
            if kind in CONSTANTS or kind == b"N":
                self.fail(f"a container of {kind!r}", "values that take bytes")
            if self.peek() != b"#":
                self.fail("a container with a type alone", "a type and a count")
        if self.peek() == b"#":
            self.marker()
            count = self.count("the number of values")
        return kind, count

    def array(self, depth: int) -> Any:
        self.go_deeper(depth)
        kind, count = self.header()
        if kind in NUMBERS and count is not None:
            return self.numbers(NUMBERS[kind], count)
        self.spend(CONTAINER)
        values: list[Any] = []
        while not self.is_at_end(b"]", len(values), count):
            values.append(self.value(kind or self.marker(), depth + 1))
        return values

    def numbers(self, dtype: np.dtype, count: int) -> np.ndarray:
        self.spend(ARRAY + count * dtype.itemsize)
        packed = np.frombuffer(self.take(count * dtype.itemsize), dtype)
        return packed.astype(dtype.newbyteorder("="))

    def object(self, depth: int) -> dict[str, Any]:
        self.go_deeper(depth)
        kind, count = self.header()
        self.spend(CONTAINER)
        values: dict[str, Any] = {}
        while not self.is_at_end(b"}", len(values), count):
            self.skip_no_operations()
            start = self.position
            self.spend(SCALAR)
            key = self.string()
            key = self.keys.setdefault(key, key)
            if key in values:
                self.position = start
                self.fail(f"the key {key[:40]!r} again", "every key once")
            values[key] = self.value(kind or self.marker(), depth + 1)
        return values

    def is_at_end(self, end: bytes, size: int, count: int | None) -> bool:
        if count is not None:
            return size == count
        if self.peek() != end:
            return False
        self.position += 1
        return True

    def go_deeper(self, depth: int) -> None:
        if depth >= MOST_LEVELS:
            self.fail(f"more than {MOST_LEVELS} levels", "the levels of a model")
