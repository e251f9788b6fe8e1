"""Parsing of untrusted documents, with limits and a path for every value.

Readers request values from a ``Place``; one that is missing, of the wrong type or out
of range raises a ``ModelFormatError`` with the file and the path.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from clearwood._memory import check_memory, memory_of
from clearwood._words.labels import CONTROL
from clearwood.exceptions import ModelFormatError, UnsupportedModelError

REMEDY = "The model is damaged or was changed by hand; read it again or refit it."

INT64_LIMIT = 2**63 - 1

INTEGER = re.compile(r"[+-]?[0-9]{1,19}", re.ASCII)
NUMBER = re.compile(
    r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,6})?", re.ASCII
)


def parse_json(data: bytes, name: str) -> Any:
    """Parse a JSON document.

    Duplicate keys, nesting beyond Python's limit and numbers of thousands of digits
    raise an error. NaN and infinity, which some libraries write into fields without
    effect, become floats, to be validated where they matter.

    Parameters
    ----------
    data : bytes
    name : str
        Name of the file, for messages.

    Returns
    -------
    dict, list, str, int, float, bool or None

    Examples
    --------
    >>> parse_json(b'{"trees": [1, 2.5]}', "model.json")
    {'trees': [1, 2.5]}
    """
    try:
        text = data.decode("utf-8-sig")
        check_memory(memory_of(data, text), len(data), name)
        return json.loads(text, object_pairs_hook=_distinct_keys)
    except ModelFormatError:
        raise
    except RecursionError:
        reason = "it is nested too deeply"
    except UnicodeDecodeError:
        reason = "it is not text in UTF-8"
    except json.JSONDecodeError as error:
        reason = f"{error.msg} in line {error.lineno}, column {error.colno}"
    except ValueError as error:
        reason = str(error)
    refuse_table(data, name)
    raise ModelFormatError(f"{name}: invalid JSON, {reason}. {REMEDY}")


def refuse_table(data: bytes, name: str) -> None:
    """Raise an error if the file of a model or of rules is a table of data."""
    line = data[:4096].removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].strip()
    is_csv = line.decode("utf-8", "replace").replace("\t", "").isprintable()
    has_cells = line[:1] not in b"{[<" and any(
        sep in line for sep in (b",", b";", b"\t")
    )
    if data.startswith(b"PAR1") or (is_csv and has_cells):
        raise UnsupportedModelError(
            f"{name}: this is a table (CSV or Parquet), where the file of a model, or "
            "of rules, is expected. Name that file first and the table after it."
        )


def _distinct_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        twice = first_repeated([key for key, _ in pairs])
        raise ValueError(f"the key {shown(twice)} occurs twice in one object")
    return members


def first_repeated(values: Sequence[Any]) -> Any:
    """The first value of a sequence that repeats an earlier one, or None.

    Examples
    --------
    >>> first_repeated(["a", "b", "b", "a"]), first_repeated(["a", "b"])
    ('b', None)
    """
    seen: set[Any] = set()
    for value in values:
        if value in seen:
            return value
        seen.add(value)
    return None


def shown(value: Any) -> str:
    """Short representation of a value for messages.

    Examples
    --------
    >>> shown([1, 2]), shown("x" * 99)
    ('an array', "'xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx...")
    """
    if isinstance(value, list | np.ndarray):
        return "an array"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, int) and abs(value) > 10**40:
        return "a number of many digits"
    text = repr(value[:60] if isinstance(value, str | bytes) else value)
    return text if len(text) <= 60 else text[:49] + "..."


def plain_integer(text: str) -> int | None:
    """Parse an integer as a library writes it; None for other texts.

    Python's ``int`` accepts more: spaces, underscores, digits of all scripts.

    Examples
    --------
    >>> plain_integer("-12"), plain_integer("1_000"), plain_integer("1.0")
    (-12, None, None)
    """
    return int(text) if INTEGER.fullmatch(text) else None


def plain_number(text: str) -> float | None:
    """Parse a finite decimal number as a library writes it; None for other texts.

    Examples
    --------
    >>> plain_number("2.5E-1"), plain_number("nan"), plain_number("1e999")
    (0.25, None, None)
    """
    if not NUMBER.fullmatch(text):
        return None
    number = float(text)
    return number if math.isfinite(number) else None


def refuse_damaged(where: str, found: str, expected: str) -> NoReturn:
    """Raise an error for a model that its library cannot have written."""
    raise ModelFormatError(f"{where}: found {found}, expected {expected}. {REMEDY}")


def refuse_repeated(values: Sequence[Any], place: Place, what: str) -> None:
    """Raise an error for a file with a duplicate name, label or category."""
    twice = first_repeated(values)
    if twice is not None:
        place.fail(f"{what} {shown(twice)} twice", "it once")


class Place:
    """A value of a parsed document, with its path.

    Parameters
    ----------
    value : object
        The parsed value.
    where : str, or tuple of Place and (str or int)
        The file, or the path below it: ``"model.json: learner.attributes"``; or the
        parent value, and the key or position there.

    Examples
    --------
    >>> top = Place({"trees": [{"size": "3"}]}, "model.json")
    >>> tree = top["trees"].items()[0]
    >>> tree["size"].integer(low=1, from_text=True)
    3
    >>> tree["leaves"]
    Traceback (most recent call last):
        ...
    clearwood.exceptions.ModelFormatError: model.json: trees[0]: found no 'leaves', \
