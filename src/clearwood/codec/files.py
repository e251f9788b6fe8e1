"""The one way to open a file, and the one way to write one.

What is read is a plain file of a size that is known before: neither a pipe that nobody
writes to nor a device without end. What is written is there whole or not at all,
nothing is overwritten by accident, and what a file's owner decided of it stays.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any, BinaryIO

from clearwood._memory import memory_bound
from clearwood.exceptions import ClearwoodError, InputError, ModelFormatError

MOST_BYTES = 4 * 2**30

KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
"""What is no plain file, and may have no end."""

PIPE_SECONDS = 10.0
"""How long a pipe is waited for that nobody writes to."""


@contextmanager
def _telling(verb: str, path: Any) -> Iterator[None]:
    """Whatever the system refuses becomes an InputError that names the file."""
    try:
        yield
    except ClearwoodError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"Cannot {verb} {str(path)!r}: {why}.") from None
    except UnicodeEncodeError as error:
        raise InputError(
            f"Cannot {verb} {str(path)!r}: there is half a character in "
            f"{error.object[:60]!r}; write that text in another way."
        ) from None
    except ValueError as error:  # a null character
        raise InputError(
            f"Cannot {verb} {str(path)!r}: no file can be called so ({error})."
        ) from None


# Reading


def open_plain(path: Any, most: int | None = None) -> BinaryIO:
    """Open a plain file that is not too large.

    Parameters
    ----------
    path : str or Path
    most : int, optional
        Most bytes; if not given ``MOST_BYTES``, or what is allowed to be more.

    Returns
    -------
    binary file

    Raises
    ------
    InputError
        It cannot be opened, or is a pipe, a device or a folder, also by a link.
    ModelFormatError
        It is too large.
    """
    most = max(MOST_BYTES, memory_bound(0)) if most is None else most
    file = Path(path)
    with _telling("read", path):
        # Before it is opened, which by itself would wait for a pipe's other end.
        found = file.stat()
        if not stat.S_ISREG(found.st_mode):
            kind = KINDS.get(stat.S_IFMT(found.st_mode), "no plain file")
            raise InputError(f"Cannot read {str(path)!r}: it is {kind}; name a file.")
        if found.st_size > most:
            raise ModelFormatError(
                f"{path}: {found.st_size:,} bytes are more than the {most:,} that can "
                "be read; fit a smaller model."
            )
        return file.open("rb")


def read_bytes(path: Any, most: int | None = None) -> bytes:
    """The content of a file, as :func:`open_plain` opens it."""
    with open_plain(path, most) as file, _telling("read", path):
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1)
    if len(content) > size:
        # Those of the system, which have no size; or another program writes to it.
        raise InputError(
            f"Cannot read {str(path)!r}: it holds more than the {size:,} bytes that it "
            "is said to have. Copy it to a plain file first."
        )
    return content


@contextmanager
def plain_file(path: str) -> Iterator[str]:
    """A table, of any size, as a plain file: what comes through a pipe as a copy.

    Programs write tables to pipes, but those can be read only once.

    Parameters
    ----------
    path : str

    Yields
    ------
    str
        The path itself, or that of the copy, which is gone afterwards.
    """
    with _telling("read", path):
        is_pipe = stat.S_ISFIFO(os.stat(path).st_mode)
    if not is_pipe:
        open_plain(path, most=2**63).close()
        yield path
        return
    with NamedTemporaryFile() as copy:
        with _telling("read", path):
            _copy_pipe(path, copy)
        copy.flush()
        yield copy.name


def _copy_pipe(path: str, copy: Any) -> None:
    import select

    from clearwood._numeric.progress import TELL_SECONDS, Patience

    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    with open(handle, "rb", buffering=0) as pipe:
        end = time.monotonic() + PIPE_SECONDS
        # Nothing yet is None; an end at the start means that nobody writes.
        while (start := pipe.read(1)) == b"":
            if time.monotonic() > end:
                raise InputError(f"Cannot read {path!r}: nobody writes to this pipe.")
            time.sleep(0.05)
        copy.write(start or b"")
        # Who writes may have long work to do; its end is noticed.
        patience = Patience(f"nothing to read from {path!r}", float("inf"))
        while True:
            ready = bool(select.select([pipe], [], [], TELL_SECONDS / 10)[0])
            patience.goes_on(ready)
            if ready:
                if not (part := pipe.read(2**16)):
                    return
                copy.write(part)


# Writing


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
        The file itself, where the path is a link to it. There may be none yet.

    Examples
    --------
    >>> check_writable("no-such-folder/rules.json")
    Traceback (most recent call last):
    clearwood.exceptions.InputError: Cannot write 'no-such-folder/rules.json': \
there is no folder 'no-such-folder'. Make it first or choose another path.
    """
    target, shown = Path(path), str(path)
    with _telling("write", path):
        found = _stat(target)
        if target.is_symlink():
            target = Path(os.path.realpath(target))
    folder = target.parent
    if not os.path.isdir(folder):
        raise InputError(
            f"Cannot write {shown!r}: there is no folder {str(folder)!r}. "
            "Make it first or choose another path."
        )
    if found is not None and stat.S_ISDIR(found.st_mode):
        raise InputError(
            f"Cannot write {shown!r}: it is a folder. Name a file inside it."
        )
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise InputError(
            f"Cannot write {shown!r}: it exists and is not a plain file. Choose "
            "another path."
        )
    if found is not None and not overwrite:
        raise InputError(
            f"{shown!r} exists already and is left as it is. Choose another path, "
            "or ask to overwrite it (overwrite=True; --force on the command line)."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"Cannot write {shown!r}: no files may be made in the folder "
            f"{str(folder)!r}. Ask for the permission or choose another path."
        )
    return target


