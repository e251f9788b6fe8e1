"""Estimates of survival of given rows, and predictions and scores of curves."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from clearwood._words.numbers import short_text
from clearwood.columns.validation import check_table
from clearwood.exceptions import InputError
from clearwood.outcomes.kaplan_meier import SurvivalCurve, curve_of
from clearwood.outcomes.survival import (
    Survival,
    any_cause,
    causes_of,
    check_horizons,
    check_survival,
    of_cause,
)

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

MOST_TIMES = 100
"""Number of times at which the Brier score is computed for its integral."""

EXTRA = (
    "scikit-survival is not installed, which {}; install the extra: "
    "pip install clearwood[survival]."
)


class SurvivalScores(NamedTuple):
    """Scores of survival curves on some rows.

    Attributes
    ----------
    integrated_brier : float
        Integrated Brier score up to the last horizon, weighted by the inverse
        probability of censoring (Graf et al., 1999); 0 is perfect.
    brier : tuple of float
        Brier score at each horizon.
    harrell, uno : float
        Concordance of the predicted with the observed order of events, Harrell's and
        Uno's; 0.5 for a constant.
    n_rows, n_events : int

    Examples
    --------
    >>> print(SurvivalScores(0.12, (0.1, 0.15), 0.71, 0.7, 100, 40))
    integrated Brier score 0.12, concordance 0.71 (Harrell), 0.7 (Uno); 100 rows, \
