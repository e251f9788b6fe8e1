"""What some rows say about a rule: the one record of it, and the same in words."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from clearwood._words.numbers import short_text

UNKNOWN = math.nan

FEW_ROWS = 3
"""Rows of which nothing is known. The 95 % interval of the share of a class among three
rows, even if all are of it, reaches below a half (44 %), so they cannot tell one class
from the other; that of their mean is wider than two spreads to both sides, so it tells
no more than a single row would. From four rows on neither is so."""

ROUNDING = 1e-9
"""By how much, of itself, a sum of weights may miss another."""


@dataclass(frozen=True, eq=False)
class RuleStatistics:
    """What some rows say about a rule; NaN, or None, where they do not.

    Attributes
    ----------
    support : float
        Weight of the rows that satisfy the conditions: their number, where no weights
        were given. All that follows is weighted too, but for ``rows`` and
        ``rows_caught``.
    caught : float
        Weight of those of them that no earlier rule catches.
    agreement : float
        How far the teacher agrees on the rule's support. Classification: share
        of rows to which the teacher gives the same class. Regression: one minus
        the mean squared difference from the teacher over the teacher's variance
        in all rows (1 is perfect).
    precision : float
        Classification: share of the support whose label is the prediction.
        Regression: NaN. NaN too where no labels were given.
    spread : float
        Regression: standard deviation of the target on the rows that the rule catches.
        Classification: NaN.
    agreement_caught : float
        The agreement on the rows that the rule catches.
    precision_caught : float
        The precision on the rows that the rule catches.
    low, high : float
        95 % interval on the rows that the rule catches. Classification: of the share
        of the predicted class (Wilson). Regression: of the mean of the target
        (Student); NaN for one row. Of the true labels or values where they are
        known, else of what the teacher says. Weights count by the effective number
        of rows. What a rule says may lie outside where it learnt from synthetic rows.
        Where ``expected`` is known, it is the interval of that on new rows. Else it
        does not know whether the rule was searched for on these rows, and is too narrow
        if it was.
    disagreement : float
        Classification: weight of the rows among the caught to which the teacher gives
        another class. Regression: root of the mean squared difference from the
        teacher on the caught rows.
    rows, rows_caught : float
        Numbers of the rows of which ``support`` and ``caught`` are the weight; the same
        where nothing else is said.
    expected : float
        What is to be expected on new rows that the rule decides: the share of its
        class, or the mean of the target, as rules told that were judged on rows that
        took no part in their search. NaN where that is not known, and of figures on
        other rows.
    instead : a class label, or None
        The class that the teacher gives most often where it disagrees.

    Examples
    --------
    >>> some = RuleStatistics(support=5.0, caught=2.5, rows=2, rows_caught=1)
    >>> some.rows_text
    'decides 1 of 2 rows, weight 2.5 of 5'
    """

    support: float = UNKNOWN
    caught: float = UNKNOWN
    agreement: float = UNKNOWN
    precision: float = UNKNOWN
    spread: float = UNKNOWN
    agreement_caught: float = UNKNOWN
    precision_caught: float = UNKNOWN
    low: float = UNKNOWN
    high: float = UNKNOWN
    disagreement: float = UNKNOWN
    rows: float = UNKNOWN
    rows_caught: float = UNKNOWN
    expected: float = UNKNOWN
    instead: Any = None

    def __post_init__(self) -> None:
        for rows, weight in (("rows", self.support), ("rows_caught", self.caught)):
            if math.isnan(getattr(self, rows)):
                object.__setattr__(self, rows, weight)

    def _key(self) -> tuple[Any, ...]:
        # What is not known equals itself, which NaN does not.
        return tuple(None if v != v else v for v in vars(self).values())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleStatistics) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    @property
    def is_expected(self) -> bool:
        """Whether it is known what to expect of new rows."""
        return not math.isnan(self.expected)

    @property
    def rows_text(self) -> str:
        """How many rows satisfy the rule and how many it decides; and their weight."""
        rows = count_text(self.rows) + (" row" if self.rows == 1 else " rows")
        if self.rows_caught < self.rows:
            rows = f"decides {count_text(self.rows_caught)} of {rows}"
        return ", ".join(filter(None, (rows, self.weight_text)))

    @property
    def weight_text(self) -> str:
        """The weight of the rows; empty where they weigh one each."""
        if (self.support, self.caught) == (self.rows, self.rows_caught):
            return ""
        is_part = self.rows_caught < self.rows
        part = f"{short_text(self.caught, 6)} of " if is_part else ""
        return f"weight {part}{short_text(self.support, 6)}"

    def wrong(self, prediction: Any, is_class: bool, judged: bool) -> tuple[str, str]:
        """The first statistic that cannot be, next to the others, and what could.

        Parameters
        ----------
        prediction : float, or a class label
            What the rule says.
        is_class : bool
            Whether that is a class.
        judged : bool
            Whether a rule by itself is right or wrong; in a sum it is not.

        Returns
        -------
        name, expected : str
            Both empty where nothing is wrong.

        Examples
        --------
        >>> some = RuleStatistics(support=3.0, caught=5.0)
        >>> some.wrong(1.0, is_class=False, judged=True)
        ('caught', 'at most the support')
        """
        unused = ("spread",) if is_class else OF_CLASSES
        for name in unused if judged else JUDGEMENTS:
            value = getattr(self, name)
            if value is not None and value == value:
                return name, "nothing, as there is none of it here"
        for name in AMOUNTS:
            if getattr(self, name) < 0:
                return name, "at least 0"
        for name in JUDGEMENTS[:7] if is_class else JUDGEMENTS[:2]:
            value = getattr(self, name)
            if (is_class and value < 0) or _is_more(value, 1.0):
                return name, "a share, from 0 to 1" if is_class else "at most 1"
        if _is_more(self.caught, self.support):
            return "caught", "at most the support"
        if _is_more(self.rows_caught, self.rows):
            return "rows_caught", "at most the rows"
        if is_class and _is_more(self.disagreement, self.caught):
            return "disagreement", "at most what is caught"
        if self.low > self.high:
            return "low", "at most high"
        if math.isnan(self.low) != math.isnan(self.high):
            return "low", "a number where high is one"
        says_otherwise = self.disagreement > 0 and self.instead != prediction
        if self.instead is not None and not says_otherwise:
            return "instead", "another class than the prediction, with a disagreement"
        return "", ""


AMOUNTS = ("support", "caught", "rows", "rows_caught", "spread", "disagreement")
OF_CLASSES = ("precision", "precision_caught", "instead")
JUDGEMENTS = (
    "agreement", "agreement_caught", "precision", "precision_caught", "low", "high",
    "expected", "spread", "disagreement", "instead",
)  # fmt: skip
"""Statistics of rules that are right or wrong; of classes the first 7 are shares."""


def _is_more(part: float, whole: float) -> bool:
    """Whether what is known is more than all; or all is not known."""
    return not math.isnan(part) and not part <= whole * (1 + ROUNDING)


def count_text(rows: float) -> str:
    """A number of rows; files of before may hold a weight that is no whole number."""
    return f"{rows:.0f}" if float(rows).is_integer() else short_text(rows, 6)


def few_text(rows: float) -> str:
    """A warning beside a number that rests on next to no rows; else nothing.

    Examples
    --------
    >>> few_text(1), few_text(3), few_text(4), few_text(0)
    ('1 row only', '3 rows only', '', '')
    """
    if not 0 < rows <= FEW_ROWS:
        return ""
    return f"{count_text(rows)} row{'s' * (rows != 1)} only"
