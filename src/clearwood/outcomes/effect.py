"""The effect of a treatment on an outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from clearwood._numeric import WeightedMoments
from clearwood._words.numbers import measured_text, number_text
from clearwood.outcomes.mean import Mean


@dataclass(frozen=True)
class Effect(Mean):
    """Mean difference of an outcome with and without treatment.

    True values are doubly robust scores of the rows, whose means are estimates of mean
    effects; the loss is squared error.

    Examples
    --------
    >>> scores = np.array([0.0, 1.0, 2.0])
    >>> estimate, low, high = Effect().estimate(scores, np.ones(3))
    >>> estimate, round(low, 2), round(high, 2)
    (1.0, -1.48, 3.48)
    """

    task: ClassVar[str] = "effect"
    estimates_truth: ClassVar[bool] = True
    shown_name: ClassVar[str] = "effect"
    error: ClassVar[str] = "mean squared error of scores"

    def estimate(
        self, labels: np.ndarray, weight: np.ndarray, counts: float | None = None
    ) -> tuple[float, float, float]:
        """Mean with its 95 % interval."""
        own = WeightedMoments.of(labels, weight)
        ends = self.interval(own.mean, own.variance, own.n_effective, counts)
        return own.mean, ends["low"], ends["high"]

    def words_of(self, rule: Any) -> str:
        """The effect, with its interval if it is an estimate for new rows."""
        known, value = rule.statistics, rule.prediction
        text = number_text(value)
        if known.is_expected:
            text = measured_text(value, known.low, known.high)
        return f"treatment changes the outcome by {'+' * (value > 0)}{text}"

    def statistics_texts(self, known: Any) -> list[str]:
        """Agreement; on other rows the interval of their effect."""
        # The deviation of scores is mostly that of the outcome, not of the effect.
        parts = super().statistics_texts(replace(known, std=math.nan))
        is_model = not math.isnan(known.agreement_assigned)
        return parts[:1] if is_model or not known.is_expected else []
