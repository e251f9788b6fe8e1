"""Tables, complete and with cells removed at random."""

import numpy as np
import pandas as pd

from benchmarks._data import LEFT_OUT, SHARED
from benchmarks.circuits import cases

SHARES = (0, 0.1, 0.3, 0.5, 0.8)
"""Shares of removed cells."""


MEASURED = ["glucose", "blood_pressure", "skin_thickness", "insulin", "bmi"]
"""Columns of pima in which 0 stands for a missing measurement."""


def binary(name):
    """Training, validation and test rows of a binary data set, as frames."""
    return [pd.DataFrame(part).add_prefix("v") for part in cases.parts_of(name)]


def uci(name):
    """A table with its texts and missing cells, and its target."""
    if name == "pima, no 0":
        frame, y = uci("pima")
        return frame.assign(**frame[MEASURED].replace(0, np.nan)), y
    frame = pd.read_csv(SHARED / "uci" / f"{name}.csv.gz")
    frame = frame.drop(columns=LEFT_OUT.get(name, []))
    target = frame.pop("target")
    return frame, pd.factorize(target, sort=True)[0]


def parts_of(name, seed):
    """Training, validation and test rows: as published, or 60, 10 and 30 %."""
    if (SHARED / "debd" / f"{name}.npz").exists():
        return binary(name)
    frame, _ = uci(name)
    order = np.random.default_rng(seed).permutation(len(frame))
    ends = [0, int(0.6 * len(order)), int(0.7 * len(order)), len(order)]
    return [frame.iloc[order[a:b]] for a, b in zip(ends, ends[1:])]


def without(frame, share, seed):
    """Remove a share of the cells; larger shares include the smaller ones."""
    taken = np.random.default_rng(seed).random(frame.shape) < share
    numbers = frame.select_dtypes("number").columns
    return frame.astype(dict.fromkeys(numbers, float)).mask(taken)


def is_text(column):
    """Whether a column is categorical; otherwise it is numeric."""
    return not pd.api.types.is_numeric_dtype(column)


class Coding:
    """Numeric coding of tables, for methods that require it.

    Numbers have mean 0 and variance 1, labels a column of 0 and 1 each except for the
    first ``spare``: with a linear imputer, columns that add up to 1 would keep each
    other at their means. Missing cells remain missing.
    """

    def __init__(self, train, spare=0):
        self.spare = spare
        self.levels = [
            np.sort(column.dropna().unique()) if is_text(column) else None
            for _, column in train.items()
        ]
        self.mean = [c.mean() if not is_text(c) else 0 for _, c in train.items()]
        sd = [c.std() if not is_text(c) else 1 for _, c in train.items()]
        self.sd = np.where(np.array(sd) > 0, sd, 1.0)

    def encode(self, frame):
        parts = []
        for j, (_, column) in enumerate(frame.items()):
            if self.levels[j] is None:
                parts.append(((column - self.mean[j]) / self.sd[j]).to_numpy()[:, None])
            else:
                cells = column.to_numpy(dtype=object)[:, None]
                part = (cells == self.levels[j][self.spare :]).astype(float)
                part[column.isna()] = np.nan
                parts.append(part)
        return np.hstack(parts)

    def decode(self, values, frame):
        """A table like ``frame``: numbers in their units, and the likeliest label."""
        columns, at = {}, 0
        for j, name in enumerate(frame.columns):
            n = 1 if self.levels[j] is None else len(self.levels[j]) - self.spare
            part = values[:, at : at + n]
            at += n
            if self.levels[j] is None:
                columns[name] = part[:, 0] * self.sd[j] + self.mean[j]
            else:
                if self.spare:
                    part = np.column_stack([1 - part.sum(axis=1), part])
                columns[name] = self.levels[j][part.argmax(axis=1)]
        return pd.DataFrame(columns, index=frame.index)
