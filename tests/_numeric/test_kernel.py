"""Kernels compile on first use, with or without a folder for their cache."""

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
