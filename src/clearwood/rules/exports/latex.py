"""Rules as a table in LaTeX."""

from __future__ import annotations

import math
import re

from clearwood._features import printable
from clearwood.rules.conditions import name_text, number_text
from clearwood.rules.render import added_text, prediction_text, value_text
from clearwood.rules.rule import Rule
from clearwood.rules.rule_set import RuleSet

# Without a package and in every font encoding; braces end a command.
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

COLUMNS = {
    "first": r"{r p{0.55\linewidth} l r r}",
    "sum": r"{r p{0.55\linewidth} l r}",
    "average": r"{r p{0.5\linewidth} l r r r}",
}


def rules_to_latex(rule_set: RuleSet) -> str:
    """See :meth:`clearwood.RuleSet.to_latex`."""
    target = latex_text(printable(rule_set.target))
    heads = ["", "if", f"then {target}", "rows", "agreement"]
    if rule_set.is_sum:
        goal = f"log-odds of {target}" if rule_set.classes else target
        heads = ["", "if", f"add to {goal}", "rows"]
    if rule_set.is_average:
        heads = ["", "if", f"say of {target}", "weight", "rows", "agreement"]
    about = "; their average by weight is said" * rule_set.is_average
    lines = [
        f"% Rules for {name_text(rule_set.target)}{about}; needs no package.",
        rf"\begin{{tabular}}{COLUMNS[rule_set.combine]}",
        r"\hline",
        rf"{' & '.join(heads)} \\",
        r"\hline",
    ]
    numbered = [(str(i), rule) for i, rule in enumerate(rule_set, start=1)]
    if rule_set.is_sum:
        # The constant comes first, as in the text, and has no number.
        numbered = [("", rule_set.otherwise), *numbered[:-1]]
    for number, rule in numbered:
        lines.append(rf"{' & '.join([number, *_cells(rule_set, rule)])} \\")
    return "\n".join([*lines, r"\hline", r"\end{tabular}"]) + "\n"


def _cells(rule_set: RuleSet, rule: Rule) -> list[str]:
    asked = " and ".join(c.text(rule_set.features) for c in rule.conditions)
    if rule_set.is_sum:
        said = added_text(rule_set, rule, signed=bool(rule.conditions))
        rows = _number(rule.support)
        return [_conditions(asked) or "always", latex_text(said), rows]
    if rule_set.is_average:
        return [
            _conditions(asked) or ("always" if rule.weight else "otherwise"),
            latex_text(value_text(rule_set, rule)),
            number_text(rule.weight),
            _number(rule.support),
            _number(rule.agreement),
        ]
    says = latex_text(prediction_text(rule.prediction))
    if not rule_set.classes:
        says = f"${number_text(rule.prediction)}$"
    return [
        _conditions(asked) or "otherwise",
        says,
        _number(rule.caught),
        _number(rule.agreement_caught),
    ]


def _conditions(text: str) -> str:
    """Comparisons as signs, but not where they stand in a name or a label."""
    parts = QUOTED.split(text)
    for i in range(0, len(parts), 2):
        words = re.split("(<=|<|>)", parts[i])
        signs = {"<=": r"$\leq$", "<": "$<$", ">": "$>$"}
        parts[i] = "".join(signs.get(word) or latex_text(word) for word in words)
    parts[1::2] = map(latex_text, parts[1::2])
    return "".join(parts)


def latex_text(text: str) -> str:
    r"""A text as LaTeX prints it, character by character.

    Examples
    --------
    >>> print(latex_text("50% of a_b"))
    50\% of a\_b
    """
    escaped = "".join(SPECIAL.get(character, character) for character in text)
    # Two hyphens or commas would become one sign, two blanks one.
    escaped = re.sub(r"([-,])(?=\1)", r"\1{}", escaped)
    return re.sub(r"(?<= ) ", r"\\ ", escaped)


def _number(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.6g}"
