"""Error messages and exit codes of commands."""

from __future__ import annotations

import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from clearwood.exceptions import ClearwoodError, InterruptedFitWarning, safe_text

FAILED, INTERRUPTED = 1, 130

_ctrl_c: list[int] = []
"""Each Ctrl-C not yet handled by the running command; see :func:`_record_ctrl_c`."""


@contextmanager
def plain_errors(debug: bool) -> Iterator[None]:
    """Report errors in one line and exit; ``debug`` lets the traceback through."""
    try:
        with _record_ctrl_c():
            yield
    except KeyboardInterrupt:
        click.echo("clearwood: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        # The outermost handler of the program: any exception here would
        # otherwise reach the user as a traceback.
        if debug:
            raise
        click.echo(f"clearwood: error: {one_line(error)}", err=True)
        sys.exit(FAILED)


def one_line(error: Exception) -> str:
    """Message of an error; for an unexpected one, with the next step.

    Examples
    --------
    >>> one_line(ZeroDivisionError("division by zero"))
    'unexpected ZeroDivisionError: division by zero (--debug shows where)'
    """
    text = safe_text(" ".join(str(error).split()))
    if isinstance(error, ClearwoodError):
        return text
    if isinstance(error, OSError) and error.strerror:
        if error.filename is None:
            return f"{error.strerror} (--debug shows where)"
        return safe_text(f"{error.filename}: {error.strerror}")
    return f"unexpected {type(error).__name__}: {text} (--debug shows where)"


class Interruption:
    """Warnings that were issued, available at the end."""

    interrupted = False


@contextmanager
def plain_warnings(
    log: Callable[[str], None], *, ends: bool = True
) -> Iterator[Interruption]:
    """Print each warning once, in one line, without its file.

    A fit interrupted by Ctrl-C ends the command, though in Python it keeps its partial
    result: a stopped command should write no files. With ``ends=False`` the command
    goes on with the partial result, and is informed of it.
    """
    state = Interruption()
    _raise_if_interrupted()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.simplefilter("error" if ends else "always", InterruptedFitWarning)
        try:
            yield state
        except InterruptedFitWarning:
            raise KeyboardInterrupt from None
        finally:
            # An error may follow from a warning.
            for text in dict.fromkeys(" ".join(str(w.message).split()) for w in caught):
                log(f"warning: {text}")
            if ends:
                _raise_if_interrupted()
    warned = any(w.category is InterruptedFitWarning for w in caught)
    state.interrupted = warned or bool(_ctrl_c)
    _ctrl_c.clear()  # The caller has been informed, and goes on.


@contextmanager
def _record_ctrl_c() -> Iterator[None]:
    """Record each Ctrl-C, as other code may suppress its exception.

    C code that calls Python may suppress the exception of a Ctrl-C there, or replace it
    by another; an optional import then only seems to have failed.
    """
    _ctrl_c.clear()
    python_listens = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    here = threading.current_thread() is threading.main_thread()
    if not (here and python_listens):
        yield
        return

    def note(number: int, frame: Any) -> None:
        _ctrl_c.append(number)
        signal.default_int_handler(number, frame)

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        _raise_if_interrupted()


def _raise_if_interrupted() -> None:
    if _ctrl_c:
        raise KeyboardInterrupt from None
