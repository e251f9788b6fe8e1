"""Rules as text and as HTML."""

from __future__ import annotations

import math
import textwrap
from typing import Any

from clearwood._features import printable
from clearwood.rules.bars import line_bars
from clearwood.rules.conditions import number_text
from clearwood.rules.rule import Rule
from clearwood.rules.rule_set import RuleSet

TEXT_WIDTH = 88


def rules_text(rule_set: RuleSet) -> str:
    """Rules as plain text: a line for what is asked, one for what is said."""
    if rule_set.is_sum:
        return _sum_text(rule_set)
    if rule_set.is_average:
        return _average_text(rule_set)
    lines = []
    for number, rule in enumerate(rule_set.rules, start=1):
        lines.append(f"{number}. if {rule.text(rule_set.features)}")
        lines.append(f"   then {rule_says(rule_set, rule)}")
    last = rule_says(rule_set, rule_set.otherwise)
    lines.append(f"{rule_set.n_rules}. otherwise {last}")
    return "\n".join(wrapped(line) for line in lines)


def wrapped(line: str) -> str:
    """A line in as many as it needs, those after the first indented."""
    return textwrap.fill(
        line, TEXT_WIDTH, subsequent_indent="     ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _sum_text(rule_set: RuleSet) -> str:
    """A sum as plain text: a line for what is added, one for where."""
    goal = f"log-odds of {rule_set.target}" if rule_set.classes else rule_set.target
    lines = [f"{goal} = the sum of", f"   {added_text(rule_set, rule_set.otherwise)}"]
    lines[1] += "  always"
    for number, rule in enumerate(rule_set.rules, start=1):
        rows = "" if math.isnan(rule.support) else f"  ({_rows_text(rule.support)})"
        lines.append(f"{number}. {added_text(rule_set, rule, signed=True)}")
        lines.append(f"      if {rule.text(rule_set.features)}{rows}")
    return "\n".join(wrapped(line) for line in lines)


def _average_text(rule_set: RuleSet) -> str:
    """An average as plain text: what is asked, what is said, and its weight."""
    goal = "probabilities of " * bool(rule_set.classes) + rule_set.target
    lines = [f"{goal} = the average of all lines that hold, by their weights"]
    for number, rule in enumerate(rule_set.rules, start=1):
        lines.append(f"{number}. if {rule.text(rule_set.features)}")
        lines.append(f"   {_with_statistics(rule_set, rule)}")
    last = rule_set.otherwise
    if last.weight > 0:
        lines.append(f"{rule_set.n_rules}. always {_with_statistics(rule_set, last)}")
    else:
        said = value_text(rule_set, last)
        lines.append(f"{rule_set.n_rules}. otherwise {said}")
    return "\n".join(wrapped(line) for line in lines)


def _with_statistics(rule_set: RuleSet, rule: Rule) -> str:
    known = ", ".join(statistics_text(rule_set, rule))
    return said_text(rule_set, rule) + (f"  ({known})" if known else "")


def said_text(rule_set: RuleSet, rule: Rule) -> str:
    """What a line says, adds, or brings into an average with its weight."""
    if rule_set.is_sum:
        return added_text(rule_set, rule, signed=bool(rule.conditions))
    if not rule_set.is_average:
        return prediction_text(rule.prediction)
    return f"{value_text(rule_set, rule)} with weight {number_text(rule.weight)}"


def value_text(rule_set: RuleSet, rule: Rule) -> str:
    """What a line of an average says: a value, or probabilities and their classes."""
    if not rule_set.classes:
        return prediction_text(rule.prediction)
    shares = [
        f"{number_text(share)} for {prediction_text(label)}"
        for label, share in zip(rule_set.classes, rule.probabilities)
        if share > 0 or len(rule_set.classes) == 2
    ]
    # Of two classes the other has what is left of 1.
    return shares[-1] if len(rule_set.classes) == 2 else ", ".join(shares)


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


def rule_says(rule_set: RuleSet, rule: Rule) -> str:
    """What a rule predicts, and how good it is."""
    parts = [prediction_text(rule.prediction), *statistics_text(rule_set, rule)]
    return parts[0] if len(parts) == 1 else f"{parts[0]}  ({', '.join(parts[1:])})"


def prediction_text(prediction: Any) -> str:
    """A class label as it is, a number so that it reads back as itself."""
    if isinstance(prediction, float):
        return number_text(prediction)
    return printable(str(prediction))


def statistics_text(rule_set: RuleSet, rule: Rule) -> list[str]:
    """What is known of a rule on the rows that it decides, in few words.

    The interval stands behind the number that it is of.
    """
    if math.isnan(rule.support):
        return []
    parts = [_rows_text(rule.support)]
    if rule.caught < rule.support:
        parts = [f"decides {rule.caught:.6g} of {parts[0]}"]
    labels_known = not math.isnan(rule.precision_caught)
    named = {"agreement": rule.agreement_caught, "precision": rule.precision_caught}
    for name, value in named.items():
        if not math.isnan(value):
            has_interval = rule_set.classes and labels_known == (name == "precision")
            interval = interval_text(rule) if has_interval else ""
            parts.append(f"{name} {value:.3g}{' ' * bool(interval)}{interval}")
    if not rule_set.classes:
        if interval_text(rule):
            parts.append(f"mean in {interval_text(rule)}")
        if not math.isnan(rule.spread):
            parts.append(f"spread {rule.spread:.3g}")
    return parts


def interval_text(rule: Rule) -> str:
    """The 95 % interval of a rule; empty where there is none."""
    return "" if math.isnan(rule.low) else f"[{rule.low:.3g}, {rule.high:.3g}]"


def _rows_text(rows: float) -> str:
    return "1 row" if rows == 1 else f"{rows:.6g} rows"


def rules_html(rule_set: RuleSet) -> str:
    """Rules as an HTML table; names and labels are escaped."""
    from clearwood._html import render

    return render("rules/rule_set.html", rules=summarize_rules(rule_set))


def summarize_rules(rule_set: RuleSet) -> dict[str, Any]:
    """All that the HTML table shows, as plain data."""
    total = sum(rule.caught for rule in rule_set)
    if not rule_set.is_list:
        total = rule_set.otherwise.caught
    return {
        "task": rule_set.task,
        "combine": rule_set.combine,
        "target": printable(rule_set.target),
        "lines": [
            {
                "number": number,
                "conditions": [c.text(rule_set.features) for c in rule.conditions],
                "prediction": _cell_text(rule_set, rule),
                "weight": number_text(rule.weight),
                "support": _or_none(rule.support),
                "caught": _or_none(rule.caught),
                "share": _or_none(rule.caught / total if total else math.nan),
                "agreement": _or_none(rule.agreement),
                "agreement_caught": _or_none(rule.agreement_caught),
                "precision": _or_none(rule.precision),
                "precision_caught": _or_none(rule.precision_caught),
                "spread": _or_none(rule.spread),
                **bars,
                "interval": interval_text(rule),
                "disagreement": _or_none(rule.disagreement),
                "instead": _instead_text(rule_set, rule),
            }
            for number, rule, bars in _numbered(rule_set)
        ],
    }


def _instead_text(rule_set: RuleSet, rule: Rule) -> str | None:
    """What the model says where it disagrees; of more classes, most often."""
    if rule.instead is None:
        return None
    return "mostly " * (len(rule_set.classes) > 2) + prediction_text(rule.instead)


def _numbered(rule_set: RuleSet) -> list[tuple[int | None, Rule, dict[str, Any]]]:
    """Lines as they are shown; the constant of a sum comes first, without a number."""
    numbers = range(1, rule_set.n_rules + 1)
    lines = list(zip(numbers, rule_set, line_bars(rule_set)))
    if rule_set.is_sum:
        _, constant, bars = lines.pop()
        return [(None, constant, bars), *lines]
    return [*lines]


def _cell_text(rule_set: RuleSet, rule: Rule) -> str:
    """As ``said_text``, without the weight, which has a column of its own."""
    if rule_set.is_average:
        return value_text(rule_set, rule)
    return said_text(rule_set, rule)


def _or_none(value: float) -> float | None:
    return None if math.isnan(value) else value