def write_text(path: Any, text: str, *, overwrite: bool = False) -> None:
    """Write a text file so that a reader sees the old file or the new one.

    A file that is replaced keeps its permissions, and its owner where that is allowed;
    where its group cannot be kept, another group may do no more than everybody. Of a
    link, the file that it points to is written.

    Parameters
    ----------
    path : str or Path
        Where to write.
    text : str
        What to write, in UTF-8.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        It may not be written, or could not be; what was there is there still.
    """
    with _telling("write", path):
        content = text.encode()
    write_bytes(path, content, overwrite=overwrite)


def write_bytes(path: Any, content: bytes, *, overwrite: bool = False) -> None:
    """As :func:`write_text`, for a file that is not text."""
    target = check_writable(path, overwrite=overwrite)
    # Beside the target: a rename is atomic only within one file system.
    temporary = target.with_name(f".{os.urandom(8).hex()}.tmp")
    with _telling("write", path):
        old = _stat(target)
        # A new file gets from the system what all new files get there; one that
        # replaces another is for nobody until it is for those who had the other.
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(temporary, flags, 0o666 if old is None else 0o600)
        try:
            with os.fdopen(handle, "wb") as file:
                if old is not None:
                    _give_to_owner_of(old, temporary)
                file.write(content)
            os.replace(temporary, target)
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise


def _stat(path: Path) -> os.stat_result | None:
    try:
        return os.stat(path)
    except (FileNotFoundError, NotADirectoryError):
        return None


def _give_to_owner_of(old: os.stat_result, path: Path) -> None:
    if hasattr(os, "chown"):
        # Only root may give files away; the group is more often allowed.
        with suppress(OSError):
            os.chown(path, -1, old.st_gid)
        with suppress(OSError):
            os.chown(path, old.st_uid, -1)
    mode = stat.S_IMODE(old.st_mode)
    if os.stat(path).st_gid != old.st_gid:
        # What one group was allowed is not meant for another.
        of_all = (mode & stat.S_IRWXO) << 3
        mode &= ~(stat.S_IRWXG | stat.S_ISGID) | of_all
    os.chmod(path, mode)
