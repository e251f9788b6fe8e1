"""Declarative fields: one definition of what files store, for writing and reading.

A class that can be saved has one :class:`Saved`, which lists its parts in order: fields
of the document, each with a type, and arrays, each with a shape. A renamed part lists
its earlier names; an invalid value raises an error with its path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from clearwood._words.labels import type_text
from clearwood.codec.archive import TYPES, Arrays
from clearwood.codec.documents import REMEDY, Place, shown
from clearwood.exceptions import InputError, ModelFormatError

__all__ = [
    "FINITE", "FLAG", "LABELS", "NAME", "NOT_NEGATIVE", "NUMBER", "POSITIVE", "RISING",
    "TEXT", "UNSET", "Array", "Check", "Field", "FieldType", "Pieces", "Saved",
    "Settings", "Together", "by_name", "checked", "choice", "classes_of", "filled",
    "integer", "mapping_of", "optional", "record", "refusing", "require", "tuple_of",
    "within",
]  # fmt: skip

Get = Callable[[str], Any]
"""Function that returns an attribute by name, or ``UNSET``."""


UNSET: Any = object()
"""Sentinel for a missing attribute."""


# Types of values in a document


class FieldType(NamedTuple):
    """Functions that write a value to a document, and read it from its place."""

    write: Callable[[Any], Any]
    read: Callable[[Place], Any]


LABEL = (str, bool, int, float)


def plain(value: Any) -> Any:
    """Convert a label to a JSON type, or raise an error."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        raise InputError(f"Cannot write {value!r} to JSON; labels must be finite.")
    if not isinstance(value, LABEL):
        raise InputError(
            f"Cannot write the label {value!r} of type {type(value).__name__} to JSON; "
            "use text, numbers or booleans as labels."
        )
    return value


TEXT = FieldType(str, Place.text)
NAME = FieldType(str, Place.name)
FLAG = FieldType(bool, Place.flag)
NUMBER = FieldType(lambda number: number, Place.number)
LABELS = FieldType(lambda labels: [plain(label) for label in labels], Place.labels)


def integer(low: int | None = None, high: int | None = None) -> FieldType:
    """An integer within bounds."""
    return FieldType(int, lambda place: place.integer(low, high))


def checked(kind: FieldType, holds: Callable[[Any], bool], expected: str) -> FieldType:
    """A type restricted by a condition, which ``expected`` describes."""

    def read(place: Place) -> Any:
        value = kind.read(place)
        if not holds(value):
            place.fail(shown(value), expected)
        return value

    return FieldType(kind.write, read)


def choice(*texts: str) -> FieldType:
    """One of several texts."""
    return checked(TEXT, lambda text: text in texts, f"one of {texts}")


def optional(kind: FieldType) -> FieldType:
    """A value, or null for None."""
    return FieldType(
        lambda value: None if value is None else kind.write(value),
        lambda place: None if place.value is None else kind.read(place),
    )


def tuple_of(kind: FieldType) -> FieldType:
    """A tuple of values of one type."""
    return FieldType(
        lambda values: [kind.write(value) for value in values],
        lambda place: tuple(kind.read(entry) for entry in place.entries()),
    )


def mapping_of(kind: FieldType) -> FieldType:
    """A dict with values of one type."""
    return FieldType(
        lambda values: {key: kind.write(value) for key, value in values.items()},
        lambda place: {key: kind.read(place[key]) for key in place.keys()},
    )


def record(
    *fields: Field,
    make: Callable[..., Any] = dict,
    check: Callable[[Place, Any], None] | None = None,
) -> FieldType:
    """A mapping with exactly these fields, and the object constructed from it.

    Parameters
    ----------
    *fields : Field
    make : callable
        Constructor, called with the values by name, except ``UNSET`` ones.
    check : callable, optional
        Validates the object as a whole, and raises an error with its path.
    """
    keys = {key for field in fields for key in (field.key, *field.old)}
    plan = [(own.key, own.name or own.key, own.kind.write) for own in fields]

    def write(values: Mapping[str, Any]) -> dict[str, Any]:
        return {
            key: put(value)
            for key, name, put in plan
            if (value := values.get(name, UNSET)) is not UNSET
        }

    def read(place: Place) -> Any:
        if not keys.issuperset(place.keys()):
            place.only(*keys)
        values: dict[str, Any] = {}
        for field in fields:
            field.read(values, place)
        made = make(**{k: value for k, value in values.items() if value is not UNSET})
        if check is not None:
            check(place, made)
        return made

    return FieldType(write, read)


