"""Two runs of one commit write the same: of chance and of time nothing is left."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks import same_answers


def test_of_bars_their_names_are_left():
    bar = "networks: {:3}%|{}| {}/4 [00:00<00:00, {}.2it/s]\n"
    slow = bar.format(0, "", 0, "?") + bar.format(100, "####", 4, 31)
    fast = "".join(bar.format(25 * n, n * "#", n, n) for n in range(5))
    for bars in (slow, fast):
        text = f"kinds: 3\n{bars}50 % of rows\n"
        found = same_answers.without_varying_parts(text, Path("nowhere"))
        assert found == text.replace(bars, "networks: BAR\n")


def test_clocks_stand_still_in_other_processes_too(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr("time.perf_counter", None)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    same_answers.stop_the_clock(tmp_path / "clock")
    clock = "import time; print(time.perf_counter())"
    ours = subprocess.check_output([sys.executable, "-c", clock], text=True, timeout=60)
    # As the worker processes of ``compare`` are started.
    kept = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    theirs = subprocess.check_output(
        [sys.executable, "-P", "-c", clock], text=True, env=kept, timeout=60
    )
    assert ours == theirs == "0.0\n"
    assert os.environ["PYTHONPATH"].endswith(f"{os.pathsep}{tmp_path}")


def test_insets_are_entered():
    pyplot = pytest.importorskip("matplotlib.pyplot")
    figure, ax = pyplot.subplots()
    ax.inset_axes((0, 0, 1, 0.5)).inset_axes((0, 0, 1, 0.5)).plot([0, 1], [2.0, 7.5])
    found = same_answers.marks(figure)
    assert found.count("axes ") == 3 and "7.5" in found
    pyplot.close(figure)
