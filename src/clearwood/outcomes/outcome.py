"""Base class of the types of outcomes."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from clearwood._numeric import variance
from clearwood._words.numbers import (
    measured_text,
    number_text,
    r2_text,
    share_text,
    short_text,
    short_value,
    unrounded,
)
from clearwood.columns.validation import check_target
from clearwood.outcomes.intervals import mean_interval, share_interval

Write = Callable[[float], str]
Shorten = Callable[[float], float]


@dataclass(frozen=True)
class Outcome(ABC):
    """Type of a prediction; unless overridden, one number per row.

    *Answers* are full predictions of rows: values, or a column of probabilities per
    class. The *point* is the point prediction: the value, or the index of a class.

    Attributes
    ----------
    classes : tuple
        Class labels in order; empty for regression.
    horizons : tuple of float
        Times of survival probabilities; empty for other tasks.
    task : str
        Name of the task in estimators, files and commands.
    model_task : str
        Task of the models that rules can explain.
    is_share : bool
        Whether errors and agreement are shares of rows.
    shows_share : bool
        Whether the statistic of a rule on rows (``shown``) is a share.
    estimates_truth : bool
        Whether rules predict estimates from true values (``estimate``), where known,
        instead of the aggregate of the model's predictions. Statistics of means, such
        as residuals, do not apply.
    shown_name : str
        Name of that statistic.
    dots : str
        Wording of the mean of true values, around the name of the target.
    scoring : str
        Default score of rules on held-out rows.
    added, averaged : str
        Wording of what sums and averages of rules are, before the name of the target.
    constant : str
        Wording of the best constant prediction.
    error, error_unit, agreement_unit, agreement_words, concordance_name, lost : str
        Names of the error, of the units of the error and of the agreement, of the
        agreement with the model and between refits, and of the loss by permuting a
        column.
    """

    classes: tuple[Any, ...] = ()
    horizons: tuple[float, ...] = ()
    task: ClassVar[str]
    model_task: ClassVar[str] = "regression"
    is_share: ClassVar[bool] = False
    shows_share: ClassVar[bool] = False
    estimates_truth: ClassVar[bool] = False
    shown_name: ClassVar[str] = ""
    dots: ClassVar[str] = "mean of {}"
    scoring: ClassVar[str] = "agreement"
    added: ClassVar[str] = ""
    averaged: ClassVar[str] = ""
    constant: ClassVar[str]
    error: ClassVar[str]
    error_unit: ClassVar[str]
    agreement_unit: ClassVar[str]
    agreement_words: ClassVar[str]
    concordance_name: ClassVar[str] = "concordance"
    lost: ClassVar[str]

    # Rows

    def check(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """Validate labels or values: one per row, none missing."""
        return check_target(values, n_rows, numeric=not self.is_share, name=name)

    def check_truth(self, values: Any, n_rows: int, name: str = "y") -> np.ndarray:
        """As :meth:`check`, for true labels or values only, not those of a model."""
        return self.check(values, n_rows, name)

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Indices of labels in ``classes``, -1 for others; values unchanged."""
        return values

    def code(self, prediction: Any) -> Any:
        """Index of one label in ``classes``, -1 for others; a value unchanged."""
        return prediction

    def named(self, points: np.ndarray) -> np.ndarray:
        """The inverse: labels, or values unchanged."""
        return points

    def point(self, answers: np.ndarray) -> Any:
        """Point prediction: the most probable class, or the value."""
        return answers

    def certain(self, points: np.ndarray) -> np.ndarray:
        """Predictions with one class of probability 1, or the value."""
        return points

    def answers(self, numbers: np.ndarray) -> np.ndarray:
        """Predictions from the numbers of rules, one row each."""
        return numbers[:, 0]

    def linked(self, totals: np.ndarray) -> np.ndarray:
        """Predictions from the totals of a sum (inverse link)."""
        return totals

    # Loss and score

    @abstractmethod
    def losses(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Loss of point predictions per row."""

    def proper_losses(self, answers: np.ndarray, predicted: np.ndarray) -> np.ndarray:
        """Proper loss of predictions against targets; least if they are equal."""
        return self.losses(answers, predicted)

    def apart(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Absolute difference of point predictions per row."""
        return np.abs(truth - predicted)

    def mean_loss(self, truth: np.ndarray, predicted: Any) -> float:
        """Mean loss: the error."""
        return float(np.mean(self.losses(truth, predicted)))

    def constant_of(self, points: np.ndarray) -> Any:
        """Best constant prediction: the mean."""
        return points.mean()

    @abstractmethod
    def constant_error(self, truth: np.ndarray, weight: np.ndarray | None) -> float:
        """Mean loss of the best constant."""

    def terms(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Terms whose mean determines the agreement: the losses."""
        return self.losses(truth, predicted)

    def spread(self, points: np.ndarray, weight: np.ndarray | None = None) -> float:
        """Scale of the mean loss in ``agreement``: that of the best constant."""
        return self.constant_error(points, weight)

    def agreement(self, mean: float, spread: float) -> float:
        """Agreement of point predictions, at most 1, from the mean of their ``terms``.

        If all targets are equal, whether the predictions equal them.
        """
        return 1.0 - mean / spread if spread > 0 else float(mean == 0.0)

    def fidelity(
        self,
        target: np.ndarray,
        predicted: Any,
        weight: np.ndarray | None = None,
        rows: np.ndarray | None = None,
    ) -> float:
        """Fidelity of predictions to those of a model.

        Parameters
        ----------
        target : ndarray of shape (n_rows,)
            Labels or values of the model.
        predicted : ndarray of shape (n_rows,), or one label or value for all rows
        weight : ndarray of shape (n_rows,), optional
        rows : ndarray of bool of shape (n_rows,), optional
            Rows to evaluate; NaN if their weight is zero. The scale is still the spread
            of the model's values over all rows.

        Examples
        --------
        >>> from clearwood.outcomes import Mean
        >>> target = np.array([1.0, 2.0, 3.0])
        >>> Mean().fidelity(target, 2.0), Mean().fidelity(target, 2.0, rows=target == 2)
        (0.0, 1.0)
        """
        if rows is None:
            rows = np.ones(len(target), dtype=bool)
        elif not (rows if weight is None else weight[rows]).sum() > 0:
            return math.nan
        predicted = predicted[rows] if np.ndim(predicted) else predicted
        of_rows = None if weight is None else weight[rows]
        mean = float(np.average(self.terms(target[rows], predicted), weights=of_rows))
        return self.agreement(mean, self.spread(target, weight))

    def concordance(self, one: np.ndarray, two: np.ndarray) -> float:
        """Agreement of two predictions on equal terms: Lin's concordance.

        Examples
        --------
        >>> from clearwood.outcomes import Mean
        >>> one = np.array([1.0, 2.0])
        >>> Mean().concordance(one, one), Mean().concordance(one, one[::-1])
        (1.0, -1.0)
        """
        difference = float(np.mean((one - two) ** 2))
        if difference == 0.0:
            return 1.0
        apart = float(one.var() + two.var() + (one.mean() - two.mean()) ** 2)
        return 1.0 - difference / apart if math.isfinite(apart) else math.nan

    def tree_class(self) -> Any:
        """scikit-learn's tree class for the outcome."""
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor

    # Aggregate over rows

    def aggregate(self, answers: np.ndarray, weight: np.ndarray) -> Any:
        """Mean prediction of some rows."""
        mean = np.average(answers, axis=0, weights=weight)
        # Rounding may exceed the range: a probability above 1, a constant off itself.
        return np.clip(mean, answers.min(axis=0), answers.max(axis=0))

    def estimate(
        self, labels: np.ndarray, weight: np.ndarray, counts: float | None = None
    ) -> tuple[float, float, float]:
        """Prediction for new rows from true values, with its 95 % interval.

        Parameters
        ----------
        labels, weight : ndarray of shape (n_rows,)
        counts : float, optional
            Effective number of rows of the estimate; by default that of the weights.
        """
        raise NotImplementedError

    def scale(self, answers: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
        """Centre and unit that standardize the target, for penalties."""
        spread = variance(answers, weight) ** 0.5
        centre = float(np.average(answers, weights=weight))
        return centre, spread if spread > 0 else 1.0

    # Statistics of predictions on other rows, and their uncertainty

    def shown(self, truth: np.ndarray, predicted: Any) -> np.ndarray:
        """Statistic per row whose mean is printed beside a prediction: the value."""
        return truth

    def interval(
        self, mean: float, variance: float, n: float, counts: float | None = None
    ) -> dict[str, float]:
        """The 95 % interval of the mean of ``shown`` among ``n`` rows.

        Wilson's for a share, Student's for a mean, with the standard deviation.

        Parameters
        ----------
        mean, variance, n : float
            Of the rows.
        counts : float, optional
            Effective number of rows of the mean.
        """
        if self.shows_share:
            low, high = share_interval(mean, n if counts is None else counts)
            return {"low": low, "high": high}
        # Degrees of freedom follow the number of rows, regardless of their weights.
        off = variance if counts is None else variance * (n - 1) / counts
        low, high = mean_interval(mean, off, n)
        # One row has no standard deviation.
        spread = {"std": math.sqrt(variance)} if n > 1 else {}
        return {"low": low, "high": high, **spread}

    def expected_text(self, known: Any) -> str:
        """Expected value on new rows with its interval; or nothing.

        ``known`` are the ``RuleStatistics`` of a rule.
        """
        if not known.is_expected:
            return ""
        if math.isnan(known.low):
            return short_text(known.expected)
        write = share_text if self.shows_share else measured_text
        return write(known.expected, known.low, known.high)

    def interval_text(self, known: Any) -> str:
        """The interval alone, if it is printed without a share; else nothing."""
        if math.isnan(known.low):
            return ""
        text = measured_text((known.low + known.high) / 2, known.low, known.high)
        return text[text.index("[") :]

    def statistics_texts(self, known: Any) -> list[str]:
        """Short statistics of a rule on the rows that it decides.

        The interval follows the number that it belongs to.
        """
        parts = []
        if not math.isnan(known.agreement_assigned):
            parts.append(f"agreement {r2_text(unrounded(known.agreement_assigned))}")
        name = self.heading(self.shown_name)
        if known.is_expected:
            parts.append(f"{name} {self.expected_text(known)}")
        elif self.interval_text(known):
            parts.append(f"{name} in {self.interval_text(known)}")
        if not math.isnan(known.std):
            parts.append(f"SD {short_text(known.std)}")
        return parts

    def observed_text(self, known: Any) -> str:
        """What the true values of given rows show, where rules estimate it; or nothing.

        Empty for estimates for new rows.
        """
        return ""

    # Predictions of rules, and their text

    def shortening(
        self, step: float, answers: np.ndarray, weight: np.ndarray
    ) -> Shorten:
        """Rounding of a number within ``step`` standard deviations; 0 for none."""
        within = step * math.sqrt(variance(answers, weight)) if step else 0.0
        return partial(short_value, step=within)

    def rounded(self, answer: Any) -> Any:
        """Probabilities with few decimals; a value unchanged."""
        return answer

    def rule_fields(
        self, answer: Any, shorten: Shorten, counts: Any = 1.0
    ) -> dict[str, Any]:
        """Fields of a rule with a prediction.

        ``shorten`` rounds a value for printing; a class is predicted by its probability
        times its weight in ``counts``.
        """
        return {"prediction": shorten(np.asarray(answer, np.float64).item())}

    def added_fields(self, numbers: Any, shorten: Shorten) -> dict[str, Any]:
        """Fields of a rule of a sum that adds these numbers."""
        return self.rule_fields(numbers, shorten)

    def words_of(self, rule: Any) -> str:
        """Prediction of a rule in words, if it is more than one value; else empty."""
        return ""

    def heading(self, target: str) -> str:
        """Name of the number that a rule predicts: the target."""
        return target

    def in_words(self) -> str:
        """The task in words."""
        return self.task

    @property
    def unit(self) -> str:
        """Unit in which pages show an error or an agreement."""
        return "percent" if self.is_share else "number"

    def figure(self, value: float, digits: int = 3) -> str:
        """An error or an agreement with few digits."""
        return short_text(value, digits)

    def added_text(self, numbers: Sequence[float], write: Write) -> str:
        """Text of the contribution of a rule of a sum."""
        return write(numbers[0])

    def averaged_text(self, numbers: Sequence[float]) -> str:
        """Text of the prediction of a rule of an average."""
        return number_text(numbers[0])
