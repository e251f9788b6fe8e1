"""inTrees (Deng 2014): an ensemble's own rules, pruned and put in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs

from clearwood._features import FeatureSpace
from clearwood.rules import Condition, FeatureBins
from clearwood.simplifiers.in_trees import _kernels
from clearwood.simplifiers.in_trees.paths import Paths

SMALLEST_ERROR = 0.001
"""Errors below this count as this where a rise is relative to them."""

DIGITS = 9
"""Errors and frequencies that are equal to so many decimals are equal: they come from
sums that round."""

FREQUENCIES = (0.01, 0.02, 0.05, 0.1, 0.2)
"""Least frequencies that are tried where none is given."""


class Rows(NamedTuple):
    """The rows that rules are judged by.

    Attributes
    ----------
    columns : ndarray of unsigned integers of shape (n_features, n_rows)
        Bins.
    target : ndarray of float64 of shape (n_rows,)
        Class numbers, or standardised values.
    weight : ndarray of float64 of shape (n_rows,)
    n_classes : int
        0 for values.
    centre, unit : float
        Mean and standard deviation of the values as they were; 0 and 1 for classes.
    """

    columns: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    n_classes: int
    centre: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(
        cls, codes: np.ndarray, target: np.ndarray, weight: np.ndarray, n_classes: int
    ) -> Rows:
        """Rows of bins; values are standardised, so that errors are shares of 1."""
        target, centre, unit = target.astype(np.float64), 0.0, 1.0
        if n_classes == 0:
            centre = float(np.average(target, weights=weight))
            unit = float(np.average((target - centre) ** 2, weights=weight)) ** 0.5
            unit = unit if unit > 0 else 1.0
            target = (target - centre) / unit
        # One type for nearly all, so that the kernels are compiled once.
        columns = np.ascontiguousarray(codes.T, np.result_type(codes, np.uint16))
        weight = weight.astype(np.float64)
        return cls(columns, target, weight, n_classes, centre, unit)


class Judged(NamedTuple):
    """Rules, and how good they are on some rows.

    Attributes
    ----------
    paths : Paths
    said : ndarray of float64 of shape (n_rules,)
        Class number or standardised value that each says.
    frequency, error : ndarray of shape (n_rules,)
        Share of all rows that a rule covers, and of those the share of another class,
        or their variance.
    bits : ndarray of uint8 of shape (n_rules, n_rows / 8)
        The rows that a rule covers, as packed bits.
    """

    paths: Paths
    said: np.ndarray
    frequency: np.ndarray
    error: np.ndarray
    bits: np.ndarray

    def take(self, rules: np.ndarray) -> Judged:
        """Some of the rules, by position."""
        return Judged(self.paths.take(rules), *(part[rules] for part in self[1:]))


class Pruning(NamedTuple):
    """How much wrong a shorter rule may be.

    Attributes
    ----------
    decay : {"relative", "absolute"} or None
        Whether the rise is relative to the error of the whole rule; None leaves the
        rules as they are.
    most : float
        The largest rise.
    """

    decay: str | None = "absolute"
    most: float = 0.05


def judge_and_prune(
    paths: Paths, rows: Rows, pruning: Pruning, n_jobs: int | None = None
) -> tuple[Judged, Judged]:
    """Measure rules, and leave out literals without which they are hardly more wrong.

    Literals are tried one after the other, the last that the tree asks first; one that
    is left out stays out. The class that a rule says stays as well, a value follows the
    rows. Rules that cover no row are left out.

    Parameters
    ----------
    paths : Paths
    rows : Rows
    pruning : Pruning
    n_jobs : int, optional
        Threads.

    Returns
    -------
    whole, pruned : Judged
        The bits are those of the pruned rules in both.
    """
    most = -np.inf if pruning.decay is None else pruning.most
    satisfied_by = _kernels.satisfied(rows.columns, *paths.literals)

    def work(borders: np.ndarray) -> Any:
        first, last = borders[0], borders[-1]
        return _kernels.prune(
            borders - first, paths.literal[first:last], satisfied_by, *rows[1:4],
            most, SMALLEST_ERROR, pruning.decay == "relative",
        )  # fmt: skip

    n_parts = min(effective_n_jobs(n_jobs), max(paths.n_rules, 1))
    ends = np.linspace(0, paths.n_rules, n_parts + 1).astype(np.int64)
    parts = Parallel(n_jobs=n_parts, prefer="threads")(
        delayed(work)(paths.borders[a : b + 1]) for a, b in zip(ends, ends[1:])
    )
    kept, bits, total, said, loss = (np.concatenate(part) for part in zip(*parts))
    covers = total[:, :1] > 0
    frequency, error = total / rows.weight.sum(), loss / np.where(covers, total, 1.0)
    whole, pruned = (
        Judged(shown, said[:, i], frequency[:, i], error[:, i], bits).take(
            np.flatnonzero(covers)
        )
        for i, shown in enumerate((paths, paths.keep(kept)))
    )
    return whole, pruned


def distinct(judged: Judged) -> Judged:
    """Each set of literals once for the same class or value, the first one."""
    paths = judged.paths
    first: dict[tuple[frozenset[int], float], int] = {}
    for k, said in enumerate(judged.said.tolist()):
        first.setdefault((frozenset(paths.ids(k)), said), k)
    return judged.take(np.array(list(first.values()), dtype=np.int64))


def packed(rows: np.ndarray) -> np.ndarray:
    """Truth values as packed bits."""
    return np.packbits(rows, axis=-1, bitorder="little")


def unpacked(bits: np.ndarray, n_rows: int) -> np.ndarray:
    """The packed bits as truth values."""
    return np.unpackbits(bits, axis=-1, count=n_rows, bitorder="little").view(bool)


def without_twins(judged: Judged) -> Judged:
    """The shortest, then first, of all rules that cover the same rows.

    An ordered list is the same with and without the others, which always lose.
    """
    best: dict[tuple[bytes, float], int] = {}
    for k in np.argsort(judged.paths.lengths, kind="stable").tolist():
        best.setdefault((judged.bits[k].tobytes(), float(judged.said[k])), k)
    return judged.take(np.array(sorted(best.values()), dtype=np.int64))


def informative(judged: Judged, rows: Rows, seed: int) -> Judged:
    """The rules that a forest on the rules' memberships asks most.

    Long rules have to be asked more (the complexity-guided selection of the article,
    with importances in place of a penalty inside the trees).
    """
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestClassifier if rows.n_classes else RandomForestRegressor
    forest = make(100, max_features="sqrt", random_state=seed)
    member = unpacked(judged.bits, len(rows.target)).T.astype(np.float32)
    forest.fit(member, rows.target, rows.weight)
    lengths = judged.paths.lengths
    asked = forest.feature_importances_ * (1.0 - 0.5 * lengths / lengths.max())
    return judged.take(np.flatnonzero(asked >= asked.mean()))


class Ordered(NamedTuple):
    """An ordered list, and what it costs at every length.

    Attributes
    ----------
    rules : list of int
        Positions, the first to be tried first.
    losses : list of float
        Share of wrong rows, or mean squared difference, of the first 0, 1, ... rules
        with what is then best said of all other rows.
    """

    rules: list[int]
    losses: list[float]


def order_rules(
    judged: Judged,
    rows: Rows,
    min_frequency: float,
    max_rules: int | None = None,
) -> Ordered:
    """The simplified ordered list (STEL).

    Again and again the rule that is least wrong on the rows not yet covered comes next
    (of several the one that covers most of them, then the shortest, then the first),
    and takes what it covers. The list ends where one value for all other rows is no
    more wrong than the best rule.

    Parameters
    ----------
    judged : Judged
    rows : Rows
    min_frequency : float
        Least share of all rows that a rule must still cover.
    max_rules : int, optional
        Most rules.

    Returns
    -------
    Ordered
    """
    every, bits = rows.weight.sum(), judged.bits
    free = np.ones(len(rows.target), dtype=bool)
    sums = np.zeros((len(bits), 3))
    settings = rows.target, rows.weight, judged.said, rows.n_classes
    _kernels.add_rows(sums, bits, packed(free), 1.0, *settings)
    found: list[int] = []
    won = 0.0
    losses = [_rest_loss(rows, free) / every]
    while len(bits) and (max_rules is None or len(found) < max_rules):
        total, loss = sums[:, 0], _loss(sums, rows.n_classes)
        frequency = np.round(total / every, DIGITS)
        usable = (frequency >= min_frequency) & (frequency > 0)
        error = np.where(usable, loss / np.where(usable, total, 1.0), np.inf)
        error = np.round(error, DIGITS)
        best = int(np.lexsort((judged.paths.lengths, -frequency, error))[0])
        rest = rows.weight[free].sum()
        if error[best] >= np.round(_rest_loss(rows, free) / max(rest, 1e-300), DIGITS):
            break
        caught = free & unpacked(bits[best], len(free))
        free &= ~caught
        won += loss[best]
        found.append(best)
        losses.append((won + _rest_loss(rows, free)) / every)
        _kernels.add_rows(sums, bits, packed(caught), -1.0, *settings)
    return Ordered(found, losses)


def _loss(sums: np.ndarray, n_classes: int) -> np.ndarray:
    total, first, second = sums.T
    if n_classes:
        return np.maximum(second, 0.0)
    mean = first / np.where(total > 0, total, 1.0)
    return np.maximum(second - first * mean, 0.0)


def _rest_loss(rows: Rows, free: np.ndarray) -> float:
    """Loss of what is best said of the rows that no rule covers."""
    target, weight = rows.target[free], rows.weight[free]
    if weight.sum() == 0:
        return 0.0
    if rows.n_classes:
        mass = np.bincount(target.astype(np.int64), weight, rows.n_classes)
        return float(weight.sum() - mass.max())
    return float((weight * (target - np.average(target, weights=weight)) ** 2).sum())


def best_prefixes(lists: Sequence[Ordered], max_rules: int | None) -> list[list[int]]:
    """Per number of rules 0, 1, ... the least wrong list with so many at most.

    Examples
    --------
    >>> few, many = Ordered([7], [0.5, 0.2]), Ordered([3, 4, 5], [0.5, 0.4, 0.3, 0.1])
    >>> best_prefixes([few, many], None)
    [[], [7], [7], [3, 4, 5]]
    """
    longest = max(len(found.rules) for found in lists)
    if max_rules is not None:
        longest = min(longest, max_rules)
    prefixes = []
    for size in range(longest + 1):
        tried = [(found, min(size, len(found.rules))) for found in lists]
        best, used = min(tried, key=lambda t: (round(t[0].losses[t[1]], DIGITS), t[1]))
        prefixes.append(best.rules[:used])
    return prefixes


@dataclass(frozen=True, eq=False)
class ExtractedRules:
    """Rules of an ensemble one by one, and how good each is on the training rows.

    Attributes
    ----------
    prediction : ndarray of shape (n_rules,)
        Class, mean value or level that each says.
    frequency : ndarray of shape (n_rules,)
        Share of the rows (or of their weight) that it covers.
    error : ndarray of shape (n_rules,)
        Share of the covered rows of another class, or the mean squared difference.
    length : ndarray of shape (n_rules,)
        Number of its literals; a set of categories is one.
    """

    prediction: np.ndarray
    frequency: np.ndarray
    error: np.ndarray
    length: np.ndarray
    _paths: Paths
    _bins: FeatureBins
    _seen: np.ndarray

    def __len__(self) -> int:
        """Number of rules."""
        return len(self.length)

    @property
    def features(self) -> FeatureSpace:
        """Names and categories."""
        return self._bins.features

    def conditions(self, k: int) -> tuple[Condition, ...]:
        """What rule ``k`` asks, one condition per feature."""
        return self._paths.conditions(k, self._bins, self._seen) or ()

    def to_pandas(self) -> Any:
        """The rules as a table, one line each, with their conditions in words."""
        import pandas as pd

        words = [
            " and ".join(c.text(self.features) for c in self.conditions(k))
            for k in range(len(self))
        ]
        return pd.DataFrame(
            {
                "rule": words,
                "prediction": self.prediction,
                "frequency": self.frequency,
                "error": self.error,
                "length": self.length,
            }
        )
