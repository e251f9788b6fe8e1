"""What a command says when it cannot go on, and with which exit code it ends."""

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
"""Each Ctrl-C that the running command has not heeded; see :func:`_noting_ctrl_c`."""


@contextmanager
def plain_errors(debug: bool) -> Iterator[None]:
    """End with one line where something goes wrong; ``debug`` lets a traceback come."""
    try:
        with _noting_ctrl_c():
            yield
    except KeyboardInterrupt:
        click.echo("clearwood: interrupted", err=True)
        sys.exit(INTERRUPTED)
    except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
        raise
    except Exception as error:
        # The outermost line of the program: whatever comes here would
        # otherwise reach the user as a traceback.
        if debug:
            raise
        click.echo(f"clearwood: error: {one_line(error)}", err=True)
        sys.exit(FAILED)


def one_line(error: Exception) -> str:
    """The message of an error; for one that nobody foresaw, what to do next.

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


class Caught:
    """What was warned of, once all is over."""

    interrupted = False


@contextmanager
def plain_warnings(
    say: Callable[[str], None], *, ends: bool = True
) -> Iterator[Caught]:
    """Say each warning once, in one line, without the file it comes from.

    A fit that Ctrl-C cut short ends the command, though in Python it keeps what is
    done: whoever stops a command wants no files from it. With ``ends=False`` the
    command goes on with what is done, and is told of it.
    """
    found = Caught()
    _end_if_ctrl_c_came()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("default")
        warnings.simplefilter("error" if ends else "always", InterruptedFitWarning)
        try:
            yield found
        except InterruptedFitWarning:
            raise KeyboardInterrupt from None
        finally:
            # An error may follow from what was warned of.
            for text in dict.fromkeys(" ".join(str(w.message).split()) for w in caught):
                say(f"warning: {text}")
            if ends:
                _end_if_ctrl_c_came()
    warned = any(w.category is InterruptedFitWarning for w in caught)
    found.interrupted = warned or bool(_ctrl_c)
    _ctrl_c.clear()  # The caller knows of it now, and goes on.


@contextmanager
def _noting_ctrl_c() -> Iterator[None]:
    """Note each Ctrl-C, as other code may drop what it raises.

    Code in C that calls a line of Python may drop the error that Ctrl-C raises there,
    or make another of it; an import that may fail then only seems to have failed.
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
        _end_if_ctrl_c_came()


def _end_if_ctrl_c_came() -> None:
    if _ctrl_c:
        raise KeyboardInterrupt from None
