"""How this process and its workers talk: pickles with their length before them.

Both ends are this library in the same version, started by this process, over pipes
that nobody else has; nothing is read from files.
"""

from __future__ import annotations

import pickle
import struct
from typing import Any, BinaryIO, NamedTuple

from clearwood.comparison.folds import Answer

READY = "ready"
"""What a worker says once it knows the problem, and once it begins a job."""

LENGTH = struct.Struct("<Q")


class Reply(NamedTuple):
    """What a worker says of a job.

    Attributes
    ----------
    answers : list of Answer
    seconds : float
        Of the fit.
    error : str
        Why there are no answers; empty where there are.
    warnings : tuple of (str, str)
        Kind and text of every warning.
    """

    answers: list[Answer]
    seconds: float
    error: str = ""
    warnings: tuple[tuple[str, str], ...] = ()


def write_message(pipe: BinaryIO, message: Any) -> None:
    """Send anything that can be pickled."""
    write_bytes(pipe, pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL))


def write_bytes(pipe: BinaryIO, sent: bytes) -> None:
    """Send what is pickled already."""
    pipe.write(LENGTH.pack(len(sent)))
    pipe.write(sent)
    pipe.flush()


def read_message(pipe: BinaryIO) -> Any:
    """Receive one message; EOFError where the other end is gone."""
    return pickle.loads(read_bytes(pipe))


def read_bytes(pipe: BinaryIO) -> bytes:
    """Receive one message as it was sent; EOFError where the other end is gone."""
    (length,) = LENGTH.unpack(_exactly(pipe, LENGTH.size))
    return _exactly(pipe, length)


def _exactly(pipe: BinaryIO, n_bytes: int) -> bytes:
    received = pipe.read(n_bytes)
    if len(received) < n_bytes:
        raise EOFError("the other end of the pipe is gone")
    return received
