"""Text output of commands from templates, which stand beside them."""

from __future__ import annotations

from functools import cache
from typing import Any


def fill(template: str, **facts: Any) -> str:
    """Fill the text template of a command, a file in ``verbs``."""
    text: str = _templates().get_template(template).render(facts)
    return text


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from clearwood._words.numbers import (
        percent_text,
        probability_text,
        share_text,
        short_text,
    )
    from clearwood._words.sentences import rows_in_words
    from clearwood.rules.conditions import name_text

    templates = Environment(
        loader=PackageLoader("clearwood.cli", "verbs"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(
        counted=rows_in_words,
        feature=name_text,
        more=_more,
        percent=percent_text,
        probability=probability_text,
        share=share_text,
        significant=short_text,
    )
    return templates


def _more(items: list[Any], most: int, what: str = "") -> str:
    """Line on the items beyond a maximum; empty if there are none."""
    n_more = len(items) - most
    return f"  ... {n_more:,} more{what} (--json)\n" if n_more > 0 else ""
