"""Explanations of a single prediction, with counterfactuals."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.labels import label_text, prediction_text, printable
from clearwood._words.numbers import number_text, short_text
from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import WORDED, value_text
from clearwood.columns.feature_space import FeatureSpace, is_frame
from clearwood.columns.some_rows import one_row
from clearwood.columns.sparse_tables import dense_blocks, is_matrix
from clearwood.exceptions import InputError
from clearwood.results import Result
from clearwood.rules.changes import Change, smallest_changes
from clearwood.rules.conditions import (
    Condition,
    Interval,
    name_text,
    shown_low,
    whole_bounds,
)
from clearwood.rules.rule import Rule, wrapped

if TYPE_CHECKING:
    import pandas as pd

    from clearwood.rules.rule_set import RuleSet

TOGETHER = {
    "sum": ("sum", "total"),
    "average": ("weighted average", "weighted average"),
}
"""Name of the combined output, for a value and for one of several classes."""


@dataclass(frozen=True)
class AnsweredLiteral:
    """Bound or category set of a rule, and whether a row satisfies it.

    Attributes
    ----------
    feature : str
        Name of the feature.
    condition : str
        The bound or set in words.
    value : str
        The row's value in words.
    holds : bool
        Whether the value satisfies it.
    distance : float or None
        Distance of the value to the bound; None where the condition holds, and for
        categories and missing values.
    standardised : float or None
        Distance divided by the feature's scale; None without a scale.
    """

    feature: str
    condition: str
    value: str
    holds: bool
    distance: float | None = None
    standardised: float | None = None

    def __str__(self) -> str:
        name = name_text(self.feature)
        words = f"{name} is {self.value}"
        if self.distance:
            words += f", off by {short_text(self.distance)}"
        if self.standardised:
            words += f", {short_text(self.standardised)} of its scale"
        return f"{self.condition}  ({words})"


@dataclass(frozen=True)
class Tried:
    """A rule, and whether the row satisfies it.

    Attributes
    ----------
    number : int
        Number of the rule, counted from 1.
    says : str
        Prediction, or contribution, of the rule in words.
    holds : bool
        Whether the row satisfies all its conditions.
    answers : tuple of AnsweredLiteral
        One per bound and category set; empty for the default rule.
    """

    number: int
    says: str
    holds: bool
    answers: tuple[AnsweredLiteral, ...]

    @property
    def failed(self) -> tuple[AnsweredLiteral, ...]:
        """The conditions that the row does not satisfy."""
        return tuple(answer for answer in self.answers if not answer.holds)


@dataclass(frozen=True, repr=False)
class Explanation(Result):
    """Explanation of the prediction of one row.

    Attributes
    ----------
    target : str
        Name of the target; for survival, with the horizons of its mean.
    prediction : float, or a class label
        Prediction of the rules.
    rule : int or None
        Number of the rule that predicts; None in a sum and in an average.
    tried : tuple of Tried
        The rules up to the one that predicts; in a sum or an average all of them,
        except a default rule without weight where another rule holds.
    totals : dict
        Total of a sum, or mean of an average, for each class or for the target; empty
        for a list.
    changes : tuple of Change
        Counterfactuals: the smallest changes that change the prediction. For sums and
        averages only in classification, as every rule changes a value.
    combine : {"first", "sum", "average"}
        As in ``RuleSet``.
    default_text : {"otherwise", "always"}
        When the default rule applies.
    way : tuple of AnsweredLiteral
        For a tree, the conditions on the row's path from the root to its leaf; else
        empty.
    words : str
        For survival, the predicted curve at the horizons, or the incidence of each
        cause; else empty.
    """

    target: str
    prediction: Any
    rule: int | None
    tried: tuple[Tried, ...]
    totals: dict[Any, float]
    changes: tuple[Change, ...]
    combine: str = "first"
    default_text: str = "otherwise"
    way: tuple[AnsweredLiteral, ...] = ()
    words: str = ""

    def __str__(self) -> str:
        return "\n".join(wrapped(line) for line in _lines(self))

    def _page(self) -> tuple[str, dict[str, Any]]:
        return "rules/explanation.html", {"explanation": self}

    def to_frame(self) -> pd.DataFrame:
        """Bounds and category sets of the rules that were evaluated, one per row."""
        import pandas as pd

        answers = [(t.number, t.says, a) for t in self.tried for a in t.answers]
        return pd.DataFrame(
            [{"rule": number, "says": says} | asdict(a) for number, says, a in answers]
        )

    def reasons(self, n: int = 4) -> list[str]:
        """Principal reasons for the prediction, such as for a notice of refusal.

        A reason is a feature, or a pair where no single one suffices, whose change
        alone changes the prediction; those that need the smallest change come first.

        Parameters
        ----------
        n : int, default=4
            Maximum number of reasons. There are at most five, one per counterfactual.

        Returns
        -------
        list of str
            Empty if no change of one or two features changes the prediction.

        Notes
        -----
        Like counterfactuals, reasons describe the rules, not causes. With more than two
        classes, or a number, the changed prediction need not be a better one; see
        ``changes`` for each. ``fixed`` in :func:`clearwood.explain` omits features.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> features = FeatureSpace(("income", "debt"), (None, None))
        >>> box = (Interval(0, low=2000), Interval(1, high=500))
        >>> rules = RuleList((Rule(box, "good", (0.2, 0.8)),),
        ...     Rule((), "refused", (0.9, 0.1)), features, ("refused", "good"))
        >>> rules.explain({"income": 1200, "debt": 100}).reasons()
        ['income is 1200 rather than above 2000']
        """
        if isinstance(n, bool) or not isinstance(n, Integral) or n < 1:
            raise InputError(f"n is {n!r}; expected a number of reasons, at least 1.")
        first: dict[tuple[str, ...], str] = {}
        for change in self.changes:
            first.setdefault(change.features, change.reason)
        return list(first.values())[:n]

    @property
    def title(self) -> str:
        """Prediction of the row, and the rule that makes it."""
        predicted = f"{printable(self.target)}: {prediction_text(self.prediction)}"
        if self.rule is None:
            of_one, of_class = TOGETHER[self.combine]
            if len(self.totals) == 1:
                return f"{predicted}, the {of_one} of"
            return f"{predicted}, the largest {of_class} ({_totals_text(self)}) of"
        words = f"{predicted}, by rule {self.rule}"
        return words if self.tried[-1].answers else f"{words}, otherwise"

    def as_dict(self) -> dict[str, Any]:
        """The explanation as plain data, for JSON; unknown values are None."""
        plain = asdict(self)
        plain["totals"] = [
            {"of": of, "total": total} for of, total in self.totals.items()
        ]
        return plain


def explain_rows(
    rules: RuleSet,
    x: Any,
    fixed: Sequence[str],
    scale: Any,
    way_of: Callable[[np.ndarray], Iterable[Condition]] = lambda row: (),
) -> Explanation | list[Explanation]:
    """See :func:`clearwood.explain`; ``way_of`` returns a row's path in a tree."""
    if is_matrix(x):
        rows = dense_blocks(x, range(x.shape[1]), 1)
        each: list[Any] = [explain_rows(rules, x, fixed, scale, way_of) for x in rows]
        return each[0] if len(each) == 1 else each
    table = one_row(x)
    encoded = rules.encode(table)
    if len(encoded) == 0:
        raise InputError("Cannot explain an empty table; pass at least one row.")
    columns = rules.features.columns(table, rules.used_features)
    not_free = _positions(rules.features, fixed)
    steps = None if scale is None else _steps(rules, scale)
    explained = []
    for i, row in enumerate(encoded):
        texts = _value_texts(rules, columns, i, row)
        found = _explain_row(rules, row, texts, not_free, steps)
        met = (_answer(rules.features, own, row, texts, None) for own in way_of(row))
        explained.append(replace(found, way=tuple(met)))
    return explained[0] if len(explained) == 1 else explained


