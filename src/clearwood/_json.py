"""JSON that nobody vouches for: parsed strictly, and read field by field.

Whatever is absent or of the wrong type raises a ``ModelFormatError`` that names the
place: ``rules[2].conditions[0].low``.
"""

from __future__ import annotations

import json
import math
from typing import Any

from clearwood.exceptions import ModelFormatError


def parse_json(text: str, expected: str) -> Any:
    """JSON text without anything ambiguous, or an error.

    Parameters
    ----------
    text : str
    expected : str
        What the text should be, for the message of an error.

    Examples
    --------
    >>> parse_json('{"sizes": [1, 2.5]}', "an example")
    {'sizes': [1, 2.5]}
    """

    def constant(name: str) -> None:
        raise ModelFormatError(f"{name} is not a number that a file can hold.")

    def pairs(items: list[tuple[str, Any]]) -> dict[str, Any]:
        if len({key for key, _ in items}) != len(items):
            raise ModelFormatError("An object names one of its fields twice.")
        return dict(items)

    try:
        document = json.loads(text, parse_constant=constant, object_pairs_hook=pairs)
        json.dumps(document, ensure_ascii=False).encode()
        return document
    except ModelFormatError:
        raise
    except UnicodeEncodeError:
        raise ModelFormatError(
            "A text holds half a character (a lone surrogate), which cannot be printed."
        ) from None
    except (ValueError, RecursionError) as error:
        raise ModelFormatError(
            f"Not valid JSON: {error}; expected {expected}."
        ) from None


class Place:
    """An object inside the document, and how to get there.

    Parameters
    ----------
    content : Any
        Refused unless it is an object.
    path : str
        How to get there; empty for the document itself.

    Examples
    --------
    >>> top = Place({"rules": [{"low": 1.5}]}, "")
    >>> rule = top.places("rules")[0]
    >>> rule.path, rule.number("low")
    ('rules[0]', 1.5)
    """

    def __init__(self, content: Any, path: str) -> None:
        if not isinstance(content, dict):
            raise ModelFormatError(f"{path or 'document'}: expected an object.")
        self.content, self.path = content, path

    def at(self, key: str) -> str:
        """Where a field is."""
        return f"{self.path}.{key}" if self.path else key

    def only(self, *known: str) -> None:
        """Refuse any other field."""
        unknown = sorted(set(self.content) - set(known))
        if unknown:
            raise ModelFormatError(f"{self.at(unknown[0])}: not a field of the format.")

    def value(self, kind: type, key: str) -> Any:
        """A field of some type."""
        if key not in self.content:
            raise ModelFormatError(f"{self.at(key)}: missing.")
        found = self.content[key]
        wrong = isinstance(found, bool) and kind is int
        if not isinstance(found, kind) or wrong:
            raise ModelFormatError(
                f"{self.at(key)}: expected {kind.__name__}, "
                f"found {type(found).__name__}."
            )
        return found

    def number(self, key: str) -> float:
        """A finite number."""
        return _finite(self.value(object, key), self.at(key))

    def numbers(self, key: str) -> list[float]:
        """A list of finite numbers."""
        found = self.value(list, key)
        return [_finite(v, f"{self.at(key)}[{i}]") for i, v in enumerate(found)]

    def place(self, key: str) -> Place:
        """An object inside this one."""
        return Place(self.value(dict, key), self.at(key))

    def places(self, key: str) -> list[Place]:
        """A list of objects."""
        found = self.value(list, key)
        return [Place(v, f"{self.at(key)}[{i}]") for i, v in enumerate(found)]

    def labels(self, key: str, or_none: bool = False) -> tuple | None:
        """A list of different labels."""
        found = self.value(object, key)
        if found is None and or_none:
            return None
        if not isinstance(found, list):
            raise ModelFormatError(f"{self.at(key)}: expected a list of labels.")
        for i, label in enumerate(found):
            if not isinstance(label, str | bool | int | float):
                raise ModelFormatError(f"{self.at(key)}[{i}]: not a label.")
            if isinstance(label, float):
                _finite(label, f"{self.at(key)}[{i}]")
        if len(set(found)) != len(found):
            raise ModelFormatError(f"{self.at(key)}: labels must differ.")
        return tuple(found)


def _finite(value: Any, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelFormatError(f"{where}: expected a number.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise ModelFormatError(f"{where}: expected a finite number.")
    return number
