"""Survival: the time until an event, of which some are censored."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from clearwood._words.labels import type_text
from clearwood._words.numbers import short_text
from clearwood._words.sentences import listed
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.outcomes.kaplan_meier import pseudo_values
from clearwood.outcomes.mean import Mean

QUARTILES = (0.25, 0.5, 0.75)
"""Quantiles of the times of events that are horizons by default."""

FIELDS = np.dtype([("event", bool), ("time", np.float64)])
"""Survival times as scikit-survival's functions read them."""

OF_CAUSES = np.dtype([*FIELDS.descr, ("cause", np.int64)])
"""The same where events have several causes: the event is that of cause 1."""

MOST_CAUSES = 9
"""Maximum number of causes of events."""

EVENT_NAMES = ("cause", "event")
"""Names of columns that hold events, whatever their type."""


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
    n_causes : int
        Number of causes of events. Of several, "survival" is the probability of no
        event of the first one: one minus its cumulative incidence.

    Examples
    --------
    >>> import pandas as pd
    >>> times = pd.DataFrame({"died": [True, False, True], "years": [1.0, 2.0, 3.0]})
    >>> Survival(horizons=(2.0,)).check(times, 3).round(6) + 0.0
    array([0., 1., 1.])
    """

    horizons: tuple[float, ...] = ()
    time_unit: str = ""
    n_causes: int = 1
    task: ClassVar[str] = "survival"
    shown_name: ClassVar[str] = "survival"
    error: ClassVar[str] = "mean squared error of pseudo-values"

    def check(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Pseudo-values of survival times; probabilities, as of a model, unchanged."""
        if not is_survival(values):
            return check_target(values, n_rows, numeric=True, name=name)
        y = check_survival(values, n_rows, name, self.n_causes)
        check_horizons(self.horizons, y)
        return pseudo_values(y["time"], causes_of(y), np.ones(n_rows), self.horizons)

    def words_of(self, rule: Any) -> str:
        """Survival at the horizons, and the median."""
        return rule.curve.text(self.horizons, self.time_unit) if rule.curve else ""

    def heading(self, target: str) -> str:
        """The target, with the horizons that the prediction is the mean of."""
        return "mean " * (len(self.horizons) > 1) + f"{target} at {self._times}"

    def in_words(self) -> str:
        """The task, with the horizons."""
        return f"{self.task} at {self._times}"

    @property
    def _times(self) -> str:
        times = listed([short_text(horizon) for horizon in self.horizons], "and")
        return f"{times} {self.time_unit}".strip()

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
    """Names of both columns: a bool, or 0 and 1, or codes of causes; and a number."""
    columns = _columns(y)
    if len(columns) != 2:
        return None
    named = [name for name in columns if name in EVENT_NAMES]
    if len(named) == 1 and _is_code(np.asarray(y[named[0]]), "biuf"):
        return named[0], _other(columns, named[0])
    # Two columns of a frame, of other names, may be two targets.
    kinds = (_is_bool, _is_indicator, _is_code)[: 2 if hasattr(y, "columns") else 3]
    for is_event in kinds:
        events = [name for name in columns if is_event(np.asarray(y[name]))]
        if len(events) == 1:
            return events[0], _other(columns, events[0])
    return None


def _other(columns: list[str], name: str) -> str:
    return columns[1 - columns.index(name)]


def _is_bool(column: np.ndarray) -> bool:
    return column.dtype.kind == "b"


def _is_indicator(column: np.ndarray) -> bool:
    return column.dtype.kind in "biuf" and bool(np.isin(column, (0, 1)).all())


def _is_code(column: np.ndarray, kinds: str = "iu") -> bool:
    return column.dtype.kind in kinds and bool(
        np.isin(column, range(MOST_CAUSES + 1)).all()
    )


def causes_of(y: np.ndarray) -> np.ndarray:
    """Cause of the event of each row; of a single one, whether it has an event."""
    return y["cause"] if y.dtype == OF_CAUSES else y["event"]


def of_cause(y: np.ndarray) -> np.ndarray:
    """Survival times until the first cause, for which other events are censored."""
    return _times(y["event"], y["time"])


def any_cause(y: np.ndarray) -> np.ndarray:
    """Survival times until an event of whatever cause."""
    return _times(causes_of(y) > 0, y["time"])


def _times(event: np.ndarray, time: np.ndarray) -> np.ndarray:
    rows = np.empty(len(time), FIELDS)
    rows["event"], rows["time"] = event, time
    return rows


