"""One line on stderr: how far long work has come, and how long it will take."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")


def progress(
    items: Iterable[Item], total: int, label: str, visible: bool
) -> Iterator[Item]:
    """Pass items on, and show their number when ``visible``; in notebooks as a bar.

    Examples
    --------
    >>> list(progress("ab", 2, "letters", visible=False))
    ['a', 'b']
    """
    if not visible:
        yield from items
        return
    from tqdm.auto import tqdm

    class Bar(tqdm):
        # No thread beside the bar: processes that are forked would not have it.
        monitor_interval = 0

    with Bar(items, total=total, desc=label) as bar:
        yield from bar
