"""Shares and means of rows, with their intervals."""

from __future__ import annotations

import math
from typing import Generic, NamedTuple, TypeVar

import numpy as np

from clearwood._words.numbers import measured_text, share_text
from clearwood.rules.statistics import mean_interval, share_interval

UNKNOWN = math.nan

T = TypeVar("T")


class Rate(NamedTuple):
    """A number that some rows tell, and how far they tell it.

    Attributes
    ----------
    value : float
        NaN where no row tells it.
    low, high : float
        95 % interval; NaN where there is none.
    rows : int
        Rows that it is of; of an area under a curve, all rows.

    Examples
    --------
    >>> print(Rate(0.9, 0.596, 0.982, rows=10))
    90 % [60, 98]
    """

    value: float
    low: float
    high: float
    rows: int

    def __str__(self) -> str:
        return share_text(self.value, self.low, self.high)

    def as_number(self) -> str:
        """The same of a mean or an area, which is no share.

        Examples
        --------
        >>> Rate(12.3456, 10.951, 13.74, 30).as_number()
        '12.3 [11.0, 13.7]'
        """
        return measured_text(self.value, self.low, self.high)


NOT_KNOWN = Rate(UNKNOWN, UNKNOWN, UNKNOWN, 0)


def rate_of(hits: np.ndarray, weight: np.ndarray) -> Rate:
    """The share of rows that are hits.

    Parameters
    ----------
    hits : ndarray of bool of shape (n_rows,)
    weight : ndarray of shape (n_rows,)
        A row without weight is none.

    Examples
    --------
    >>> rate_of(np.array([True, True, True, False]), np.ones(4)).value
    0.75
    """
    n_rows = int((weight > 0).sum())
    if n_rows == 0:
        return NOT_KNOWN
    value = min(float(np.average(hits, weights=weight)), 1.0)
    return Rate(value, *share_interval(hits, weight), n_rows)


def mean_of(values: np.ndarray, weight: np.ndarray) -> Rate:
    """The mean of some values, with Student's interval.

    Examples
    --------
    >>> mean_of(np.array([1.0, 2.0, 3.0]), np.ones(3)).value
    2.0
    """
    n_rows = int((weight > 0).sum())
    if n_rows == 0:
        return NOT_KNOWN
    mean = float(np.average(values, weights=weight))
    return Rate(mean, *mean_interval(values, weight), n_rows)


class SideBySide(Generic[T]):
    """What is found of some rules and, where it is known, of the model beside them."""

    rules: T
    model: T | None

    @property
    def judged(self) -> dict[str, T]:
        """The rules and, where it is known, the model, by name."""
        found = {"rules": self.rules, "model": self.model}
        return {who: judged for who, judged in found.items() if judged is not None}
