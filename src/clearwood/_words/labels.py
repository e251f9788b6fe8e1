"""Display of text from the data: column names, categories, class labels."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from clearwood.exceptions import InputError, safe_text


def label_text(label: Any, lookup: str = "exact") -> str:
    """Display text of a category.

    CatBoost does not distinguish the number 5 from the text "5", so that it is printed
    without quotes; for some categories its models store only a hash.

    Examples
    --------
    >>> label_text("5"), label_text("5", "hash"), label_text(3510494104, "hash")
    ("'5'", '5', 'hash 3510494104')
    """
    if lookup != "hash":
        return repr(label)
    if isinstance(label, int):
        return f"hash {label}"
    return label if re.fullmatch(r"-?[0-9]+", label, re.ASCII) else repr(label)


def printable(text: str) -> str:
    r"""Escape a name or label, in quotes, if it contains control characters.

    Examples
    --------
    >>> printable("elm é"), printable("a\x1b[2Jb")
    ('elm é', "'a\\x1b[2Jb'")
    """
    return text if text.isprintable() else repr(text)


def prediction_text(prediction: Any) -> str:
    """Display text of a class label or a number; numbers are exact."""
    if isinstance(prediction, float):
        # Requires NumPy, which the help of the command avoids to import.
        from clearwood._words.numbers import number_text

        return number_text(prediction)
    return printable(str(prediction))


def type_text(value: Any) -> str:
    """Name of the type of a value, with its article.

    Examples
    --------
    >>> type_text(1), type_text("one")
    ('an int', 'a str')
    """
    name = type(value).__name__
    # As in "an n-dimensional array".
    is_vowel = name.lower().startswith((*"aeiou", "nd"))
    return f"{'an' if is_vowel else 'a'} {name}"


def check_text(texts: Collection[Any], what: str) -> None:
    r"""Raise an error for names and labels that cannot be encoded as UTF-8.

    Lone surrogates result from decoding bytes that are not text. Checked on input, they
    need no care elsewhere.

    Examples
    --------
    >>> check_text(["elm é", "a\udc80"], "The feature")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    clearwood.exceptions.InputError: The feature 'a\udc80' holds half a character ...
    """
    try:
        "".join(text for text in texts if isinstance(text, str)).encode()
    except UnicodeEncodeError:
        broken = next(
            text for text in texts if isinstance(text, str) and not _is_whole(text)
        )
        raise InputError(
            f"{what} {broken!r} holds half a character (a lone surrogate), which "
            "cannot be written. Read the data again in the right encoding, or rename "
            "it."
        ) from None


def target_name(y: Any) -> str:
    """Name of a target: its column label, or "y" if there is none.

    Examples
    --------
    >>> import pandas as pd
    >>> outcome = pd.Series([1, 0], name="ill")
    >>> target_name(outcome), target_name(outcome.to_frame()), target_name([1, 0])
    ('ill', 'ill', 'y')
    """
    columns: Any = getattr(y, "columns", ())
    if len(columns) == 1:
        y = columns[0]
    return str((y if isinstance(y, str) else getattr(y, "name", None)) or "y")


CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that end a line, control a terminal or change the text direction."""


def visible(text: str) -> str:
    r"""Escape control characters within lines of text.

    Examples
    --------
    >>> print(visible("a\x1b[2J\nb"))
    a\x1b[2J
    b
    """
    return CONTROL.sub(
        lambda found: found[0] if found[0] in "\n\t" else ascii(found[0])[1:-1], text
    )


def check_names(names: Collection[Any], what: str) -> None:
    r"""Raise an error for control characters in names that come from a file.

    In a frame in memory they are allowed, and escaped in output.

    Examples
    --------
    >>> check_names(["age\n#"], "d.csv")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    clearwood.exceptions.InputError: d.csv holds 'age\n#', with a control character ...
    """
    for name in names:
        found = CONTROL.search(name) if isinstance(name, str) else None
        if found:
            raise InputError(
                f"{what} holds {name[:60]!r}, with a control character "
                f"({found[0]!r}). Names in files must be one line of plain text; "
                "rename it."
            )


def comment(mark: str, text: str) -> str:
    r"""Comment line in source code, with line breaks in the text escaped.

    Examples
    --------
    >>> print(comment("#", "age\nimport os"))
    # age\nimport os
    """
    return f"{mark} {safe_text(text)}".replace("\n", r"\n")


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)


def marked_names(names: Sequence[str], **masks: Any) -> dict[str, str]:
    """Names of the features that each mask marks, if any.

    Examples
    --------
    >>> marked_names(["age", "dose"], exclude=[True, False], rising=[False, False])
    {'exclude': 'age'}
    """
    return {
        word: ", ".join(name for name, marked in zip(names, mask) if marked)
        for word, mask in masks.items()
        if mask is not None and any(mask)
    }
