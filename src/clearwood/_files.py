"""Writing results: whole files or none, and nothing overwritten by accident."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from clearwood.exceptions import InputError


def check_writable(path: Any, *, overwrite: bool = False) -> Path:
    """Refuse a path that could not or should not be written, before the work.

    Parameters
    ----------
    path : str or Path
        A file to be written.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Path

    Examples
    --------
    >>> check_writable("no-such-folder/rules.json")
    Traceback (most recent call last):
    clearwood.exceptions.InputError: Cannot write 'no-such-folder/rules.json': \
there is no folder 'no-such-folder'. Make it first or choose another path.
    """
    target = Path(path)
    shown = str(target)
    if not target.parent.is_dir():
        raise InputError(
            f"Cannot write {shown!r}: there is no folder {str(target.parent)!r}. "
            "Make it first or choose another path."
        )
    if target.is_dir():
        raise InputError(
            f"Cannot write {shown!r}: it is a folder. Name a file inside it."
        )
    if target.exists() and not target.is_file():
        raise InputError(
            f"Cannot write {shown!r}: it exists and is not a plain file. Choose "
            "another path."
        )
    if target.exists() and not overwrite:
        raise InputError(
            f"{shown!r} exists already and is left as it is. Choose another path, "
            "or ask to overwrite it (overwrite=True; --force on the command line)."
        )
    return target


def write_text(path: Any, text: str, *, overwrite: bool = False) -> None:
    """Write a text file so that a reader sees the old file or the new one.

    Parameters
    ----------
    path : str or Path
        Where to write.
    text : str
        What to write, in UTF-8.
    overwrite : bool, default=False
        Whether an existing file may be replaced.
    """
    write_bytes(path, text.encode(), overwrite=overwrite)


def write_bytes(path: Any, content: bytes, *, overwrite: bool = False) -> None:
    """As :func:`write_text`, for a file that is not text."""
    target = check_writable(path, overwrite=overwrite)
    # Beside the target: a rename is atomic only within one file system.
    handle, temporary = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(temporary, 0o666 & ~_umask())
        os.replace(temporary, target)
    except BaseException as error:
        os.unlink(temporary)
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = str(target)  # A full disk names no file.
        raise


def _umask() -> int:
    # The only portable way to read it is to set it.
    current = os.umask(0o022)
    os.umask(current)
    return current
