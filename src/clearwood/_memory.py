"""How much memory the content of a file may take: one bound for all kinds of files.

A file of a few kilobytes can unpack to gigabytes. Every reader therefore compares what
a file would take, before anything is unpacked, with ``memory_bound``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from clearwood.exceptions import InputError, UnsupportedModelError

SPARE = 64 * 2**20
"""Bytes that models and saved results may take besides ``PER_BYTE`` times the file."""
SPARE_OF_TABLES = 2**30
"""As many for tables, whose columns may be constant and so nearly vanish in a file."""
PER_BYTE = 10

_ALLOWED: ContextVar[int | None] = ContextVar("allowed", default=None)


@contextmanager
def memory_allowed(max_memory: int | None) -> Iterator[None]:
    """Within it, the bytes that files may take; None changes nothing."""
    if max_memory is None:
        yield
        return
    if not max_memory > 0:
        raise InputError(
            f"max_memory={max_memory!r} must be a positive number of bytes, or None."
        )
    token = _ALLOWED.set(int(max_memory))
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def memory_bound(size: int, spare: int | None = None) -> int:
    """Bytes that the content of a file of a size may take.

    Examples
    --------
    >>> memory_bound(1_000_000)
    77108864
    >>> with memory_allowed(5_000):
    ...     memory_bound(1_000_000)
    5000
    """
    allowed = _ALLOWED.get()
    if allowed is not None:
        return allowed
    return (SPARE if spare is None else spare) + PER_BYTE * size


def check_memory(needed: int, size: int, name: str) -> None:
    """Refuse a model or a result that takes more memory than its file may."""
    if needed > memory_bound(size):
        raise UnsupportedModelError(_refusal(needed, size, name, memory_bound(size)))


def check_memory_of_table(needed: int, size: int, name: str) -> None:
    """Refuse a table that takes more memory than its file may."""
    bound = memory_bound(size, SPARE_OF_TABLES)
    if needed > bound:
        raise InputError(_refusal(needed, size, name, bound))


def _refusal(needed: int, size: int, name: str, bound: int) -> str:
    return (
        f"{name}: {size:,} bytes would take {needed:,} bytes of memory or more, "
        f"beyond the {bound:,} that are allowed. If you trust the file, allow more: "
        "read_ensemble(path, max_memory=...) or load(path, max_memory=...) in bytes; "
        "on the command line --max-memory in MB."
    )


# JSON, before it is parsed

SMALL_BYTES = 2_500_000
"""Files up to here stay within the limits of memory whatever they hold."""
PIECE = 2**20
"""Bytes that are looked at at a time."""
IN_NUMBER = np.isin(np.arange(256), list(b"+-.0123456789Ee"))


def memory_of(data: bytes, text: str) -> int:
    """Bytes that the values of a document would take; 0 where they are few."""
    if len(data) <= SMALL_BYTES:
        return 0
    count, long_numbers = _count_outside_texts(data)
    objects, arrays, members = count[ord("{")], count[ord("[")], count[ord(":")]
    # What Python takes for one of each. Five members are part of an object's price,
    # and their names are stored once; of more members every name may be another.
    memory = 190 * objects + 88 * arrays + 110 * max(0, members - 5 * objects)
    # The members of a huge object stand in memory three times while it is made.
    memory += 100 * max(0, members - 64 * objects)
    memory += (52 if text.isascii() else 80) * max(0, count[ord('"')] - members)
    memory += 28 * long_numbers + 9 * (count[ord(",")] + objects + arrays)
    return memory + sys.getsizeof(text)


def _count_outside_texts(data: bytes) -> tuple[list[int], int]:
    """How often every byte stands outside of texts, and how many numbers are long.

    Quotes are counted where a text ends. Long are numbers of three characters or
    more: Python keeps the small whole numbers once.
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
