"""Rules in words: what is said, how good that is, and lines that fit a page."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from clearwood._features import printable
from clearwood.rules.conditions import number_text
from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

TEXT_WIDTH = 88


def wrapped(line: str) -> str:
    """A line in as many as it needs, those after the first indented."""
    return textwrap.fill(
        line, TEXT_WIDTH, subsequent_indent="     ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def rule_says(rule_set: RuleSet, rule: Rule) -> str:
    """What a rule predicts, and how good it is."""
    parts = [prediction_text(rule.prediction), *statistics_text(rule_set, rule)]
    return parts[0] if len(parts) == 1 else f"{parts[0]}  ({', '.join(parts[1:])})"


def prediction_text(prediction: Any) -> str:
    """A class label as it is, a number so that it reads back as itself."""
    if isinstance(prediction, float):
        return number_text(prediction)
    return printable(str(prediction))


def signed_text(value: float) -> str:
    """What is added, with its sign.

    Examples
    --------
    >>> signed_text(2.5), signed_text(-2.0)
    ('+ 2.5', '- 2')
    """
    return f"{'-' if value < 0 else '+'} {number_text(abs(value))}"


def for_classes(pairs: Iterable[tuple[str, Any]]) -> str:
    """Numbers, each with the class that it is for.

    Examples
    --------
    >>> for_classes([("0.25", "ill"), ("0.75", "well")])
    '0.25 for ill, 0.75 for well'
    """
    return ", ".join(f"{text} for {prediction_text(label)}" for text, label in pairs)


def statistics_text(rule_set: RuleSet, rule: Rule) -> list[str]:
    """What is known of a rule on the rows that it decides, in few words.

    The interval stands behind the number that it is of.
    """
    if math.isnan(rule.support):
        return []
    parts = [rows_text(rule.support)]
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


def rows_text(rows: float) -> str:
    """A number of rows, or their weight."""
    return "1 row" if rows == 1 else f"{rows:.6g} rows"
