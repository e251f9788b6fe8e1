"""Kaplan-Meier and Aalen-Johansen curves of weighted rows, and pseudo-values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from clearwood._words.numbers import share_text, short_text
from clearwood.outcomes.intervals import NORMAL

MOST_TIMES = 200
"""Maximum number of times at which the curve of a rule is kept, besides horizons."""

DECIMALS = 5
"""Decimals of survival probabilities that are kept."""

TINY_SHARE, TINY_DECIMALS = 1e-12, 12
"""Least survival probability of draws that has a logarithm, and its decimals."""


class StepCurve(NamedTuple):
    """Estimate of survival as a step function.

    All are arrays of shape (n_times,), for a total weight of one.

    Attributes
    ----------
    times : ndarray
        Distinct times of events, ascending.
    survival : ndarray
        Probability of survival beyond each time.
    variance : ndarray
        Estimate of the variance of ``log(survival)``, such as Greenwood's; infinite, or
        0, where survival is 0.
    """

    times: np.ndarray
    survival: np.ndarray
    variance: np.ndarray


def kaplan_meier(time: np.ndarray, event: np.ndarray, weight: np.ndarray) -> StepCurve:
    """Kaplan-Meier estimate; rows censored at the time of an event are at risk then.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 1, 0, 0], bool)
    >>> kaplan_meier(time, event, np.ones(4)).survival
    array([0.75, 0.5 ])
    """
    sets = _risk_sets(time, event, weight)
    with np.errstate(divide="ignore"):
        variance = np.cumsum(sets.events / (sets.at_risk * sets.left))
    return StepCurve(sets.times, np.cumprod(sets.left / sets.at_risk), variance)


def aalen_johansen(
    time: np.ndarray, event: np.ndarray, weight: np.ndarray, cause: int = 1
) -> StepCurve:
    """One minus the cumulative incidence of a cause, by Aalen and Johansen.

    Parameters
    ----------
    time : ndarray of shape (n_rows,)
    event : ndarray of int of shape (n_rows,)
        Cause of the event of each row, from 1; 0 for a censored row.
    weight : ndarray of shape (n_rows,)
    cause : int

    Notes
    -----
    The variance is that of the delta method (Dinse and Larson, 1986), which for a
    single cause is Greenwood's.

    Examples
    --------
    >>> time, event = np.array([1.0, 2.0, 2.0, 3.0]), np.array([1, 2, 0, 1])
    >>> 1 - aalen_johansen(time, event, np.ones(4)).survival
    array([0.25, 0.25, 0.75])
    """
    sets = _risk_sets(time, event, weight, cause)
    F = np.cumsum(sets.step)
    a, c = sets.events * _inverse(sets.at_risk * sets.left), sets.step / sets.at_risk
    variance = (
        F**2 * np.cumsum(a) - 2 * F * np.cumsum(a * F) + np.cumsum(a * F**2)
        + np.cumsum(sets.before * c * (1 - sets.of_cause / sets.at_risk))
        - 2 * (F * np.cumsum(c) - np.cumsum(c * F))
    )  # fmt: skip
    free = np.where(F < 1 - 1e-12, 1.0 - F, 0.0)
    return StepCurve(sets.times, free, variance.clip(0) * _inverse(free) ** 2)


class _RiskSets(NamedTuple):
    """Rows at risk, and events, at each time of an event, for a total weight of one.

    ``left`` are those at risk without an event, ``before`` is the probability of no
    event before, and ``step`` the increase of the cumulative incidence of the cause.
    """

    times: np.ndarray
    at_risk: np.ndarray
    events: np.ndarray
    of_cause: np.ndarray
    left: np.ndarray
    before: np.ndarray
    step: np.ndarray


def _risk_sets(
    time: np.ndarray, event: np.ndarray, weight: np.ndarray, cause: int = 1
) -> _RiskSets:
    share, had = weight / weight.sum(), (event > 0) & (weight > 0)
    times, place = np.unique(time[had], return_inverse=True)
    events = np.bincount(place, share[had], len(times))
    of_cause = np.bincount(place, share[had] * (event[had] == cause), len(times))
    order = np.argsort(time, kind="stable")
    gone = np.append(0.0, np.cumsum(share[order]))
    at_risk = 1.0 - gone[np.searchsorted(time[order], times)]
    left = at_risk - events
    left[left < 1e-12] = 0.0  # Zero up to rounding: the last rows have events.
    at_risk = left + events
    before = np.append(1.0, np.cumprod(left / at_risk))[:-1]
    step = before * of_cause / at_risk
    return _RiskSets(times, at_risk, events, of_cause, left, before, step)


def _inverse(values: np.ndarray) -> np.ndarray:
    """One over values; 0 where they are 0, whose factors are 0, too."""
    return np.divide(1.0, values, out=np.zeros(len(values)), where=values > 0)


def at_times(
    times: np.ndarray,
    values: np.ndarray,
    where: Sequence[float] | np.ndarray,
    first: float,
) -> np.ndarray:
    """A step function at some times; ``first`` before its first step."""
    return np.append(first, values)[np.searchsorted(times, where, side="right")]


def pseudo_values(
    time: np.ndarray,
    event: np.ndarray,
    weight: np.ndarray,
    horizons: Sequence[float],
    cause: int = 1,
) -> np.ndarray:
    """Pseudo-values of the mean survival probability at some horizons.

    The influence of each row on the Kaplan-Meier estimate (infinitesimal jackknife);
    with several causes of events, on one minus the cumulative incidence of one of them.
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
    sets, total = _risk_sets(time, event, weight, cause), np.zeros(len(time))
    incidence, left = np.cumsum(sets.step), _inverse(sets.left)
    had = np.flatnonzero((event > 0) & (weight > 0))
    for horizon in horizons:
        (last,) = at_times(sets.times, incidence, [horizon], 0.0)
        # Incidence after a time, which an event then, of whatever cause, prevents.
        later = np.maximum(last - incidence, 0.0)
        followed = np.cumsum((later * sets.events * left - sets.step) / sets.at_risk)
        row = at_times(sets.times, followed, np.minimum(time, horizon), 0.0)
        died = had[time[had] <= horizon]
        place = np.searchsorted(sets.times, time[died])
        row[died] += (event[died] == cause) * (sets.before / sets.at_risk)[place]
        row[died] -= (later * left)[place]
        total += 1.0 - last - row
    return total / len(horizons)


