"""What every compiled kernel promises of its arguments, by the casters they share."""

import re
import subprocess
import sys
import threading

import numpy as np
import pytest
from tests.waiting import SECONDS

from clearwood import _kernels
from clearwood._kernels.discretize import best_cut
from clearwood._kernels.numeric import product, solve_lower

MOST_ARGUMENTS = 8

ALL = {
    f"{part}.{name}": kernel
    for part in dir(_kernels)
    if not part.startswith("_")
    for name, kernel in vars(getattr(_kernels, part)).items()
    if callable(kernel)
}


@pytest.mark.parametrize("name", ALL)
def test_arguments_are_few(name):
    for signature, *_ in ALL[name].__nb_signature__:
        assert len(re.findall(r"\barg\d+:", signature)) <= MOST_ARGUMENTS


def cut(label=np.int32, weight=np.float64, of=lambda array: array):
    """Two rows of each class, ``of`` made of each array."""
    arrays = [0, 0, 1, 1], [1, 2, 1, 3], [1, 1, 1, 0]
    types = label, weight, bool
    at, counts = best_cut(
        *(of(np.array(a, dtype)) for a, dtype in zip(arrays, types)), 0, 4, 2
    )
    return at, counts.tolist()


def read_only(array):
    array.setflags(write=False)
    return array


def test_arrays_that_are_read_may_have_any_memory():
    expected = (2, [[3.0, 0.0], [0.0, 4.0]])
    assert cut() == expected
    assert cut(of=read_only) == expected
    assert cut(of=lambda array: np.repeat(array, 2)[::2]) == expected
    assert cut(of=lambda array: array[::-1].copy()[::-1]) == expected
    assert cut(of=lambda array: np.frombuffer(array.tobytes(), array.dtype)) == expected


@pytest.mark.parametrize("label", [np.int8, np.int16, np.uint8, np.uint16])
@pytest.mark.parametrize("weight", [np.float32, np.int32, np.uint8])
def test_types_that_hold_fewer_numbers_are_widened(label, weight):
    assert cut(label, weight) == cut()


@pytest.mark.parametrize("label", [np.int64, np.uint32, np.float64, object, str])
def test_types_that_hold_others_are_refused(label):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        cut(label)


def test_lists_and_other_shapes_are_refused():
    for wrong in ([1.0, 2.0], np.ones((2, 1)), None, 1.0):
        with pytest.raises(TypeError, match="incompatible function arguments"):
            solve_lower(np.eye(2), wrong)


@pytest.mark.parametrize(
    "written",
    [
        read_only(np.ones(2)),
        np.ones(4)[::2],
        np.ones(2, np.float32),
        np.ones(2, np.int64),
    ],
    ids=["read only", "strided", "float32", "int64"],
)
def test_arrays_that_are_written_are_never_copies(written):
    with pytest.raises(TypeError, match="incompatible function arguments"):
        solve_lower(2.0 * np.eye(2), written)
    assert np.all(written == 1)


def test_results_own_their_memory():
    found = [product(np.eye(3), np.full((3, 3), float(i))) for i in range(100)]
    assert all(np.all(a == i) for i, a in enumerate(found))
    found[0][:] = 1.0  # writable


def test_empty_arrays_are_arrays():
    assert product(np.empty((0, 3)), np.ones((3, 2))).shape == (0, 2)
    assert np.array_equal(product(np.ones((2, 0)), np.ones((0, 2))), np.zeros((2, 2)))


def test_other_threads_go_on_meanwhile_and_results_are_the_same():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(700, 700)), rng.normal(size=(700, 700))
    results = []
    threads = [
        threading.Thread(target=lambda: results.append(product(a, b))) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    steps = 0
    while any(thread.is_alive() for thread in threads):
        steps += 1
    assert steps > 100  # a kernel that kept the GIL would leave this thread a few
    assert results[0].tobytes() == results[1].tobytes() == product(a, b).tobytes()


INTERRUPTED = """
import os, signal, threading
import numpy as np
from clearwood._kernels.numeric import product

a = np.ones((500, 500))
threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    while True:
        product(a, a)
except KeyboardInterrupt:
    print(product(np.eye(2), np.eye(2)).sum())
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_ctrl_c_in_a_kernel_is_heard_after_it(python_listens):
    command = [sys.executable, "-c", INTERRUPTED]
    done = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)
    assert done.stdout == "2.0\n", done.stderr


@pytest.mark.parametrize(
    "module", ["clearwood", "clearwood._numeric", "clearwood._kernels", "clearwood.cli"]
)
def test_import_loads_no_other_library_than_numpy(module):
    code = (
        f"import sys, {module}; "
        "print([m for m in ('sklearn', 'pandas', 'scipy', 'matplotlib') "
        "if m in sys.modules])"
    )
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True, text=True, check=True, timeout=SECONDS,
    ).stdout  # fmt: skip
    assert loaded.strip() == "[]"
