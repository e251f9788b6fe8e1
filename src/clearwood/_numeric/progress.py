"""One line on stderr that says how far long work has come."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def progress(
    items: Iterable[Item], total: int, label: str, visible: bool
) -> Iterator[Item]:
    """Pass items on, and rewrite a line with their number when ``visible``.

    Examples
    --------
    >>> list(progress("ab", 2, "letters", visible=False))
    ['a', 'b']
    """
    try:
        for done, item in enumerate(items, start=1):
            if visible:
                filled = 30 * done // max(total, 1)
                bar = "#" * filled + "." * (30 - filled)
                sys.stderr.write(f"\r{label} [{bar}] {done}/{total}")
                sys.stderr.flush()
            yield item
    finally:
        if visible:
            sys.stderr.write("\n")
