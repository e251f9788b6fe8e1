"""Worker processes: none is left behind, whatever happens."""

import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from tests.comparison.stand_in import stand_in, worker_ids
from tests.waiting import SECONDS, running
from tests.wording import refuses, same_lines, same_text, warns

import clearwood as cw
from clearwood._numeric import progress
from clearwood.comparison import processes as pool
from clearwood.comparison.folds import Job, Reply
from clearwood.exceptions import ClearwoodError, InputError, InterruptedFitWarning

FIGS = "imodels:FIGS"


def data():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(60, 3))
    y = (X[:, 0] > 0.5).astype(int)
    return RandomForestClassifier(5, random_state=0).fit(X, y), X, y


def compared(methods, **settings):
    quick = {"cv": 2, "n_refits": 0, "max_rules": 4, "random_state": 0}
    return cw.compare(*data(), methods=methods, **{**quick, **settings})


def are_gone(pids):
    """Whether all processes end; a zombie would still be there."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        alive = []
        for pid in pids:
            try:
                os.kill(pid, 0)
                alive.append(pid)
            except ProcessLookupError:
                pass
        if not alive:
            return True
        time.sleep(0.05)
    return False


def test_a_crash_is_the_failure_of_one_method(tmp_path, monkeypatch):
    end = "os.write(2, b'so long\\n'); os.kill(os.getpid(), 9)"
    stand_in(tmp_path, monkeypatch, end)
    found = compared([FIGS, "in-trees"])
    ((method, why),) = found.failures
    assert method == FIGS
    same_text(why)
    assert {p.method for p in found.points} == {"in-trees"}
    assert worker_ids(tmp_path) and are_gone(worker_ids(tmp_path))


def test_a_slow_method_is_stopped_and_what_is_done_is_kept(tmp_path, monkeypatch):
    # A bootstrap sample of the 60 rows holds some of them twice.
    is_sample = "len(X) == 60 > len(set(map(tuple, X)))"
    hang = tmp_path / "hangs"
    # Two seconds first: the clock of the fit has to run before it jumps. And once only.
    path = f"Path({str(hang)!r})"
    wait = f"time.sleep(2), {path}.touch(), time.sleep(600)"
    fit = f"({is_sample}) and not {path}.exists() and ({wait})"
    stand_in(tmp_path, monkeypatch, fit)
    # How long fits take here depends on the machine; so the clock waits for the one.
    real = time.monotonic
    clock = SimpleNamespace(monotonic=lambda: real() + 1e6 * hang.exists())
    monkeypatch.setattr(pool, "time", clock)
    # Peers have a limit of their own.
    monkeypatch.setattr(pool, "PEER_SECONDS", 1e5)
    found = compared([FIGS], n_refits=2, time_limit=2e5)
    ((method, why),) = found.failures
    assert method == FIGS and "100000" in why
    same_text(why)
    assert [p.n_rules for p in found.points] == [2, 3, 4]
    assert np.isnan([p.stability for p in found.points]).all()
    assert are_gone(worker_ids(tmp_path))


@pytest.mark.dear
def test_a_method_that_has_no_time_at_all_has_no_points(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "time.sleep(600)")
    with refuses(InputError, match="time_limit.*0.5"):
        compared([FIGS], time_limit=0.5)
    assert are_gone(worker_ids(tmp_path))


def test_a_method_that_is_done_is_not_stopped(monkeypatch):
    done, late = Job("tree", (1,), 0), Job("list", (1,), 0)
    board = pool.Board([done, late], time_limit=5.0)
    clock = iter([0.0, 10.0, 10.0, 20.0])
    fake = SimpleNamespace(monotonic=lambda: next(clock))
    monkeypatch.setattr(pool, "time", fake)

    class Worker:
        is_killed = False

        def kill(self):
            self.is_killed = True

    worker = Worker()
    assert board.take() == done and board.begin(worker, done)
    board.start_clock(worker)
    board.end(worker, done, Reply([], 10.0))
    assert board.take() == late and board.begin(worker, late)
    board.start_clock(worker)
    # Both took ten seconds; only one of them still runs.
    board._stop_slow_methods()
    assert list(board.outcome.failures) == ["list"]
    same_text(board.outcome.failures["list"])
    assert worker.is_killed and list(board.outcome.replies) == [done]


@pytest.mark.dear
def test_ctrl_c_before_a_worker_ignores_it_keeps_what_is_done(
    monkeypatch, python_listens
):
    start, n_init = pool.Worker.start, iter(range(9))

    def end_on_the_second_start(worker):
        if next(n_init):
            worker.process.send_signal(signal.SIGINT)
        start(worker)

    def interrupt_at_the_end(items, *_):
        yield from items
        raise KeyboardInterrupt

    monkeypatch.setattr(pool.Worker, "start", end_on_the_second_start)
    monkeypatch.setattr(pool, "progress", interrupt_at_the_end)
    do = pool._do

    # As by a time limit: the next job needs another worker.
    def lost_after(board, worker, job):
        return do(board, worker, job) and job.part != 2

    monkeypatch.setattr(pool, "_do", lost_after)
    with warns(InterruptedFitWarning):
        found = compared(["tree", "in-trees"])
    assert {p.method for p in found.points} == {"tree"}


def test_an_error_here_leaves_no_worker(tmp_path, monkeypatch):
    path = f"f'{tmp_path}/pid-{{os.getpid()}}'"
    program = f"import os, time; open({path}, 'w'); time.sleep(600)"
    monkeypatch.setattr(pool, "PROGRAM", program)

    def fail(self):
        if worker_ids(tmp_path):
            raise ZeroDivisionError

    monkeypatch.setattr(pool.Board, "_stop_slow_methods", fail)
    threads = threading.active_count()
    with pytest.raises(ZeroDivisionError):
        compared(["tree", "in-trees"], n_jobs=2)
    assert are_gone(worker_ids(tmp_path))
    assert threading.active_count() == threads


def test_what_ended_a_worker_is_told(monkeypatch):
    monkeypatch.setattr(pool, "_sent", lambda problem: b"no pickle")
    with refuses(ClearwoodError, match="UnpicklingError"):
        compared(["in-trees"])


def test_a_worker_that_cannot_start_is_one_error(monkeypatch):
    monkeypatch.setattr(pool, "PROGRAM", "import no_such_module")
    with refuses(ClearwoodError, match="no_such_module"):
        compared(["in-trees"])


def test_a_worker_that_is_killed_while_it_starts_leaves_the_jobs_to_the_other(
    monkeypatch,
):
    start, lost = pool.Worker.start, threading.Event()
    starts = iter(range(9))

    def killed_the_first_time(worker):
        if next(starts) == 0:
            worker.process.kill()
            try:
                start(worker)
            finally:
                lost.set()
        assert lost.wait(SECONDS)
        start(worker)

    monkeypatch.setattr(pool.Worker, "start", killed_the_first_time)
    found = compared(["in-trees", "tree"], n_jobs=2)
    assert {p.method for p in found.points} == {"in-trees", "tree"}
    assert found.failures == () and next(starts) == 2


def test_workers_that_are_all_killed_while_they_start_are_one_error(monkeypatch):
    start, starts = pool.Worker.start, iter(range(9))

    def killed(worker):
        next(starts)
        worker.process.kill()
        start(worker)

    monkeypatch.setattr(pool.Worker, "start", killed)
    with refuses(ClearwoodError):
        compared(["in-trees", "tree"], n_jobs=2)
    assert next(starts) == 2


HALF_AN_ANSWER = """
import os, pickle
for _ in ("problem", "job"):
    os.read(0, 10_000)
    os.write(1, pickle.dumps("ready"))
