"""A process that fits what it is told: ``python -m clearwood...comparison.worker``.

A process of its own can be stopped at any moment, and needs no ``if __name__ ==
"__main__"`` in what calls it. It ends when its standard input does, so none is left
behind, however the process that started it ends.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
import time
import traceback
import warnings
from queue import SimpleQueue
from typing import BinaryIO

from clearwood.comparison.fits import fit_job, warm_up
from clearwood.comparison.folds import Job, Problem
from clearwood.comparison.messages import (
    READY,
    Reply,
    read_bytes,
    write_message,
)
from clearwood.comparison.peers import PEERS
from clearwood.exceptions import (
    ClearwoodError,
    PoorFidelityWarning,
    UnknownCategoriesWarning,
)

LONGEST_ERROR = 500


def main() -> None:
    """Receive a problem, then one job after the other."""
    # Ctrl-C reaches all processes of a terminal; the one that started us decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # What a library prints must not get between the replies.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    inbox: SimpleQueue[bytes] = SimpleQueue()
    listener = threading.Thread(
        target=_listen, args=(sys.stdin.buffer, inbox), daemon=True
    )
    listener.start()
    problem = pickle.loads(inbox.get())
    write_message(replies, READY)
    warm: set[str] = set()
    while True:
        job = pickle.loads(inbox.get())
        if job.method not in warm:
            warm_up(job.method, problem.task)
            warm.add(job.method)
        write_message(replies, READY)
        write_message(replies, do_job(problem, job))


def _listen(pipe: BinaryIO, inbox: SimpleQueue[bytes]) -> None:
    """Pass messages on; end the process, whatever it does, when there are no more."""
    while True:
        try:
            inbox.put(read_bytes(pipe))
        except (EOFError, OSError):
            os._exit(0)


def do_job(problem: Problem, job: Job) -> Reply:
    """Fit, and say how long it took, what was warned of, or why it failed.

    Parameters
    ----------
    problem : Problem
    job : Job

    Returns
    -------
    Reply
    """
    begin = time.perf_counter()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        # Their fidelity, on rows held out, stands beside the rules; and categories
        # are the same in all fits.
        warnings.simplefilter("ignore", PoorFidelityWarning)
        warnings.simplefilter("ignore", UnknownCategoriesWarning)
        try:
            answers = fit_job(problem, job)
        except Exception as error:
            return Reply([], time.perf_counter() - begin, _in_words(error))
    told = [(w.category.__name__, " ".join(str(w.message).split())) for w in caught]
    if job.method in PEERS:
        told = []  # Nobody here can mend what other packages warn of.
    return Reply(answers, time.perf_counter() - begin, "", tuple(told))


def _in_words(error: Exception) -> str:
    text = " ".join(str(error).split())
    if isinstance(error, MemoryError):
        text = "there is too little memory"
    elif not isinstance(error, ClearwoodError):
        text = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return text if len(text) <= LONGEST_ERROR else text[:LONGEST_ERROR] + " ..."


if __name__ == "__main__":
    try:
        main()
    except BaseException:
        # At an ordinary exit Python would abort, as the listener holds its pipe, and
        # that would be the last that is heard of the error.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
