"""Worker processes for the jobs of a comparison, with a time limit and Ctrl-C.

A worker is a Python process that exchanges pickles over its standard input and output.
It can be stopped at any moment, it needs no ``if __name__ == "__main__"`` in the
calling script, and it ends when its standard input does: none is left behind, however
the process that started it ends.

Why not joblib's executor (loky): it keeps both ends of its pipes, so a worker that is
killed in the middle of an answer is waited for without end; it cannot be started from
daemonic processes (those of multiprocessing.Pool); and processes that track its
resources stay until the interpreter ends.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import RLock, Thread
from typing import Any

from clearwood._numeric.progress import Patience, progress
from clearwood.comparison.folds import Job, Problem, Reply
from clearwood.comparison.peers import PEERS
from clearwood.exceptions import ClearwoodError, InputError

PROGRAM = "from clearwood.comparison.working import work; work()"
"""Program of a worker."""
PEER_SECONDS = 30.0
"""Maximum time for all fits of a peer: some take minutes for hundreds of rows."""
LOOK_EVERY = 0.1
"""Seconds between checks of the time limit."""
GRACE = 10.0
"""Seconds that a worker may live after closing its pipes."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"
)
"""One thread per worker: all cores are busy, and sums do not depend on threads."""


class Worker:
    """Process that holds the problem and runs one job at a time.

    Parameters
    ----------
    problem : bytes
        A pickled ``Problem``.
    """

    def __init__(self, problem: bytes) -> None:
        self._errors = tempfile.TemporaryFile()
        # -P and this path, so that imports find the same modules as here.
        path = os.pathsep.join(os.path.abspath(part) for part in sys.path)
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env={**os.environ, **ONE_THREAD, "PYTHONPATH": path},
        )
        self._problem = problem
        self.is_killed = False
        self._stopped = ""

    def start(self) -> None:
        """Wait until it is ready; EOFError if it ends before that."""
        self._send(self._problem)

    def begin(self, job: Job) -> None:
        """Send a job, and wait until its method is loaded."""
        self._send(pickle.dumps(job))

    def _send(self, message: bytes) -> None:
        """Send pickled data, and wait for the acknowledgement."""
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(message)
            self.process.stdin.flush()
        except OSError:
            raise EOFError("the worker is gone") from None
        self.answer()

    def answer(self) -> Any:
        """Next message; EOFError if the process ends before it."""
        assert self.process.stdout is not None
        try:
            return pickle.load(self.process.stdout)
        except pickle.UnpicklingError:
            raise EOFError("the worker ended while it sent a result") from None

    def kill(self, why: str = "") -> None:
        """End the process now; threads that wait for an answer get an EOFError."""
        self.is_killed, self._stopped = True, why
        self.process.kill()

    def last_words(self) -> str:
        """Exit status, and the last line of the error output."""
        try:
            code = self.process.wait(GRACE)
        except subprocess.TimeoutExpired:
            # It closed its pipes, but part of it is still running.
            self.kill()
            code = self.process.wait(GRACE)
        if self._stopped:
            return self._stopped
        self._errors.seek(0)
        lines = self._errors.read().decode(errors="replace").split("\n")
        last = next((line.strip() for line in reversed(lines) if line.strip()), "")
        how = f"signal {-code}" if code < 0 else f"exit code {code}"
        return f"its process ended with {how}" + (f": {last[:200]}" if last else "")

    def close(self) -> None:
        """End the process, if it still runs, and wait until it is gone."""
        self.kill()
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            try:
                assert pipe is not None
                pipe.close()
            except OSError:
                pass  # Unsent data are dropped.
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(GRACE)


@dataclass
class JobsDone:
    """Results of all jobs.

    Attributes
    ----------
    replies : dict of Job to Reply
        Replies of the completed jobs.
    failures : dict of str to str
        Methods that did not complete all jobs, and the reasons.
    interrupted : bool
        Whether Ctrl-C came before the end.
    """

    replies: dict[Job, Reply] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    interrupted: bool = False