def _positions(features: FeatureSpace, names: Sequence[str]) -> frozenset[int]:
    names = [names] if isinstance(names, str) else list(names)
    position = {name: d for d, name in enumerate(features.names)}
    unknown = [name for name in names if name not in position]
    if unknown:
        raise InputError(
            f"fixed names {unknown}, which are not features of the rules; these are "
            f"{list(features.names)}."
        )
    return frozenset(position[name] for name in names)


def _steps(rules: RuleSet, scale: Any) -> np.ndarray:
    """Scale of each feature, validated for the numeric features that rules use."""
    names = rules.features.names
    if is_frame(scale):
        # The form of X.std() in polars: a table of one row.
        scale = {name: scale[name][0] for name in scale.columns}
    if hasattr(scale, "to_dict"):
        scale = scale.to_dict()
    if isinstance(scale, Mapping):
        scale = [scale.get(name, math.nan) for name in names]
    steps = np.asarray(scale, dtype=np.float64)
    if steps.shape != (len(names),):
        raise InputError(
            f"scale has the shape {steps.shape}, expected one value for each of "
            f"{len(names)} features, or a mapping from their names."
        )
    for d in {c.feature for rule in rules.rules for c in rule.conditions}:
        is_number = rules.features.categories[d] is None
        if is_number and not 0 < steps[d] < math.inf:
            raise InputError(
                f"scale of {names[d]!r} is {steps[d]:g}; expected a positive number "
                "for every numeric feature that the rules use."
            )
    return steps


def _value_texts(
    rules: RuleSet, columns: list[np.ndarray], i: int, row: np.ndarray
) -> tuple[str, ...]:
    """Each value of a row in words."""
    features = rules.features
    texts = []
    for d, code in enumerate(row.tolist()):
        labels, lookup = features.categories[d], features.lookup[d]
        if math.isnan(code):
            texts.append("missing")
        elif features.info[d].kind in WORDED:
            texts.append(value_text(code, features.info[d].kind))
        elif labels is None:
            texts.append(_number_text(rules, d, code))
        elif code == UNSEEN:
            cell = columns[d][i]
            cell = cell.item() if isinstance(cell, np.generic) else cell
            texts.append(f"{label_text(cell)}, a category not seen in the fit")
        else:
            texts.append(label_text(labels[int(code)], lookup))
    return tuple(texts)


