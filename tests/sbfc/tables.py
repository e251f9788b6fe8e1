"""Tables for tests."""

import json
from pathlib import Path

import numpy as np

from clearwood.sbfc.scores import CodedTable

GOLDEN = Path(__file__).parents[1] / "golden" / "sbfc.json"


def golden_cases():
    """Small tables with all their graphs."""
    return json.loads(GOLDEN.read_text(encoding="utf-8"))["enumerated"]


def as_table(case):
    """The rows of a golden case."""
    codes = np.array([[int(c) for c in row] for row in case["rows_X"]], np.uint8)
    y = np.unique([int(c) for c in case["y"]], return_inverse=True)[1]
    return CodedTable(codes, codes.max(0) + 1, y, case["classes"], None, case["d"])


def random_table(levels, n, n_classes=2, seed=0, weight=None):
    """Features that follow one another, and some of them the class."""
    rng = np.random.default_rng(seed)
    y = rng.integers(n_classes, size=n)
    codes = np.empty((n, len(levels)), np.uint8)
    for j, v in enumerate(levels):
        other = y if j % 3 == 0 or j == 0 else codes[:, j - 1]
        codes[:, j] = np.where(rng.random(n) < 0.5, other, rng.integers(v, size=n)) % v
    return CodedTable(codes, np.array(levels), y, n_classes, weight, len(levels))


def corral(shared_data):
    """The six features of corral, with all their graphs."""
    path = shared_data("golden/sbfc_corral.json")
    return json.loads(path.read_text(encoding="utf-8"))["corral6"]


def copies(n_copies, n, seed=0, noise=0.05):
    """A table whose first features are nearly one, next to one that is the class."""
    rng = np.random.default_rng(seed)
    y, base = rng.integers(2, size=n), rng.integers(2, size=n)
    codes = np.empty((n, n_copies + 2), np.uint8)
    for j in range(n_copies):
        codes[:, j] = base ^ (rng.random(n) < noise)
    codes[:, -2] = y ^ (rng.random(n) < 0.3)
    codes[:, -1] = rng.integers(2, size=n)
    d = codes.shape[1]
    return CodedTable(codes, np.full(d, 2), y, 2, None, d)