class Board:
    """Shared state of the jobs: pending, running and done."""

    def __init__(
        self, jobs: Sequence[Job], time_limit: float | None, n_workers: int = 1
    ) -> None:
        self.outcome = JobsDone()
        self.error: BaseException | None = None
        self._time_limit = time_limit
        self._jobs = deque(jobs)
        self._n_left = len(jobs)
        self._n_workers = n_workers
        self._spent = dict.fromkeys((job.method for job in jobs), 0.0)
        self._running: dict[Worker, tuple[Job, float | None]] = {}
        self._settled: SimpleQueue[int] = SimpleQueue()
        self._workers: set[Worker] = set()
        self._preparing: dict[Worker, Patience] = {}
        self._lock = RLock()
        self._is_over = False

    def has_jobs(self) -> bool:
        """Whether any jobs are pending."""
        with self._lock:
            return bool(self._jobs) and not self._is_over

    def take(self) -> Job | None:
        """Next job, or None."""
        with self._lock:
            return None if self._is_over or not self._jobs else self._jobs.popleft()

    def hire(self, worker: Worker) -> None:
        """Add a worker to those that a stop kills."""
        with self._lock:
            self._workers.add(worker)
            self._preparing[worker] = Patience("a worker process did not start")
            if self._is_over:
                worker.kill()

    def dismiss(self, worker: Worker) -> None:
        """Remove a worker that has ended."""
        with self._lock:
            self._workers.discard(worker)
            self._preparing.pop(worker, None)

    def begin(self, worker: Worker, job: Job) -> bool:
        """Record the start of a job; False if it is no longer wanted."""
        with self._lock:
            if self._is_over or job.method in self.outcome.failures:
                self._settle(1)
                return False
            self._running[worker] = job, None
            loading = f"a worker process did not load {job.method}"
            self._preparing[worker] = Patience(loading)
            return True

    def start_clock(self, worker: Worker) -> None:
        """Start the time limit of its job."""
        with self._lock:
            self._running[worker] = self._running[worker][0], time.monotonic()
            self._preparing.pop(worker, None)

    def end(self, worker: Worker, job: Job, reply: Reply) -> None:
        """Record the reply to a job."""
        with self._lock:
            self._spend(worker)
            self._settle(1)
            if reply.error:
                self.give_up(job.method, reply.error)
            else:
                self.outcome.replies[job] = reply

    def give_up(self, method: str, why: str) -> None:
        """Drop all unfinished jobs of a method."""
        with self._lock:
            if self._is_over or method in self.outcome.failures:
                return
            self.outcome.failures[method] = why
            kept = deque(job for job in self._jobs if job.method != method)
            self._settle(len(self._jobs) - len(kept))
            self._jobs = kept
            for worker, (job, _) in self._running.items():
                if job.method == method:
                    worker.kill()

    def _spend(self, worker: Worker) -> None:
        job, begin = self._running.pop(worker)
        if begin is not None:
            self._spent[job.method] += time.monotonic() - begin

    def _settle(self, n_jobs: int) -> None:
        for _ in range(n_jobs):
            self._settled.put(1)

    def settled(self, threads: Sequence[Thread]) -> Iterator[int]:
        """One item per job that is done or dropped, until all are."""
        while self._n_left and any(thread.is_alive() for thread in threads):
            self._stop_slow_methods()
            self._stop_stuck_workers()
            try:
                yield self._settled.get(timeout=LOOK_EVERY)
            except Empty:
                continue
            self._n_left -= 1

    def _stop_slow_methods(self) -> None:
        with self._lock:
            if self._time_limit is None:
                return
            now = time.monotonic()
            spent = dict(self._spent)
            for job, begin in self._running.values():
                spent[job.method] += 0.0 if begin is None else now - begin
            # The time limit does not apply to completed methods.
            unfinished = {job.method for job in self._jobs}
            unfinished |= {job.method for job, _ in self._running.values()}
            for method in sorted(unfinished):
                limit = self._time_limit
                if method in PEERS:
                    limit = min(limit, PEER_SECONDS)
                if spent[method] > limit:
                    self.give_up(method, f"stopped after {limit:.6g} s")

    def _stop_stuck_workers(self) -> None:
        with self._lock:
            for worker, patience in list(self._preparing.items()):
                if not patience.goes_on(is_there=False):
                    worker.kill(f"not ready after {patience.most_seconds:.0f} s")

    def lose(self, why: str) -> None:
        """Record that a worker did not start; the others go on, if there are any."""
        with self._lock:
            self._n_workers -= 1
            if self._jobs and not self._n_workers:
                self.fail(ClearwoodError(f"No worker process can start: {why}"))

    def fail(self, error: BaseException) -> None:
        """Record that no worker can go on; without effect after the end."""
        with self._lock:
            if not self._is_over:
                self.error = error
                self.stop()

    def stop(self) -> None:
        """End all unfinished jobs now."""
        with self._lock:
            self._is_over = True
            self._jobs.clear()
            for worker in self._workers:
                worker.kill()


