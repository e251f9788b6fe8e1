"""Data sets of the study of texts, and the results printed in the thesis."""

import lzma
import re
from functools import cache

import numpy as np

from benchmarks._data import SHARED

TEXTS = {
    "shakespeare": "Tiny Shakespeare",
    "ptb": "Penn Treebank",
    "linux": "Linux kernel",
}

TABLES = {"shakespeare": 15, "ptb": 16, "linux": 14}
"""Tables of the thesis."""

HMM, LSTM, SEQUENTIAL, JOINT = "HMM", "LSTM", "sequential hybrid", "joint hybrid"
PAPER, CONTINUOUS = "LSTM trained as in the thesis", "continuous HMM"

PRINTED = {
    "shakespeare": {
        (HMM, 0, 10): (-2.69, -2.68), (HMM, 0, 20): (-2.5, -2.49),
        (LSTM, 5, 0): (-2.41, -2.35), (LSTM, 10, 0): (-2.23, -2.12),
        (LSTM, 15, 0): (-2.1, -1.95), (LSTM, 20, 0): (-2.03, -1.83),
        (SEQUENTIAL, 5, 10): (-2.3, -2.26), (SEQUENTIAL, 5, 20): (-2.26, -2.18),
        (SEQUENTIAL, 10, 10): (-2.19, -2.08), (SEQUENTIAL, 10, 20): (-2.16, -2.04),
        (SEQUENTIAL, 15, 10): (-2.13, -1.95), (SEQUENTIAL, 15, 20): (-2.07, -1.92),
        (SEQUENTIAL, 20, 10): (-2.05, -1.87), (SEQUENTIAL, 20, 20): (-2.02, -1.85),
        (JOINT, 5, 10): (-2.21, -2.18), (JOINT, 10, 10): (-2.12, -2.07),
        (JOINT, 15, 10): (-2.03, -1.97), (JOINT, 20, 10): (-1.97, -1.88),
        (PAPER, 10, 0): (-2.23, -2.12), (CONTINUOUS, 20, 20): (-2.74, -2.75),
    },
    "ptb": {
        (HMM, 0, 10): (-2.43, -2.43), (HMM, 0, 20): (-2.28, -2.28),
        (LSTM, 5, 0): (-2.22, -2.22), (LSTM, 10, 0): (-1.99, -1.99),
        (LSTM, 15, 0): (-1.82, -1.83), (LSTM, 20, 0): (-1.72, -1.73),
        (SEQUENTIAL, 5, 10): (-2.14, -2.15), (SEQUENTIAL, 5, 20): (-2.06, -2.07),
        (SEQUENTIAL, 10, 10): (-1.94, -1.95), (SEQUENTIAL, 10, 20): (-1.93, -1.94),
        (SEQUENTIAL, 15, 10): (-1.81, -1.82), (SEQUENTIAL, 15, 20): (-1.8, -1.81),
        (SEQUENTIAL, 20, 10): (-1.72, -1.72), (SEQUENTIAL, 20, 20): (-1.71, -1.71),
        (JOINT, 5, 10): (-2.08, -2.08), (JOINT, 10, 10): (-1.94, -1.95),
        (JOINT, 20, 10): (-1.73, -1.74),
        (PAPER, 10, 0): (-1.99, -1.99), (CONTINUOUS, 20, 20): (-2.58, -2.58),
    },
    "linux": {
        (HMM, 0, 10): (-2.76, -2.7), (HMM, 0, 20): (-2.55, -2.5),
        (LSTM, 5, 0): (-2.54, -2.48), (LSTM, 10, 0): (-2.17, -2.07),
        (LSTM, 15, 0): (-2.03, -1.9), (LSTM, 20, 0): (-1.88, -1.73),
        (SEQUENTIAL, 5, 10): (-2.33, -2.26), (SEQUENTIAL, 5, 20): (-2.25, -2.16),
        (SEQUENTIAL, 10, 10): (-2.14, -2.05), (SEQUENTIAL, 10, 20): (-2.07, -1.97),
        (SEQUENTIAL, 15, 10): (-1.96, -1.84), (SEQUENTIAL, 15, 20): (-1.96, -1.83),
        (SEQUENTIAL, 20, 10): (-1.87, -1.73), (SEQUENTIAL, 20, 20): (-1.85, -1.71),
        (JOINT, 5, 10): (-2.35, -2.26), (JOINT, 10, 10): (-2.18, -2.08),
        (JOINT, 15, 10): (-2.00, -1.88), (JOINT, 20, 10): (-1.90, -1.76),
        (PAPER, 10, 0): (-2.17, -2.07),
    },
}  # fmt: skip
"""Krakovna (2016), tables 14 to 16, by method, LSTM units and HMM states: mean
log-likelihood of test characters, and of training characters. The network
below the continuous HMM has 100 units for Penn Treebank; for Shakespeare the number is
not given."""

AIMS = {
    (HMM, 0, 10): -2.64,
    (HMM, 0, 20): -2.44,
    (LSTM, 10, 0): -2.20,
    (SEQUENTIAL, 10, 10): -2.17,
    (JOINT, 10, 10): -2.12,
}
"""Target log-likelihoods for Tiny Shakespeare."""


@cache
def parts_of(name):
    """Training text and test text."""
    if name == "ptb":
        return read("ptb.train"), read("ptb.valid")
    if name == "linux":
        return files_apart(read("linux_kernel"))
    text = read("tinyshakespeare")
    cut = int(0.9 * len(text))
    return text[:cut], text[cut:]


def read(name):
    """A text of the shared data."""
    with lzma.open(SHARED / "text" / f"{name}.txt.xz", "rt") as file:
        return file.read()


def files_apart(text):
    """Split off a random tenth of the files.

    The text is sorted by path, and nearly every file begins with the line of its
    licence.
    """
    begins = [found.start() for found in re.finditer(LICENCE, text, re.MULTILINE)]
    files = [text[a:b] for a, b in zip(begins, [*begins[1:], len(text)])]
    order = np.random.default_rng(0).permutation(len(files))
    n_apart = len(files) // 10
    return tuple(
        "".join(files[i] for i in np.sort(some))
        for some in (order[n_apart:], order[:n_apart])
    )


LICENCE = r"^(//|/\*) SPDX-License-Identifier"
