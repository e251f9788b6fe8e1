"""Kernels compile on first use, with or without a folder for their cache."""

import os
import subprocess
import sys

import numpy as np
import pytest

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
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout
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


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"part": 5}, ["15.0", "0"]),
        ({"rate": 0.5}, ["6.5", "0"]),
        ({"comment": "  # twice"}, ["6.0", "1"]),
    ],
)
def test_a_change_in_another_module_is_compiled_anew(tmp_path, change, expected):
    def run(**parts):
        text = LOWER.format(**{"rate": 0, "part": 2, "comment": "", **parts})
        (tmp_path / "lower.py").write_text(text)
        return subprocess.run(
            [sys.executable, "-B", tmp_path / "upper.py"],
            env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True, text=True, check=True,
        ).stdout.split()  # fmt: skip

    (tmp_path / "upper.py").write_text(UPPER)
    assert run() == ["6.0", "0"]
    assert run() == ["6.0", "1"]
    assert run(**change) == expected


def test_kernels_are_called_by_plain_names():
    @kernel
    def fourfold(x):
        return here.doubled(here.doubled(x))

    with pytest.raises(TypeError, match="calls here.doubled; import doubled itself"):
        fourfold(1.0)
