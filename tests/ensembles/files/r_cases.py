"""Tables of forests of R, and the predictions that R writes beside them."""

import subprocess
from pathlib import Path

import numpy as np
import pandas as pd

from clearwood.ensembles import read_ensemble

CASES = (
    *("regression", "classes", "numbered"),
    *("ranger_regression", "ranger_classes", "ranger_probability"),
)
LEVELS = {
    "age": None,
    "dose": [0],
    "ward": ["east", "north", "south", "west"],
    "visits": 0,
}


def make(seed, folder):
    """Let R fit forests of each kind to random rows."""
    script = Path(__file__).parent / "make_r_files.R"
    subprocess.run(["Rscript", script, str(seed), folder], check=True, timeout=60)


def table(folder, name):
    """A table with its numbers exactly as they are written."""
    frame = pd.read_csv(Path(folder) / f"r-{name}.csv", dtype=object)
    return frame.apply(lambda column: pd.Series(map(parsed, column), dtype=object))


def parsed(cell):
    try:
        return float(cell)
    except ValueError:
        return cell


def rows(folder):
    return table(folder, "answers")[list(LEVELS)]


def worst_difference(folder, case):
    """Largest difference of what a forest predicts from what R predicts."""
    ensemble = read_ensemble(Path(folder) / f"r-{case}.csv", levels=LEVELS)
    raw = ensemble.raw_scores(rows(folder))
    columns = [f"{case} {k + 1}" for k in range(raw.shape[1])]
    expected = table(folder, "answers")[columns].to_numpy(dtype=float)
    return float(np.abs(raw - expected).max())