expected one. The model is damaged or was changed by hand; read it again or refit it.
    """

    __slots__ = ("_where", "value")

    def __init__(self, value: Any, where: str | tuple[Place, str | int]) -> None:
        self.value = value
        self._where = where

    @property
    def where(self) -> str:
        """The path, which is composed only for error messages."""
        if isinstance(self._where, str):
            return self._where
        above, key = self._where
        if isinstance(key, int):
            return f"{above.where}[{key}]"
        return f"{above.where}{'.' if ': ' in above.where else ': '}{key}"

    def fail(self, found: str, expected: str) -> NoReturn:
        """Raise an error for a damaged file, with this path."""
        refuse_damaged(self.where, found, expected)

    def refuse(self, reason: str, remedy: str) -> NoReturn:
        """Raise an error for a valid file of an unsupported kind, with this path."""
        raise UnsupportedModelError(f"{self.where}: cannot read {reason}. {remedy}.")

    # Objects

    def _members(self) -> dict[str, Any]:
        if not isinstance(self.value, dict):
            self.fail(shown(self.value), "an object")
        return self.value

    def __contains__(self, key: str) -> bool:
        return key in self._members()

    def __getitem__(self, key: str) -> Place:
        members = self._members()
        if key not in members:
            self.fail(f"no {key!r}", "one")
        return Place(members[key], (self, key))

    def get(self, key: str) -> Place | None:
        """The member with a key, or None."""
        return self[key] if key in self else None

    def keys(self) -> list[str]:
        """Keys of the members."""
        return list(self._members())

    def only(self, *fields: str) -> None:
        """Raise an error for members other than these."""
        for key in sorted(self._members().keys() - set(fields)):
            raise ModelFormatError(
                f"{self[key].where}: not a field of the format. {REMEDY}"
            )

    # Arrays

    def size(self) -> int:
        """Number of elements of an array."""
        if not isinstance(self.value, list | np.ndarray):
            self.fail(shown(self.value), "an array")
        return len(self.value)

    def items(self) -> list[Place]:
        """Elements of an array."""
        return list(self.entries())

    def entries(self) -> Iterator[Place]:
        """Iterate over the elements of an array, which may be very many."""
        if isinstance(self.value, np.ndarray):
            values = self.value.tolist()
        elif isinstance(self.value, list):
            values = self.value
        else:
            self.fail(shown(self.value), "an array")
        for i, value in enumerate(values):
            yield Place(value, (self, i))

    def integers(
        self, length: int | None = None, low: int | None = None, high: int | None = None
    ) -> np.ndarray:
        """An array of integers between ``low`` and ``high``, as int64."""
        array = self._array(length, "iu", "whole numbers")
        wrong = np.zeros(array.size, bool)
        if low is not None:
            wrong |= array < low
        if high is not None:
            wrong |= array > high
        if wrong.any():
            i = int(wrong.argmax())
            Place(None, (self, i)).fail(str(array[i]), _range(low, high))
        return array.astype(np.int64)

    def numbers(self, length: int | None = None, finite: bool = True) -> np.ndarray:
        """An array of numbers, as float64."""
        array = self._array(length, "iuf", "numbers").astype(np.float64)
        if finite and not np.isfinite(array).all():
            i = int(np.isfinite(array).argmin())
            Place(None, (self, i)).fail(str(array[i]), "a finite number")
        return array

    def labels(self) -> tuple[str | bool | int | float, ...]:
        """An array of distinct texts, numbers and booleans."""
        for label in self.entries():
            if isinstance(label.value, str):
                label.text()
            elif isinstance(label.value, float):
                label.number()
            elif not isinstance(label.value, int):
                label.fail(shown(label.value), "a text, a number, true or false")
        refuse_repeated(self.value, self, "the label")
        return tuple(self.value)

    def _array(self, length: int | None, kinds: str, what: str) -> np.ndarray:
        array = self.value
        if isinstance(array, list):
            good: set[type] = {int, float} if "f" in kinds else {int}
            if not set(map(type, array)) <= good:
                self._fail_entry(array, good, what)
            array = _as_array(array, np.float64 if "f" in kinds else None)
        if not isinstance(array, np.ndarray):
            self.fail(shown(array), f"an array of {what}")
        if length is not None and array.size != length:
            self.fail(f"{array.size} entries", f"{length}")
        too_large = array.dtype == np.uint64 and (array > INT64_LIMIT).any()
        if too_large or (array.size and array.dtype.kind not in kinds):
            self.fail("other or too large numbers", f"{what} of at most 64 bits")
        return array

    def _fail_entry(self, array: list[Any], good: set[type], what: str) -> NoReturn:
        i = next(i for i, entry in enumerate(array) if type(entry) not in good)
        Place(None, (self, i)).fail(shown(array[i]), f"one of {what}")

    # Single values

    def text(self) -> str:
        """A text that can be encoded anywhere."""
        if not isinstance(self.value, str):
            self.fail(shown(self.value), "a text")
        try:
            self.value.encode()
        except UnicodeEncodeError:
            found = f"{ascii(self.value[:40])} with invalid Unicode"
            self.fail(found, "a text that can be printed")
        return self.value

    def parsed(self) -> Place:
        """The JSON document contained in a text, at the same path."""
        return Place(parse_json(self.text().encode(), self.where), self.where)

    def name(self) -> str:
        """A text without control characters, such as a column label or a title."""
        text = self.text()
        if CONTROL.search(text):
            self.fail(f"{shown(text)}, with a control character", "one line of text")
        return text

    def flag(self, *, from_number: bool = False) -> bool:
        """A boolean; with ``from_number`` as 1 or 0."""
        value = self.value
        if from_number and type(value) is int and value in (0, 1):
            value = bool(value)
        if not isinstance(value, bool):
            self.fail(shown(value), "true or false")
        return value

    def integer(
        self,
        low: int | None = None,
        high: int | None = None,
        *,
        from_text: bool = False,
    ) -> int:
        """An integer between ``low`` and ``high``; with ``from_text`` as text."""
        value = self.value
        if from_text and isinstance(value, str):
            value = plain_integer(value)
        if type(value) is not int:
            self.fail(shown(self.value), _range(low, high))
        too_low = low is not None and value < low
        if too_low or (high is not None and value > high):
            self.fail(shown(self.value), _range(low, high))
        return value

    def number(self, *, from_text: bool = False) -> float:
        """A finite number; with ``from_text`` as text."""
        value = self.value
        if from_text and isinstance(value, str):
            value = plain_number(value)
        if type(value) not in (int, float):
            self.fail(shown(self.value), "a finite number")
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            self.fail(shown(self.value), "a finite number")
        return number


def _as_array(values: list[Any], dtype: type[np.float64] | None) -> np.ndarray:
    """Numbers as an array; of dtype object where one of them overflows."""
    if not values:
        return np.zeros(0, np.int64)
    try:
        return np.array(values, dtype)
    except OverflowError:
        return np.array(values, object)


def _range(low: int | None, high: int | None) -> str:
    if low is not None and high is not None:
        return f"a whole number from {low:,} to {high:,}"
    if low is not None:
        return f"a whole number of at least {low:,}"
    if high is not None:
        return f"a whole number of at most {high:,}"
    return "a whole number"