def run_jobs(
    problem: Problem,
    jobs: Sequence[Job],
    n_workers: int,
    time_limit: float | None,
    verbose: bool,
) -> JobsDone:
    """Run all jobs in worker processes.

    Parameters
    ----------
    problem : Problem
    jobs : sequence of Job
        In the order in which they start.
    n_workers : int
        Number of parallel processes. Results do not depend on it.
    time_limit : float or None
        Total seconds for the jobs of one method.
    verbose : bool
        Show a progress bar on stderr.

    Returns
    -------
    JobsDone
        On return, or when an error is raised, all processes have ended.
    """
    n_workers = min(n_workers, len(jobs))
    board = Board(jobs, time_limit, n_workers)
    sent = _sent(problem)
    threads = [
        Thread(target=_serve, args=(board, sent), daemon=True) for _ in range(n_workers)
    ]
    try:
        for thread in threads:
            thread.start()
        for _ in progress(board.settled(threads), len(jobs), "fits", verbose):
            pass
    except KeyboardInterrupt:
        board.outcome.interrupted = True
    finally:
        # Threads end their workers themselves, even if a second Ctrl-C comes here.
        board.stop()
        for thread in threads:
            if thread.ident is not None:
                # Children of a killed worker may still hold its pipes.
                thread.join(3 * GRACE)
    # Ctrl-C may end a worker before it ignores the signal.
    if board.error is not None and not board.outcome.interrupted:
        raise board.error
    return board.outcome


def _sent(problem: Problem) -> bytes:
    """Pickled problem for the workers.

    With a pickler that handles functions of an interactive session too, such as a
    lambda that calls a model.
    """
    import cloudpickle

    try:
        return cloudpickle.dumps(problem, protocol=pickle.HIGHEST_PROTOCOL)
    except Exception as error:  # Foreign objects may raise anything.
        raise InputError(
            f"The model cannot be passed to worker processes: {error} Pass a function "
            "that loads the model when it is called, or the model's file."
        ) from error


def _serve(board: Board, problem: bytes) -> None:
    """Run one job after the other in a worker, which is replaced if it is lost."""
    worker = None
    try:
        while board.has_jobs():
            if worker is None:
                worker = Worker(problem)
                board.hire(worker)
                worker.start()
            # Only now, so that a worker that fails to start leaves all jobs to others.
            job = board.take()
            if job and board.begin(worker, job) and not _do(board, worker, job):
                board.dismiss(worker)
                worker.close()
                worker = None
    except EOFError:
        assert worker is not None
        board.lose(worker.last_words())
    except BaseException as error:
        board.fail(error)
    finally:
        if worker is not None:
            board.dismiss(worker)
            worker.close()


def _do(board: Board, worker: Worker, job: Job) -> bool:
    """Run one job; False if the worker is lost."""
    try:
        worker.begin(job)
        board.start_clock(worker)
        reply = worker.answer()
    except EOFError:
        why = worker.last_words()
        board.end(worker, job, Reply([], 0.0, why))
        return False
    board.end(worker, job, reply)
    return not worker.is_killed
