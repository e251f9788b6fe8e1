"""No fit depends on how this machine adds: see ``clearwood._numeric.same_bits``."""

import ast
import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

OTHER_MACHINES = [
    {"OPENBLAS_CORETYPE": "Prescott", "OPENBLAS_NUM_THREADS": "2"},
    pytest.param({"OPENBLAS_CORETYPE": "Haswell"}, marks=pytest.mark.dear),
]
"""Older processors and more threads, as far as OpenBLAS can play them here."""


def digests_with(settings):
    """What ``tests/same_bits.py`` prints in a process with such a BLAS."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.same_bits"],
        cwd=ROOT,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **settings},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@cache
def digests_here():
    return digests_with({})


@pytest.mark.parametrize("settings", OTHER_MACHINES)
def test_no_estimator_depends_on_the_blas(settings):
    here, there = digests_here(), digests_with(settings)
    if there["blas"] == here["blas"]:
        pytest.skip("This BLAS does not play another processor")
    assert there["digests"] == here["digests"], there["blas"]


ADD_AS_THEY_LIKE = {
    "circuits/queries", "circuits/reading", "comparison", "datasets",
    "references", "sequences/networks", "sequences/reading", "sequences/recurrent",
}  # fmt: skip
"""Rooms of models that are not ours, and of answers that nobody chooses by."""

ANSWERS = {
    f"distributions/{name}.py" for name in ("categorical", "chow_liu", "histogram")
}
"""Files whose products are moments and marginals, asked for by queries alone."""

WHOLE_NUMBERS = {"sbfc/scores.py"}
"""Files whose sums are of whole numbers, and exact in any order."""

SPARSE = {"sbfc/calibration.py"}
"""Files whose products are of sparse matrices, which SciPy adds in their order."""


def test_no_fit_multiplies_by_blas():
    house = ROOT / "src" / "clearwood"
    found = []
    for path in sorted(house.rglob("*.py")):
        name = path.relative_to(house).as_posix()
        if name in WHOLE_NUMBERS | SPARSE | ANSWERS or any(
            name.startswith(f"{room}/") for room in ADD_AS_THEY_LIKE
        ):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.MatMult) or (
                isinstance(node, ast.Attribute)
                and node.attr in {"dot", "matmul", "tensordot", "vdot"}
                and getattr(node.value, "id", None) == "np"
            ):
                found.append(name)
    assert not found, "Use product() of clearwood._numeric in place of BLAS"
