"""Rules as text and as HTML."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from clearwood._features import printable
from clearwood.rules.conditions import number_text
from clearwood.rules.rule_set import Rule, RuleSet

TEXT_WIDTH = 88


def rules_text(rule_set: RuleSet) -> str:
    """Rules as plain text: a line for what is asked, one for what is said."""
    if rule_set.is_sum:
        return _sum_text(rule_set)
    lines = []
    for number, rule in enumerate(rule_set.rules, start=1):
        lines.append(f"{number}. if {rule.text(rule_set.features)}")
        lines.append(f"   then {_says(rule_set, rule)}")
    lines.append(f"{rule_set.n_rules}. otherwise {_says(rule_set, rule_set.otherwise)}")
    return "\n".join(_wrapped(line) for line in lines)


def _wrapped(line: str) -> str:
    return textwrap.fill(
        line, TEXT_WIDTH, subsequent_indent="     ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _sum_text(rule_set: RuleSet) -> str:
    """A sum as plain text: a line for what is added, one for where."""
    goal = f"log-odds of {rule_set.target}" if rule_set.classes else rule_set.target
    lines = [f"{goal} = the sum of", f"  {added_text(rule_set, rule_set.otherwise)}"]
    lines[1] += "  always"
    for rule in rule_set.rules:
        rows = "" if math.isnan(rule.support) else f"  ({_rows_text(rule.support)})"
        lines.append(f"  {added_text(rule_set, rule, signed=True)}")
        lines.append(f"      if {rule.text(rule_set.features)}{rows}")
    return "\n".join(_wrapped(line) for line in lines)


def added_text(rule_set: RuleSet, rule: Rule, *, signed: bool = False) -> str:
    """What a rule of a sum adds: a number, or numbers and the classes they are for."""
    if not rule_set.classes:
        return _signed_text(rule.prediction) if signed else number_text(rule.prediction)
    # Log-odds of two classes are told of one of them: the first is always 0.
    parts = [
        f"{_signed_text(score) if signed else number_text(score)} for {label}"
        for label, score in zip(map(prediction_text, rule_set.classes), rule.scores)
        if score != 0
    ]
    return ", ".join(parts) or "0"


def _signed_text(value: float) -> str:
    return f"{'-' if value < 0 else '+'} {number_text(abs(value))}"


def _says(rule_set: RuleSet, rule: Rule) -> str:
    parts = [prediction_text(rule.prediction), *statistics_text(rule_set, rule)]
    return parts[0] if len(parts) == 1 else f"{parts[0]}  ({', '.join(parts[1:])})"


def prediction_text(prediction: Any) -> str:
    """A class label as it is, a number so that it reads back as itself."""
    if isinstance(prediction, float):
        return number_text(prediction)
    return printable(str(prediction))


def statistics_text(rule_set: RuleSet, rule: Rule) -> list[str]:
    """What is known of a rule on its training rows, in words."""
    if math.isnan(rule.support):
        return []
    parts = [_rows_text(rule.support)]
    named = {
        "agreement": rule.agreement,
        "precision": rule.precision,
        "spread": rule.spread,
    }
    parts += [f"{k} {v:.3g}" for k, v in named.items() if not math.isnan(v)]
    if rule.caught < rule.support:
        parts.append(f"first for {_rows_text(rule.caught)}")
        if not math.isnan(rule.agreement_caught):
            parts.append(f"agreement there {rule.agreement_caught:.3g}")
    return parts


def _rows_text(rows: float) -> str:
    return "1 row" if rows == 1 else f"{rows:.6g} rows"


def rules_html(rule_set: RuleSet) -> str:
    """Rules as an HTML table; names and labels are escaped."""
    from clearwood._html import render

    return render("rules/rule_set.html", rules=summarize_rules(rule_set))


def summarize_rules(rule_set: RuleSet) -> dict[str, Any]:
    """All that the HTML table shows, as plain data."""
    total = sum(rule.caught for rule in rule_set)
    if rule_set.is_sum:
        total = rule_set.otherwise.caught
    return {
        "task": rule_set.task,
        "combine": rule_set.combine,
        "target": rule_set.target,
        "lines": [
            {
                "number": number,
                "conditions": [c.text(rule_set.features) for c in rule.conditions],
                "prediction": _said_text(rule_set, rule),
                "support": _or_none(rule.support),
                "caught": _or_none(rule.caught),
                "share": _or_none(rule.caught / total if total else math.nan),
                "agreement": _or_none(rule.agreement),
                "agreement_caught": _or_none(rule.agreement_caught),
                "precision": _or_none(rule.precision),
                "spread": _or_none(rule.spread),
            }
            for number, rule in enumerate(rule_set, start=1)
        ],
    }


def _said_text(rule_set: RuleSet, rule: Rule) -> str:
    if rule_set.is_sum:
        return added_text(rule_set, rule, signed=bool(rule.conditions))
    return prediction_text(rule.prediction)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
