"""HTML from templates that lie beside the code they belong to, always escaped."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from clearwood._words.labels import visible
from clearwood._words.numbers import percent_text, r2_text, share_text, short_text

if TYPE_CHECKING:
    from jinja2 import Environment

# Rooms that may hold templates: a template is named "room/file".
PACKAGE = Path(__file__).resolve().parent.parent


def render(template: str, **data: Any) -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        A file of this package, such as ``"rules/rule_set.html"``, or
        ``"package:folder/file.html"``.
    **data
        Plain values. Every one of them is escaped; a template that asks for one
        that is not here is an error.

    Returns
    -------
    str

    Examples
    --------
    >>> from clearwood._html import render
    >>> render("_html/table.css", table="<b>", padding="0").splitlines()[0]
    '.&lt;b&gt; { overflow-x: auto; color: inherit; }'
    """
    return _environment().get_template(template).render(**data)


@cache
def _environment() -> Environment:
    from jinja2 import (
        ChoiceLoader,
        Environment,
        FileSystemLoader,
        FunctionLoader,
        StrictUndefined,
    )

    environment = Environment(
        loader=ChoiceLoader([FileSystemLoader(PACKAGE), FunctionLoader(_of_package)]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_controls,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=count_text,
        percent=percent_text,
        r2=r2_text,
        share=share_text,
        significant=short_text,
    )
    return environment


def _of_package(template: str) -> str | None:
    """The text of another package's template."""
    package, _, path = template.partition(":")
    return files(package).joinpath(path).read_text("utf-8") if path else None


def _without_controls(value: Any) -> Any:
    """A text in which control characters are written out; what is HTML as it is."""
    return visible(value) if type(value) is str else value


def count_text(value: float | str) -> str:
    """A number of rows; weights may make it fractional. A text is left as it is.

    Examples
    --------
    >>> count_text(12345.0), count_text(2.5)
    ('12,345', '2.5')
    """
    if isinstance(value, str):
        return value
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"
