"""The three kinds of rule sets: lists, sums and averages of rules."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import number_text
from clearwood.exceptions import InputError
from clearwood.rules.rule import (
    MOST_CATEGORIES,
    Rule,
    first_match,
    rule_says,
    signed_text,
    statistics_text,
)
from clearwood.rules.rule_set import RuleSet

LARGEST_ADDEND = 1e300
LEAST_WEIGHT, LARGEST_WEIGHT, LARGEST_VALUE = 1e-100, 1e100, 1e150
"""Bounds within which products of weights and values neither vanish nor overflow."""


@dataclass(frozen=True, eq=False, repr=False)
class RuleList(RuleSet):
    """Ordered list of rules, of which the first that a row satisfies predicts.

    Rules that never overlap, as those of a tree, are such a list, too: exactly one
    holds for each row.

    Attributes
    ----------
    rules : tuple of Rule
        In the order in which they are evaluated and printed.
    otherwise : Rule
        Default rule, without conditions; predicts where no other rule holds.
    features : FeatureSpace
        Columns of the data.
    classes : tuple
        Class labels in order; empty in regression.
    target : str
        Name of the target.
    about : dict of str to str
        Origin of the rules (model, method, settings), as text.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     rules=(Rule((Interval(0, low=37.5),), "ill", (0.1, 0.9)),),
    ...     otherwise=Rule((), "well", (0.8, 0.2)),
    ...     features=FeatureSpace(("temperature",), (None,)),
    ...     classes=("well", "ill"))
    >>> print(rules)
    1. if temperature > 37.5
       then ill, probability 90 %
    2. otherwise well, probability 80 %
    >>> rules.predict([[36.9], [39.0]])
    array(['well', 'ill'], dtype='<U4')
    """

    _display = "clearwood.rules.drawn.display:TreeDisplay"

    combine: ClassVar[str] = "first"
    one_rule_predicts: ClassVar[bool] = True

    def predicting_rule(self, matches: np.ndarray) -> np.ndarray:
        """Position of the first rule that each row satisfies."""
        return first_match(matches)

    def predictions_by(self, matches: np.ndarray) -> np.ndarray:
        """Prediction of the rule that predicts each row."""
        return self.predictions[self.predicting_rule(matches)]

    def answers_by(self, matches: np.ndarray) -> np.ndarray:
        """Full prediction of the rule that predicts each row."""
        numbers = np.array([rule.numbers for rule in self])
        return self.outcome.answers(numbers)[self.predicting_rule(matches)]

    def contributing(self, matches: np.ndarray) -> np.ndarray:
        """Mask of the one rule that predicts each row."""
        return self.predicting_rule(matches)[:, None] == np.arange(self.n_rules)

    @property
    def n_rows(self) -> float:
        """Number of rows of the statistics: each is predicted by one rule."""
        return sum(rule.statistics.rows_assigned for rule in self)

    @property
    def total_weight(self) -> float:
        """Total weight of these rows."""
        return sum(rule.statistics.assigned for rule in self)

    @property
    def heading(self) -> str:
        """Empty: a list needs no heading."""
        return ""

    @property
    def default_text(self) -> str:
        """Word for the default rule."""
        return "otherwise"

    def text_lines(self, most: int | None = MOST_CATEGORIES) -> list[str]:
        """One line for the conditions, one for the prediction."""
        lines = []
        for number, rule in enumerate(self.rules, start=1):
            lines.append(f"{number}. if {rule.text(self.features, most)}")
            lines.append(f"   then {rule_says(rule, self.outcome, self)}")
        last = rule_says(self.otherwise, self.outcome, self)
        return [*lines, f"{self.n_rules}. otherwise {last}"]


class _AllThatHold(RuleSet):
    """Base of sums and averages: every rule that holds contributes."""

    def predictions_by(self, matches: np.ndarray) -> np.ndarray:
        """Class label, or value, of the sum or average of each row."""
        return self.outcome.named(self.outcome.point(self.aggregate(matches)))

    def contributing(self, matches: np.ndarray) -> np.ndarray:
        """Mask of all rules that each row satisfies, and the default rule."""
        return np.hstack([matches, np.ones((len(matches), 1), dtype=bool)])

    @property
    def n_rows(self) -> float:
        """Number of rows of the statistics: the default rule holds in all of them."""
        return self.otherwise.statistics.rows

    @property
    def total_weight(self) -> float:
        """Total weight of these rows."""
        return self.otherwise.statistics.support

    def _added_up(self, matches: np.ndarray, parts: np.ndarray) -> np.ndarray:
        """Sum of ``parts``, one per rule, over the rules that hold in each row."""
        total = np.repeat(parts[-1:], len(matches), axis=0)
        # One rule after the other, in printed order, so that rounding is as by hand.
        for holds, part in zip(matches.T, parts):
            total[holds] += part
        return total


@dataclass(frozen=True, eq=False, repr=False)
class RuleSum(_AllThatHold):
    """Sum of rules: the values of all rules that a row satisfies are added.

    In regression they add values, in classification log-odds (``scores``) per class.

    Attributes
    ----------
    rules : tuple of Rule
        In printed order, which is that of summation.
    otherwise : Rule
        The constant that the others are added to; it has no conditions.
    features, classes, target, about
        As in :class:`~clearwood.RuleList`.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleSum
    >>> rules = RuleSum(
    ...     (Rule((Interval(0, low=5.25),), 9.0), Rule((Interval(1, low=10.0),), -2.0)),
    ...     Rule((), 20.0),
    ...     FeatureSpace(("height", "age"), (None, None)), target="heating")
    >>> print(rules)
    heating = the sum of
       20  always
    1. + 9
          if height > 5.25
    2. - 2
          if age > 10
    >>> rules.predict([[6.0, 20.0], [6.0, 1.0]])
    array([27., 29.])
    """

    combine: ClassVar[str] = "sum"
    rules_predict: ClassVar[bool] = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if np.abs(self._added()).max() > LARGEST_ADDEND:
            raise InputError(
                f"A rule of a sum must add at most {LARGEST_ADDEND} in size, so "
                "that totals stay finite."
            )

    def _added(self) -> np.ndarray:
        """Value that each rule adds, in printed order."""
        added = np.array([rule.numbers for rule in self], dtype=np.float64)
        return self.outcome.answers(added)

    def totals(self, X: object) -> np.ndarray:
        """Sum of the rules that hold, per row.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            Values, or log-odds of the classes (before softmax).
        """
        return self.aggregate(self.matches(X))

    def aggregate(self, matches: np.ndarray) -> np.ndarray:
        """Total per row, see :meth:`totals`."""
        return self._added_up(matches, self._added())

    def answers_by(self, matches: np.ndarray) -> np.ndarray:
        """Value, or class probabilities, of each row."""
        return self.outcome.linked(self.aggregate(matches))

    @property
    def heading(self) -> str:
        """First line: the target as a sum."""
        return f"{self.outcome.added}{printable(self.target)} = the sum of"

    @property
    def default_text(self) -> str:
        """Word for the constant."""
        return "always"

    def lines(self) -> list[tuple[int | None, Rule]]:
        """The constant first, without a number, then the rules."""
        *rules, (_, constant) = super().lines()
        return [(None, constant), *rules]

    def text_lines(self, most: int | None = MOST_CATEGORIES) -> list[str]:
        """One line for the value added, one for the conditions."""
        lines = [f"   {self.text_of(self.otherwise)}  always"]
        for number, rule in enumerate(self.rules, start=1):
            known = rule.statistics
            rows = "" if math.isnan(known.support) else known.rows_text
            facts = ", ".join(filter(None, (rows, rule.frequency_text)))
            facts = f"  ({facts})" if facts else ""
            lines.append(f"{number}. {self.text_of(rule)}")
            lines.append(f"      if {rule.text(self.features, most)}{facts}")
        return lines

    def text_of(self, rule: Rule) -> str:
        """Value added by a rule: a number, or one per class with its label."""
        write = signed_text if rule.conditions else number_text
        return self.outcome.added_text(rule.numbers, write)

    def brief_text_of(self, rule: Rule) -> str:
        """One number; with more than two classes that of the class that gains most."""
        if len(rule.numbers) > 2:
            return prediction_text(rule.prediction)
        write = signed_text if rule.conditions else number_text
        return write(rule.numbers[-1])


@dataclass(frozen=True, eq=False, repr=False)
class RuleAverage(_AllThatHold):
    """Weighted average of all rules that a row satisfies.

    The average is of values, or of class probabilities.

    Attributes
    ----------
    rules : tuple of Rule
        In the order in which they are printed.
    otherwise : Rule
        Default rule, without conditions. Always takes part, with its weight, and is the
        prediction where no weight is above zero.
    features, classes, target, about
        As in :class:`~clearwood.RuleList`.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleAverage
    >>> rules = RuleAverage(
    ...     (Rule((Interval(0, low=5.25),), 31.0, weight=0.5),),
    ...     Rule((), 22.0, weight=0.25),
    ...     FeatureSpace(("height",), (None,)), target="heating")
    >>> print(rules)
    heating = the average of all lines that hold, by their weights
    1. if height > 5.25
       31 with weight 0.5
    2. always 22 with weight 0.25
    >>> rules.predict([[6.0], [1.0]])
    array([28., 22.])
    """

    combine: ClassVar[str] = "average"
    has_weights: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for number, rule in enumerate(self, start=1):
            weight = rule.weight
            if weight != 0 and not LEAST_WEIGHT <= weight <= LARGEST_WEIGHT:
                raise InputError(
                    f"Rule {number} has the weight {weight!r}; expected 0, or a number "
                    f"from {LEAST_WEIGHT:g} to {LARGEST_WEIGHT:g}."
                )
            if not max(map(abs, rule.numbers)) <= LARGEST_VALUE:
                raise InputError(
                    f"Rule {number} predicts {rule.prediction!r}; in an average its "
                    f"size must be at most {LARGEST_VALUE:g}, so that sums stay finite."
                )

    def aggregate(self, matches: np.ndarray) -> np.ndarray:
        """Weighted average of the rules that hold: values, or class probabilities."""
        predicted = np.array([rule.numbers for rule in self], np.float64)
        weights = np.array([rule.weight for rule in self], dtype=np.float64)
        total = self._added_up(matches, weights[:, None] * predicted)
        weight = self._added_up(matches, weights)
        nothing = weight == 0
        total[nothing], weight[nothing] = predicted[-1], 1.0
        return self.outcome.answers(total / weight[:, None])

    def answers_by(self, matches: np.ndarray) -> np.ndarray:
        """Value, or class probabilities, of each row."""
        return self.aggregate(matches)

    @property
    def heading(self) -> str:
        """First line: the target as an average."""
        goal = self.outcome.averaged + printable(self.target)
        return f"{goal} = the average of all lines that hold, by their weights"

    @property
    def default_text(self) -> str:
        """Word for the default rule; it differs where that has no weight."""
        return "always" if self.otherwise.weight > 0 else "otherwise"

    def text_lines(self, most: int | None = MOST_CATEGORIES) -> list[str]:
        """Conditions, prediction and weight."""
        lines = []
        for number, rule in enumerate(self.rules, start=1):
            lines.append(f"{number}. if {rule.text(self.features, most)}")
            lines.append(f"   {self._with_statistics(rule)}")
        last = self.otherwise
        says = self._with_statistics(last) if last.weight > 0 else self.text_of(last)
        return [*lines, f"{self.n_rules}. {self.default_text} {says}"]

    def _with_statistics(self, rule: Rule) -> str:
        parts = statistics_text(rule, self.outcome)
        if self.outcome.is_share and rule.statistics.is_expected:
            predicted = prediction_text(rule.prediction)
            parts.append(f"{predicted} {self.outcome.expected_text(rule.statistics)}")
        known = ", ".join(parts)
        return self.full_text_of(rule) + (f"  ({known})" if known else "")

    def text_of(self, rule: Rule) -> str:
        """Prediction of a rule: a value, or probabilities with their classes."""
        return self.outcome.averaged_text(rule.numbers)

    def full_text_of(self, rule: Rule) -> str:
        """Prediction of a rule, with its weight."""
        return f"{self.text_of(rule)} with weight {number_text(rule.weight)}"
