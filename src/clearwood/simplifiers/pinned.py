"""Lists some of whose rules a person has pinned: the method finds the others.

Of an ordered list the first rule that holds decides. So the rows that pinned rules
leave are all that those below them ever see: the others are found on these alone.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from clearwood.columns.validation import check_weight
from clearwood.exceptions import InputError
from clearwood.outcomes import outcome_of
from clearwood.rules import Rule, RuleList, RuleSet
from clearwood.simplifiers._common.asking import Teacher

ORDERED = ("list", "in-trees", "fab", "em")
"""Methods that find ordered lists."""


def check_pinned(pinned: Any, model: Teacher, method: str) -> None:
    """Refuse what cannot stand above rules that some method finds for a model."""
    if method not in ORDERED:
        raise InputError(
            f"pinned is for ordered lists, method={ORDERED[0]!r} and its like "
            f"({', '.join(ORDERED[1:])}): there they come first, and the others are "
            f"found below them. method={method!r} finds all of its rules together; "
            "leave pinned out, or name one of these."
        )
    if not isinstance(pinned, RuleList):
        raise InputError(
            f"pinned is a {type(pinned).__name__}; expected the lines to keep of an "
            "ordered list, as in rules[:2]."
        )
    classes = outcome_of(model.classes).classes
    own, its = pinned.features, model.features
    if (own.names, own.categories) != (its.names, its.categories):
        raise InputError(
            "pinned asks other columns, or other categories, than the model reads; pin "
            "rules that were found for this model."
        )
    if pinned.classes != classes:
        raise InputError(
            f"pinned knows the classes {pinned.classes}, the model {classes}; pin "
            "rules that were found for this model."
        )


def weight_left(pinned: RuleList, X: Any, sample_weight: Any) -> np.ndarray:
    """Row weights, none where pinned rules decide: no method counts such a row."""
    taken = np.asarray(pinned.matches(X).any(axis=1))
    left = np.where(taken, 0.0, check_weight(sample_weight, len(taken)))
    if not left.any():
        raise InputError(
            "The pinned rules decide all rows, so there is nothing left to find; pin "
            "fewer of them (rules[:2] are the first two)."
        )
    return left


def sizes_left(pinned: RuleList, settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings, the sizes those of what is found below the pinned rules."""
    n_pinned, sizes = len(pinned.rules), {}
    for name in ("max_rules", "n_rules"):
        size = settings.get(name)
        if isinstance(size, Integral):
            if size <= n_pinned:
                raise InputError(
                    f"{name}={size} leaves no line below {n_pinned} pinned rule(s); "
                    f"{name} must be {n_pinned + 1} at least, the last line included."
                )
            sizes[name] = int(size) - n_pinned
    return settings | sizes


def put_above(
    pinned: RuleList,
    found: RuleSet,
    model: Teacher,
    X: Any,
    y: Any,
    sample_weight: Any,
) -> RuleSet:
    """Pinned rules, and below them those that were found on the rows that they leave.

    What is known of each is counted on all rows; what each promises of new ones stays.
    """
    whole = replace(found, rules=(*pinned.rules, *found.rules))
    counted = whole.described_on(
        X, y, teacher=model, sample_weight=sample_weight
    ).with_about(pinned=f"the first {len(pinned.rules)}")
    return counted.with_lines(map(_as_promised, counted, whole))


def _as_promised(rule: Rule, own: Rule) -> Rule:
    """A rule with what it was known to promise of new rows."""
    known = own.statistics
    if not known.is_expected:
        return rule
    ends = {"low": known.low, "high": known.high}
    promised = replace(rule.statistics, expected=known.expected, **ends)
    return replace(rule, statistics=promised)
