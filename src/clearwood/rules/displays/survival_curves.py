"""Survival curve of a rule, with its interval, and that of given rows."""

from __future__ import annotations

import numpy as np

from clearwood.charts.chart import Axis, Chart, Panel
from clearwood.charts.marks import Area, Level, Mark, Points
from clearwood.outcomes.kaplan_meier import SurvivalCurve
from clearwood.outcomes.survival import Survival

WIDTH, HEIGHT = 372.0, 150.0
"""Of one of two charts in a row, in pixels."""

N_TIMES = 200
"""Number of times of a curve of draws that are drawn."""


def survival_chart(
    predicted: SurvivalCurve,
    observed: SurvivalCurve | None,
    outcome: Survival,
    last: float,
) -> Chart:
    """Chart of a curve of a rule, with its 95 % interval, and of the observed one.

    Parameters
    ----------
    predicted : SurvivalCurve
        Of a rule.
    observed : SurvivalCurve or None
        Estimate from the rows of the rule among given rows.
    outcome : Survival
    last : float
        End of the time axis.
    """
    times, survival = _steps(predicted, last)
    ends = [predicted.interval(time) for time in times]
    # Before the first event, and where none survive, there is no interval.
    low, high = np.where(np.isnan(ends), survival[:, None], ends).T
    # Survival falls, so that a later limit bounds it from below, too.
    low = np.maximum.accumulate(low[::-1])[::-1]
    if predicted.cause:
        survival, low, high = 1.0 - survival, 1.0 - high, 1.0 - low
    again = np.repeat(times, 2)[1:]
    marks: list[Mark] = [
        Area(again, np.repeat(low, 2)[:-1], np.repeat(high, 2)[:-1], "first"),
        Points(times, survival, "first", "predicted", steps=True),
    ]
    if observed is not None:
        when, own = _steps(observed, last)
        own = 1.0 - own if observed.cause else own
        marks.append(Points(when, own, "second", "observed", look="--", steps=True))
    marks += [Level(horizon, "x") for horizon in outcome.horizons]
    unit = f", {outcome.time_unit}" if outcome.time_unit else ""
    panel = Panel(
        marks, Axis(f"time{unit}", 0.0, last), Axis(predicted.name, 0.0, 1.0), HEIGHT
    )
    return Chart("Survival curve", [panel], WIDTH)


def _steps(curve: SurvivalCurve, last: float) -> tuple[np.ndarray, np.ndarray]:
    """Times from 0 to the last one that is known, and survival there."""
    end = min(curve.until, last)
    known = np.linspace(0.0, end, N_TIMES).tolist() if curve.low else curve.times
    times = np.array([0.0, *(t for t in known if 0 < t < end), end])
    return times, curve.at(times)
