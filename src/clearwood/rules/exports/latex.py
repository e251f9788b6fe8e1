"""Rules as a LaTeX table."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from clearwood._words.labels import comment, printable
from clearwood._words.numbers import number_text, short_text
from clearwood.rules.conditions import name_text
from clearwood.rules.rule import Rule, predicted_text

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

# Without packages and in every font encoding; braces end a command.
SPECIAL = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "#": r"\#",
    "%": r"\%",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",
    "'": r"\textquotesingle{}",
    "`": r"\textasciigrave{}",
}

QUOTED = re.compile(r"""('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")""")

LAYOUT = {
    "first": (
        r"{r p{0.4\linewidth} l r l}",
        ("", "if", "then {}", "rows", "statistics"),
    ),
    "sum": (r"{r p{0.55\linewidth} l r}", ("", "if", "add to {}", "rows")),
    "average": (
        r"{r p{0.4\linewidth} l r r l}",
        ("", "if", "predict {}", "weight", "rows", "statistics"),
    ),
}
"""Widths and headings of the columns."""


def rules_to_latex(rule_set: RuleSet) -> str:
    """See :meth:`clearwood.RuleSet.to_latex`."""
    layout, heads = LAYOUT[rule_set.combine]
    goal = "" if rule_set.rules_predict else rule_set.outcome.added
    goal += latex_text(printable(rule_set.outcome.heading(rule_set.target)))
    about = "; their weighted average is predicted" * rule_set.has_weights
    lines = [
        comment(
            "%", f"Rules for {name_text(rule_set.target)}{about}; needs no package."
        ),
        *(comment("%", f"{name}: {words}") for name, words in rule_set.glossary()),
        rf"\begin{{tabular}}{layout}",
        r"\hline",
        rf"{' & '.join(heads).format(goal)} \\",
        r"\hline",
    ]
    for number, rule in rule_set.lines():
        cells = [str(number or ""), *_cells(rule_set, rule)]
        lines.append(rf"{' & '.join(cells)} \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"


def _cells(rule_set: RuleSet, rule: Rule) -> list[str]:
    conditions = " and ".join(c.text(rule_set.features) for c in rule.conditions)
    says = latex_text(rule_set.text_of(rule))
    known = rule.statistics
    rows, weight = known.rows, known.support
    if rule_set.one_rule_predicts:
        rows, weight = known.rows_assigned, known.assigned
        in_full = latex_text(predicted_text(rule, rule_set.outcome, rule_set))
        says = in_full if rule_set.classes else f"${says}$"
    cells = [_conditions(conditions) or rule_set.default_text, says]
    if rule_set.has_weights:
        cells.append(number_text(rule.weight))
    weighing = f", weight {_number(weight)}" if weight != rows else ""
    cells.append(_number(rows) + weighing if rows == rows else "")
    if rule_set.rules_predict:
        parts = rule_set.outcome.statistics_texts(known)
        cells.append(latex_text(", ".join(parts)))
    return cells


def _conditions(text: str) -> str:
    """Set comparisons as math symbols, but not inside names and labels."""
    parts = QUOTED.split(text)
    for i in range(0, len(parts), 2):
        words = re.split("(<=|>=|<|>)", parts[i])
        signs = {"<=": r"$\leq$", ">=": r"$\geq$", "<": "$<$", ">": "$>$"}
        parts[i] = "".join(signs.get(word) or latex_text(word) for word in words)
    parts[1::2] = map(latex_text, parts[1::2])
    return "".join(parts)


def latex_text(text: str) -> str:
    r"""Escape text for LaTeX, character by character.

    Examples
    --------
    >>> print(latex_text("50% of a_b"))
    50\% of a\_b
    """
    escaped = "".join(SPECIAL.get(character, character) for character in text)
    # Two hyphens or commas would become a ligature, two spaces one.
    escaped = re.sub(r"([-,])(?=\1)", r"\1{}", escaped)
    return re.sub(r"(?<= ) ", r"\\ ", escaped)


def _number(value: float) -> str:
    return "" if math.isnan(value) else short_text(value, 6)
