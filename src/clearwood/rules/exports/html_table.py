"""Rules as an HTML table."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from clearwood._html.disclosure import FEW, OfRows
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import (
    number_text,
    share_decimals,
    share_text,
    unrounded,
)
from clearwood.rules.evaluation.statistics import (
    RuleStatistics,
    few_text,
)
from clearwood.rules.exports.column_words import column_words
from clearwood.rules.rule import (
    Rule,
    predicted_probability,
    unlikely_text,
)

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

CAPTIONS: dict[str, tuple[str, str]] = {
    "first": ("The first rule that a row satisfies predicts it.",) * 2,
    "sum": (
        "All rules that a row satisfies are added; the constant always is.",
        "All rules that a row satisfies are added, to log-odds of the classes; the "
        "constant always is.",
    ),
    "average": (
        "The prediction is the weighted average of all rules that a row satisfies; the "
        "last rule applies to every row, and alone where no other holds.",
        "The prediction is the weighted average of the class probabilities of all "
        "rules that a row satisfies; the last rule applies to every row, and alone "
        "where no other holds.",
    ),
}
"""How the rules that hold are combined, for values and for classes."""

NOT_KNOWN = RuleStatistics()
WITHHELD = {
    "rows": FEW,
    "rows_assigned": FEW,
    "share": 0.0,
    "matching": None,
    "value": None,
}
"""What stands in place of the statistics of a rule of few rows."""

SAYS: dict[str, str] = {
    "first": "then {}",
    "sum": "add",
    "average": "predict {}",
}
"""Heading of the column of predictions."""


def summarize_rules(
    rules: RuleSet, counted: str = "Training rows", is_linked: bool = False
) -> dict[str, Any]:
    """Data of the HTML table, as plain values.

    Parameters
    ----------
    rules : RuleSet
    counted : str
        Description of the rows that are counted.
    is_linked : bool
        Whether names of columns link to the page's explanations.
    """
    target = printable(rules.target)
    caption = CAPTIONS[rules.combine][bool(rules.classes)]
    judged = rules.rules_predict
    is_expected = any(rule.statistics.is_expected for rule in rules)
    # Some rules have no model to compare with, as those of a tree with a posterior.
    compared = [not math.isnan(rule.statistics.agreement) for rule in rules]
    has_agreement = judged and any(compared)
    is_curve = any(rule.curve for rule in rules)
    heading = "" if is_curve else rules.outcome.heading(target)
    return {
        "task": rules.task,
        "combine": rules.combine,
        "target": target,
        "caption": " ".join(filter(None, (caption, rules.statistic))),
        "says": SAYS[rules.combine].format(heading).strip(),
        "words": column_words(rules, counted, has_agreement, is_expected),
        "is_linked": is_linked,
        "has_agreement": has_agreement,
        "has_quality": judged,
        "estimates_truth": rules.outcome.estimates_truth,
        # One rounding of percentages for all rules.
        "decimals": max(
            share_decimals(rule.statistics.low, rule.statistics.high) for rule in rules
        )
        if rules.classes
        else 0,
        # Estimates for new rows replace the figures on these.
        "is_expected": is_expected,
        "has_weights": rules.has_weights,
        "default_text": rules.default_text,
        "glossary": rules.glossary(),
        "lines": [
            OfRows(
                _line(rules, number, rule) | bars,
                rule.statistics.rows,
                rule.statistics.rows_assigned,
                instead=_line(rules, number, replace(rule, statistics=NOT_KNOWN))
                | bars
                | WITHHELD,
            )
            for (number, rule), bars in zip(rules.lines(), line_bars(rules))
        ],
    }


def _line(rules: RuleSet, number: int | None, rule: Rule) -> dict[str, Any]:
    known, outcome = rule.statistics, rules.outcome
    return {
        "number": number,
        "conditions": [c.text(rules.features) for c in rule.conditions],
        "prediction": outcome.words_of(rule) or rules.text_of(rule),
        "weight": number_text(rule.weight),
        "frequency": rule.frequency_text,
        **_known(known),
        "share": _share(known.rows_assigned, rules.n_rows),
        "observed": outcome.observed_text(known),
        "interval": outcome.interval_text(known),
        "expected_text": outcome.expected_text(known),
        "probability": predicted_probability(rule, rules.classes),
        "unlikely": _unlikely_text(rules, rule),
        "instead": _instead_text(rules, rule),
    }


def _known(known: RuleStatistics) -> dict[str, Any]:
    """Statistics of a rule; None where unknown."""
    qualities = ("agreement", "agreement_assigned", "precision", "precision_assigned")
    values = vars(known) | {k: unrounded(getattr(known, k)) for k in qualities}
    return {k: None if v != v else v for k, v in values.items()} | {
        "few": few_text(known.rows_assigned),
        "weight_of_rows": known.weight_text,
        "ends": (known.low, known.high),
    }


def _unlikely_text(rules: RuleSet, rule: Rule) -> str:
    """Probability of a class below a half, with the reason to predict it; or empty."""
    why = unlikely_text(rule, rules.classes, rules) if rules.rules_predict else ""
    p = predicted_probability(rule, rules.classes)
    return f"{share_text(p)}{why}" if why and p is not None else ""


def _instead_text(rules: RuleSet, rule: Rule) -> str | None:
    """The model's prediction where it disagrees; of several classes, the mode."""
    label = rule.statistics.instead
    if label is None:
        return None
    return "mostly " * (len(rules.classes) > 2) + prediction_text(label)


