"""Warnings that point to the user's line, once per call."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_WARNED: ContextVar[set[str] | None] = ContextVar("warned", default=None)


@contextmanager
def warned_once() -> Iterator[None]:
    """Context in which unknown categories of a column cause one warning only.

    For functions that read a table more than once; also a decorator.
    """
    if _WARNED.get() is not None:
        yield
        return
    token = _WARNED.set(set())
    try:
        yield
    finally:
        _WARNED.reset(token)


def is_new(name: str) -> bool:
    """Whether no warning on a column was issued yet within the call."""
    warned = _WARNED.get()
    if warned is None:
        return True
    if name in warned:
        return False
    warned.add(name)
    return True


def users_level() -> int:
    """The ``stacklevel`` of the user's line that called the library."""
    frame, level = sys._getframe(1), 1
    inside = ("clearwood", "contextlib", "sklearn", "joblib")
    while frame.f_back and str(frame.f_globals.get("__name__")).split(".")[0] in inside:
        frame, level = frame.f_back, level + 1
    return level