os.write(1, pickle.dumps(bytes(10**6))[:1000])
"""


def test_a_worker_that_is_lost_in_the_middle_of_an_answer_is_noticed(monkeypatch):
    monkeypatch.setattr(pool, "PROGRAM", HALF_AN_ANSWER)
    monkeypatch.setattr(pool, "_sent", lambda problem: b"short")
    with refuses(InputError):
        compared(["in-trees"], time_limit=None)


@pytest.mark.dear
def test_workers_start_from_a_daemonic_process(monkeypatch):
    # As of multiprocessing.Pool, which may have no children of multiprocessing's.
    monkeypatch.setitem(multiprocessing.current_process()._config, "daemon", True)
    assert compared(["in-trees"]).points


SCRIPT = """
import numpy as np
from sklearn.ensemble import RandomForestClassifier
import clearwood as cw

rng = np.random.default_rng(0)
X = rng.uniform(size=(60, 3))
y = (X[:, 0] > 0.5).astype(int)
forest = RandomForestClassifier(5, random_state=0).fit(X, y)
try:
    found = cw.compare(
        forest, X, y, methods={methods}, cv=2, n_refits=0, max_rules=4,
        time_limit=None,
    )
    print(sorted({{p.method for p in found.points}}), found.failures)
except KeyboardInterrupt:
    print("nothing")
