"""What a table of rules shows of each of them, as numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from clearwood.rules import RuleSet
from clearwood.rules.rule import MOST_CATEGORIES


@dataclass(frozen=True)
class RuleLine:
    """One line of the table; NaN stands for what is not known.

    Attributes
    ----------
    number : int or None
        As printed; the constant of a sum has none.
    conditions : tuple of str
        Empty for the last line of a list and for the constant of a sum.
    says : str
        What the rule predicts, or adds.
    prediction : float, or a class label
    caught, matching : float
        Shares of the rows that no earlier rule catches, and of all that satisfy the
        rule.
    agreement, agreement_caught, precision, spread, expected : float
        As in ``Rule``.
    scores : tuple of float
        As in ``Rule``.
    weight : float or None
        Only in an average.
    """

    number: int | None
    conditions: tuple[str, ...]
    says: str
    prediction: Any
    caught: float
    matching: float
    agreement: float = math.nan
    agreement_caught: float = math.nan
    precision: float = math.nan
    spread: float = math.nan
    scores: tuple[float, ...] = ()
    weight: float | None = None
    expected: float = math.nan


def lines_of(rules: RuleSet) -> list[RuleLine]:
    """The lines as they are shown, with the statistics that the rules come with.

    Those of other rows are the lines of ``rules.described_on``.

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.rules import Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=0.5),), 1.0, (), support=3.0, caught=3.0),),
    ...     Rule((), 0.0, (), support=1.0, caught=1.0),
    ...     FeatureSpace.numeric(1))
    >>> [(line.says, line.caught) for line in lines_of(rules)]
    [('1', 0.75), ('0', 0.25)]
    """
    return [
        RuleLine(
            number,
            tuple(c.text(rules.features, MOST_CATEGORIES) for c in rule.conditions),
            rules.says_briefly(rule),
            rule.prediction,
            rule.rows_caught / rules.n_rows if rules.n_rows else math.nan,
            rule.rows / rules.n_rows if rules.n_rows else math.nan,
            rule.agreement,
            rule.agreement_caught,
            rule.precision,
            rule.spread,
            rule.scores,
            rule.weight if rules.has_weights else None,
            rule.expected,
        )
        for number, rule in rules.lines()
    ]


def score_text(score: float) -> str:
    """A score with two decimals; nothing where it is not known.

    Examples
    --------
    >>> score_text(0.987), score_text(-12.3), score_text(math.nan)
    ('0.99', '-12.30', '')
    """
    return "" if math.isnan(score) else f"{score:.2f}"