# Checks of arrays


class Check(NamedTuple):
    """Condition on the values of an array, with a description."""

    expected: str
    holds: Callable[[np.ndarray], Any]


def within(low: float, high: float, expected: str = "probabilities") -> Check:
    """Check that values are in a closed interval, and not NaN."""
    return Check(expected, lambda values: (values >= low) & (values <= high))


FINITE = Check("finite numbers", np.isfinite)
POSITIVE = Check("finite numbers above 0", lambda x: np.isfinite(x) & (x > 0))
NOT_NEGATIVE = Check(
    "finite numbers of at least 0", lambda x: np.isfinite(x) & (x >= 0)
)
RISING = Check(
    "rising numbers, not NaN",
    lambda x: not len(x) or (x[0] == x[0] and (x[1:] > x[:-1]).all()),
)


def require(holds: Any, where: str, expected: str, found: Any = None) -> None:
    """Raise an error unless a condition is true, everywhere if it is an array."""
    if holds is not True and not np.all(holds):
        what = "" if found is None else f"found {found}, "
        raise ModelFormatError(f"{where}: {what}expected {expected}. {REMEDY}")


@contextmanager
def refusing(where: str) -> Iterator[None]:
    """Context that turns errors from invalid arguments into errors of the file."""
    try:
        yield
    except ModelFormatError:
        raise
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ModelFormatError(f"{where}: {error}") from None


# Parts of a file


