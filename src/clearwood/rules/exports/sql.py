"""Rules as SQL for predictions inside a database.

Numbers are written with an exponent, which in SQL makes them doubles, not decimals. A
NULL cell is missing; no comparison with it holds, so every question that a missing
value satisfies tests for NULL explicitly.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from clearwood._words.labels import check_text, comment
from clearwood.columns.cells import EXACT
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.exports.dialects import BASES, DIALECT_NAMES, DIALECTS
from clearwood.rules.exports.questions import (
    LabelQuestion,
    NumberQuestion,
    Question,
    bounds_text,
    finite_number,
    plain_label,
    questions_of,
)
from clearwood.rules.exports.sql_dates import date_test
from clearwood.rules.exports.totals import Factors, totals_of
from clearwood.rules.exports.transpiled import transpiled
from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

WORDS = {"and": "AND", "or": "OR", "==": "=", "!=": "<>"}
NAN = "CAST('NaN' AS DOUBLE PRECISION)"
LARGEST_EXPONENT = 700.0
WIDTH = 88


def rules_to_sql(
    rule_set: RuleSet,
    dialect: str = "standard",
    *,
    table: str | None = None,
    probabilities: bool = False,
) -> str:
    """See :meth:`clearwood.RuleSet.to_sql`."""
    if probabilities and not (rule_set.classes or rule_set.outcome.horizons):
        raise InputError("These rules predict a number; they have no probabilities.")
    writer = SqlWriter(dialect, rule_set.features)
    return _with_notes(rule_set, writer, _sql(rule_set, writer, table, probabilities))


def outputs_to_sql(
    lists: Sequence[RuleSet], dialect: str = "standard", *, table: str | None = None
) -> str:
    """See :meth:`clearwood.MultiOutputRules.to_sql`."""
    writer = SqlWriter(dialect, lists[0].features)
    columns = [
        (f"prediction {one.target}", _list_columns(one, writer, False)[0][1])
        for one in lists
    ]
    source = None if table is None else writer.name(table)
    return _with_notes(lists[0], writer, query(columns, source, writer))


def _with_notes(rule_set: RuleSet, writer: SqlWriter, text: str) -> str:
    """The text in its dialect, below what the columns are."""
    notes = [comment("--", f"{name}: {words}") for name, words in rule_set.glossary()]
    return "\n".join([*notes, writer.finished(text)])


def _sql(
    rule_set: RuleSet, writer: SqlWriter, table: str | None, probabilities: bool
) -> str:
    writer.check_kinds(rule_set.classes, "the classes")
    if rule_set.one_rule_predicts:
        columns = _list_columns(rule_set, writer, probabilities)
    elif not rule_set.classes:
        columns = [("prediction", _numbers(rule_set, writer)[0])]
    elif table is None:
        totals = [f"({total})" for total in _numbers(rule_set, writer)]
        columns = _class_columns(rule_set, totals, writer, probabilities)
    else:
        return _class_query(rule_set, writer, table, probabilities)
    if not probabilities:
        columns = columns[:1]
        if table is None:
            return columns[0][1]
    return query(columns, None if table is None else writer.name(table), writer)


def _list_columns(
    rule_set: RuleSet, writer: SqlWriter, probabilities: bool
) -> list[tuple[str, str]]:
    """The prediction and one probability per class or horizon, each with a name."""
    if not rule_set.classes:
        case = writer.case(rule_set, writer.number_of(_value_of))
        columns = [("prediction", writer.as_double(case))]
        curve, horizons = rule_set.otherwise.curve, rule_set.outcome.horizons
        for name in curve.named(horizons) if curve and probabilities else ():
            case = writer.case(rule_set, writer.number_of(_shown_as(name, horizons)))
            columns.append((name, writer.as_double(case)))
        return columns
    predicted = writer.case(rule_set, lambda rule: writer.label(rule.prediction))
    columns = [("prediction", predicted)]
    for k, label in enumerate(rule_set.classes):
        case = writer.case(rule_set, writer.number_of(_share_of(k)))
        columns.append((f"probability {label}", writer.as_double(case)))
    return columns


def _numbers(rule_set: RuleSet, writer: SqlWriter) -> list[str]:
    """Expression of a sum or an average, or one per class."""
    totals = totals_of(rule_set)
    if not rule_set.has_weights:
        return [writer.total(rule_set, total) for total in totals]
    weights, *totals = totals
    return [writer.mean(rule_set, total, weights) for total in totals]


def _class_columns(
    rule_set: RuleSet, totals: list[str], writer: SqlWriter, probabilities: bool
) -> list[tuple[str, str]]:
    """As ``_list_columns``, from one total or mean per class."""
    columns = [("prediction", largest(rule_set.classes, totals, writer))]
    if probabilities:
        texts = PROBABILITIES[rule_set.combine](rule_set, totals)
        names = [f"probability {label}" for label in rule_set.classes]
        columns += list(zip(names, texts))
    return columns


def largest(classes: Sequence[Any], totals: list[str], writer: SqlWriter) -> str:
    """Expression of the class with the largest total."""
    labels = [writer.label(label) for label in classes]
    lines = ["CASE"]
    for k, total in enumerate(totals[:-1]):
        # Of equal totals the first is chosen, as in predict.
        above = " AND ".join(f"{total} >= {other}" for other in totals[k + 1 :])
        lines.append(f"  WHEN {above} THEN {labels[k]}")
    return "\n".join([*lines, f"  ELSE {labels[-1]}", "END"])


def _softmax(rule_set: RuleSet, totals: list[str]) -> list[str]:
    """Softmax of the log-odds."""
    _check_exponents(rule_set)
    return softmax(totals)


def softmax(totals: list[str]) -> list[str]:
    """Expressions of class probabilities from those of log-odds."""
    texts = []
    for k, total in enumerate(totals):
        parts = [
            "1e0" if j == k else f"EXP({other} - {total})"
            for j, other in enumerate(totals)
        ]
        texts.append(f"1e0 / ({' + '.join(parts)})")
    return texts


def _as_they_are(rule_set: RuleSet, means: list[str]) -> list[str]:
    """Means of probabilities, unchanged."""
    return means


PROBABILITIES: dict[str, Callable[[RuleSet, list[str]], list[str]]] = {
    "sum": _softmax,
    "average": _as_they_are,
}
"""Probabilities from the totals of sums and averages of classes."""


def _class_query(
    rule_set: RuleSet, writer: SqlWriter, table: str, probabilities: bool
) -> str:
    """Totals or means as columns of an inner query, with the prediction outside."""
    kind = "mean" if rule_set.has_weights else "total"
    names = [f"{kind} {label}" for label in rule_set.classes]
    # Databases do not distinguish names by case.
    taken = {name.lower() for name in rule_set.features.names}
    while taken & {name.lower() for name in names}:
        names = [f"{name}_" for name in names]
    totals = list(zip(names, _numbers(rule_set, writer)))
    inner = _indented(query(totals, writer.name(table), writer), "  ")
    quoted = [writer.name(name) for name in names]
    columns = _class_columns(rule_set, quoted, writer, probabilities)
    return query(columns, f"(\n  {inner}\n) AS {kind}s", writer)


def query(columns: list[tuple[str, str]], source: str | None, writer: SqlWriter) -> str:
    """All columns of a source, if there is one, and others by name and expression."""
    named = [f"{text} AS {writer.name(name)}" for name, text in columns]
    if source is None:
        return ",\n".join(named)
    chosen = "".join(f",\n  {_indented(text, '  ')}" for text in named)
    return f"SELECT *{chosen}\nFROM {source}"


def _check_exponents(rule_set: RuleSet) -> None:
    """Reject log-odds for which EXP may overflow, where databases differ."""
    scores = [rule.scores for rule in rule_set]
    widest = sum(max(s) - min(s) for s in scores)
    if widest > LARGEST_EXPONENT:
        raise InputError(
            f"The totals of two classes may differ by {widest:.6g}, more than the "
            f"{LARGEST_EXPONENT:g} of which EXP can be taken safely; export the "
            "prediction without probabilities."
        )


class SqlWriter:
    """Writer of expressions over the columns of a table, in one dialect."""

    def __init__(self, kind: str, features: FeatureSpace) -> None:
        if kind not in DIALECT_NAMES:
            raise InputError(
                f"There is no SQL dialect {kind!r}; choose one of "
                f"{list(DIALECT_NAMES)}."
            )
        self.kind, self.features = kind, features
        self.dialect = {**DIALECTS, **BASES}[kind]

    def finished(self, text: str) -> str:
        """The text in its dialect, with the line breaks of names and labels."""
        text = text.replace("\0", "\n") + "\n"
        return transpiled(text, self.kind) + "\n" if self.kind in BASES else text

    def case(self, rule_set: RuleSet, says: Callable[[Rule], str]) -> str:
        """Prediction of the first rule that holds."""
        if not rule_set.rules:
            return says(rule_set.otherwise)
        lines = ["CASE"]
        for rule in rule_set.rules:
            lines.append(f"  WHEN {self.conditions(rule)} THEN {says(rule)}")
        return "\n".join([*lines, f"  ELSE {says(rule_set.otherwise)}", "END"])

    def total(self, rule_set: RuleSet, added: list[Factors]) -> str:
        """Sum of the constant and the value of each rule, in this order."""
        *values, start = map(math.prod, added)
        lines = [self.as_double(self.number(start))]
        for rule, value in zip(rule_set.rules, values):
            if value:
                when = _indented(self.conditions(rule), "  ")
                number = self.number(value)
                lines.append(f"  + CASE WHEN {when} THEN {number} ELSE 0e0 END")
        return "\n".join(lines)

    def mean(
        self, rule_set: RuleSet, added: list[Factors], weights: list[Factors]
    ) -> str:
        """Weighted mean of the rules that hold, with the same products as predict."""
        weight, total = self.total(rule_set, weights), self.total(rule_set, added)
        mean = f"({_indented(total, '  ')})\n/ ({_indented(weight, '  ')})"
        least, alone = added[-1]
        if least > 0:
            return mean
        nothing = self.as_double(self.number(alone))
        when = f"WHEN ({_indented(weight, '  ')}) = 0e0 THEN {nothing}"
        return f"CASE\n  {_indented(when, '  ')}\n  ELSE {_indented(mean, '  ')}\nEND"

    def conditions(self, rule: Rule) -> str:
        """Whether all conditions of a rule hold."""
        tests = [self.test(q) for q in questions_of(rule.conditions, self.features)]
        line = " AND ".join(tests)
        return (line if len(line) < WIDTH else "\n    AND ".join(tests)) or "1 = 1"

    def test(self, question: Question) -> str:
        """One question; NULL satisfies it only if missing does."""
        d = question.feature
        cell = self.name(self.features.names[d])
        if isinstance(question, NumberQuestion) and self.is_flag(d):
            question = _of_flag(question)
        if question.anything or question.nothing:
            test = f"{cell} IS NOT NULL" if question.anything else "1 = 0"
        elif isinstance(question, NumberQuestion) and self.features.info[d].is_time:
            info = self.features.info[d]
            test = date_test(question, cell, self.features.names[d], info, self.kind)
        elif isinstance(question, NumberQuestion):
            bounds = [bound for piece in question.pieces for bound in piece]
            double = self.rounded(cell, bounds)
            test = bounds_text(question, double, self.number, WORDS)
        else:
            test = self.is_one_of(cell, question.labels, d, question.inside)
        can_be_nan = self.dialect.has_nan and self.is_number(d)
        if question.missing:
            parts = [f"{cell} IS NULL"]
            if can_be_nan and not (self.dialect.nan_is_large and _takes_nan(question)):
                parts.append(f"{cell} = {NAN}")
            if not question.nothing:
                parts.append(_closed(test, " AND "))
            return parts[0] if len(parts) == 1 else f"({' OR '.join(parts)})"
        test = _closed(test, " OR ")
        if can_be_nan and _takes_nan(question):
            return f"{test} AND {cell} <> {NAN}"
        return test

    def rounded(self, cell: str, to: Sequence[float]) -> str:
        """A cell as a double, rounded as in predict if not all integers are doubles."""
        if not any(EXACT <= abs(number) < math.inf for number in to):
            return cell
        return f"CAST({cell} AS {self.dialect.number_type})"

    def is_one_of(self, cell: str, labels: Sequence[Any], d: int, inside: bool) -> str:
        """Whether a cell is one of some labels, or none of them."""
        known = self.features.categories[d] or ()
        if self.features.lookup[d] == "hash":
            # Integers and text of the same digits are one category.
            cell = f"CAST({cell} AS {self.dialect.text_type})"
        else:
            self.check_kinds(known, f"the categories of {self.features.names[d]!r}")
        if any(isinstance(label, str) for label in labels):
            cell = self.dialect.exact_text.format(cell)
        elif all(isinstance(label, float) for label in known):
            cell = self.rounded(cell, labels)
        texts = [self.label(label) for label in labels]
        if len(texts) == 1:
            return f"{cell} {'=' if inside else '<>'} {texts[0]}"
        return f"{cell} {'IN' if inside else 'NOT IN'} ({', '.join(texts)})"

    def is_number(self, d: int) -> bool:
        """Whether the cells of a feature are numbers, which may be NaN."""
        labels = self.features.categories[d]
        info = self.features.info[d]
        if self.features.lookup[d] == "hash" or info.is_time or self.is_flag(d):
            return False
        return not labels or _kind(labels[0]) == "numbers"

    def is_flag(self, d: int) -> bool:
        """Whether the cells of a feature are booleans, which are not numbers."""
        return self.features.info[d].kind == "boolean"

    def check_kinds(self, labels: Sequence[Any], what: str) -> None:
        """Reject labels of several types: a column has one type."""
        kinds = sorted({_kind(label) for label in labels})
        if len(kinds) > 1:
            raise InputError(
                f"Cannot write SQL: {what} mix {' and '.join(kinds)}, but a column of "
                "a table holds one type; use labels of one kind."
            )

    def label(self, label: Any) -> str:
        """A label as a literal."""
        label = plain_label(label, "the label")
        if isinstance(label, str):
            return self.text(label)
        if isinstance(label, bool):
            if not self.dialect.has_true:
                return str(int(label))
            # SQLite reads these words as columns if there are columns of that name.
            words = {"true", "false"} & {name.lower() for name in self.features.names}
            return f"(1 = {int(label)})" if words else str(label).upper()
        if isinstance(label, float):
            return self.number(label)
        if abs(label) >= 2**63:
            raise InputError(
                f"Cannot write SQL: the label {label} is too large for a whole number "
                "of a database (64 bits); use text as labels."
            )
        return str(label)

    def text(self, text: str) -> str:
        """Text as a literal, safely delimited."""
        _check_text(text, "the label")
        text = text.replace("'", "''")
        if self.dialect.backslashes:
            text = text.replace("\\", "\\\\")
        if self.dialect.line_break:
            code = self.dialect.line_break.format
            text = re.sub("[\r\n]", lambda found: code(ord(found[0])), text)
        return f"{self.dialect.text}'{_guarded(text)}'"

    def name(self, name: str) -> str:
        """The name of a column or a table in quotes."""
        _check_text(name, "the name")
        if not name:
            raise InputError("Cannot write SQL: a column or table has an empty name.")
        if self.dialect.line_break and re.search("[\r\n]", name):
            raise InputError(
                f"Cannot write SQL: the name {name!r} holds a line break, behind which "
                f"a client of {self.kind} would take commands; rename it."
            )
        first, last = self.dialect.quotes[0], self.dialect.quotes[1]
        return f"{first}{_guarded(name.replace(last, last * 2))}{last}"

    def number(self, value: float) -> str:
        """A double as a literal that reads back exactly."""
        text = repr(finite_number(value)).removesuffix(".0")
        return text if "e" in text else f"{text}e0"

    def number_of(self, value: Callable[[Rule], float]) -> Callable[[Rule], str]:
        """A number of a rule as a literal."""
        return lambda rule: self.number(value(rule))

    def as_double(self, text: str) -> str:
        """Cast to double precision, in dialects whose literals are decimals."""
        if not self.dialect.cast:
            return text
        return f"CAST({text} AS DOUBLE PRECISION)"


def _of_flag(question: NumberQuestion) -> LabelQuestion:
    """A question on a boolean, which is a number for rules only."""
    labels = tuple(
        flag
        for flag in (False, True)
        if any(low < flag <= high for low, high in question.pieces)
    )
    both = len(labels) == 2
    return LabelQuestion(
        question.feature, () if both else labels, not both, question.missing
    )


def _takes_nan(question: Question) -> bool:
    """Whether NaN, as larger than any number, would satisfy it."""
    if isinstance(question, NumberQuestion):
        return bool(question.pieces) and question.pieces[-1][1] == math.inf
    return not question.inside


def _kind(label: Any) -> str:
    label = plain_label(label, "the label")
    if isinstance(label, str):
        return "text"
    return "booleans" if isinstance(label, bool) else "numbers"


def _check_text(text: str, what: str) -> None:
    check_text((text,), f"Cannot write SQL: {what}")
    if "\0" in text:
        raise InputError(
            f"Cannot write SQL: {what} {text!r} holds a NUL character, which databases "
            "do not take; rename it."
        )


def _closed(text: str, word: str) -> str:
    """Parenthesize an expression that contains the operator."""
    return f"({text})" if word in text else text


def _guarded(text: str) -> str:
    """Mask line breaks, which indenting would change, by NUL."""
    return text.replace("\n", "\0")


def _indented(text: str, by: str) -> str:
    return text.replace("\n", f"\n{by}")


def _value_of(rule: Rule) -> float:
    return float(rule.prediction)


def _shown_as(name: str, horizons: Sequence[float]) -> Callable[[Rule], float]:
    return lambda rule: rule.curve.named(horizons)[name][0]  # type: ignore[union-attr]


def _share_of(k: int) -> Callable[[Rule], float]:
    return lambda rule: float(rule.probabilities[k])
