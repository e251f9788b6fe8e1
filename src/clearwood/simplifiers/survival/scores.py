"""Scores of survival curves on new rows, by scikit-survival."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from clearwood._words.numbers import short_text
from clearwood.exceptions import InputError

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


def survival_scores(
    curves: Any, y: np.ndarray, known: np.ndarray, horizons: tuple[float, ...]
) -> SurvivalScores:
    """Scores of predicted survival.

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
    try:
        from sksurv import metrics
    except ImportError:
        raise InputError(EXTRA.format("computes these scores")) from None
    event, time = y["event"], y["time"]
    # Scores need rows at risk, and some censoring times, beyond a time.
    last = min(horizons[-1], np.nextafter(min(time.max(), known["time"].max()), 0))
    between = np.unique(time[event & (time <= last) & (time > time.min())])
    if len(between) < 2:
        raise InputError(
            f"y has {len(between)} distinct time(s) of events up to the last horizon "
            f"{short_text(horizons[-1])}; scores need two. Pass more rows."
        )
    some = np.linspace(0, len(between) - 1, MOST_TIMES).astype(int)
    grid = np.unique([*between[np.unique(some)]])
    at = np.array([h for h in horizons if time.min() < h <= last])
    risk = -curves(horizons).mean(axis=1)
    _, brier = metrics.brier_score(known, y, curves(at), at) if len(at) else (0, at)
    return SurvivalScores(
        float(metrics.integrated_brier_score(known, y, curves(grid), grid)),
        tuple(brier.tolist()),
        float(metrics.concordance_index_censored(event, time, risk)[0]),
        float(metrics.concordance_index_ipcw(known, y, risk, tau=last)[0]),
        len(y),
        int(event.sum()),
    )
