"""The contract that every type of outcome keeps."""

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
    """What is predicted; where nothing else is said, one number per row.

    *Answers* are all that is said of rows: values, or a column of probabilities per
    class. The *point* is what they come to: the value, or the position of a class.

    Attributes
    ----------
    classes : tuple
        Class labels in order; empty where numbers are predicted.
    task : str
        As estimators, files and commands call it.
    model_task : str
        Task of the models that rules may speak for.
    is_share : bool
        Whether errors and agreement are shares of rows.
    tells_share : bool
        Whether what rows show of a rule (``shown``) is a share of them.
    shown_name : str
        What that is called.
    scoring : str
        By what rules are judged on held-out rows where nothing else is asked for.
    added, averaged : str
        Of what sums and averages of rules are, before the name of the target.
    constant : str
        What one predicts who says the same of all rows.
    error, error_unit, agreement_unit, agreement_words, concordance_name, lost : str
        Names of the error, of what it and the agreement are measured in, of the
        agreement with the model and between refits, and of what shuffling a column
        costs.
    """

    classes: tuple[Any, ...] = ()
    task: ClassVar[str]
    model_task: ClassVar[str] = "regression"
    is_share: ClassVar[bool] = False
    tells_share: ClassVar[bool] = False
    shown_name: ClassVar[str] = ""
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
        """True labels or values, one per row, none missing."""
        return check_target(values, n_rows, numeric=not self.is_share, name=name)

    def codes(self, values: np.ndarray) -> np.ndarray:
        """Labels as positions in ``classes``, -1 for others; values as they are."""
        return values

    def named(self, points: np.ndarray) -> np.ndarray:
        """The inverse: labels, or values as they are."""
        return points

    def point(self, answers: np.ndarray) -> Any:
        """What answers come to: the most probable class, or the value."""
        return answers

    def certain(self, points: np.ndarray) -> np.ndarray:
        """Answers that say one class for sure, or the value."""
        return points

    def answers(self, numbers: np.ndarray) -> np.ndarray:
        """Answers of the numbers that rules say, a line each."""
        return numbers[:, 0]

    def linked(self, totals: np.ndarray) -> np.ndarray:
        """Answers that the totals of a sum stand for."""
        return totals

    # Loss and score

    @abstractmethod
    def losses(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """What points cost on each row."""

    def proper_losses(self, answers: np.ndarray, said: np.ndarray) -> np.ndarray:
        """What it costs to say answers in place of others; least where both are one."""
        return self.losses(answers, said)

    def apart(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """How far points lie apart on each row: the size of the difference."""
        return np.abs(truth - said)

    def mean_loss(self, truth: np.ndarray, said: Any) -> float:
        """The mean of the losses: the error."""
        return float(np.mean(self.losses(truth, said)))

    def constant_of(self, points: np.ndarray) -> Any:
        """The best constant: the mean."""
        return points.mean()

    @abstractmethod
    def constant_error(self, truth: np.ndarray, weight: np.ndarray | None) -> float:
        """The mean loss of the best constant."""

    def terms(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """Of what the mean tells how far points agree: the losses."""
        return self.losses(truth, said)

    def spread(self, points: np.ndarray, weight: np.ndarray | None = None) -> float:
        """By what ``agreement`` measures the mean loss: that of the best constant."""
        return self.constant_error(points, weight)

    def agreement(self, mean: float, spread: float) -> float:
        """How far points agree, 1 at most, by the mean of their ``terms``.

        Where all are one, whether these are said.
        """
        return 1.0 - mean / spread if spread > 0 else float(mean == 0.0)

    def fidelity(
        self,
        taught: np.ndarray,
        said: Any,
        weight: np.ndarray | None = None,
        rows: np.ndarray | None = None,
    ) -> float:
        """How far what is said agrees with what a model says.

        Parameters
        ----------
        taught : ndarray of shape (n_rows,)
            Labels or values.
        said : ndarray of shape (n_rows,), or one label or value for all rows
        weight : ndarray of shape (n_rows,), optional
        rows : ndarray of bool of shape (n_rows,), optional
            Judge these alone; NaN where they weigh nothing. How far the model's values
            lie apart is still that in all rows.

        Examples
        --------
        >>> from clearwood.outcomes import Mean
        >>> taught = np.array([1.0, 2.0, 3.0])
        >>> Mean().fidelity(taught, 2.0), Mean().fidelity(taught, 2.0, rows=taught == 2)
        (0.0, 1.0)
        """
        if rows is None:
            rows = np.ones(len(taught), dtype=bool)
        elif not (rows if weight is None else weight[rows]).sum() > 0:
            return math.nan
        said = said[rows] if np.ndim(said) else said
        of_rows = None if weight is None else weight[rows]
        mean = float(np.average(self.terms(taught[rows], said), weights=of_rows))
        return self.agreement(mean, self.spread(taught, weight))

    def concordance(self, one: np.ndarray, two: np.ndarray) -> float:
        """How far two agree, of whom neither is the model of the other: Lin's.

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
        """The class of scikit-learn's trees that predict it."""
        from sklearn.tree import DecisionTreeRegressor

        return DecisionTreeRegressor

    # Aggregate over rows

    def aggregate(self, answers: np.ndarray, weight: np.ndarray) -> Any:
        """What is said of some rows together: the mean of their answers."""
        mean = np.average(answers, axis=0, weights=weight)
        # Rounding may take it beyond: a probability above 1, a constant off itself.
        return np.clip(mean, answers.min(axis=0), answers.max(axis=0))

    def scale(self, answers: np.ndarray, weight: np.ndarray) -> tuple[float, float]:
        """Centre and unit in which penalties of a search mean something."""
        spread = variance(answers, weight) ** 0.5
        centre = float(np.average(answers, weights=weight))
        return centre, spread if spread > 0 else 1.0

    # What other rows show of what is said, and how sure that is

    def shown(self, truth: np.ndarray, said: Any) -> np.ndarray:
        """Of each row a number whose mean is told beside what is said: its value."""
        return truth

    def interval(
        self, mean: float, variance: float, n: float, counts: float | None = None
    ) -> dict[str, float]:
        """The 95 % interval of the mean of ``shown`` among ``n`` rows.

        Wilson's of a share, Student's of a mean, beside which stands the spread.

        Parameters
        ----------
        mean, variance, n : float
            Of the rows.
        counts : float, optional
            The mean is as uncertain as that of so many rows.
        """
        if self.tells_share:
            low, high = share_interval(mean, n if counts is None else counts)
            return {"low": low, "high": high}
        # As many degrees of freedom as there are rows, whatever they count for.
        off = variance if counts is None else variance * (n - 1) / counts
        low, high = mean_interval(mean, off, n)
        return {"low": low, "high": high, "spread": math.sqrt(variance)}

    def expected_text(self, known: Any) -> str:
        """What is expected on new rows, and its interval; or nothing.

        ``known`` are the ``RuleStatistics`` of a rule.
        """
        if not known.is_expected:
            return ""
        if math.isnan(known.low):
            return short_text(known.expected)
        write = share_text if self.tells_share else measured_text
        return write(known.expected, known.low, known.high)

    def interval_text(self, known: Any) -> str:
        """The interval alone, where it stands beside no share; else nothing."""
        if math.isnan(known.low):
            return ""
        told = measured_text((known.low + known.high) / 2, known.low, known.high)
        return told[told.index("[") :]

    def told(self, known: Any) -> list[str]:
        """What is known of a rule on the rows that it decides, in few words.

        The interval stands behind the number that it is of.
        """
        parts = []
        if not math.isnan(known.agreement_caught):
            parts.append(f"agreement {short_text(unrounded(known.agreement_caught))}")
        if known.is_expected:
            parts.append(f"{self.shown_name} {self.expected_text(known)}")
        elif self.interval_text(known):
            parts.append(f"{self.shown_name} in {self.interval_text(known)}")
        if not math.isnan(known.spread):
            parts.append(f"spread {short_text(known.spread)}")
        return parts

    # What rules say, and how it is written

    def shortening(
        self, step: float, answers: np.ndarray, weight: np.ndarray
    ) -> Shorten:
        """Makes a number short, within so many standard deviations; 0 for not."""
        within = step * math.sqrt(variance(answers, weight)) if step else 0.0
        return partial(short_value, step=within)

    def rounded(self, answer: Any) -> Any:
        """Probabilities in few decimals; a value as it is."""
        return answer

    def says(self, answer: Any, shorten: Shorten, counts: Any = 1.0) -> dict[str, Any]:
        """What a rule says that gives an answer, by its fields.

        ``shorten`` makes a value one to be printed; a class is said by its probability
        times what it ``counts``.
        """
        return {"prediction": shorten(np.asarray(answer, np.float64).item())}

    def adds(self, numbers: Any, shorten: Shorten) -> dict[str, Any]:
        """What a rule of a sum says that adds these numbers, by its fields."""
        return self.says(numbers, shorten)

    def in_words(self) -> str:
        """The task in words."""
        return self.task

    @property
    def unit(self) -> str:
        """How pages show an error, or how far answers agree."""
        return "percent" if self.is_share else "number"

    def figure(self, value: float, digits: int = 3) -> str:
        """An error, or how far answers agree, in few digits."""
        return short_text(value, digits)

    def added_text(self, numbers: Sequence[float], write: Write) -> str:
        """What a rule of a sum adds."""
        return write(numbers[0])

    def averaged_text(self, numbers: Sequence[float]) -> str:
        """What a rule of an average says."""
        return number_text(numbers[0])
