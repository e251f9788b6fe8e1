"""Lines on stderr: how far long work has come, and what it waits for."""

import threading

import pytest
from tests.wording import same_text

from clearwood._numeric import progress as module
from clearwood._numeric.progress import Patience, progress


def test_it_tells_how_many_and_how_long(capsys):
    assert list(progress(iter("abc"), 3, "letters", visible=True)) == ["a", "b", "c"]
    told = capsys.readouterr()
    assert told.out == ""
    last = told.err.split("\r")[-1]
    assert last.startswith("letters: 100%|") and "| 3/3 [" in last
    assert last.endswith("\n")


def test_nothing_is_said_where_it_is_not_asked_for(capsys):
    assert list(progress(range(3), 3, "numbers", visible=False)) == [0, 1, 2]
    assert capsys.readouterr().err == ""


def test_the_line_ends_where_work_is_stopped(capsys):
    with pytest.raises(KeyboardInterrupt):
        for _ in progress(iter([1, 2]), 2, "parts", visible=True):
            raise KeyboardInterrupt
    assert capsys.readouterr().err.endswith("\n")


def test_no_thread_stays_behind():
    before = threading.active_count()
    steps = progress(range(9), 9, "steps", visible=True)
    next(steps)
    assert threading.active_count() == before
    steps.close()


def test_a_wait_is_reported_once_and_ends(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    patience = Patience("no worker", 100)

    def reported(seconds, is_there):
        now[0] = seconds
        return patience.goes_on(is_there), capsys.readouterr().err

    assert reported(29, False) == (True, "")
    goes_on, late = reported(30, False)
    assert goes_on and "no worker" in late and " 30 s" in late and " 100 s" in late
    assert reported(90, False) == (True, "")
    goes_on, back = reported(99, True)
    assert goes_on and "no worker" in back
    same_text([late, back])
    assert reported(198, False) == (True, late.replace("30", "99"))
    assert reported(199, False) == (False, "")
