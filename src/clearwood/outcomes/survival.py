"""Survival: the time until an event, of which some are censored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearwood._words.labels import type_text
from clearwood._words.numbers import short_text
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.outcomes.kaplan_meier import pseudo_values
from clearwood.outcomes.mean import Mean

QUARTILES = (0.25, 0.5, 0.75)
"""Quantiles of the times of events that are horizons by default."""

FIELDS = np.dtype([("event", bool), ("time", np.float64)])
"""Survival times as scikit-survival's functions read them."""


@dataclass(frozen=True)
class Survival(Mean):
    """Survival: the mean of the survival probabilities at the horizons.

    True values are pseudo-values, which need no model of the censoring and whose means
    are Kaplan-Meier estimates; the loss is squared error.

    Attributes
    ----------
    horizons : tuple of float
        Times of survival probabilities, ascending.
    time_unit : str
        Unit of times, such as "years".

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.DataFrame({"died": [True, False, True], "years": [1.0, 2.0, 3.0]})
    >>> Survival(horizons=(2.0,)).check(times, 3).round(6) + 0.0
    array([0., 1., 1.])
    """

    horizons: tuple[float, ...] = ()
    time_unit: str = ""
    task: ClassVar[str] = "survival"
    shown_name: ClassVar[str] = "survival"
    error: ClassVar[str] = "mean squared error of pseudo-values"

    def check(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Pseudo-values of survival times; probabilities, as of a model, unchanged."""
        if not is_survival(values):
            return check_target(values, n_rows, numeric=True, name=name)
        y = check_survival(values, n_rows, name)
        check_horizons(self.horizons, y)
        return pseudo_values(y["time"], y["event"], np.ones(n_rows), self.horizons)

    def words_of(self, rule: Any) -> str:
        """Survival at the horizons, and the median."""
        return rule.curve.text(self.horizons, self.time_unit) if rule.curve else ""

    def statistics_texts(self, known: Any) -> list[str]:
        """Agreement alone: the interval is printed after the survival."""
        return super().statistics_texts(known)[:1]


def is_survival(y: Any) -> bool:
    """Whether a target has survival times: an event indicator and a time per row.

    Examples
    --------
    >>> is_survival(np.zeros(2, dtype=[("event", bool), ("time", float)]))
    True
    >>> is_survival(np.zeros(2)), is_survival(np.zeros((2, 2)))
    (False, False)
    """
    return _event_and_time(y) is not None


def _event_and_time(y: Any) -> tuple[str, str] | None:
    """Names of both columns: a bool and a number, or 0 and 1 and other numbers."""
    columns = _columns(y)
    for is_event in (_is_bool, _is_indicator):
        events = [name for name in columns if is_event(np.asarray(y[name]))]
        if len(columns) == 2 and len(events) == 1:
            (time,) = set(columns) - set(events)
            return events[0], time
    return None


def _is_bool(column: np.ndarray) -> bool:
    return column.dtype.kind == "b"


def _is_indicator(column: np.ndarray) -> bool:
    return column.dtype.kind in "biuf" and bool(np.isin(column, (0, 1)).all())


def _columns(y: Any) -> list[str]:
    """Names of the columns of a structured array or a frame."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None and hasattr(y, "columns"):
        names = list(y.columns)
    return list(names or ())


def check_survival(y: Any, n_rows: int, name: str = "y") -> np.ndarray:
    """Validate survival times.

    Parameters
    ----------
    y : structured array, or frame with two columns
        As made by scikit-survival's ``Surv.from_arrays(event, time)``: whether each row
        has an event, as a bool or 0 and 1, and the time of its event or censoring.
    n_rows : int
    name : str
        Name of the argument, for errors.

    Returns
    -------
    structured array of shape (n_rows,)
        With the fields ``event`` and ``time``.
    """
    columns = _event_and_time(y)
    if columns is None:
        kinds = [(column, np.asarray(y[column]).dtype.kind) for column in _columns(y)]
        raise InputError(
            f"{name} must hold survival times: a structured array, as made by "
            "scikit-survival's Surv.from_arrays(event, time), or a frame with two "
            "columns, one that is True or 1 for an event and False or 0 for a censored "
            f"row, and the time; found {type_text(y)}"
            f"{f' with the columns {kinds}' * bool(kinds)}."
        )
    event, time = columns
    times = check_target(np.asarray(y[time]), n_rows, numeric=True, name=name)
    negative = times < 0
    if negative.any():
        raise InputError(
            f"{name} has {negative.sum()} negative time(s), first in row "
            f"{int(negative.argmax())}; expected times since the start of each row, at "
            "least 0."
        )
    rows = np.empty(n_rows, FIELDS)
    rows["event"], rows["time"] = np.asarray(y[event]), times
    if not rows["event"].any():
        raise InputError(
            f"{name} has no event: all {n_rows} rows are censored. Survival cannot be "
            f"estimated; check that {event!r} is True or 1 for events."
        )
    return rows


def check_horizons(horizons: Any, y: np.ndarray) -> tuple[float, ...]:
    """Validate horizons; by default the quartiles of the times of events.

    Examples
    --------
    >>> y = np.array([(True, 1.0), (True, 2.26), (False, 9.0)], FIELDS)
    >>> check_horizons(None, y), check_horizons(2, y)
    ((1.3, 1.6, 1.9), (2.0,))
    """
    time, event = y["time"], y["event"]
    if horizons is None:
        later = time[event & (time > 0)]
        if not len(later):
            raise InputError(
                "y has events at time 0 only, so that there is no later time to choose "
                "horizons from; check the times."
            )
        found = np.quantile(later, QUARTILES)
        short = {float(f"{value:.2g}") for value in found}
        return tuple(sorted(one for one in short if one < time.max())) or (
            float(found[1]),
        )
    try:
        found = np.unique(np.atleast_1d(np.asarray(horizons, dtype=np.float64)))
    except (TypeError, ValueError):
        found = np.zeros(0)
    if not len(found) or not (np.isfinite(found) & (found > 0)).all():
        raise InputError(
            f"horizons is {horizons!r}; expected times above 0, such as [1, 2, 5]."
        )
    # Beyond the last time, survival is known only if there everyone has died.
    last = time.max()
    if found[-1] > last:
        raise InputError(
            f"The horizon {short_text(found[-1])} is beyond the data, whose last time "
            f"is {short_text(last)}; survival there is unknown. Choose horizons up to "
            "it."
        )
    return tuple(found.tolist())
