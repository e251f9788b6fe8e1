"""One bound on the memory of the content of a file, for all types of files.

A file of a few kilobytes can unpack to gigabytes. Every reader therefore compares the
memory of the content, before it is unpacked, with ``memory_bound``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from clearwood.exceptions import InputError, UnsupportedModelError

SPARE = 64 * 2**20
"""Bytes allowed for models and saved results besides ``PER_BYTE`` times the file."""
SPARE_OF_TABLES = 2**30
"""The same for tables, whose constant columns take almost no space in a file."""
PER_BYTE = 10

_MAX_MEMORY: ContextVar[int | None] = ContextVar("allowed", default=None)


@contextmanager
def memory_allowed(max_memory: int | None) -> Iterator[None]:
    """Context with a maximum memory per file in bytes; None keeps the default."""
    if max_memory is None:
        yield
        return
    if not max_memory > 0:
        raise InputError(
            f"max_memory={max_memory!r} must be a positive number of bytes, or None."
        )
    token = _MAX_MEMORY.set(int(max_memory))
    try:
        yield
    finally:
        _MAX_MEMORY.reset(token)


def memory_bound(size: int, spare: int | None = None) -> int:
    """Maximum memory of the content of a file of a given size.

    Examples
    --------
    >>> memory_bound(1_000_000)
    77108864
    >>> with memory_allowed(5_000):
    ...     memory_bound(1_000_000)
    5000
    """
    allowed = _MAX_MEMORY.get()
    if allowed is not None:
        return allowed
    return (SPARE if spare is None else spare) + PER_BYTE * size


def check_memory(needed: int, size: int, name: str) -> None:
    """Raise if a model or a saved result exceeds the bound."""
    if needed > memory_bound(size):
        raise UnsupportedModelError(_refusal(needed, size, name, memory_bound(size)))


def check_memory_of_table(needed: int, size: int, name: str) -> None:
    """Raise if a table exceeds the bound."""
    bound = memory_bound(size, SPARE_OF_TABLES)
    if needed > bound:
        raise InputError(_refusal(needed, size, name, bound))


def _refusal(needed: int, size: int, name: str, bound: int) -> str:
    return (
        f"{name}: a file of {size:,} bytes needs at least {needed:,} bytes of memory, "
        f"more than the limit of {bound:,}. If you trust the file, increase the limit: "
        "read_ensemble(path, max_memory=...) or load(path, max_memory=...) in bytes; "
        "on the command line --max-memory in MB."
    )


# JSON, before it is parsed

SMALL_BYTES = 2_500_000
"""Files up to this size stay within the limit whatever their content."""
PIECE = 2**20
"""Bytes processed at a time."""
IN_NUMBER = np.isin(np.arange(256), list(b"+-.0123456789Ee"))


def memory_of(data: bytes, text: str) -> int:
    """Estimated memory of the values of a document in bytes; 0 for a small file."""
    if len(data) <= SMALL_BYTES:
        return 0
    count, long_numbers = _count_outside_texts(data)
    objects, arrays, members = count[ord("{")], count[ord("[")], count[ord(":")]
    # Bytes in Python for one of each. An object includes five members, whose names are
    # stored once; the names of further members may all be distinct.
    memory = 190 * objects + 88 * arrays + 110 * max(0, members - 5 * objects)
    # The members of a huge object are in memory three times during parsing.
    memory += 100 * max(0, members - 64 * objects)
    memory += (52 if text.isascii() else 80) * max(0, count[ord('"')] - members)
    memory += 28 * long_numbers + 9 * (count[ord(",")] + objects + arrays)
    return memory + sys.getsizeof(text)


def _count_outside_texts(data: bytes) -> tuple[list[int], int]:
    """Counts of each byte outside of strings, and the number of long numbers.

    A quote is counted at the end of a string. Numbers of three characters or more are
    long: Python caches small integers.
    """
    if b"\\" in data:
        data = data.replace(b"\\\\", b"  ").replace(b'\\"', b"  ")
    count, long_numbers, inside = np.zeros(256, np.int64), 0, False
    for start in range(0, len(data), PIECE):
        piece = np.frombuffer(data, np.uint8, min(PIECE, len(data) - start), start)
        within = np.bitwise_xor.accumulate(piece == ord('"')) ^ inside
        inside = bool(within[-1])
        outside = piece[~within]
        count += np.bincount(outside, minlength=256)
        digit = IN_NUMBER[outside]
        first = digit.copy()
        first[1:] &= ~digit[:-1]
        long_numbers += int(np.count_nonzero(first[:-2] & digit[1:-1] & digit[2:]))
    return count.tolist(), long_numbers
