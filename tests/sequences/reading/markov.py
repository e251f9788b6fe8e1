"""Hidden Markov models for pictures and pages; only to be read."""

from functools import cache

import numpy as np
import pandas as pd

import clearwood as cw

TEXT = "abba cab " * 12


@cache
def of_text():
    return cw.HiddenMarkovModel(3, algorithm="em", n_init=8, random_state=0).fit(TEXT)


def patients(name="ward", labels=("normal", "intensive")):
    """Two sequences of three columns with gaps."""
    rng = np.random.default_rng(0)
    ill = np.repeat([0, 1, 0, 1], [30, 20, 25, 25])
    wards = np.where(rng.random(100) < 0.1 + 0.8 * ill, *reversed(labels))
    table = pd.DataFrame({
        "temperature": np.where(ill, 39.5, 36.8) + rng.normal(0, 0.3, 100),
        name: wards.astype(object),
        "pulse": np.where(ill, 120.0, 70.0) + rng.normal(0, 8, 100),
    })  # fmt: skip
    table.loc[40:44, "pulse"] = None
    table.loc[[3, 50], name] = None
    return table, [60, 40]


@cache
def of_patients():
    hmm = cw.HiddenMarkovModel(
        2, emission="mixed", algorithm="em", n_init=8, random_state=0
    )
    return hmm.fit(*patients())


def of_flags(ones=((0.9, 0.1), (0.2, 0.7))):
    """By hand: the second state never ends."""
    hmm = cw.HiddenMarkovModel(2, emission="bernoulli")
    hmm.startprob_, hmm.transmat_ = [1.0, 0.0], [[0.75, 0.25], [0.0, 1.0]]
    hmm.emissionprob_ = np.array(ones)
    return hmm
