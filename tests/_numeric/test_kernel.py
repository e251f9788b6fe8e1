"""Kernels compile on first use, with or without a folder for their cache."""

import os
import subprocess
import sys

import numpy as np
import pytest
from tests.interrupts import stopped_at
from tests.waiting import SECONDS
from tests.wording import refuses

from clearwood._numeric import kernel


def test_compiled_equals_plain():
    def halves(values):
        total = 0.0
        for value in values:
            total += value / 2
        return total

    assert kernel(halves)(np.arange(5.0)) == halves(np.arange(5.0))


def test_divides_like_numpy():
    @kernel
    def inverse(x):
        return 1.0 / x

    assert inverse(0.0) == np.inf


def test_ctrl_c_is_itself_where_numba_runs_python():
    @kernel
    def both(x):
        return x + 1.0, x - 1.0

    x = np.arange(3.0)
    both(x)
    with (
        pytest.raises(KeyboardInterrupt),
        stopped_at(1, KeyboardInterrupt, "numba.core.serialize"),
    ):
        both(x)


FIRST_CALL = """
from clearwood._numeric import kernel
from tests.interrupts import stopped_at

@kernel
def half(x):
    return x / 2

try:
    with stopped_at(500, KeyboardInterrupt, "numba"):
        half(1.0)
except KeyboardInterrupt:
    print(half(1.0))
"""


def test_ctrl_c_in_the_first_call_does_not_spoil_the_next():
    command = [sys.executable, "-c", FIRST_CALL]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout == "0.5\n", done.stderr


@pytest.mark.parametrize(
    "module",
    ["clearwood", "clearwood._numeric", "clearwood.cli"],
)
def test_import_loads_neither_numba_nor_sklearn(module):
    code = (
        f"import sys, {module}; "
        "print([m for m in ('numba', 'sklearn', 'pandas', 'matplotlib') "
        "if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, timeout=SECONDS,
    ).stdout  # fmt: skip
    assert loaded.strip() == "[]"


here = sys.modules[__name__]


@kernel
def doubled(x):
    return 2 * x


@kernel
def doubled_sum(values):
    total = 0.0
    for value in values:
        total += doubled(value)
    return total


def test_kernels_call_kernels():
    assert doubled_sum(np.arange(4.0)) == 12.0
    assert doubled_sum.__wrapped__(np.arange(4.0)) == 12.0


@kernel
def scaled_sum(values, factor=3.0):
    return factor * doubled_sum(values) / 2


def test_kernels_that_call_kernels_keep_their_defaults():
    assert scaled_sum(np.arange(4.0)) == 18.0
    assert scaled_sum(np.arange(4.0), 1.0) == 6.0


LOWER = """
from clearwood._numeric import kernel

RATE = {rate}

@kernel
def part(x):
    return {part} * x
"""

THROUGH = """
@kernel
def through(x):{comment}
    return part(x)
"""

UPPER = """
import numpy as np
from lower import RATE, through
from clearwood._numeric import kernel

@kernel
def total(values):
    found = 0.0
    for value in values:
        found += through(value)
    return found + RATE

print(total(np.ones(3)))
print(sum(total.compile_once().stats.cache_hits.values()))
"""


@pytest.fixture
def run(tmp_path):
    """Write the modules, run the upper one, and tell its result and cache hits."""

    def run(lower=LOWER + THROUGH, **parts):
        text = lower.format(**{"rate": 0, "part": 2, "comment": "", **parts})
        (tmp_path / "lower.py").write_text(text)
        (tmp_path / "upper.py").write_text(UPPER)
        return subprocess.run(
            [sys.executable, "-B", tmp_path / "upper.py"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True, text=True, check=True, timeout=SECONDS,
        ).stdout.split()  # fmt: skip

    return run


def test_a_change_in_another_module_is_compiled_anew(run):
    assert run() == ["6.0", "0"]
    assert run(comment="  # twice") == ["6.0", "1"]
    assert run(part=5) == ["15.0", "0"]
    assert run(rate=0.5) == ["6.5", "0"]


def test_kernels_may_move(run, tmp_path):
    """Code from Numba's cache imports the modules of all that it was made of."""
    (tmp_path / "lowest.py").write_text(LOWER.format(rate=0, part=2, comment=""))
    assert run("from lowest import part\n" + LOWER[: LOWER.index("@kernel")] + THROUGH)
    (tmp_path / "lowest.py").unlink()
    assert run() == ["6.0", "0"]


def test_kernels_are_called_by_plain_names():
    @kernel
    def fourfold(x):
        return here.doubled(here.doubled(x))

    with refuses(TypeError, match="here.doubled"):
        fourfold(1.0)
