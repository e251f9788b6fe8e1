"""Data sets of the density studies, and the results printed in the thesis."""

import time
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks._data import SHARED


class Printed(NamedTuple):
    """Krakovna (2016): test log-likelihood (table 12) and seconds (table 13)."""

    pareto: tuple[float, float]
    hybrid: tuple[float, float]
    mini: tuple[float, float]
    learn: tuple[float, float]


PRINTED = {
    "nltcs": Printed((-6.33, 4.8), (-6.03, 35), (-6.12, 1.4), (-6.1, 60)),
    "plants": Printed((-17.3, 28), (-13.1, 780), (-13.2, 11), (-13.0, 160)),
    "baudio": Printed((-41.9, 28), (-39.9, 556), (-40.0, 12), (-40.5, 955)),
    "bnetflix": Printed((-59.5, 27), (-56.7, 766), (-56.8, 14), (-57.3, 1230)),
    "pumsb_star": Printed((-40.8, 47), (-28.4, 1100), (-28.3, 22), (-25.0, 350)),
    "dna": Printed((-98.1, 6.3), (-91.5, 45), (-93.9, 3), (-89.0, 300)),
}
"""The complete sets of its table 11."""

SETS = (*PRINTED, "nips", "voting")
"""The last two are wider, and not in the thesis."""


PARTS = ("train", "valid", "test")


def sets_in(folder):
    """Names of the data sets of a folder, with a file for each part."""
    found = sorted(path.name.split(".train.")[0] for path in folder.glob("*.train.*"))
    if not found:
        raise FileNotFoundError(f"{folder} has no files such as NAME.train.data")
    return tuple(found)


def parts_of(name, folder=None):
    """Training, validation and test rows of 0 and 1.

    In a folder these are files NAME.train.data, NAME.valid.data and NAME.test.data,
    with commas or blanks between values.
    """
    if folder is not None:
        return tuple(rows_of(folder, name, part) for part in PARTS)
    packed = np.load(SHARED / "debd" / f"{name}.npz")
    n_columns = int(packed["n_vars"])
    return tuple(
        np.unpackbits(packed[part], axis=1)[:, :n_columns].astype(np.float64)
        for part in PARTS
    )


def rows_of(folder, name, part):
    """The only file of a part."""
    (path,) = Path(folder).glob(f"{name}.{part}.*")
    lines = path.read_text(encoding="utf-8").replace(",", " ").splitlines()
    return np.loadtxt(lines, ndmin=2)


def warm():
    """Load the modules of all learners, so that imports are not timed."""
    import clearwood as cw

    rows = np.random.default_rng(0).integers(2, size=(400, 8)).astype(float)
    rows[:, 1:4] = rows[:, :1]
    rows[::2, 5:7] = rows[::2, 4:5]
    for learner in (cw.MiniSPN(), cw.LearnSPN(), cw.HybridSPN(20)):
        learner.set_params(random_state=0).fit(rows).score(rows)


def timed(function):
    """The result of a function, and its CPU time in seconds."""
    begin = time.process_time()
    found = function()
    return found, time.process_time() - begin


def fitted(learner, name, folder=None):
    """A row of a study: a learner on a data set, evaluated on test rows."""
    train, valid, test = parts_of(name, folder)
    learner, seconds = timed(lambda: learner.fit(train, X_val=valid))
    return {
        "valid": learner.score(valid),
        "test": learner.score(test),
        "parameters": learner.degrees_of_freedom_,
        "seconds": seconds,
    }
