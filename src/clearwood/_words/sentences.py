"""Sentences from templates stored next to the code that uses them."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import r2_text, share_text, short_text

if TYPE_CHECKING:
    from jinja2 import Template

PACKAGE = Path(__file__).resolve().parent.parent
MOST_NAMED = 5
"""Maximum number of names in a sentence."""

EDGE, BLANK = "\0", "\1"
"""Marks around inserted values, and in place of spaces in them, to keep both."""


def sentences(template: str, **facts: Any) -> list[str]:
    """Render a template: a text for each paragraph that is not empty.

    Line breaks and indentation within a paragraph are removed, and spaces before commas
    and full stops.

    Parameters
    ----------
    template : str
        File in this package, such as ``"reporting/verdict/verdict.txt"``.
    **facts
        Plain values. An undefined variable in the template is an error.
    """
    texts = (paragraph.render(facts) for paragraph in _paragraphs(template))
    texts = (re.sub(r"[ \n]+", " ", text).strip() for text in texts)
    texts = (re.sub(r" (?=[,.:;)])|(?<=\() ", "", text) for text in texts)
    return [text.replace(EDGE, "").replace(BLANK, " ") for text in texts if text]


@cache
def _paragraphs(template: str) -> list[Template]:
    from jinja2 import Environment, StrictUndefined

    environment = Environment(undefined=StrictUndefined, finalize=_kept)
    environment.filters.update(
        label=prediction_text,
        listed=listed,
        r2=r2_text,
        rows=rows_in_words,
        share=share_text,
        significant=short_text,
    )
    text = (PACKAGE / template).read_text("utf-8")
    return [environment.from_string(part) for part in text.split("\n\n")]


def _kept(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return f"{EDGE}{text.replace(' ', BLANK)}{EDGE}" if text else ""


def rows_in_words(n: int, name: str = "row") -> str:
    """Number of rows, with the noun in singular or plural.

    Examples
    --------
    >>> rows_in_words(1), rows_in_words(12345), rows_in_words(2, "new row")
    ('1 row', '12,345 rows', '2 new rows')
    """
    return f"{n:,} {name}{'s' * (n != 1)}"


def listed(names: list[str], joined: str = "or") -> str:
    """Join names in a sentence, truncated if there are many.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b or c')
    """
    if len(names) > MOST_NAMED:
        names = [*names[:MOST_NAMED], f"{len(names) - MOST_NAMED} more"]
    *most, last = names
    return f"{', '.join(most)} {joined} {last}" if most else last