@dataclass(frozen=True)
class SurvivalCurve:
    """Kaplan-Meier curve of the rows of a rule, or the mean of draws of its curve.

    Where events have several causes, one minus the cumulative incidence of one of them
    (Aalen and Johansen, 1978).

    Attributes
    ----------
    times : tuple of float
        Ascending times, of at most 200 events besides the horizons; of draws, the
        horizons, between which hazards are constant.
    survival : tuple of float
        Probability of survival beyond each time.
    error : tuple of float
        Standard error of ``log(survival)`` at each time.
    events : int or None
        Number of rows with an event; None if unknown.
    until : float
        Last time of a row, from which on the curve is constant; of draws, the last
        horizon, after which it is NaN.
    cause : int
        The cause, from 1; 0 for survival.
    others : tuple of SurvivalCurve
        Curves of the other causes, in that of the first.
    low, high : tuple of float
        Ends of the central 95 % of the draws at each time; empty without draws.

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
    events: int | None
    until: float
    cause: int = 0
    others: tuple[SurvivalCurve, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()

    @property
    def causes(self) -> tuple[SurvivalCurve, ...]:
        """The curve of each cause, alone."""
        return (replace(self, others=()), *self.others)

    @property
    def name(self) -> str:
        """What is printed of the curve."""
        return f"incidence of cause {self.cause}" if self.cause else "survival"

    def at(self, times: Sequence[float] | np.ndarray) -> np.ndarray:
        """Survival probability at some times."""
        if self.low:
            return self._of_draws(self.survival, times)
        return at_times(np.array(self.times), np.array(self.survival), times, 1.0)

    def _of_draws(
        self, values: Sequence[float], times: Sequence[float] | np.ndarray
    ) -> np.ndarray:
        """Falling values between horizons: log-linear, and linear where one is 0."""
        at, known = np.append(0.0, self.times), np.append(1.0, values)
        logs = np.log(np.maximum(known, TINY_SHARE))
        line, curve = (np.interp(times, at, y, right=np.nan) for y in (known, logs))
        is_last = np.asarray(times) > at[known > 0].max()
        return np.where(is_last, line, np.exp(curve)).round(TINY_DECIMALS)

    def event_free(self, times: Sequence[float] | np.ndarray) -> np.ndarray:
        """Probability of no event, of whatever cause, at some times."""
        others = sum(1.0 - one.at(times) for one in self.others)
        return np.maximum(self.at(times) - others, 0.0)

    def interval(self, time: float) -> tuple[float, float]:
        """95 % interval of the survival probability, symmetric in its log(-log).

        Without an event until then, or without survival, there is no such interval;
        it is NaN. Of draws it is their central 95 %; NaN if all are equal.
        """
        if self.low:
            low, high = (
                float(self._of_draws(ends, [time])[0]) for ends in (self.low, self.high)
            )
            return (low, high) if low < high else (math.nan, math.nan)
        (share,) = self.at([time]).tolist()
        (error,) = at_times(np.array(self.times), np.array(self.error), [time], 0.0)
        if not 0 < share < 1:
            return math.nan, math.nan
        log = math.log(share)
        factor = math.exp(NORMAL * error / -log)
        return share**factor, share ** (1 / factor)

    def shown(self, time: float) -> tuple[float, float, float]:
        """Survival, or the incidence of the cause, with its 95 % interval."""
        (share,) = self.at([time]).tolist()
        low, high = self.interval(time)
        if not self.cause:
            return share, low, high
        return round(1 - share, DECIMALS), 1 - high, 1 - low

    def named(self, horizons: Sequence[float]) -> dict[str, tuple[float, float, float]]:
        """What is shown of each cause at each horizon, with its name as a column."""
        return {
            f"{one.name}{' at' * bool(one.cause)} {horizon:g}": one.shown(horizon)
            for one in self.causes
            for horizon in horizons
        }

    @property
    def median(self) -> float:
        """First time at which survival is at most a half; NaN if it never is."""
        below = np.flatnonzero(np.array(self.survival) <= 0.5)
        if not len(below) or self.cause:
            return math.nan
        k = below[0]
        if not self.low:
            return self.times[k]
        start, first = (self.times[k - 1], self.survival[k - 1]) if k else (0.0, 1.0)
        last = self.survival[k]
        part = math.log(2 * first) / math.log(first / last) if last else 1 - 0.5 / first
        return float(start + part * (self.times[k] - start))

    @property
    def events_text(self) -> str:
        """Number of events in words."""
        numbers = [f"{self.events} event{'s' * (self.events != 1)}"]
        numbers += [str(one.events) for one in self.others]
        if not self.cause:
            return numbers[0]
        return ", ".join(f"{n} of cause {k}" for k, n in enumerate(numbers, start=1))

    def text(self, horizons: Sequence[float], unit: str = "") -> str:
        """Survival at the horizons and the median, or all incidences, in words."""
        texts = "; ".join(one._text(horizons) for one in self.causes)
        return texts + (f" {unit}" if unit else "")

    def _text(self, horizons: Sequence[float]) -> str:
        known = [horizon for horizon in horizons if horizon <= self.until]
        parts = [f"{share_text(*self.shown(h))} at {short_text(h)}" for h in known]
        if len(known) < len(horizons):
            parts.append(f"unknown after {short_text(self.until)}")
        if self.median <= self.until:
            parts.append(f"median {short_text(self.median)}")
        return f"{self.name}{':' * bool(self.cause)} {', '.join(parts)}"


def curve_of_draws(
    draws: np.ndarray, horizons: Sequence[float], events: int | None = None
) -> SurvivalCurve:
    """Mean of draws of a curve, with their central 95 %.

    Between two horizons the hazard of the mean is constant; where none survive the
    second, survival falls in a straight line.

    Parameters
    ----------
    draws : ndarray of shape (n_draws, n_horizons)
        Probability of survival beyond each horizon.
    horizons : sequence of float
    events : int, optional
        Number of rows of the rule with an event, if known.

    Examples
    --------
    >>> curve = curve_of_draws(np.array([[0.5, 0.1], [0.7, 0.2]]), (1.0, 3.0))
    >>> curve.at([1.0, 2.0, 3.0, 4.0]), round(curve.median, 2)
    (array([0.6 , 0.3 , 0.15,  nan]), 1.26)
    """
    low, high = np.quantile(draws, [0.025, 0.975], axis=0)
    error = np.log(np.maximum(draws, TINY_SHARE)).std(axis=0)

    def kept(values: np.ndarray) -> tuple[float, ...]:
        return tuple(values.round(TINY_DECIMALS).tolist())

    return SurvivalCurve(
        tuple(map(float, horizons)), kept(draws.mean(axis=0)), kept(error), events,
        float(horizons[-1]), low=kept(low), high=kept(high),
    )  # fmt: skip


def curve_of(
    time: np.ndarray,
    event: np.ndarray,
    rows: np.ndarray,
    weight: np.ndarray,
    counts: float | np.ndarray,
    horizons: Sequence[float],
    n_causes: int = 1,
) -> SurvivalCurve:
    """Curve of a rule; of several causes of events that of the first, with the others.

    Parameters
    ----------
    time, event : ndarray of shape (n_rows,)
        As of :func:`aalen_johansen`, or a bool for an event.
    rows : ndarray of bool of shape (n_rows,)
        The rows that the rule predicts.
    weight : ndarray of shape (n_rows,)
        Weights of the estimate, which others may have, too.
    counts : float, or ndarray of shape (n_causes,)
        Number of rows of a random sample whose estimate is as uncertain.
    horizons : sequence of float
    n_causes : int
    """
    until = float(time[rows].max()) if rows.any() else 0.0
    curves, counts = [], np.broadcast_to(counts, n_causes)
    for cause in range(1, n_causes + 1):
        steps = (
            kaplan_meier(time, event, weight)
            if n_causes == 1
            else aalen_johansen(time, event, weight, cause)
        )
        times, survival, error = _thinned(steps, counts[cause - 1], horizons)
        n_events = int(((event == cause) & rows).sum())
        number = cause if n_causes > 1 else 0
        curves.append(SurvivalCurve(times, survival, error, n_events, until, number))
    return replace(curves[0], others=tuple(curves[1:]))


def _thinned(
    steps: StepCurve, counts: float, horizons: Sequence[float]
) -> tuple[tuple[float, ...], ...]:
    """Times that are kept, with survival and its error."""
    kept = np.unique(np.linspace(0, len(steps.times) - 1, MOST_TIMES).astype(int))
    times = np.union1d(steps.times[kept] if len(steps.times) else [], horizons)
    survival = at_times(steps.times, steps.survival, times, 1.0)
    variance = at_times(steps.times, steps.variance, times, 0.0)
    # Where none survive, the error does not exist.
    error = np.sqrt(np.where(np.isfinite(variance), variance, 0.0) / counts)
    return (
        tuple(times.tolist()),
        tuple(survival.round(DECIMALS).tolist()),
        tuple(error.round(DECIMALS).tolist()),
    )
