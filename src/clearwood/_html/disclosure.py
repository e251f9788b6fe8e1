"""Disclosure control: pages without single rows, and without statistics of few rows.

What describes rows of a table is wrapped in :class:`OfRows`, which no template can
read; :func:`disclosed` opens it, or puts in its place what may be shown instead.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from clearwood._html import count_text

MIN_ROWS = 5
"""Minimum number of rows of a rule, group or level whose statistics are shown."""

FEW = f"< {MIN_ROWS}"

Part = TypeVar("Part")


class OfRows:
    """Content that describes so many rows, and what replaces it if they are few."""

    def __init__(self, content: Any, *rows: float, instead: Any = None) -> None:
        self._content, self._instead = content, instead
        self._is_few = any(map(is_few, rows))

    def opened(self, show_rows: bool) -> Any:
        """The content, or its replacement."""
        return self._content if show_rows or not self._is_few else self._instead


def disclosed(content: Any, show_rows: bool) -> Any:
    """Content of a page, as plain data.

    Examples
    --------
    >>> page = {"surprising": single_rows(["7"]), "group": group_line("a", 3, ["0.3"])}
    >>> disclosed(page, show_rows=False)
    {'surprising': [], 'group': ['a', '< 5', '–']}
    >>> disclosed(page, show_rows=True)
    {'surprising': ['7'], 'group': ['a', '3', '0.3']}
    """
    if isinstance(content, OfRows):
        return disclosed(content.opened(show_rows), show_rows)
    if type(content) in (list, tuple):
        return type(content)(disclosed(one, show_rows) for one in content)
    if isinstance(content, dict):
        return {key: disclosed(one, show_rows) for key, one in content.items()}
    return content


def single_rows(lines: list[Any]) -> OfRows:
    """Lines of a table each of which describes one row."""
    return OfRows(lines, 1, instead=[])


def group_line(label: str, rows: float, cells: Sequence[str]) -> OfRows:
    """Label, number of rows and statistics of a group, as a line of a table."""
    instead = [label, FEW, *["–"] * len(cells)]
    return OfRows([label, count_text(rows), *cells], rows, instead=instead)


def of_parts(
    parts: Sequence[Part],
    rows: Callable[[Part], float],
    content: Callable[[Sequence[Part]], Any],
) -> OfRows:
    """Content drawn from parts of the rows, without those of few rows."""
    enough, whole = [one for one in parts if not is_few(rows(one))], content(parts)
    # Content is drawn once where nothing is withheld.
    instead = whole if len(enough) == len(parts) else content(enough)
    return OfRows(whole, *map(rows, parts), instead=instead)


def is_few(rows: float) -> bool:
    """Whether statistics of so many rows are withheld."""
    return 0 < rows < MIN_ROWS
