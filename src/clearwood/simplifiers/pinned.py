"""Rule lists with pinned rules; the method finds the others.

In an ordered list the first rule that holds decides, so rules below the pinned ones
only apply to the rows that these do not cover, and are found on those rows alone.
"""

from __future__ import annotations

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from clearwood._words.labels import type_text
from clearwood.columns.validation import check_weight
from clearwood.exceptions import InputError
from clearwood.outcomes import outcome_of
from clearwood.rules import Rule, RuleList, RuleSet
from clearwood.simplifiers._common.predictions import Model

ORDERED = ("list", "in-trees", "fab", "em")
"""Methods that return ordered lists."""


def check_pinned(pinned: Any, model: Model, method: str) -> None:
    """Validate pinned rules against a model and a method."""
    if method not in ORDERED:
        raise InputError(
            f"pinned requires an ordered list, method={ORDERED[0]!r} or one of "
            f"{', '.join(ORDERED[1:])}: there pinned rules come first, and the others "
            f"are found below them. method={method!r} fits all rules together; omit "
            "pinned, or use one of these methods."
        )
    if not isinstance(pinned, RuleList):
        raise InputError(
            f"pinned is {type_text(pinned)}; expected the rules to keep of an "
            "ordered list, as in rules[:2]."
        )
    classes = outcome_of(model.classes).classes
    own, its = pinned.features, model.features
    if (own.names, own.categories) != (its.names, its.categories):
        raise InputError(
            "pinned uses other columns, or other categories, than the model; pin rules "
            "that were fitted to this model."
        )
    if pinned.classes != classes:
        raise InputError(
            f"pinned knows the classes {pinned.classes}, the model {classes}; pin "
            "rules that were fitted to this model."
        )


def weight_left(pinned: RuleList, X: Any, sample_weight: Any) -> np.ndarray:
    """Row weights, zero where pinned rules decide."""
    taken = np.asarray(pinned.matches(X).any(axis=1))
    left = np.where(taken, 0.0, check_weight(sample_weight, len(taken)))
    if not left.any():
        raise InputError(
            "The pinned rules cover all rows, which leaves none for others; pin fewer "
            "of them (rules[:2] are the first two)."
        )
    return left


def sizes_left(pinned: RuleList, settings: dict[str, Any]) -> dict[str, Any]:
    """The same settings, with sizes reduced by the number of pinned rules."""
    n_pinned, sizes = len(pinned.rules), {}
    for name in ("max_rules", "n_rules"):
        size = settings.get(name)
        if isinstance(size, Integral):
            if size <= n_pinned:
                raise InputError(
                    f"{name}={size} leaves no rule below {n_pinned} pinned rule(s); "
                    f"{name} must be at least {n_pinned + 1}, the default rule "
                    "included."
                )
            sizes[name] = int(size) - n_pinned
    return settings | sizes


def put_above(
    pinned: RuleList,
    found: RuleSet,
    model: Model,
    X: Any,
    y: Any,
    sample_weight: Any,
) -> RuleSet:
    """Pinned rules, followed by those found on the remaining rows.

    Statistics of each are computed on all rows; estimates for new rows are kept.
    """
    whole = replace(found, rules=(*pinned.rules, *found.rules))
    counted = whole.described_on(
        X, y, model=model, sample_weight=sample_weight
    ).with_metadata(pinned=f"the first {len(pinned.rules)}")
    return counted.with_lines(map(_as_promised, counted, whole))


def _as_promised(rule: Rule, own: Rule) -> Rule:
    """A rule with the estimates for new rows that it had."""
    known = own.statistics
    if not known.is_expected:
        return rule
    ends = {"low": known.low, "high": known.high}
    promised = replace(rule.statistics, expected=known.expected, **ends)
    return replace(rule, statistics=promised)
