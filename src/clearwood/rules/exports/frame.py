"""Rules as a pandas frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.rules.rule_set import RuleSet


def rules_to_frame(rules: RuleSet) -> pd.DataFrame:
    """See :meth:`clearwood.RuleSet.to_frame`."""
    import pandas as pd

    lines = [_line(rules, number, rule) for number, rule in enumerate(rules, start=1)]
    frame = pd.DataFrame(lines).set_index("rule")
    # Statistics that are unknown for all rules are left out.
    return frame.dropna(axis="columns", how="all")


def _line(rules: RuleSet, number: int, rule: Rule) -> dict[str, Any]:
    per_class = {
        f"{name} of {label}": value
        for name, values in (
            ("probability", rule.probabilities),
            ("score", rule.scores),
        )
        for label, value in zip(rules.classes, values)
    }
    return {
        "rule": number,
        "conditions": rule.text(rules.features)
        if rule.conditions
        else rules.default_text,
        "n_literals": rule.n_literals,
        "prediction": rule.prediction,
        **per_class,
        **_survival(rules.outcome.horizons, rule),
        **({"weight": rule.weight} if rules.has_weights else {}),
        **vars(rule.statistics),
    }


def _survival(horizons: tuple[float, ...], rule: Rule) -> dict[str, float]:
    if rule.curve is None:
        return {}
    found: dict[str, float] = {}
    for name, (share, low, high) in rule.curve.named(horizons).items():
        found |= {name: share, f"{name} low": low, f"{name} high": high}
    # Of draws without survival times they are unknown.
    known = rule.curve.events
    events = {} if known is None else {"events": known}
    return found | {"median": rule.curve.median} | events
