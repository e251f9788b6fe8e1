"""The effect of a treatment on an outcome."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from clearwood._numeric import WeightedMoments
from clearwood._words.labels import type_text
from clearwood._words.numbers import measured_text, number_text
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.outcomes.mean import Mean


class EffectScores(np.ndarray):
    """Estimates of the effect in single rows, as an array of a type of its own.

    Rules for effects are compared with scores of this type only, so that outcomes are
    never taken for them. :func:`clearwood.effect_scores` returns it. Of NumPy's
    operations, only selections of rows are of this type; scores from a frame, a file,
    another method or a concatenation are passed as ``EffectScores(values)``.

    Parameters
    ----------
    values : array-like of shape (n_rows,)
        Doubly robust scores, or other estimates in single rows whose mean over some
        rows is an estimate of the mean effect there.

    Examples
    --------
    >>> import clearwood as cw
    >>> cw.EffectScores([0.5, 2.0])
    EffectScores([0.5, 2. ])
    """

    def __new__(cls, values: Any) -> EffectScores:
        """Validate values and mark them as scores."""
        values = np.asarray(values)
        return check_target(values, len(np.atleast_1d(values)), numeric=True).view(cls)

    def __array_wrap__(
        self, array: Any, context: Any = None, return_scalar: bool = False
    ) -> Any:
        """The result of a computation, as a plain array or number."""
        return np.asarray(array)[()]


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
    dots: ClassVar[str] = "mean effect of the treatment on {}"
    error: ClassVar[str] = "mean squared error of scores"

    def check(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Validate effects of a model, or scores."""
        return super().check(values, n_rows, name).view(EffectScores)

    def check_truth(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Validate effect scores; outcomes, which no effect is compared with, raise."""
        if not isinstance(values, EffectScores):
            raise InputError(
                f"{name} is {type_text(values)}, which may hold outcomes, and rules "
                "for effects are compared with effect scores: pass those of these rows "
                "as clearwood.effect_scores(X, outcome, treatment) returns them; those "
                "from elsewhere, as clearwood.EffectScores(values)."
            )
        return self.check(values, n_rows, name)

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

    def observed_text(self, known: Any) -> str:
        """The mean effect of the rows."""
        if known.is_expected or math.isnan(known.low):
            return ""
        return measured_text((known.low + known.high) / 2, known.low, known.high)

    def interval_text(self, known: Any) -> str:
        """Empty: the interval is printed after the effect."""
        return ""

    def statistics_texts(self, known: Any) -> list[str]:
        """Agreement, and the observed effect unless the effect is an estimate."""
        # The deviation of scores is mostly that of the outcome, not of the effect.
        unknown = replace(known, expected=math.nan, std=math.nan)
        observed = self.observed_text(known)
        return super().statistics_texts(unknown) + [f"{observed} observed"] * bool(
            observed
        )
