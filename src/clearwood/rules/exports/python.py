"""Rules as source code of a Python function without dependencies."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from clearwood._words.labels import comment
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.conditions import name_text
from clearwood.rules.exports.questions import (
    LabelQuestion,
    NumberQuestion,
    Question,
    bounds_text,
    finite_number,
    plain_label,
    questions_of,
)
from clearwood.rules.exports.totals import Factors, totals_of
from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

CLASS, VALUE = "The class of a row.", "The value of a row."
SHARES = "The probability of each class, as a dict."
WIDTH = 80
WORDS = {"and": "and", "or": "or", "==": "==", "!=": "!="}

HELPERS = {
    "_number": '''
def _number(value):
    """A cell as a float; NaN where it is missing."""
    return float("nan") if value is None else float(value)
''',
    "_days": '''
def _days(value, zoned=False):
    """A date as days since the start of 1970, in UTC if zoned; a duration as days."""
    if value is None or value != value:
        return float("nan")
    day = _time.timedelta(days=1)
    if isinstance(value, _time.timedelta):
        return value / day
    if not isinstance(value, _time.datetime):
        value = _time.datetime.combine(value, _time.time())
    if (value.tzinfo is not None) != zoned:
        raise ValueError("times %s a time zone are needed, found %r"
                         % ("with" if zoned else "without", value))
    if zoned:
        value = value.astimezone(_time.timezone.utc).replace(tzinfo=None)
    return (value - _time.datetime(1970, 1, 1)) / day
''',
    "_label": '''
def _label(value):
    """A cell as it is; None where it is missing."""
    return None if value is None or value != value else value
''',
    "_text": '''
def _text(value):
    """A cell as the text of a category, 5 for 5.0 and 1 for True; None if missing."""
    if value is None or value != value:
        return None
    if isinstance(value, bool) or (isinstance(value, float) and value.is_integer()):
        value = int(value)
    return str(value)
''',
}


def rules_to_python(rule_set: RuleSet, name: str = "predict") -> str:
    """See :meth:`clearwood.RuleSet.to_python`."""
    _check_name(name)
    functions = FUNCTIONS[rule_set.combine](rule_set, name)
    text = "\n\n".join(functions)
    helpers = [code.lstrip() for key, code in HELPERS.items() if f"{key}(" in text]
    imports = ["from math import exp as _exp\n"] if "_exp(" in text else []
    imports += ["import datetime as _time\n"] if "_days(" in text else []
    comments = [comment("#", f"{name}: {words}") for name, words in rule_set.glossary()]
    head = "\n".join([*_head(rule_set), *comments]) + "\n"
    return "\n\n".join([head, *imports, *helpers, text])


def _check_name(name: str) -> None:
    plain = name.isidentifier() and name.isascii() and not name.startswith("_")
    if not plain or keyword.iskeyword(name) or hasattr(builtins, name):
        raise InputError(
            f"{name!r} cannot be the name of the function; expected a Python name "
            "without an underscore in front that means nothing else, such as 'predict'."
        )


def _head(rule_set: RuleSet) -> list[str]:
    from clearwood import __version__

    return [
        # In the first two lines a name could declare the encoding (PEP 263).
        f"# Made with Clearwood {__version__}; needs nothing but Python 3.8 or later.",
        "# A row is a mapping from feature names to values, such as a dict; a value "
        "that is",
        "# None, NaN or left out is missing.",
        comment(
            "#", f"Predicts {name_text(rule_set.outcome.heading(rule_set.target))}."
        ),
    ]


def _function(name: str, about: str, body: list[str]) -> str:
    lines = [f"def {name}(row):", f'    """{about}"""']
    return "\n".join([*lines, *(f"    {line}" for line in body)]) + "\n"


def _list_functions(rule_set: RuleSet, name: str) -> list[str]:
    """One ``if`` per rule, which returns its prediction."""
    if not rule_set.classes:
        body = _chain_lines(rule_set, lambda rule: _number(rule.prediction))
        return [_function(name, VALUE, body)]
    says = _chain_lines(rule_set, lambda rule: _label(rule.prediction))
    shares = _chain_lines(rule_set, lambda rule: _shares(rule_set, rule))
    return [
        _function(name, CLASS, says),
        _function(f"{name}_proba", SHARES, shares),
    ]


def _sum_functions(rule_set: RuleSet, name: str) -> list[str]:
    """One ``if`` per rule, which adds its value."""
    lines = _adding_lines(rule_set, totals_of(rule_set))
    if not rule_set.classes:
        return [_function(name, VALUE, [*lines, "return total"])]
    softmax = [
        f"totals = _{name}_totals(row)",
        "parts = [_exp(total - max(totals)) for total in totals]",
        "shares = [part / sum(parts) for part in parts]",
        f"return dict(zip({_labels(rule_set)}, shares))",
    ]
    return [
        _function(
            f"_{name}_totals", "The log-odds of the classes.", [*lines, "return totals"]
        ),
        _function(name, CLASS, _largest_lines(rule_set, f"_{name}_totals")),
        _function(f"{name}_proba", SHARES, softmax),
    ]


def _average_functions(rule_set: RuleSet, name: str) -> list[str]:
    """One ``if`` per rule, which adds its weight, and values times that weight."""
    weights, *totals = totals_of(rule_set)
    lines = _adding_lines(rule_set, totals, weights)
    nothing = ", ".join(_number(total[-1][-1]) for total in totals)
    if not rule_set.classes:
        lines += ["if weight == 0:", f"    return {nothing}", "return total / weight"]
        return [_function(name, VALUE, lines)]
    lines += ["if weight == 0:", f"    return [{nothing}]"]
    lines += ["return [total / weight for total in totals]"]
    pairs = [f"return dict(zip({_labels(rule_set)}, _{name}_mean(row)))"]
    return [
        _function(f"_{name}_mean", "The weighted mean of shares.", lines),
        _function(name, CLASS, _largest_lines(rule_set, f"_{name}_mean")),
        _function(f"{name}_proba", SHARES, pairs),
    ]


FUNCTIONS = {
    "first": _list_functions,
    "sum": _sum_functions,
    "average": _average_functions,
}


def _chain_lines(rule_set: RuleSet, says: Callable[[Rule], str]) -> list[str]:
    """The first rule that holds returns its prediction."""
    lines = _cell_lines(rule_set)
    for number, rule in enumerate(rule_set.rules, start=1):
        lines += [comment("#", f"{number}. if {rule.text(rule_set.features)}")]
        lines += [*_if_lines(rule, rule_set.features), f"    return {says(rule)}"]
    lines += [f"# {rule_set.n_rules}. otherwise", f"return {says(rule_set.otherwise)}"]
    return lines


def _adding_lines(
    rule_set: RuleSet,
    totals: list[list[Factors]],
    weights: list[Factors] | None = None,
) -> list[str]:
    """Every rule that holds adds to ``total`` or ``totals``, and to ``weight``."""
    starts = ", ".join(_product(total[-1]) for total in totals)
    start, added = f"total = {starts}", {"total": totals[0]}
    if rule_set.classes:
        start = f"totals = [{starts}]"
        added = {f"totals[{k}]": total for k, total in enumerate(totals)}
    lines = [*_cell_lines(rule_set), start]
    if weights is not None:
        added = {"weight": weights, **added}
        lines.append(f"weight = {_product(weights[-1])}")
    for i, rule in enumerate(rule_set.rules):
        adds = [
            f"    {name} += {_product(total[i])}"
            for name, total in added.items()
            if all(total[i])
        ]
        lines += [comment("#", f"if {rule.text(rule_set.features)}")]
        lines += [*_if_lines(rule, rule_set.features), *(adds or ["    pass"])]
    return lines


def _product(factors: Factors) -> str:
    return " * ".join(map(_number, factors))


def _labels(rule_set: RuleSet) -> str:
    return f"[{', '.join(_label(label) for label in rule_set.classes)}]"


def _largest_lines(rule_set: RuleSet, totals: str) -> list[str]:
    return [
        f"totals = {totals}(row)",
        f"return {_labels(rule_set)}[totals.index(max(totals))]",
    ]


def _shares(rule_set: RuleSet, rule: Rule) -> str:
    pairs = zip(rule_set.classes, rule.probabilities)
    return f"{{{', '.join(f'{_label(k)}: {_number(p)}' for k, p in pairs)}}}"


def _cell_lines(rule_set: RuleSet) -> list[str]:
    """A variable per feature that rules use."""
    features = rule_set.features
    each = [q for rule in rule_set for q in questions_of(rule.conditions, features)]
    lines = []
    for d, question in sorted({q.feature: q for q in each}.items()):
        read = "_number"
        if isinstance(question, LabelQuestion):
            read = "_text" if features.lookup[d] == "hash" else "_label"
        elif features.info[d].is_time:
            read = "_days"
        zoned = ", zoned=True" if features.info[d].is_zoned else ""
        cell = f"{read}(row.get({features.names[d]!r}){zoned})"
        if features.info[d].kind == "date":
            cell += " // 1"  # The time of the day does not count.
        lines.append(f"{_variable(features, d)} = {cell}")
    return lines


def _variable(features: FeatureSpace, d: int) -> str:
    """Name of a feature if it is a Python identifier."""
    name = features.names[d]
    known = hasattr(builtins, name) or name in ("row", "total", "totals", "weight")
    plain = name.isidentifier() and name.isascii() and not name.startswith("_")
    if not plain or known or keyword.iskeyword(name) or re.fullmatch(r"x[0-9]+", name):
        return f"x{d}"
    return name


def _if_lines(rule: Rule, features: FeatureSpace) -> list[str]:
    tests = [_test(q, features) for q in questions_of(rule.conditions, features)]
    line = f"if {' and '.join(tests) or 'True'}:"
    if len(tests) < 2 or len(line) < WIDTH:
        return [line]
    first, *others = tests
    return ["if (", f"    {first}", *(f"    and {test}" for test in others), "):"]


def _test(question: Question, features: FeatureSpace) -> str:
    """One question as an expression; every comparison with NaN but ``!=`` is false."""
    cell = _variable(features, question.feature)
    is_number = isinstance(question, NumberQuestion)
    gone = f"{cell} != {cell}" if is_number else f"{cell} is None"
    there = f"{cell} == {cell}" if is_number else f"{cell} is not None"
    if question.nothing:
        return gone if question.missing else "False"
    if question.anything:
        return there
    if isinstance(question, NumberQuestion):
        test = bounds_text(question, cell, _number, WORDS)
        if question.missing:
            return f"({gone} or {test})"
        if f"{cell} !=" in test and not (">" in test or "<" in test):
            return f"{there} and {test}"
        return f"({test})" if " or " in test else test
    labels = [_label(label) for label in question.labels]
    if len(labels) == 1:
        test = f"{cell} {'==' if question.inside else '!='} {labels[0]}"
    else:
        inside = "in" if question.inside else "not in"
        test = f"{cell} {inside} ({', '.join(labels)})"
    if question.missing:
        return f"({gone} or {test})"
    return test if question.inside else f"{there} and {test}"


def _label(label: Any) -> str:
    return repr(plain_label(label, "the label"))


def _number(value: Any) -> str:
    return repr(finite_number(value))
