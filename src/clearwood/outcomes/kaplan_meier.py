"""Kaplan-Meier curves of weighted rows, and pseudo-values of single rows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from clearwood._words.numbers import share_text, short_text
from clearwood.outcomes.intervals import NORMAL

MOST_TIMES = 200
"""Maximum number of times at which the curve of a rule is kept, besides horizons."""

DECIMALS = 5
"""Decimals of survival probabilities that are kept."""


class StepCurve(NamedTuple):
    """Kaplan-Meier estimate as a step function.

    All are arrays of shape (n_times,), for a total weight of one.

    Attributes
    ----------
    times : ndarray
        Distinct times of events, ascending.
    survival : ndarray
        Probability of survival beyond each time.
    variance : ndarray
        Greenwood's estimate of the variance of ``log(survival)``; infinite where
        survival is 0.
    left : ndarray
        Weight of the rows at risk at a time that survive it.
    """

    times: np.ndarray
    survival: np.ndarray
    variance: np.ndarray
    left: np.ndarray


def kaplan_meier(time: np.ndarray, event: np.ndarray, weight: np.ndarray) -> StepCurve:
    """Kaplan-Meier estimate; rows censored at the time of an event are at risk then.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 1, 0, 0], bool)
    >>> kaplan_meier(time, event, np.ones(4)).survival
    array([0.75, 0.5 ])
    """
    share, died = weight / weight.sum(), event & (weight > 0)
    times, place = np.unique(time[died], return_inverse=True)
    deaths = np.bincount(place, share[died], len(times))
    order = np.argsort(time, kind="stable")
    before = np.append(0.0, np.cumsum(share[order]))
    at_risk = 1.0 - before[np.searchsorted(time[order], times)]
    left = at_risk - deaths
    left[left < 1e-12] = 0.0  # Zero up to rounding: the last rows have events.
    at_risk = left + deaths
    with np.errstate(divide="ignore"):
        variance = np.cumsum(deaths / (at_risk * left))
    return StepCurve(times, np.cumprod(left / at_risk), variance, left)


def at_times(
    times: np.ndarray,
    values: np.ndarray,
    where: Sequence[float] | np.ndarray,
    first: float,
) -> np.ndarray:
    """A step function at some times; ``first`` before its first step."""
    return np.append(first, values)[np.searchsorted(times, where, side="right")]


def pseudo_values(
    time: np.ndarray, event: np.ndarray, weight: np.ndarray, horizons: Sequence[float]
) -> np.ndarray:
    """Pseudo-values of the mean survival probability at some horizons.

    The influence of each row on the Kaplan-Meier estimate (infinitesimal jackknife).
    Their mean is the estimate. If censoring does not depend on the features, their
    conditional means are survival probabilities, so that they are values for a
    regression (Andersen, Klein and Rosthøj, 2003). Without censoring they are 1 for a
    row that survives and 0 for others.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.ones(4, bool)
    >>> pseudo_values(time, event, np.ones(4), [2.0]).round(12) + 0.0
    array([0., 0., 1., 1.])
    """
    curve, total = kaplan_meier(time, event, weight), np.zeros(len(time))
    for horizon in horizons:
        (survival,) = at_times(curve.times, curve.survival, [horizon], 1.0)
        if survival == 0:
            continue  # Every row adds 0.
        own = 1.0 + at_times(
            curve.times, curve.variance, np.minimum(time, horizon), 0.0
        )
        died = event & (time <= horizon) & (weight > 0)
        own[died] -= 1.0 / curve.left[np.searchsorted(curve.times, time[died])]
        total += survival * own
    return total / len(horizons)


@dataclass(frozen=True)
class SurvivalCurve:
    """Kaplan-Meier curve of the rows of a rule.

    Attributes
    ----------
    times : tuple of float
        Ascending times, of at most 200 events besides the horizons.
    survival : tuple of float
        Probability of survival beyond each time.
    error : tuple of float
        Standard error of ``log(survival)`` at each time.
    events : int
        Number of rows with an event.
    until : float
        Last time of a row: the curve is constant from there on.

    Examples
    --------
    >>> curve = SurvivalCurve((1.0, 2.0), (0.75, 0.5), (0.1, 0.2), 3, 4.0)
    >>> curve.at([0.5, 1.0, 3.0]), curve.median
    (array([1.  , 0.75, 0.5 ]), 2.0)
    >>> [round(end, 3) for end in curve.interval(2.0)]
    [0.295, 0.675]
    >>> curve.text((2.0, 5.0), "years")
    'survival 50 % [30, 67] at 2, unknown after 4, median 2 years'
    """

    times: tuple[float, ...]
    survival: tuple[float, ...]
    error: tuple[float, ...]
    events: int
    until: float

    def at(self, times: Sequence[float] | np.ndarray) -> np.ndarray:
        """Survival probability at some times."""
        return at_times(np.array(self.times), np.array(self.survival), times, 1.0)

    def interval(self, time: float) -> tuple[float, float]:
        """95 % interval of the survival probability, symmetric in its log(-log).

        Without an event until then, or without survival, there is no such interval;
        it is NaN.
        """
        (share,) = self.at([time]).tolist()
        (error,) = at_times(np.array(self.times), np.array(self.error), [time], 0.0)
        if not 0 < share < 1:
            return math.nan, math.nan
        log = math.log(share)
        factor = math.exp(NORMAL * error / -log)
        return share**factor, share ** (1 / factor)

    @property
    def median(self) -> float:
        """First time at which survival is at most a half; NaN if it never is."""
        below = np.flatnonzero(np.array(self.survival) <= 0.5)
        return self.times[below[0]] if len(below) else math.nan

    @property
    def events_text(self) -> str:
        """Number of events in words."""
        return f"{self.events} event{'s' * (self.events != 1)}"

    def text(self, horizons: Sequence[float], unit: str = "") -> str:
        """Survival at the horizons and the median in words."""
        known = [horizon for horizon in horizons if horizon <= self.until]
        shares = self.at(known).tolist()
        parts = [
            f"{share_text(share, *self.interval(horizon))} at {short_text(horizon)}"
            for horizon, share in zip(known, shares)
        ]
        if len(known) < len(horizons):
            parts.append(f"unknown after {short_text(self.until)}")
        if self.median <= self.until:
            parts.append(f"median {short_text(self.median)}")
        return f"survival {', '.join(parts)}" + (f" {unit}" if unit else "")


def curve_of(
    time: np.ndarray,
    event: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    counts: float,
    horizons: Sequence[float],
) -> SurvivalCurve:
    """Curve of a rule.

    Parameters
    ----------
    time, event : ndarray of shape (n_rows,)
    rows : ndarray of bool of shape (n_rows,)
        The rows that the rule predicts.
    weight : ndarray of shape (n_rows,)
        Weights of the estimate, which others may have, too.
    counts : float
        Number of rows of a random sample whose estimate is as uncertain.
    horizons : sequence of float
    """
    steps = kaplan_meier(time, event, weight)
    kept = np.unique(np.linspace(0, len(steps.times) - 1, MOST_TIMES).astype(int))
    times = np.union1d(steps.times[kept] if len(steps.times) else [], horizons)
    survival = at_times(steps.times, steps.survival, times, 1.0)
    variance = at_times(steps.times, steps.variance, times, 0.0)
    # Where none survive, the error does not exist.
    error = np.sqrt(np.where(np.isfinite(variance), variance, 0.0) / counts)
    return SurvivalCurve(
        tuple(times.tolist()),
        tuple(survival.round(DECIMALS).tolist()),
        tuple(error.round(DECIMALS).tolist()),
        int((event & rows).sum()),
        float(time[rows].max()) if rows.any() else 0.0,
    )
