"""How long a fresh interpreter takes to start and import."""

import subprocess
import sys
import time

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


def start_times(n_repeats):
    """Medians; programs alternate, so that changes of load affect all of them."""
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