def _columns(y: Any) -> list[str]:
    """Names of the columns of a structured array or a frame."""
    if getattr(y, "dtype", None) == OF_CAUSES:
        return ["cause", "time"]
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is None and hasattr(y, "columns"):
        names = list(y.columns)
    return list(names or ())


def check_survival(
    y: Any,
    n_rows: int,
    name: str = "y",
    n_causes: int | None = None,
    may_lack_events: bool = False,
) -> np.ndarray:
    """Validate survival times.

    Parameters
    ----------
    y : structured array, or frame with two columns
        As made by scikit-survival's ``Surv.from_arrays(event, time)``: whether each row
        has an event, as a bool or 0 and 1, and the time of its event or censoring. Of
        several causes of events, 0 for a censored row and 1, 2 and so on, at most 9; a
        frame's column of them is named ``event`` or ``cause``. Where no row is
        censored, that of several causes is named ``cause``.
    n_rows : int
    name : str
        Name of the argument, for errors.
    n_causes : int, optional
        Number of causes that rules are of; by default that of the rows.
    may_lack_events : bool, default=False
        Whether all rows may be censored, as where events are only counted.

    Returns
    -------
    structured array of shape (n_rows,)
        With the fields ``event`` and ``time``, and ``cause`` if there are several.
    """
    columns = _event_and_time(y)
    if columns is None:
        kinds = [(column, np.asarray(y[column]).dtype.kind) for column in _columns(y)]
        raise InputError(
            f"{name} must hold survival times: a structured array, as made by "
            "scikit-survival's Surv.from_arrays(event, time), or a frame with two "
            "columns, one that is True or 1 for an event and False or 0 for a censored "
            "row (or, in a column named event or cause, 0 for a censored row and the "
            f"integers from 1 to at most {MOST_CAUSES} for causes of events), and the "
            f"time; found {type_text(y)}{f' with the columns {kinds}' * bool(kinds)}"
            f"{_unknown_codes(y)}."
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
    codes = np.asarray(y[event]).astype(np.int64)
    found = max(int(codes.max(initial=0)), 1)
    if found > 1 and (n_causes or 1) == 1 and event != "cause" and codes.all():
        used = ", ".join(map(str, np.unique(codes)))
        raise InputError(
            f"{name} has the codes {used} in {event!r}, and no 0. If one of them is a "
            "censored row, as 1 is where 1 = censored and 2 = dead, recode it: 0 = "
            "censored, 1 = event. If all are causes of events, and no row is censored, "
            "name the column 'cause'."
        )
    if found > (n_causes or MOST_CAUSES):
        raise InputError(
            f"{name} has {found} causes of events, and the rules are for {n_causes}; "
            "pass rows with the same causes, or fit the rules again."
        )
    is_single = max(found, n_causes or 1) == 1
    rows = np.empty(n_rows, FIELDS if is_single else OF_CAUSES)
    rows["event"], rows["time"] = codes == 1, times
    if not is_single:
        rows["cause"] = codes
    if not (may_lack_events or rows["event"].any()):
        raise InputError(
            f"{name} has no event{'' if is_single else ' of cause 1'}: all {n_rows} "
            f"rows are censored{'' if is_single else ', or of other causes'}. Survival "
            f"cannot be estimated; check that {event!r} is True or 1 for events."
        )
    return rows


def _unknown_codes(y: Any) -> str:
    """What no code of an event is, of a column named as one, or which columns are."""
    columns = _columns(y)
    for column in (np.asarray(y[name]) for name in columns if name in EVENT_NAMES):
        if column.dtype.kind in "iuf":
            wrong = column[~np.isin(column, range(MOST_CAUSES + 1))]
            return f", of which that of events holds {wrong[0]}" if len(wrong) else ""
    if len(columns) == 2 and not hasattr(y, "columns"):
        if all(_is_code(np.asarray(y[name])) for name in columns):
            return ", of which either may be that of events; name it event or cause"
    return ""


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


def shares_of(survival: np.ndarray) -> np.ndarray:
    """Probabilities of an event in each interval between horizons, and of a later one.

    Parameters
    ----------
    survival : ndarray of shape (..., n_horizons)

    Returns
    -------
    ndarray of shape (..., n_horizons + 1)

    Examples
    --------
    >>> shares_of(np.array([0.75, 0.5]))
    array([0.25, 0.25, 0.5 ])
    """
    return -np.diff(survival, axis=-1, prepend=1.0, append=0.0)


def survival_of(shares: np.ndarray) -> np.ndarray:
    """Probability of survival beyond each horizon: the inverse of :func:`shares_of`."""
    return 1.0 - np.cumsum(shares[..., :-1], axis=-1)
