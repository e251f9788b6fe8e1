"""Tables, whole and with cells taken out at random."""

import numpy as np
import pandas as pd

from benchmarks._data import LEFT_OUT, SHARED

SHARES = (0, 0.1, 0.3, 0.5, 0.8)
"""Of the cells that are taken out."""


MEASURED = ["glucose", "blood_pressure", "skin_thickness", "insulin", "bmi"]
"""Columns of pima in which 0 stands for what nobody measured."""


def binary(name):
    """The rows to train, to choose by and to test of a set of 0 and 1, as frames."""
    with np.load(SHARED / "debd" / f"{name}.npz") as file:
        n_columns = int(file["n_vars"])
        return [
            pd.DataFrame(np.unpackbits(file[part], axis=1)[:, :n_columns]).add_prefix(
                "v"
            )
            for part in ("train", "valid", "test")
        ]


def uci(name):
    """A table as it comes, texts and holes and all, and its target."""
    if name == "pima, no 0":
        frame, y = uci("pima")
        return frame.assign(**frame[MEASURED].replace(0, np.nan)), y
    frame = pd.read_csv(SHARED / "uci" / f"{name}.csv.gz")
    frame = frame.drop(columns=LEFT_OUT.get(name, []))
    target = frame.pop("target")
    return frame, pd.factorize(target, sort=True)[0]


def parts_of(name, seed):
    """Rows to train, to choose by and to test: as published, or 60, 10 and 30 %."""
    if (SHARED / "debd" / f"{name}.npz").exists():
        return binary(name)
    frame, _ = uci(name)
    order = np.random.default_rng(seed).permutation(len(frame))
    ends = [0, int(0.6 * len(order)), int(0.7 * len(order)), len(order)]
    return [frame.iloc[order[a:b]] for a, b in zip(ends, ends[1:])]


def without(frame, share, seed):
    """A table without a share of its cells; a larger share lacks all of a smaller."""
    taken = np.random.default_rng(seed).random(frame.shape) < share
    numbers = frame.select_dtypes("number").columns
    return frame.astype(dict.fromkeys(numbers, float)).mask(taken)


def is_text(column):
    """Whether the cells of a column are labels; else numbers."""
    return not pd.api.types.is_numeric_dtype(column)


class Coding:
    """Tables as numbers for methods that read nothing else.

    Numbers get mean 0 and variance 1, labels a column of 0 and 1 each, but for the
    ``spare`` first: where a linear model fills holes, columns that add up to 1 would
    keep each other at their means. What is missing stays so.
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
        """A table like ``frame``: numbers in their unit, the largest of the labels."""
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
