"""How much memory the values of a JSON text would take, told before it is parsed."""

from __future__ import annotations

import sys

import numpy as np

SMALL_BYTES = 2_500_000
"""Files up to here stay within the limits of memory whatever they hold."""
SPARE_MEMORY = 32 * 2**20
"""Bytes that a document and its values may take besides nine times the file."""
PIECE = 2**20
"""Bytes that are looked at at a time."""
IN_NUMBER = np.isin(np.arange(256), list(b"+-.0123456789Ee"))


def check_memory(data: bytes, text: str) -> None:
    """Refuse a document whose values would take far more memory than its text.

    Raises
    ------
    ValueError
        It says why.
    """
    if len(data) <= SMALL_BYTES:
        return
    count, long_numbers = _count_outside_texts(data)
    objects, arrays, members = count[ord("{")], count[ord("[")], count[ord(":")]
    # What Python takes for one of each. Five members are part of an object's price,
    # and their names are stored once; of more members every name may be another.
    memory = 190 * objects + 88 * arrays + 110 * max(0, members - 5 * objects)
    # The members of a huge object stand in memory three times while it is made.
    memory += 100 * max(0, members - 64 * objects)
    memory += (52 if text.isascii() else 80) * max(0, count[ord('"')] - members)
    memory += 28 * long_numbers + 9 * (count[ord(",")] + objects + arrays)
    memory += sys.getsizeof(text)
    if memory > SPARE_MEMORY + 9 * len(data):
        raise ValueError(
            "found far more small values than a model has, which would take "
            f"{memory / 1e6:,.0f} MB of memory"
        )


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