"""


@contextmanager
def started(folder, methods):
    """A script without ``if __name__ == "__main__"``, once its worker hangs."""
    code = textwrap.dedent(SCRIPT).format(methods=methods)
    path = os.pathsep.join([str(folder), *sys.path])
    with running(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        # As in a terminal, Ctrl-C goes to the whole group.
        start_new_session=True,
    ) as process:
        end = time.monotonic() + SECONDS
        while not worker_ids(folder) and time.monotonic() < end:
            time.sleep(0.05)
        yield process


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
@pytest.mark.parametrize(
    "methods", [["in-trees", FIGS], pytest.param([FIGS], marks=pytest.mark.dear)]
)
def test_ctrl_c_keeps_what_is_done_and_leaves_no_worker(
    methods, tmp_path, monkeypatch, python_listens
):
    stand_in(tmp_path, monkeypatch, "time.sleep(600)")
    with started(tmp_path, methods) as process:
        os.killpg(process.pid, signal.SIGINT)
        out, err = process.communicate(timeout=SECONDS)
    assert are_gone(worker_ids(tmp_path))
    if len(methods) == 1:
        assert out == "nothing\n" and err == ""
    else:
        assert out == "['in-trees'] (('imodels:FIGS', 'interrupted'),)\n"
        same_lines(err)


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_workers_end_with_the_process_that_started_them(tmp_path, monkeypatch):
    stand_in(tmp_path, monkeypatch, "time.sleep(600)")
    with started(tmp_path, [FIGS]) as process:
        process.kill()
        process.communicate(timeout=SECONDS)
    assert worker_ids(tmp_path) and are_gone(worker_ids(tmp_path))


def test_a_worker_that_never_is_ready_is_reported_and_stopped(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setattr(progress, "TELL_SECONDS", 0.1)
    monkeypatch.setattr(progress, "MOST_SECONDS", 0.5)
    monkeypatch.setattr(pool, "PROGRAM", "import time; time.sleep(60)")
    with refuses(ClearwoodError):
        compared(["in-trees"], time_limit=None)
    same_lines(capsys.readouterr().err)


def test_functions_of_a_session_are_sent(in_this_process):
    forest, X, y = data()
    half = 0.5
    settings = {"cv": 2, "n_refits": 0, "max_rules": 3, "random_state": 0}
    found = cw.compare(
        lambda rows: (forest.predict(rows) > half).astype(int), X, y,
        methods=["tree"], **settings,
    )  # fmt: skip
    assert not found.failures and found.points


def test_what_cannot_be_sent_is_told_with_a_remedy(monkeypatch):
    with refuses(InputError):
        pool._sent((threading.Lock(),))
