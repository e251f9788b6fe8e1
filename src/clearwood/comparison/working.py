"""Main loop of a worker process, which runs one fit after the other."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import traceback
from queue import SimpleQueue
from threading import Thread
from typing import Any, BinaryIO

from clearwood.comparison.fits import do_job, warm_up
from clearwood.comparison.folds import Job, Problem

READY = "ready"
"""Message sent once the problem is loaded, and once a job begins."""


def work() -> None:
    """Receive a problem, then run one job after the other."""
    try:
        _work()
    except BaseException:
        # At an ordinary exit Python would abort, as the listener holds its pipe, and
        # the error would be lost.
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)


def _work() -> None:
    # Ctrl-C reaches all processes of a terminal; the parent process decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    # Output of libraries must not mix with the replies.
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    problem: Problem = pickle.load(sys.stdin.buffer)
    _say(replies, READY)
    inbox: SimpleQueue[Job] = SimpleQueue()
    Thread(target=_listen, args=(sys.stdin.buffer, inbox), daemon=True).start()
    warm: set[str] = set()
    while True:
        job = inbox.get()
        if job.method not in warm:
            warm_up(job.method, problem.outcome.task)
            warm.add(job.method)
        _say(replies, READY)
        _say(replies, do_job(problem, job))


def _listen(pipe: BinaryIO, inbox: SimpleQueue[Job]) -> None:
    """Pass jobs on; end the process, whatever it does, when there are no more."""
    try:
        while True:
            inbox.put(pickle.load(pipe))
    finally:
        os._exit(0)


def _say(pipe: BinaryIO, message: Any) -> None:
    pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()
