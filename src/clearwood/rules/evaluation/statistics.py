"""Statistics of a rule on a sample, with their text."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from clearwood._words.numbers import short_text
from clearwood.outcomes.intervals import UNKNOWN

FEW_ROWS = 3
"""Number of rows below which statistics are hardly informative. Of three rows, all of
one class, the 95 % interval of the share of that class still reaches down to 44 %,
below a half; that of a mean is wider than two standard deviations to both sides, no
better than for a single row. From four rows on neither is so."""

ROUNDING = 1e-9
"""Relative tolerance of sums of weights."""


@dataclass(frozen=True, eq=False)
class RuleStatistics:
    """Statistics of a rule on a sample; NaN, or None, where unknown.

    Attributes
    ----------
    support : float
        Weight of the rows that satisfy the conditions: their number, where no weights
        were given. What follows is weighted too, except ``rows`` and ``rows_assigned``.
    assigned : float
        Weight of those of them that no earlier rule covers: the rows predicted by it.
    agreement : float
        Agreement with the model on the rule's support. Classification: share of rows
        for which the model predicts the same class. Regression: one minus the mean
        squared difference from the model over the model's variance in all rows (1 is
        perfect).
    precision : float
        Classification: share of the support whose label is the prediction. Regression,
        and without labels: NaN.
    std : float
        Regression: standard deviation of the target on the rows that the rule predicts.
        Classification: NaN.
    agreement_assigned : float
        The agreement on the rows that the rule predicts.
    precision_assigned : float
        The precision on the rows that the rule predicts; for quantiles, the share of
        their values that are at most the prediction.
    low, high : float
        95 % interval on the rows that the rule predicts. Classification: of the share
        of the predicted class (Wilson). Regression: of the mean of the target
        (Student); NaN for one row. Quantiles: of ``precision_assigned`` (Wilson), or of
        ``expected``. Based on true labels or values where known, else on
        the model's predictions. Weights enter by the effective number of rows. The
        prediction may lie outside if it was fitted with synthetic rows. Where
        ``expected`` is known, it is the interval of that on new rows; otherwise it
        ignores the search, and is too narrow if the rule was searched for on these
        rows.
    disagreement : float
        Classification: weight of the predicted rows for which the model predicts
        another class. Regression: root mean squared difference from the model on the
        predicted rows.
    rows, rows_assigned : float
        Numbers of the rows of which ``support`` and ``assigned`` are the weight; equal
        to these by default.
    expected : float
        Estimate for new rows that the rule predicts: the share of its class, or the
        mean of the target, from rules evaluated on rows held out of their search. NaN
        where unknown, and for statistics on other rows.
    instead : a class label, or None
        The class that the model predicts most often where it disagrees.

    Examples
    --------
    >>> some = RuleStatistics(support=5.0, assigned=2.5, rows=2, rows_assigned=1)
    >>> some.rows_text
    'predicts 1 of 2 rows, weight 2.5 of 5'
    """

    support: float = UNKNOWN
    assigned: float = UNKNOWN
    agreement: float = UNKNOWN
    precision: float = UNKNOWN
    std: float = UNKNOWN
    agreement_assigned: float = UNKNOWN
    precision_assigned: float = UNKNOWN
    low: float = UNKNOWN
    high: float = UNKNOWN
    disagreement: float = UNKNOWN
    rows: float = UNKNOWN
    rows_assigned: float = UNKNOWN
    expected: float = UNKNOWN
    instead: Any = None

    def __post_init__(self) -> None:
        for rows, weight in (("rows", self.support), ("rows_assigned", self.assigned)):
            if math.isnan(getattr(self, rows)):
                object.__setattr__(self, rows, weight)

    def _key(self) -> tuple[Any, ...]:
        # Unknown values are equal to each other, which NaN is not.
        return tuple(None if v != v else v for v in vars(self).values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleStatistics) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def is_expected(self) -> bool:
        """Whether an estimate for new rows is known."""
        return not math.isnan(self.expected)

    @property
    def rows_text(self) -> str:
        """Numbers of rows that the rule covers and predicts, with their weight."""
        rows = count_text(self.rows) + (" row" if self.rows == 1 else " rows")
        if self.rows_assigned < self.rows:
            rows = f"predicts {count_text(self.rows_assigned)} of {rows}"
        return ", ".join(filter(None, (rows, self.weight_text)))

    @property
    def weight_text(self) -> str:
        """The weight of the rows; empty if all weights are one."""
        if (self.support, self.assigned) == (self.rows, self.rows_assigned):
            return ""
        is_part = self.rows_assigned < self.rows
        part = f"{short_text(self.assigned, 6)} of " if is_part else ""
        return f"weight {part}{short_text(self.support, 6)}"

    def wrong(self, prediction: Any, is_class: bool, predicts: bool) -> tuple[str, str]:
        """Find the first statistic that is impossible given the others.

        Parameters
        ----------
        prediction : float, or a class label
            Prediction of the rule.
        is_class : bool
            Whether the prediction is a class.
        predicts : bool
            Whether a single rule is right or wrong; in a sum it is not.

        Returns
        -------
        name, expected : str
            The statistic and its valid range; both empty if all are valid.

        Examples
        --------
        >>> some = RuleStatistics(support=3.0, assigned=5.0)
        >>> some.wrong(1.0, is_class=False, predicts=True)
        ('assigned', 'at most the support')
        """
        unused = ("std",) if is_class else OF_CLASSES
        for name in unused if predicts else QUALITIES:
            value = getattr(self, name)
            if value is not None and value == value:
                return name, "none, as rules of this kind have no such statistic"
        for name in AMOUNTS:
            if getattr(self, name) < 0:
                return name, "at least 0"
        for name in QUALITIES[:7] if is_class else QUALITIES[:3]:
            value, is_share = getattr(self, name), is_class or name == QUALITIES[2]
            if (is_share and value < 0) or _is_more(value, 1.0):
                return name, "a share, from 0 to 1" if is_share else "at most 1"
        if _is_more(self.assigned, self.support):
            return "assigned", "at most the support"
        if _is_more(self.rows_assigned, self.rows):
            return "rows_assigned", "at most the rows"
        if is_class and _is_more(self.disagreement, self.assigned):
            return "disagreement", "at most the rows that it predicts (assigned)"
        if self.low > self.high:
            return "low", "at most high"
        if math.isnan(self.low) != math.isnan(self.high):
            return "low", "a number where high is one"
        disagrees = self.disagreement > 0 and self.instead != prediction
        if self.instead is not None and not disagrees:
            return "instead", "another class than the prediction, with a disagreement"
        return "", ""


AMOUNTS = ("support", "assigned", "rows", "rows_assigned", "std", "disagreement")
OF_CLASSES = ("precision", "instead")
QUALITIES = (
    "agreement", "agreement_assigned", "precision_assigned", "precision", "low", "high",
    "expected", "std", "disagreement", "instead",
)  # fmt: skip
"""Statistics of rules that predict; for classes the first 7 are shares, for values the
third."""


def _is_more(part: float, whole: float) -> bool:
    """Whether a known part exceeds the whole, or the whole is unknown."""
    return not math.isnan(part) and not part <= whole * (1 + ROUNDING)


def count_text(rows: float) -> str:
    """A number of rows; old files may hold a weight that is not an integer."""
    return f"{rows:.0f}" if float(rows).is_integer() else short_text(rows, 6)


def few_text(rows: float) -> str:
    """Warning beside a statistic of very few rows; else empty.

    Examples
    --------
    >>> few_text(1), few_text(3), few_text(4), few_text(0)
    ('1 row only', '3 rows only', '', '')
    """
    if not 0 < rows <= FEW_ROWS:
        return ""
    return f"{count_text(rows)} row{'s' * (rows != 1)} only"
