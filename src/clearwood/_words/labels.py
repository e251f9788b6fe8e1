"""Texts that come from the data: names of columns, categories, classes."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from clearwood.exceptions import InputError, safe_text


def label_text(label: Any, lookup: str = "exact") -> str:
    """A category as it is printed.

    CatBoost takes the number 5 and the text "5" for the same category, so it is
    printed bare; of some categories its models know nothing but a hash.

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
    r"""A name or label as it is; in quotes where a terminal would obey a part of it.

    Examples
    --------
    >>> printable("elm é"), printable("a\x1b[2Jb")
    ('elm é', "'a\\x1b[2Jb'")
    """
    return text if text.isprintable() else repr(text)


def prediction_text(prediction: Any) -> str:
    """A class label as it is, a number so that it reads back as itself."""
    if isinstance(prediction, float):
        # NumPy, which the help of the command has no need of.
        from clearwood._words.numbers import number_text

        return number_text(prediction)
    return printable(str(prediction))


def check_text(texts: Collection[Any], what: str) -> None:
    r"""Refuse names and labels that no file can hold and no screen can show.

    Halves of characters (lone surrogates) are what Python makes of bytes that are no
    text. Refused where they come in, they need no care anywhere else.

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
    """What a target is called: a column of a table, or "y" where it has no name.

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
"""Characters that end a line, command a terminal or turn the direction of a text."""


def visible(text: str) -> str:
    r"""Lines of text in which other control characters are written out.

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
    r"""Refuse control characters in names that come from a file.

    In a frame in memory they are allowed, and escaped wherever they are written.

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
    r"""A line of comment in source text, which no name in it can end.

    Examples
    --------
    >>> print(comment("#", "age\nimport os"))
    # age\nimport os
    """
    return f"{mark} {safe_text(text)}".replace("\n", r"\n")


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
