"""Names and descriptions of columns in tables of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet


ROWS: dict[str, str] = {
    "first": "{} that this rule decides, and how many satisfy it where that is more",
    "sum": "{} that satisfy the rule",
    "average": "{} that satisfy the rule",
}
WEIGHT = "How much the rule counts in the average"
AGREEMENT = (
    "How near the rule is to the model on the rows that it decides, 1 is perfect: one "
    "minus the mean squared difference over the model's variance. Below, the same on "
    "all rows that satisfy it, and the root of the mean squared difference on those "
    "that it decides",
    "Share of the rows that the rule decides to which the model gives the same class; "
    "below, the same on all rows that satisfy it, and for how many of those that it "
    "decides the model says another class, and which",
)
"""For values, and for classes."""
PROBABILITY = (
    "How likely the class is on new rows that the rule decides, as rules told that "
    "were searched for in the same way on a part of the rows and judged on the others; "
    "in brackets its 95 % interval; below, the share of the class in the rule's own "
    "rows, which looks better than it is"
)
PRECISION = (
    "Share of the rows that the rule decides whose true class is this one; below, the "
    "same on all rows that satisfy it; in brackets its 95 % interval, too narrow where "
    "the rule was searched for on these rows"
)
SPREAD = (
    "How far the rows that the rule decides lie apart: mostly two in three are no "
    "further from their mean (the standard deviation). In brackets the 95 % interval "
    "of the mean{}; where dots stand, they show what the rules say on one axis, with "
    "the spread to both sides"
)
ON_NEW_ROWS = (
    " on new rows, as rules told that were judged on rows left out of their search"
)
TOO_NARROW = ", too narrow where the rule was searched for on these rows"


def column_words(
    rules: RuleSet, counted: str = "Training rows", has_agreement: bool = True,
    is_expected: bool = False,
) -> dict[str, str]:  # fmt: skip
    """Names of the numeric columns, with their descriptions.

    Parameters
    ----------
    rules : RuleSet
    counted : str
        Description of the rows that are counted.
    has_agreement : bool
        Whether any rule was compared with a model.
    is_expected : bool
        Whether estimates for new rows are known.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Rule, RuleList
    >>> rules = RuleList((), Rule((), 1.0), FeatureSpace.numeric(1))
    >>> list(column_words(rules))
    ['Rows', 'Agreement', 'Spread']
    """
    words = {"Weight": WEIGHT} if rules.has_weights else {}
    words["Rows"] = ROWS[rules.combine].format(counted)
    if not rules.rules_predict:
        return words
    if has_agreement:
        words["Agreement"] = AGREEMENT[bool(rules.classes)]
    if not rules.classes:
        words["Spread"] = SPREAD.format(ON_NEW_ROWS if is_expected else TOO_NARROW)
    elif is_expected:
        words["Probability"] = PROBABILITY
    else:
        words["Precision"] = PRECISION
    return words
