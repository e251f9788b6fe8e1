"""Texts that come from the data: names of columns, categories, classes."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any

from clearwood.exceptions import InputError


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


def _is_whole(text: str) -> bool:
    return not any("\ud800" <= letter <= "\udfff" for letter in text)
