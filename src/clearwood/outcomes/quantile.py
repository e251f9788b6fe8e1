"""A quantile of a value."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from clearwood._numeric import WeightedMoments, variance
from clearwood._words.numbers import measured_text, number_text, share_text
from clearwood.outcomes.intervals import share_interval
from clearwood.outcomes.outcome import Outcome


@dataclass(frozen=True)
class Quantile(Outcome):
    """The value that a share of all values does not exceed, with the pinball loss.

    Agreement with a model is R2: near the true quantile the expected pinball loss
    increases by a multiple of the squared difference.

    Attributes
    ----------
    level : float
        That share, between 0 and 1.

    Examples
    --------
    >>> values = np.array([1.0, 2.0, 6.0])
    >>> Quantile(level=0.9).losses(values, 3.0).round(3), Quantile(level=0.5).aggregate(
    ...     values, np.ones(3))
    (array([0.2, 0.1, 2.7]), np.float64(2.0))
    """

    level: float = 0.5
    task: ClassVar[str] = "quantile"
    shows_share: ClassVar[bool] = True
    estimates_truth: ClassVar[bool] = True
    shown_name: ClassVar[str] = "share at most"
    dots: ClassVar[str] = "mean of {}, not its quantile"
    constant: ClassVar[str] = "quantile of all rows"
    error: ClassVar[str] = "mean pinball loss"
    error_unit: ClassVar[str] = "mean pinball"
    agreement_unit: ClassVar[str] = "R²"
    agreement_words: ClassVar[str] = "Fidelity to the model (R²)"
    lost: ClassVar[str] = "R² lost"

    def losses(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Pinball loss."""
        off = truth - predicted
        return np.maximum(self.level * off, (self.level - 1) * off)

    def terms(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Squared differences."""
        return (truth - predicted) ** 2

    def spread(self, points: np.ndarray, weight: np.ndarray | None = None) -> float:
        """The variance."""
        return variance(points, weight)

    def constant_of(self, points: np.ndarray) -> Any:
        """The quantile."""
        return self.aggregate(points, np.ones(len(points)))

    def constant_error(self, truth: np.ndarray, weight: np.ndarray | None) -> float:
        """Mean pinball loss of the quantile of all rows."""
        weight = np.ones(len(truth)) if weight is None else weight
        best = self.aggregate(truth, weight)
        return float(np.average(self.losses(truth, best), weights=weight))

    def aggregate(self, answers: np.ndarray, weight: np.ndarray) -> Any:
        """The smallest value that so much of the weight does not exceed."""
        order = np.argsort(answers, kind="stable")
        reached = np.cumsum(weight[order])
        # Sums of weights may round below the level.
        return answers[order][
            (reached >= self.level * reached[-1] * (1 - 1e-12)).argmax()
        ]

    def estimate(
        self, labels: np.ndarray, weight: np.ndarray, counts: float | None = None
    ) -> tuple[float, float, float]:
        """Quantile for new rows, with its 95 % interval of order statistics.

        The i-th of n values estimates the quantile of level ``i / (n + 1)``, which is
        the expected share of new values below it (Weibull). The ends of the interval
        are the quantiles at the ends of the interval of the level (Woodruff, 1952).
        """
        counted = weight > 0
        order = np.argsort(labels[counted], kind="stable")
        values, weight = labels[counted][order], weight[counted][order]
        n = WeightedMoments.of(values, weight).n_effective
        places = np.cumsum(weight) / weight.sum() * n / (n + 1)
        ends = share_interval(self.level, n if counts is None else counts)
        found = np.interp((self.level, *ends), places, values)
        return float(found[0]), float(found[1]), float(found[2])

    def expected_text(self, known: Any) -> str:
        """The quantile with its interval; or nothing."""
        if not known.is_expected:
            return ""
        return measured_text(known.expected, known.low, known.high)

    def shown(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Whether a value is at most the prediction."""
        return truth <= predicted

    def words_of(self, rule: Any) -> str:
        """The quantile, with its interval if it is an estimate for new rows."""
        value = rule.prediction
        text = self.expected_text(rule.statistics) or number_text(value)
        return f"{share_text(self.level)} of values at most {text}"

    def observed_text(self, known: Any) -> str:
        """The share of values that are at most the prediction."""
        if math.isnan(known.precision_assigned):
            return ""
        return share_text(known.precision_assigned, known.low, known.high)

    def interval_text(self, known: Any) -> str:
        """Empty: the interval is printed after the share."""
        return ""

    def statistics_texts(self, known: Any) -> list[str]:
        """Agreement, and the observed share unless the quantile is an estimate."""
        unknown = replace(known, expected=math.nan)
        observed = self.observed_text(known)
        return super().statistics_texts(unknown) + [f"{observed} observed"] * bool(
            observed
        )
