"""How long a fresh interpreter takes to start, import and compile."""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

HELP = "import sys; sys.argv = ['clearwood', '--help']; " + (
    "from clearwood.cli import main; main()"
)
PROGRAMS = {
    "empty": "",
    "numpy, scipy": "import numpy, scipy",
    "clearwood": "import clearwood",
    "help": HELP,
}
FITS = """
import time
import numpy as np
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
import clearwood
cases = []
for n_rows in (60, 1500):
    X = np.random.default_rng(0).normal(size=(n_rows, 2))
    y = X[:, 0] + X[:, 1] ** 2
    forest = RandomForestRegressor(3, random_state=0).fit(X, y)
    cases.append((clearwood.FABRulesRegressor, forest, X, y))
    forest = RandomForestClassifier(3, random_state=0).fit(X, y > 1)
    cases.append((clearwood.FABRulesClassifier, forest, X, y > 1))
begin = time.process_time()
for make, forest, X, y in cases:
    for method in ("fab", "em"):
        fab = make(forest, n_restarts=1, max_iter=5, method=method, random_state=0)
        fab.fit(X, y).predict(X), fab.predict_soft(X)
print(time.process_time() - begin)
"""


def start_times(n_repeats):
    """Medians; the programs take turns, so that a busy spell hits all."""
    times = {name: [] for name in PROGRAMS}
    for _ in range(n_repeats + 1):
        for name, program in PROGRAMS.items():
            begin = time.perf_counter()
            done = subprocess.run(
                [sys.executable, "-c", program], capture_output=True, check=False
            )
            if done.returncode == 0:
                times[name].append(time.perf_counter() - begin)
    # The first round reads from disk.
    median = {name: float(np.median(t[1:])) for name, t in times.items() if t[1:]}
    numpy_scipy = median["numpy, scipy"] - median["empty"]
    clearwood = median["clearwood"] - median["empty"]
    measures = {
        "empty interpreter (s)": median["empty"],
        "import numpy, scipy (s)": numpy_scipy,
        "import clearwood (s)": clearwood,
        "ratio": clearwood / numpy_scipy,
    }
    if "help" in median:
        measures["clearwood --help (s)"] = median["help"]
    return measures


def compile_times():
    """The same small fits with no compiled kernels and with all of them."""
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"NUMBA_CACHE_DIR": folder}
        command = [sys.executable, "-c", FITS]
        cold, warm = (
            float(
                subprocess.check_output(
                    command, env=environment, stderr=subprocess.DEVNULL
                )
            )
            for _ in range(2)
        )
        kernels = len(list(Path(folder).rglob("*.nbi")))
    return {
        "kernels": kernels,
        "cold (s)": cold,
        "warm (s)": warm,
        "compiling (s)": cold - warm,
    }
