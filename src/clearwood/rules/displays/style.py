"""What the displays of rules are made from."""

from __future__ import annotations

from typing import Any

from clearwood.exceptions import InputError
from clearwood.rules import RuleSet


def rules_of(estimator: Any) -> RuleSet:
    """The rules of a fitted estimator, or an error that says what was expected."""
    rules = getattr(estimator, "rules_", estimator)
    if isinstance(rules, RuleSet):
        return rules
    state = "that is not fitted" if hasattr(estimator, "fit") else "without rules"
    raise InputError(
        f"estimator is a {type(estimator).__name__} {state}; hand in a fitted "
        "estimator that has rules_ (FABRulesClassifier, RuleListRegressor, ...) or "
        "a RuleSet."
    )
