"""Progress on stderr, and reports of waiting."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item")

TELL_SECONDS = 30.0
"""Delay before the wait for another process or machine is reported."""

MOST_SECONDS = 600.0
"""Default timeout of such a wait."""


def progress(
    items: Iterable[Item], total: int, label: str, visible: bool
) -> Iterator[Item]:
    """Iterate over items with a progress bar if ``visible``; in notebooks a widget.

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
        # No monitor thread: forked processes would not have it.
        monitor_interval = 0

    with Bar(items, total=total, desc=label) as bar:
        yield from bar


class Patience:
    """A wait for another process or machine, with a report and a timeout.

    Parameters
    ----------
    missing : str
        Text of the report, such as ``"no worker at tcp://host:8786"``.
    most_seconds : float, optional
        Timeout, :data:`MOST_SECONDS` by default.

    Examples
    --------
    >>> patience = Patience("no worker", most_seconds=0)
    >>> patience.goes_on(is_there=True), patience.goes_on(is_there=False)
    (True, False)
    """

    def __init__(self, missing: str, most_seconds: float | None = None) -> None:
        self._missing = missing
        self.most_seconds = MOST_SECONDS if most_seconds is None else most_seconds
        self._since, self._reported = time.monotonic(), False

    def goes_on(self, is_there: bool) -> bool:
        """Record whether the other side is available; False after the timeout."""
        waited = time.monotonic() - self._since
        if is_there:
            if self._reported:
                self._report(f"no longer: {self._missing}; going on")
            self._since, self._reported = time.monotonic(), False
            return True
        if waited >= self.most_seconds:
            return False
        if waited >= TELL_SECONDS and not self._reported:
            most = self.most_seconds
            limit = "" if most == float("inf") else f", for {most:.0f} s in all"
            self._report(f"{self._missing} for {waited:.0f} s; waiting{limit}")
            self._reported = True
        return True

    @staticmethod
    def _report(text: str) -> None:
        from tqdm import tqdm

        # Above a progress bar, if any.
        tqdm.write(f"clearwood: {text}", file=sys.stderr)
