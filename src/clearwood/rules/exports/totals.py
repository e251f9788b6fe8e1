"""Terms of sums and averages of rules, for exports."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

Factors = tuple[float, ...]
"""Factors of a term that is added."""


def totals_of(rules: RuleSet) -> list[list[Factors]]:
    """Terms that each rule adds to every total, in printed order.

    The default rule is the start of a total; the others add to it where they hold. A
    sum has one total of values, or one per class. An average has a total of weights
    first, and equals the other totals divided by that.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace, Interval, RuleAverage
    >>> half = Rule((Interval(0, low=5.25),), 31.0, weight=0.5)
    >>> rest = Rule((), 22.0, weight=0.25)
    >>> totals_of(RuleAverage((half,), rest, FeatureSpace.numeric(1)))
    [[(0.5,), (0.25,)], [(0.5, 31.0), (0.25, 22.0)]]
    """
    parts = PARTS[rules.combine]
    return [list(total) for total in zip(*map(parts, rules))]


def _added(rule: Rule) -> list[Factors]:
    return [(float(value),) for value in rule.numbers]


def _weighted(rule: Rule) -> list[Factors]:
    weight = float(rule.weight)
    return [(weight,), *((weight, float(value)) for value in rule.numbers)]


PARTS: dict[str, Callable[[Rule], list[Factors]]] = {
    "sum": _added,
    "average": _weighted,
}
