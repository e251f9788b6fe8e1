"""Names and descriptions of columns in tables of rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet


ROWS: dict[str, str] = {
    "first": "{} that this rule predicts; below, those that satisfy it, if more",
    "sum": "{} that satisfy the rule",
    "average": "{} that satisfy the rule",
}
SELECTED = (
    "; and in how many folds of cross-validation the same rule was selected: one that "
    "predicts the same class, and whose rows shared with this rule are at least 80 % "
    "of the rows that either covers"
)
WEIGHT = "Weight of the rule in the average"
AGREEMENT = (
    "Fidelity to the model on the rows that the rule predicts, 1 is perfect: one minus "
    "the mean squared difference over the model's variance. Below, the same on "
    "all rows that satisfy it, and the root of the mean squared difference on those "
    "that it predicts",
    "Share of the rows that the rule predicts for which the model predicts the same "
    "class; below, the same on all rows that satisfy it, and for how many of those "
    "that it predicts the model predicts another class, and which",
)
"""For values, and for classes."""
PROBABILITY = (
    "Probability of the class in new rows that the rule predicts, estimated by cross-"
    "validation: rules fitted to a part of the rows are evaluated on the others; in "
    "brackets its 95 % interval; below, the share of the class in the rows of the fit, "
    "which is optimistic"
)
PRECISION = (
    "Share of the rows that the rule predicts whose true class is this one; below, the "
    "same on all rows that satisfy it; in brackets its 95 % interval, too narrow if "
    "the rule was fitted to these rows"
)
DEVIATION = (
    "Standard deviation of the target in the rows that the rule predicts. In brackets "
    "the 95 % interval of the mean{}; dots, if any, show the predictions of all rules "
    "on one axis, and bars one standard deviation to both sides"
)
OBSERVED = (
    "What the true values of the rows that the rule predicts show: of a quantile, the "
    "share of values that are at most the prediction; of a treatment, its effect; in "
    "brackets its 95 % interval. Nothing where the prediction is an estimate from "
    "these rows, which has an interval of its own"
)
ON_NEW_ROWS = " on new rows, estimated by cross-validation"
TOO_NARROW = ", too narrow if the rule was fitted to these rows"


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
    ['Rows', 'Agreement', 'SD']
    """
    words = {"Weight": WEIGHT} if rules.has_weights else {}
    words["Rows"] = ROWS[rules.combine].format(counted)
    if any(rule.selected for rule in rules):
        words["Rows"] += SELECTED
    if not rules.rules_predict:
        return words
    if has_agreement:
        words["Agreement"] = AGREEMENT[bool(rules.classes)]
    if rules.outcome.estimates_truth:
        words["Observed"] = OBSERVED
    elif rules.outcome.horizons:
        pass  # The curve, which is the prediction, has its own intervals.
    elif not rules.classes:
        words["SD"] = DEVIATION.format(ON_NEW_ROWS if is_expected else TOO_NARROW)
    elif is_expected:
        words["Probability"] = PROBABILITY
    else:
        words["Precision"] = PRECISION
    return words