40 events
    """

    integrated_brier: float
    brier: tuple[float, ...]
    harrell: float
    uno: float
    n_rows: int
    n_events: int

    def __str__(self) -> str:
        brier, harrell, uno = map(
            short_text, (self.integrated_brier, self.harrell, self.uno)
        )
        return (
            f"integrated Brier score {brier}, concordance {harrell} (Harrell), {uno} "
            f"(Uno); {self.n_rows:,} rows, {self.n_events:,} events"
        )


class ObservedCurve(NamedTuple):
    """Survival curve of the rows, among some, that a rule predicts.

    Attributes
    ----------
    n_rows, n_events : int
        Events of the first cause.
    at_risk : tuple of int
        Number of these rows that are followed up to each horizon, at least.
    curve : SurvivalCurve or None
        None of too few rows.
    """

    n_rows: int
    n_events: int
    at_risk: tuple[int, ...]
    curve: SurvivalCurve | None

    def text(self, horizons: tuple[float, ...], unit: str) -> str:
        """The estimate at the horizons in words."""
        rows = f"{self.n_rows:,} row{'s' * (self.n_rows != 1)}"
        if self.curve is None:
            return rows
        return (
            f"{self.curve.text(horizons, unit)}; at risk "
            f"{', '.join(map(str, self.at_risk))} ({rows}, {self.curve.events_text})"
        )

    def as_dict(self, horizons: tuple[float, ...]) -> dict[str, Any]:
        """The estimate as plain data; null where it is unknown."""
        points = [
            {"time": horizon, "at_risk": n} | self._at(horizon)
            for horizon, n in zip(horizons, self.at_risk)
        ]
        return {"rows": self.n_rows, "events": self.n_events, "horizons": points}

    def _at(self, horizon: float) -> dict[str, Any]:
        if self.curve is None or not self.curve.cause:
            return self._shown(self.curve, horizon, "survival")
        causes = [self._shown(one, horizon, "incidence") for one in self.curve.causes]
        return {"causes": causes}

    def _shown(
        self, curve: SurvivalCurve | None, horizon: float, name: str
    ) -> dict[str, float | None]:
        found: tuple[float, ...] = (math.nan,) * 3
        if curve is not None and horizon <= curve.until:
            found = curve.shown(horizon)
        known = (None if math.isnan(x) else x for x in found)
        return dict(zip((name, "low", "high"), known))


def observed_curves(
    rules: RuleSet, X: Any, y: np.ndarray, least: int = 1
) -> list[ObservedCurve]:
    """Survival curve of the rows of each rule, while so many are followed."""
    horizons, assigned, found = rules.outcome.horizons, rules.apply(X), []
    causes, n_causes = causes_of(y), cast(Survival, rules.outcome).n_causes
    for j in range(rules.n_rules):
        rows = assigned == j
        time, event, n = y["time"][rows], causes[rows], int(rows.sum())
        every, curve = np.ones(n, bool), None
        if n >= least:
            curve = curve_of(time, event, every, every * 1.0, n, horizons, n_causes)
            curve = replace(curve, until=float(np.sort(time)[-least]))
        at_risk = tuple(int((time >= horizon).sum()) for horizon in horizons)
        found.append(ObservedCurve(n, int((event == 1).sum()), at_risk, curve))
    return found


def scores_of(rules: RuleSet, X: Any, y: Any, y_train: Any = None) -> SurvivalScores:
    """See :meth:`RuleSet.evaluate_survival`."""
    horizons = rules.outcome.horizons
    if not horizons:
        raise InputError("These rules are not for survival; use evaluate.")
    n_causes, assigned = cast(Survival, rules.outcome).n_causes, rules.apply(X)
    y = check_survival(y, len(assigned), n_causes=n_causes)
    check_horizons(horizons, y)
    known = y
    if y_train is not None:
        known = check_survival(y_train, len(y_train), "y_train", n_causes)

    def curves(times: Any) -> np.ndarray:
        return np.array([rule.curve.at(times) for rule in rules])[assigned]  # type: ignore

    return survival_scores(curves, y, known, horizons)


def survival_scores(
    curves: Any, y: np.ndarray, known: np.ndarray, horizons: tuple[float, ...]
) -> SurvivalScores:
    """Scores of predicted survival, or of the incidence of the first cause.

    Parameters
    ----------
    curves : callable
        Function of times that returns survival probabilities of the rows, of shape
        (n_rows, n_times).
    y, known : structured array
        Survival times of the rows, and of those that the distribution of censoring is
        estimated from.
    horizons : tuple of float
    """
    metrics, event, time = _metrics(), y["event"], y["time"]
    known, any_event = any_cause(known), any_cause(y)
    other = any_event["event"] & ~event

    def brier(function: Any, times: np.ndarray) -> Any:
        # After an event of another cause, no event of the first is certain: the score
        # expects 0 after an event.
        over = other[:, None] & (time[:, None] <= times)
        survival = curves(times)
        return function(known, any_event, np.where(over, 1 - survival, survival), times)

    last = last_time(y, known, horizons)
    between = np.unique(time[event & (time <= last) & (time > time.min())])
    if len(between) < 2:
        raise InputError(
            f"y has {len(between)} distinct time(s) of events up to the last horizon "
            f"{short_text(horizons[-1])}; scores need two. Pass more rows."
        )
    some = np.linspace(0, len(between) - 1, MOST_TIMES).astype(int)
    grid = np.unique([*between[np.unique(some)]])
    at = np.array([h for h in horizons if time.min() < h <= last])
    harrell, uno = concordance(curves(horizons).mean(axis=1), y, known, last)
    _, at_horizons = brier(metrics.brier_score, at) if len(at) else (0, at)
    return SurvivalScores(
        float(brier(metrics.integrated_brier_score, grid)),
        tuple(at_horizons.tolist()),
        harrell,
        uno,
        len(y),
        int(event.sum()),
    )


def last_time(y: np.ndarray, known: np.ndarray, horizons: tuple[float, ...]) -> float:
    """Last time of scores: they need rows, and censoring times, beyond it."""
    return min(horizons[-1], np.nextafter(min(y["time"].max(), known["time"].max()), 0))


def concordance(
    survival: np.ndarray, y: np.ndarray, known: np.ndarray, last: float
) -> tuple[float, float]:
    """Concordance of mean survival with observed times, Harrell's and Uno's.

    Rows with an event of another cause never have one of the first (Wolbers et al.,
    2009).
    """
    metrics, rows = _metrics(), of_cause(y)
    rows["time"][any_cause(y)["event"] & ~y["event"]] = y["time"].max()
    y, known = rows, any_cause(known)
    harrell = metrics.concordance_index_censored(y["event"], y["time"], -survival)
    uno = metrics.concordance_index_ipcw(known, y, -survival, tau=last)
    return float(harrell[0]), float(uno[0])


def _metrics() -> Any:
    try:
        from sksurv import metrics
    except ImportError:
        raise InputError(EXTRA.format("computes these scores")) from None
    return metrics


class CurvePredictions:
    """Mixin for estimators of which every rule has a survival curve."""

    rules_: Any

    def predict_survival_function(self, X: Any, times: Any) -> np.ndarray:
        """Predict survival probabilities by the curve of the rule of each row.

        Where events have several causes, the probability of none of them.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        times : array-like of shape (n_times,)
            A Kaplan-Meier curve is constant beyond the last time of the rows of the
            rule. A curve of draws has constant hazards between the horizons, and is NaN
            after the last one.

        Returns
        -------
        ndarray of shape (n_samples, n_times)
        """
        check_is_fitted(self, "rules_")
        X = check_table(self, X, reset=False)
        return self.rules_.predict_survival_function(X, times)

    def predict_cumulative_incidence(self, X: Any, times: Any) -> np.ndarray:
        """Predict the cumulative incidence of each cause of events.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        times : array-like of shape (n_times,)

        Returns
        -------
        ndarray of shape (n_samples, n_causes, n_times)
        """
        check_is_fitted(self, "rules_")
        X = check_table(self, X, reset=False)
        return self.rules_.predict_cumulative_incidence(X, times)

    def score(self, X: Any, y: Any) -> float:
        """Harrell's concordance index on some rows; see :meth:`evaluate`."""
        return self.evaluate(X, y).harrell

    def evaluate(self, X: Any, y: Any, *, y_train: Any = None) -> SurvivalScores:
        """Score the curves of the rules on new rows, by scikit-survival.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : structured array, or frame with two columns
            As in :meth:`fit`.
        y_train : structured array, or frame with two columns, optional
            Survival times that the distribution of censoring is estimated from; by
            default ``y``.

        Returns
        -------
        SurvivalScores
            With ``integrated_brier``, ``brier`` at each horizon, and the concordance,
            ``harrell`` and ``uno``.
        """
        check_is_fitted(self, "rules_")
        X = check_table(self, X, reset=False)
        return self.rules_.evaluate_survival(X, y, y_train=y_train)