def _share(rows: float, n_rows: float) -> float | None:
    return _or_none(rows / n_rows) if n_rows else None


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value


def line_bars(rules: RuleSet) -> list[dict[str, Any]]:
    """Lengths and positions of the bars, as shares of their room; None for no bar.

    Returns
    -------
    list of dict
        One per rule as shown. ``matching``: share of the rows that satisfy the rule;
        ``value``: for numeric predictions, the position on their common axis, with the
        standard deviation to both sides; ``added``: in a sum, the value added over the
        largest; ``weighed``: in an average, the weight over the largest.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, RuleSum
    >>> rules = RuleSum(
    ...     (Rule((Interval(0, low=0.5),), -8.0), Rule((Interval(1, low=0.5),), 2.0)),
    ...     Rule((), 20.0),
    ...     FeatureSpace.numeric(2))
    >>> [bar["added"] for bar in line_bars(rules)]
    [None, -1.0, 0.25]
    """
    shown = [rule for _, rule in rules.lines()]
    nothing = [None] * len(shown)
    added = nothing if rules.rules_predict else _added(shown, rules)
    with_axis = rules.rules_predict and not (rules.classes or rules.outcome.horizons)
    values = _values(shown) if with_axis else nothing
    most = max(rule.weight for rule in shown) or 1.0
    return [
        {
            "matching": _share(rule.statistics.rows, rules.n_rows),
            "value": value,
            "added": length,
            **({"weighed": rule.weight / most} if rules.has_weights else {}),
        }
        for value, length, rule in zip(values, added, shown)
    ]


def _values(shown: list[Rule]) -> list[Any]:
    # An unknown standard deviation is not drawn.
    known = [rule.statistics.std for rule in shown]
    spread = [0.0 if math.isnan(s) else s for s in known]
    low = min(rule.prediction - s for rule, s in zip(shown, spread))
    high = max(rule.prediction + s for rule, s in zip(shown, spread))
    room = high - low
    if not 0 < room < math.inf:
        return [None] * len(shown)
    return [
        {"at": (rule.prediction - low) / room, "spread": s / room}
        for rule, s in zip(shown, spread)
    ]


def _added(shown: list[Rule], rules: RuleSet) -> list[Any]:
    if len(rules.classes) > 2:
        return [None] * len(shown)
    added = [float(rule.numbers[-1]) for rule in shown]
    # The constant of a regression is not a change, and may be far larger than all.
    changes = added if rules.classes else added[1:]
    most = max(map(abs, changes), default=0.0)
    if not 0 < most < math.inf:
        return [None] * len(shown)
    lengths = [value / most for value in changes]
    return [None] * (len(shown) - len(lengths)) + lengths