def _number_text(rules: RuleSet, d: int, value: float) -> str:
    """A number in six digits, or in all where rounding would cross a cut."""
    short = float(f"{value:.6g}")
    both = np.array([value, short])
    conditions = [c for rule in rules.rules for c in rule.conditions if c.feature == d]
    same = all(len(set(c.matches(both).tolist())) == 1 for c in conditions)
    return number_text(short if same else value)


def _explain_row(
    rules: RuleSet,
    row: np.ndarray,
    texts: tuple[str, ...],
    fixed: frozenset[int],
    steps: np.ndarray | None,
) -> Explanation:
    tried = [
        _tried(rules, number, rule, row, texts, steps)
        for number, rule in enumerate(rules, start=1)
    ]
    if rules.otherwise.weight == 0 and any(one.holds for one in tried[:-1]):
        del tried[-1]
    matches = rules.matches_encoded(row[None, :])
    predicting = rules.predicting_rule(matches)
    rule = None if predicting is None else int(predicting[0]) + 1
    found = rules.aggregate(matches).reshape(-1).tolist()
    has_changes = bool(rules.classes) or rule is not None
    own = None if rule is None else rules[rule - 1]
    return Explanation(
        rules.outcome.heading(rules.target),
        rules.predictions_by(matches).tolist()[0],
        rule,
        tuple(tried[:rule]),
        dict(zip(rules.classes or (rules.target,), found)),
        smallest_changes(rules, row, texts, fixed, steps) if has_changes else (),
        rules.combine,
        rules.default_text,
        words=rules.outcome.words_of(own) if own and own.curve else "",
    )


def _tried(
    rules: RuleSet,
    number: int,
    rule: Rule,
    row: np.ndarray,
    texts: tuple[str, ...],
    steps: np.ndarray | None,
) -> Tried:
    answers = tuple(
        _answer(rules.features, literal, row, texts, steps)
        for condition in rule.conditions
        for literal in condition.literals()
    )
    holds = all(answer.holds for answer in answers)
    return Tried(number, rules.full_text_of(rule), holds, answers)


def _answer(
    features: FeatureSpace,
    literal: Condition,
    row: np.ndarray,
    texts: tuple[str, ...],
    steps: np.ndarray | None,
) -> AnsweredLiteral:
    d = literal.feature
    value = float(row[d])
    holds = bool(literal.matches(row[d : d + 1])[0])
    distance = standardised = None
    if isinstance(literal, Interval) and not holds and math.isfinite(value):
        kind = features.info[d].kind
        whole = whole_bounds(literal, kind)
        high = whole[1] if whole else literal.high
        bound = shown_low(literal, kind)[1] if value <= literal.low else high
        # The distance may overflow float64.
        if math.isfinite(bound - value):
            distance = abs(bound - value)
            standardised = None if steps is None else distance / float(steps[d])
    condition = literal.text(features)
    return AnsweredLiteral(
        features.shown(d), condition, texts[d], holds, distance, standardised
    )


def _totals_text(explanation: Explanation) -> str:
    return ", ".join(
        f"{prediction_text(of)} {short_text(total, 4)}"
        for of, total in explanation.totals.items()
    )


def _lines(explanation: Explanation) -> list[str]:
    """The text, line by line."""
    words = explanation.words
    lines = [explanation.title] + [f"  {words}"] * bool(words)
    if explanation.rule is None:
        lines += _sum_lines(explanation)
    else:
        *earlier, last = explanation.tried
        met = enumerate(explanation.way, start=1)
        way = [f"  split {number}: {answer}" for number, answer in met]
        lines += way or [f"  {answer}" for answer in last.answers]
        # A rule of the same prediction is no alternative.
        for tried in (other for other in earlier if other.says != last.says):
            lines.append(f"rule {tried.number} ({tried.says}): {_failed(tried)}")
            lines += [f"  {answer}" for answer in tried.failed]
    if explanation.changes:
        lines += ["counterfactuals:"]
        lines += [f"  {change.text}" for change in explanation.changes]
    elif explanation.rule is not None or len(explanation.totals) > 1:
        lines += ["no change of one or two features changes the prediction"]
    return lines


def _sum_lines(explanation: Explanation) -> list[str]:
    rules = [tried for tried in explanation.tried if tried.answers]
    last = [tried for tried in explanation.tried if not tried.answers]
    lines = [f"  {tried.says}  {explanation.default_text}" for tried in last]
    for tried in rules:
        if tried.holds:
            lines.append(f"  {tried.says}  by rule {tried.number}")
            lines += [f"      {answer}" for answer in tried.answers]
    for tried in rules:
        if not tried.holds:
            lines.append(
                f"without {tried.says} of rule {tried.number}: {_failed(tried)}"
            )
            lines += [f"      {answer}" for answer in tried.failed]
    return lines


def _failed(tried: Tried) -> str:
    n_failed, n_conditions = len(tried.failed), len(tried.answers)
    if n_failed > 1:
        return f"{n_failed} of {n_conditions} conditions fail:"
    if n_conditions > 1:
        return f"1 of {n_conditions} conditions fails:"
    return "its condition fails:"
