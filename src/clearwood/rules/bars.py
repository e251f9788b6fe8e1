"""Lengths and places of the bars in the HTML table, as shares of their room."""

from __future__ import annotations

import math
from typing import Any

from clearwood.rules.rule_set import RuleSet


def line_bars(rule_set: RuleSet) -> list[dict[str, Any]]:
    """One dictionary per line, None where there is nothing to draw.

    Returns
    -------
    list of dict
        ``matching``: share of the rows that satisfy the rule; ``value``: in a list of
        numbers, where on their common axis the rule's number stands, and its spread
        from there to both sides; ``added``: in a sum, what is added over the most
        that any rule adds; ``weighed``: in an average, the weight over the largest.

    Examples
    --------
    >>> from clearwood import FeatureSpace
    >>> from clearwood.rules import Interval, Rule
    >>> rules = RuleSet(
    ...     (Rule((Interval(0, low=0.5),), -8.0), Rule((Interval(1, low=0.5),), 2.0)),
    ...     Rule((), 20.0),
    ...     FeatureSpace.numeric(2),
    ...     combine="sum")
    >>> [bar["added"] for bar in line_bars(rules)]
    [-1.0, 0.25, None]
    """
    total = rule_set.otherwise.support
    if rule_set.is_list:
        total = sum(rule.caught for rule in rule_set)
    matching = [rule.support / total if total else math.nan for rule in rule_set]
    nothing = [None] * rule_set.n_rules
    added = _added(rule_set) if rule_set.is_sum else nothing
    with_axis = not rule_set.is_sum and rule_set.task == "regression"
    values = _values(rule_set) if with_axis else nothing
    most = max(rule.weight for rule in rule_set) or 1.0
    return [
        {
            "matching": None if math.isnan(share) else share,
            "value": value,
            "added": length,
            **({"weighed": rule.weight / most} if rule_set.is_average else {}),
        }
        for share, value, length, rule in zip(matching, values, added, rule_set)
    ]


def _values(rule_set: RuleSet) -> list[Any]:
    # An unknown spread is not drawn.
    spread = [0.0 if math.isnan(rule.spread) else rule.spread for rule in rule_set]
    low = min(rule.prediction - s for rule, s in zip(rule_set, spread))
    high = max(rule.prediction + s for rule, s in zip(rule_set, spread))
    room = high - low
    if not 0 < room < math.inf:
        return [None] * rule_set.n_rules
    return [
        {"at": (rule.prediction - low) / room, "spread": s / room}
        for rule, s in zip(rule_set, spread)
    ]


def _added(rule_set: RuleSet) -> list[Any]:
    if len(rule_set.classes) > 2:
        return [None] * rule_set.n_rules
    added = [
        rule.scores[1] if rule_set.classes else float(rule.prediction)
        for rule in rule_set
    ]
    # The constant of a regression is no change, and may be far larger than all.
    shown = added if rule_set.classes else added[:-1]
    most = max(map(abs, shown), default=0.0)
    if not 0 < most < math.inf:
        return [None] * rule_set.n_rules
    lengths = [value / most for value in shown]
    return lengths + [None] * (rule_set.n_rules - len(lengths))