@dataclass(frozen=True)
class Field:
    """A value in a document.

    Parameters
    ----------
    key : str
        Key in the document.
    kind : FieldType
    name : str, optional
        Attribute of the object; the key by default.
    old : tuple of str, optional
        Keys used by earlier versions.
    absent : object, optional
        Value for files without the key; an error by default. ``UNSET`` is for optional
        attributes, which are not written either.
    null : bool, default=False
        Whether ``UNSET`` is written as null and read from it; not in records.
    size : str, optional
        Name for the length of the value, used in the shapes of later arrays.
    """

    key: str
    kind: FieldType
    name: str = ""
    old: tuple[str, ...] = ()
    absent: Any = NotImplemented
    null: bool = False
    size: str = ""

    def write(self, get: Get, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write the value that ``get`` returns."""
        value = get(self.name or self.key)
        if self.null and (value is UNSET or value is None):
            document[self.key] = None
        elif value is not UNSET:
            document[self.key] = self.kind.write(value)

    def read(
        self, values: dict[str, Any], top: Place, arrays: Arrays | None = None
    ) -> None:
        """Read the value into ``values``."""
        name, key = self.name or self.key, self.key
        if self.old:
            key = next((old for old in self.old if old in top), key)
        if self.absent is not NotImplemented and key not in top:
            values[name] = self.absent
            return
        place = top[key]
        is_unset = self.null and place.value is None
        value = values[name] = UNSET if is_unset else self.kind.read(place)
        if self.size and arrays is not None and not is_unset:
            arrays.sizes[self.size] = len(value)


@dataclass(frozen=True)
class Array:
    """An array.

    Parameters
    ----------
    key : str
        Name in the file.
    kind : {"i", "f", "b"}
        Integers, floats or booleans.
    shape : str, default="*"
        Dimensions: numbers, names that stand for the same length wherever they occur,
        and ``*`` for any length.
    name, old
        As in :class:`Field`.
    check : Check, optional
        Condition on the values.
    below : str, optional
        Name of a length, an exclusive upper bound: the array holds indices.
    """

    key: str
    kind: str
    shape: str = "*"
    name: str = ""
    check: Check | None = None
    below: str = ""
    old: tuple[str, ...] = ()

    def write(self, get: Get, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write the value that ``get`` returns."""
        arrays[self.key] = np.asarray(get(self.name or self.key), TYPES[self.kind])

    def read(self, values: dict[str, Any], top: Place, arrays: Arrays) -> None:
        """Read the value into ``values``."""
        key = next((key for key in self.old if key in arrays), self.key)
        shape = (int(n) if n.isdigit() else n for n in self.shape.split())
        value = arrays(key, self.kind, *shape)
        if self.check is not None:
            require(self.check.holds(value), key, self.check.expected)
        if self.below:
            n = arrays.sizes[self.below]
            require((value >= 0) & (value < n), key, f"numbers from 0 to {n - 1}")
        values[self.name or self.key] = value


@dataclass(frozen=True)
class Pieces:
    """A ragged array: arrays of different lengths, concatenated, with the lengths.

    Parameters
    ----------
    key : str
        Name in the file; the name of the lengths has the prefix ``n_``.
    kind, name, below
        As in :class:`Array`.
    size : str, default="*"
        Number of arrays.
    width : int, optional
        Second dimension, for two-dimensional ones.
    check : Check, optional
        Condition on the values of each.
    """

    key: str
    kind: str
    name: str = ""
    size: str = "*"
    width: int = 0
    check: Check | None = None
    below: str = ""

    def write(self, get: Get, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write the arrays that ``get`` returns."""
        pieces = get(self.name or self.key)
        shape = (-1, self.width) if self.width else (-1,)
        arrays[f"n_{self.key}"] = np.array([len(own) for own in pieces], np.int64)
        rows: Any = [own for own in pieces if len(own)]
        if any(isinstance(own, np.ndarray) for own in rows):
            rows = np.concatenate(rows)
        else:  # many short ones, which are slow to convert one by one
            rows = [row for own in rows for row in own]
        arrays[self.key] = np.array(rows, TYPES[self.kind]).reshape(shape)

    def read(self, values: dict[str, Any], top: Place, arrays: Arrays) -> None:
        """Read the arrays into ``values``, as a list."""
        shape = f"* {self.width}" if self.width else "*"
        Array(self.key, self.kind, shape, below=self.below).read(values, top, arrays)
        whole, sizes = values.pop(self.key), arrays(f"n_{self.key}", "i", self.size)
        in_range = ((sizes >= 0) & (sizes <= len(whole))).all()
        if not in_range or sizes.sum() != len(whole):
            raise ModelFormatError(f"n_{self.key}: does not fit {self.key}.")
        pieces = np.split(whole, np.cumsum(sizes)[:-1]) if len(sizes) else []
        if self.check is not None:
            for i, own in enumerate(pieces):
                require(self.check.holds(own), f"{self.key}[{i}]", self.check.expected)
        values[self.name or self.key] = pieces


class Settings:
    """Parameters of an estimator, as ``settings``.

    Parameters
    ----------
    *names : str
        Names of those that are stored; others matter only in the fit.
    old : mapping of str to str, optional
        From names in earlier versions to current names.
    unless_none : tuple of str, optional
        Those that are omitted if None.
    """

    def __init__(
        self,
        *names: str,
        old: Mapping[str, str] | None = None,
        unless_none: tuple[str, ...] = (),
    ) -> None:
        self.names, self.old, self.unless_none = names, old or {}, unless_none

    def write(self, get: Get, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write the parameters that have a JSON type."""
        settings = get("get_params")(deep=False)
        kept = {k: plain_setting(settings[k]) for k in self.names if k in settings}
        document["settings"] = {
            key: value
            for key, value in kept.items()
            if value is not UNSET and not (value is None and key in self.unless_none)
        }

    def read(self, values: dict[str, Any], top: Place, arrays: Arrays) -> None:
        """Read the parameters into ``values``."""
        place = top["settings"]
        place.only(*self.names, *self.old)
        values["settings"] = {
            self.old.get(key, key): _read_setting(place[key]) for key in place.keys()
        }
        if "random_state" in place:
            optional(integer()).read(place["random_state"])


def plain_setting(value: Any) -> Any:
    """Convert a parameter to a JSON type; functions and generators become ``UNSET``."""
    if isinstance(value, tuple | list):
        parts = [plain_setting(part) for part in value]
        return UNSET if UNSET in parts else parts
    value = value.item() if isinstance(value, np.generic) else value
    return value if value is None or isinstance(value, LABEL) else UNSET


def _read_setting(place: Place) -> Any:
    parts = place.value if isinstance(place.value, list) else [place.value]
    if any(isinstance(part, list | dict) for part in parts):
        place.fail(shown(place.value), "a text, a number, or a list of them")
    return place.value


class Together:
    """Parts that a file contains all or none of; if none, their values are ``UNSET``.

    Parameters
    ----------
    *parts : Field, Array or Pieces
        The first determines whether they are present.
    """

    def __init__(self, *parts: Field | Array | Pieces) -> None:
        self.parts = parts

    def write(self, get: Get, document: dict[str, Any], arrays: dict[str, Any]) -> None:
        """Write the values that ``get`` returns."""
        if get(self.parts[0].name or self.parts[0].key) is not UNSET:
            for part in self.parts:
                part.write(get, document, arrays)

    def read(self, values: dict[str, Any], top: Place, arrays: Arrays) -> None:
        """Read the values into ``values``."""
        for part in self.parts:
            if self.parts[0].key in top or self.parts[0].key in arrays:
                part.read(values, top, arrays)
            else:
                values[part.name or part.key] = UNSET


def filled(estimator: Any, values: dict[str, Any], n_columns: int | None = None) -> Any:
    """Set the parameters and fitted attributes of an estimator.

    Parameters
    ----------
    estimator : estimator
    values : dict
        As read; names of fitted attributes end in an underscore.
    n_columns : int, optional
        Number of columns it was fitted to.
    """
    from sklearn.base import ClassifierMixin

    if "settings" in values:
        with refusing("settings"):
            estimator.set_params(**values["settings"])._validate_params()
    if n_columns is not None:
        estimator.n_features_in_ = n_columns
        classes, names = values["classes_"], values["feature_names_in_"]
        fits = isinstance(estimator, ClassifierMixin) == (classes is not UNSET)
        require(fits, "classes", "labels of a classifier, of no other")
        if names is not UNSET:
            found = f"{len(names)} names"
            require(len(names) == n_columns, "column_names", "one per feature", found)
    for name, value in values.items():
        if name.endswith("_") and value is not UNSET:
            setattr(estimator, name, value)
    return estimator


def classes_of(estimator: Any) -> tuple[Any, ...]:
    """Classes of a fitted classifier; empty for other estimators."""
    return tuple(getattr(estimator, "classes_", np.empty(0)).tolist())


# A class that can be saved


@dataclass(frozen=True)
class Saved:
    """Declaration of the file content of a class.

    Parameters
    ----------
    kind : type
    parts : tuple of Field, Array, ...
        Content in the order of writing and reading: objects with ``write(get, document,
        arrays)``, which takes attributes by name, and ``read(values, top, arrays)``,
        which adds to ``values``.
    make : callable
        Constructor, called with ``kind`` and the values by name. It validates relations
        between values.
    take : callable, optional
        Returns values of an object that are not its attributes.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Scale:
    ...     unit: str
    ...     factors: np.ndarray
    >>> saved = Saved(
    ...     Scale,
    ...     (Field("unit", NAME, old=("measure",)),
    ...      Array("factors", "f", check=POSITIVE)),
    ...     make=lambda kind, values: kind(**values))
    >>> document, arrays = saved.write(Scale("mg", np.array([2.0, 3.0])))
    >>> document, arrays["factors"].tolist()
    ({'unit': 'mg'}, [2.0, 3.0])
    """

    kind: type
    parts: tuple[Any, ...]
    make: Callable[[Any, dict[str, Any]], Any]
    take: Callable[[Any], Mapping[str, Any]] = lambda found: {}

    def write(self, found: Any) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Convert an object to a document and arrays."""
        if type(found) is not self.kind:
            raise InputError(
                f"Cannot save {type_text(found)} of your own, only "
                f"{self.kind.__module__}.{self.kind.__qualname__} itself."
            )
        if hasattr(found, "get_params"):
            from sklearn.utils.validation import check_is_fitted

            check_is_fitted(found)
        taken = self.take(found)

        def get(name: str) -> Any:
            return taken[name] if name in taken else getattr(found, name, UNSET)

        document: dict[str, Any] = {}
        arrays: dict[str, np.ndarray] = {}
        for part in self.parts:
            part.write(get, document, arrays)
        return document, arrays

    def read(self, top: Place, arrays: Arrays) -> Any:
        """Restore an object; invalid content raises a ModelFormatError."""
        values: dict[str, Any] = {}
        for part in self.parts:
            part.read(values, top, arrays)
        try:
            return self.make(self.kind, values)
        except (OverflowError, RecursionError) as error:
            message = f"{type(error).__name__}: {error}. {REMEDY}"
            raise ModelFormatError(message) from None


def by_name(*classes: Saved) -> dict[str, Saved]:
    """Index declarations by the class names used in files."""
    return {saved.kind.__name__: saved for saved in classes}
