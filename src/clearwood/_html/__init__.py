"""HTML from templates that lie beside the code they belong to, always escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

# Rooms that may hold templates: a template is named "room/file".
PACKAGE = Path(__file__).resolve().parent.parent


def render(template: str, **data: Any) -> str:
    """Fill a template.

    Parameters
    ----------
    template : str
        Room and file, such as ``"rules/rule_set.html"``.
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
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(PACKAGE),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        count=count_text, percent=percent_text, significant=significant_text
    )
    return environment


def count_text(value: float) -> str:
    """A number of rows; weights may make it fractional.

    Examples
    --------
    >>> count_text(12345.0), count_text(2.5)
    ('12,345', '2.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.1f}"


def percent_text(share: float) -> str:
    """A share in percent, three digits at most.

    Examples
    --------
    >>> percent_text(1.0), percent_text(0.1234), percent_text(0.00456)
    ('100%', '12.3%', '0.456%')
    """
    return f"{100 * share:.3g}%"


def significant_text(value: float, digits: int = 3) -> str:
    """A measured number with a few digits, without exponent where readable.

    Examples
    --------
    >>> significant_text(0.91234), significant_text(48213.7), significant_text(2e-9)
    ('0.912', '48,214', '2e-09')
    """
    if 10**digits - 0.5 <= abs(value) < 1e9:
        return f"{value:,.0f}"
    return f"{value:.{digits}g}"
