"""Safe opening and atomic writing of files.

Only regular files of a known size are read: no pipe without a writer, and no endless
device. Files are written completely or not at all, nothing is overwritten by accident,
and the owner's permissions are kept.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
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
"""Files that are not regular, and may be endless."""

PIPE_SECONDS = 10.0
"""Timeout for a pipe without a writer, in seconds."""


@contextmanager
def _telling(verb: str, path: Any) -> Iterator[None]:
    """Context that turns system errors into an InputError that names the file."""
    try:
        yield
    except ClearwoodError:
        raise
    except OSError as error:
        why = error.strerror or str(error)
        raise InputError(f"Cannot {verb} {str(path)!r}: {why}.") from None
    except UnicodeEncodeError as error:
        raise InputError(
            f"Cannot {verb} {str(path)!r}: invalid Unicode in "
            f"{error.object[:60]!r}; correct that text."
        ) from None
    except ValueError as error:  # a null character
        raise InputError(
            f"Cannot {verb} {str(path)!r}: not a valid file name ({error})."
        ) from None


# Reading


def open_plain(path: Any, most: int | None = None) -> BinaryIO:
    """Open a regular file within a size limit.

    Parameters
    ----------
    path : str or Path
    most : int, optional
        Most bytes; by default ``MOST_BYTES``, or a larger configured limit.

    Returns
    -------
    binary file

    Raises
    ------
    InputError
        It cannot be opened, or is a pipe, a device or a folder, also through a link.
    ModelFormatError
        It is too large.
    """
    most = max(MOST_BYTES, memory_bound(0)) if most is None else most
    file = Path(path)
    with _telling("read", path):
        # Before opening, which would block on a pipe without a writer.
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
    """Read a file, opened by :func:`open_plain`."""
    with open_plain(path, most) as file, _telling("read", path):
        size = os.fstat(file.fileno()).st_size
        content = file.read(size + 1)
    if len(content) > size:
        # System files without a size; or another program is writing to the file.
        raise InputError(
            f"Cannot read {str(path)!r}: it holds more than the {size:,} bytes that it "
            "reports. Copy it to a regular file first."
        )
    return content


@contextmanager
def plain_file(path: str) -> Iterator[str]:
    """Context with a table as a regular file: data from a pipe are copied.

    Programs write tables to pipes, which can be read only once.

    Parameters
    ----------
    path : str

    Yields
    ------
    str
        The path, or that of a temporary copy.
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
        # None means no data yet; an immediate end means that there is no writer.
        while (start := pipe.read(1)) == b"":
            if time.monotonic() > end:
                raise InputError(f"Cannot read {path!r}: no writer on this pipe.")
            time.sleep(0.05)
        copy.write(start or b"")
        # The writer may compute for long; its exit ends the wait.
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
    """Validate in advance that a path can and may be written.

    Parameters
    ----------
    path : str or Path
        A file to be written.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Returns
    -------
    Path
        The target, if the path is a link. It need not exist.

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
            f"{shown!r} exists and was not changed. Choose another path, "
            "or overwrite it (overwrite=True; --overwrite on the command line)."
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(
            f"Cannot write {shown!r}: no files may be made in the folder "
            f"{str(folder)!r}. Request permission or choose another path."
        )
    return target


def write_text(path: Any, text: str, *, overwrite: bool = False) -> None:
    """Write a text file atomically.

    A file that is replaced keeps its permissions, and its owner where that is allowed;
    where its group cannot be kept, the new group gets no more permissions than others.
    For a link, its target is written.

    Parameters
    ----------
    path : str or Path
        Path of the file.
    text : str
        Content, encoded as UTF-8.
    overwrite : bool, default=False
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
        The file may not or could not be written; an existing one is unchanged.
    """
    with _telling("write", path):
        content = text.encode()
    write_bytes(path, content, overwrite=overwrite)


def write_bytes(path: Any, content: bytes, *, overwrite: bool = False) -> None:
    """As :func:`write_text`, for bytes."""
    target = check_writable(path, overwrite=overwrite)
    # In the target's folder: a rename is atomic only within one file system.
    temporary = target.with_name(f".{os.urandom(8).hex()}.tmp")
    with _telling("write", path):
        old = _stat(target)
        # A new file gets the system's default permissions; one that replaces another
        # is private until the permissions of the old one are set.
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
        # Only root may change the owner; changing the group is more often allowed.
        with suppress(OSError):
            os.chown(path, -1, old.st_gid)
        with suppress(OSError):
            os.chown(path, old.st_uid, -1)
    mode = stat.S_IMODE(old.st_mode)
    if os.stat(path).st_gid != old.st_gid:
        # Permissions of one group are not meant for another.
        of_all = (mode & stat.S_IRWXO) << 3
        mode &= ~(stat.S_IRWXG | stat.S_ISGID) | of_all
    os.chmod(path, mode)


def file_date() -> str:
    """Date for a saved file: of today, or of ``SOURCE_DATE_EPOCH`` if that is set.

    Examples
    --------
    >>> len(file_date())
    10
    """
    seconds = float(os.environ.get("SOURCE_DATE_EPOCH", time.time()))
    return datetime.fromtimestamp(seconds, UTC).date().isoformat()


def check_version(version: int, known: int, where: str) -> None:
    """Raise an error for a file of another version of its format."""
    if version > known:
        raise ModelFormatError(
            f"{where}: version {version} of the file format is later than {known}, the "
            "latest that this version of Clearwood reads; upgrade Clearwood "
            "(pip install --upgrade clearwood)."
        )
    if version != known:
        raise ModelFormatError(
            f"{where}: version: expected {known}, found {version}; read it with the "
            "version of Clearwood that wrote it."
        )
