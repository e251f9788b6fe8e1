"""Cuts of a numeric column, and labels of its bins."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from clearwood._kernels import discretize as _kernels
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.rules.conditions import Interval


class Decision(NamedTuple):
    """The best cut of an interval, with its gain and the gain required.

    Attributes
    ----------
    n : float
        Total weight of the rows in the interval (their number, if unweighted).
    cut : float
        Values less than or equal to it go left.
    gain : float
        Decrease in class entropy, in bits per row.
    threshold : float
        Cost of the cut, in bits per row, which the gain must exceed.
    """

    n: float
    cut: float
    gain: float
    threshold: float

    @property
    def accepted(self) -> bool:
        """Whether the gain exceeds the threshold."""
        return self.gain > self.threshold


def mdlp_decisions(
    values: np.ndarray, label: np.ndarray, weight: np.ndarray, n_classes: int
) -> list[Decision]:
    """Recursive MDLP cuts of a column.

    Parameters
    ----------
    values : ndarray of float64 of shape (n_rows,)
        Rows with NaN are ignored.
    label : ndarray of integers of shape (n_rows,)
        Classes, from 0 on.
    weight : ndarray of float64 of shape (n_rows,)
        Row weights, as numbers of repetitions. Rows of weight 0 are ignored.
    n_classes : int

    Returns
    -------
    list of Decision
        Each interval before its parts, left before right. The cuts are those of the
        accepted decisions.

    References
    ----------
    Fayyad and Irani, "Multi-interval discretization of continuous-valued attributes
    for classification learning", IJCAI 1993, section 3.

    Examples
    --------
    >>> values, label = np.arange(20.0), np.arange(20) >= 12
    >>> for one in mdlp_decisions(values, label.astype(int), np.ones(20), 2):
    ...     print(one.n, one.cut, one.accepted)
    20.0 11.5 True
    12.0 0.5 False
    8.0 12.5 False
    """
    label = label.astype(np.int64, copy=False)
    values, first, *runs = _kernels.runs(values, label, weight, n_classes)
    first = np.append(first, len(values))
    decisions = []
    todo = [(0, len(first) - 1)]
    while todo:
        start, stop = todo.pop()
        at, counts = _kernels.best_cut(*runs, start, stop, n_classes)
        place = first[at]
        if at < 0:  # one class, or one value
            own = values[first[start] : first[stop]]
            place = first[stop] - np.count_nonzero(own > own[:1])
            if place == first[stop]:
                continue
        cut = between(*values[place - 1 : place + 1])
        decision = Decision(float(counts.sum()), cut, *_gain_and_threshold(counts))
        decisions.append(decision)
        if decision.accepted:
            todo += [(at, stop), (start, at)]
    return decisions


def accepted(decisions: list[Decision]) -> np.ndarray:
    """The accepted cuts, ascending."""
    return np.sort(np.array([one.cut for one in decisions if one.accepted]))


def _gain_and_threshold(counts: np.ndarray) -> tuple[float, float]:
    """Gain of a cut, and the threshold of the MDLPC criterion."""
    part, whole = counts.sum(axis=1), counts.sum(axis=0)
    n = part.sum()
    entropy, entropies = _entropy(whole), [_entropy(row) for row in counts]
    gain = entropy - (part * entropies).sum() / n
    k, ks = np.count_nonzero(whole), np.count_nonzero(counts, axis=1)
    # log2(3^k - 2), which does not overflow for hundreds of classes.
    delta = k * np.log2(3) + np.log2(1 - 2 * 3.0**-k)
    delta -= k * entropy - (ks * entropies).sum()
    return float(gain), float((np.log2(max(n - 1, 1.0)) + delta) / n)


def _entropy(counts: np.ndarray) -> float:
    """Entropy in bits."""
    share = counts[counts > 0] / counts.sum()
    return float(-(share * np.log2(share)).sum()) + 0.0


def halving_cut(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """The cut whose two sides are most nearly equal in weight.

    It exists wherever values differ, which a cut at the median does not guarantee.

    Parameters
    ----------
    values : ndarray of float64 of shape (n_rows,)
        Rows with NaN are ignored.
    weight : ndarray of float64 of shape (n_rows,)

    Returns
    -------
    ndarray of shape (0,) or (1,)
        The lower of two equally good cuts; empty for a constant column.

    Examples
    --------
    >>> halving_cut(np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4))
    array([2.5])
    >>> halving_cut(np.array([0.0, 0.0, 0.0, 1.0]), np.ones(4))
    array([0.5])
    """
    return even_cuts(values, weight, 2)


def even_cuts(values: np.ndarray, weight: np.ndarray, n_parts: int) -> np.ndarray:
    """Cuts into parts most nearly equal in weight, fewer where values are tied.

    Examples
    --------
    >>> even_cuts(np.arange(8.0), np.ones(8), 4)
    array([1.5, 3.5, 5.5])
    """
    order = _order(values, weight)
    values, below = values[order], np.cumsum(weight[order])
    ends = np.flatnonzero(values[1:] > values[:-1])
    if not len(ends):
        return np.zeros(0)
    shares = np.arange(1, n_parts)[:, None] / n_parts
    uneven = np.abs(below[ends] - shares * below[-1])
    # Fractional weights leave rounding errors in the sums.
    near = uneven <= uneven.min(axis=1, keepdims=True) + 5e-13 * below[-1]
    at = ends[np.unique(near.argmax(axis=1))]
    return np.array([between(values[i], values[i + 1]) for i in at])


def _order(values: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Indices of the rows with a value and a weight, sorted by value."""
    rows = np.flatnonzero(~np.isnan(values) & (weight > 0))
    return rows[np.argsort(values[rows])]


def between(low: float, high: float) -> float:
    """A threshold that separates two neighbouring values.

    The midpoint where a number lies in between; ``low`` itself where none does, and
    where one of the two is infinite.

    Examples
    --------
    >>> between(98.0, 98.33), between(1.0, np.inf), between(-np.inf, np.inf)
    (98.165, 1.0, -inf)
    """
    with np.errstate(invalid="ignore"):
        # Without the last digits where they are errors of rounding.
        middle, short = (float(f"{low / 2 + high / 2:.{n}g}") for n in (16, 15))
    if len(repr(short)) < len(repr(middle)) - 2:
        middle = short
    return float(middle if low <= middle < high else low)


def bin_positions(values: np.ndarray, cuts: np.ndarray) -> np.ndarray:
    """Bin index of each value, from 0; NaN stays NaN.

    Examples
    --------
    >>> bin_positions(np.array([25.0, 60.0, 61.0, np.nan]), np.array([30.5, 60.0]))
    array([ 0.,  1.,  2., nan])
    """
    found = np.searchsorted(cuts, values, side="left").astype(np.float64)
    found[np.isnan(values)] = np.nan
    return found


def bin_texts(
    cuts: np.ndarray, name: str, info: ColumnInfo | None = None
) -> tuple[str, ...]:
    """Labels of the bins of a column.

    Examples
    --------
    >>> bin_texts(np.array([30.5, 60.0]), "age")
    ('age <= 30.5', '30.5 < age <= 60', 'age > 60')
    """
    features = FeatureSpace((name,), (None,), info=(info,) if info else ())
    ends = [-np.inf, *cuts.tolist(), np.inf]
    return tuple(Interval(0, a, b).text(features) for a, b in zip(ends, ends[1:]))
