"""One rule: a region, what is said there, and how good that is; and all in words."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import (
    measured_text,
    number_text,
    share_text,
    short_text,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.conditions import Condition, Interval, matches_all

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

TEXT_WIDTH = 88
MOST_CATEGORIES = 12
"""Categories of a set that are printed one by one; exports and files hold all."""
FEW_ROWS = 3
"""Rows of which nothing is known. The 95 % interval of the share of a class among three
rows, even if all are of it, reaches below a half (44 %), so they cannot tell one class
from the other; that of their mean is wider than two spreads to both sides, so it tells
no more than a single row would. From four rows on neither is so."""
LOST_BY_ROUNDING = 2.6e-5
"""Of R2, by values that are printed short: the square of half a percent, and a bit."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A region of the data and what is predicted there.

    Attributes
    ----------
    conditions : tuple of Interval or CategorySet
        All must hold; at most one per feature. Empty for ``otherwise``.
    prediction : float, or a class label
        What the rule says.
    probabilities : tuple of float
        Class probabilities in the order of the rule set's ``classes``; empty in
        regression.
    support : float
        Weight of the training rows that satisfy the conditions: their number, where no
        weights were given. All that follows is weighted too, but for ``rows`` and
        ``rows_caught``.
    caught : float
        Weight of those of them that no earlier rule catches.
    agreement : float
        How far the teacher agrees on the rule's support. Classification: share
        of rows to which the teacher gives the same class. Regression: one minus
        the mean squared difference from the teacher over the teacher's variance
        in all training rows (1 is perfect).
    precision : float
        Classification: share of the support whose label is the prediction.
        Regression: NaN. NaN too where no labels were given.
    spread : float
        Regression: standard deviation of the target on the rows that the rule catches.
        Classification: NaN.
    agreement_caught : float
        The agreement on the rows that the rule catches.
    precision_caught : float
        The precision on the rows that the rule catches.
    low, high : float
        95 % interval on the rows that the rule catches. Classification: of the share
        of the predicted class (Wilson). Regression: of the mean of the target
        (Student); NaN for one row. Of the true labels or values where they are
        known, else of what the teacher says. Weights count by the effective number
        of rows. What a rule says may lie outside where it learnt from synthetic rows.
        Where ``expected`` is known, it is the interval of that on new rows. Else it
        does not know whether the rule was searched for on these rows, and is too narrow
        if it was.
    disagreement : float
        Classification: weight of the rows among the caught to which the teacher gives
        another class. Regression: root of the mean squared difference from the
        teacher on the caught rows.
    instead : a class label, or None
        The class that the teacher gives most often where it disagrees.
    scores : tuple of float
        Only in a sum that classifies: what the rule adds to the log-odds of each
        class. ``prediction`` is the class that gains most.
    weight : float
        Only in an average: how much the rule counts there.
    rows, rows_caught : float
        Numbers of the rows of which ``support`` and ``caught`` are the weight; the same
        where nothing else is said.
    expected : float
        What is to be expected on new rows that the rule decides: the share of its
        class, or the mean of the target, as rules told that were judged on rows that
        took no part in their search. NaN where that is not known, and of figures on
        other rows.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    probabilities: tuple[float, ...] = ()
    support: float = float("nan")
    caught: float = float("nan")
    agreement: float = float("nan")
    precision: float = float("nan")
    spread: float = float("nan")
    agreement_caught: float = float("nan")
    precision_caught: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")
    disagreement: float = float("nan")
    instead: Any = None
    scores: tuple[float, ...] = ()
    weight: float = 1.0
    rows: float = float("nan")
    rows_caught: float = float("nan")
    expected: float = float("nan")

    def __post_init__(self) -> None:
        if math.isnan(self.rows):
            object.__setattr__(self, "rows", self.support)
        if math.isnan(self.rows_caught):
            object.__setattr__(self, "rows_caught", self.caught)

    def _key(self) -> tuple[Any, ...]:
        # An unknown statistic equals itself, which NaN does not.
        values = (getattr(self, f.name) for f in fields(self))
        known = (None if v != v else v for v in values)
        return (type(self.prediction), *known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def in_columns(self, place: Mapping[int, int]) -> Rule:
        """The same rule where features stand in other places."""
        moved = (replace(c, feature=place[c.feature]) for c in self.conditions)
        return replace(self, conditions=tuple(moved))

    def matches(self, encoded: np.ndarray) -> np.ndarray:
        """Which rows of an encoded table satisfy all conditions."""
        return matches_all(self.conditions, encoded)

    @property
    def numbers(self) -> tuple[float, ...]:
        """What it says as numbers: one per class, or a value."""
        return self.probabilities or self.scores or (self.prediction,)

    @property
    def n_literals(self) -> int:
        """Number of bounds and category sets."""
        return sum(len(condition.literals()) for condition in self.conditions)

    def text(self, features: FeatureSpace, most: int | None = None) -> str:
        """The conditions in words, with at most so many categories of a set."""
        asked = [condition.text(features, most) for condition in self.conditions]
        return " and ".join(asked) or "otherwise"


ROUNDING = 1e-9
"""By how much, of itself, a sum of weights may miss another."""


def check_rule(rule: Rule, number: int, rules: RuleSet) -> None:
    """Refuse a rule that cannot stand in a rule set of its kind."""
    n_shares = len(rules.classes) if rules.lines_predict else 0
    n_scores = len(rules.classes) - n_shares
    if len(rule.probabilities) != n_shares:
        raise InputError(
            f"A rule has {len(rule.probabilities)} class probabilities; here it must "
            f"have {n_shares}, one per class that is told of by shares."
        )
    if len(rule.scores) != n_scores:
        raise InputError(
            f"A rule has {len(rule.scores)} scores; here it must have {n_scores}, one "
            "per class of a sum."
        )
    if rule.weight != 1.0 and not rules.has_weights:
        raise InputError(
            f"Rule {number} has the weight {rule.weight!r}; rules have weights only in "
            "a RuleAverage."
        )
    asked = [condition.feature for condition in rule.conditions]
    if len(set(asked)) < len(asked):
        raise InputError(
            f"Rule {number} has several conditions on one feature; put them together, "
            "as in Interval(feature, low, high)."
        )
    for condition in rule.conditions:
        if not 0 <= condition.feature < rules.features.n_features:
            raise InputError(
                f"A rule asks feature {condition.feature}, but there are "
                f"{rules.features.n_features} features."
            )
        _check_condition(condition, number, rules.features)
    if wrong := wrong_statistic(rule, bool(rules.classes), rules.lines_predict):
        name, expected = wrong
        raise InputError(
            f"Rule {number} has {getattr(rule, name)!r} as its {name}; expected "
            f"{expected}."
        )


def _check_condition(condition: Condition, number: int, features: FeatureSpace) -> None:
    """Refuse a condition that no row can satisfy, or that is not for its feature."""
    name, labels = features.names[condition.feature], features.categories
    known = labels[condition.feature]
    where = f"Rule {number}, feature {name!r}"
    if isinstance(condition, Interval):
        if known is not None:
            raise InputError(f"{where}: found {condition}, expected a CategorySet.")
        no_number = math.isnan(condition.low) or math.isnan(condition.high)
        if no_number or not (condition.has_values or condition.missing):
            raise InputError(
                f"{where}: no value x satisfies {condition.low} < x <= "
                f"{condition.high}; expected low below high. Leave the rule out."
            )
        return
    if known is None:
        raise InputError(f"{where}: found {condition}, expected an Interval.")
    codes = condition.codes
    if list(codes) != sorted(set(codes) & set(range(len(known)))):
        raise InputError(
            f"{where}: found the codes {codes}; expected different ones from 0 to "
            f"{len(known) - 1}, in order."
        )


def wrong_statistic(rule: Rule, is_class: bool, judged: bool) -> tuple[str, str] | None:
    """The first statistic that cannot be, next to the others, and what could.

    Parameters
    ----------
    rule : Rule
    is_class : bool
        Whether it says a class.
    judged : bool
        Whether a rule by itself is right or wrong; in a sum it is not.

    Examples
    --------
    >>> rule = Rule((), 1.0, support=3.0, caught=5.0)
    >>> wrong_statistic(rule, is_class=False, judged=True)
    ('caught', 'at most the support')
    """
    unused = ("spread",) if is_class else ("precision", "precision_caught", "instead")
    for name in unused if judged else JUDGEMENTS:
        value = getattr(rule, name)
        if value is not None and value == value:
            return name, "nothing, as there is none of it here"
    for name in ("support", "caught", "rows", "rows_caught", "spread", "disagreement"):
        if getattr(rule, name) < 0:
            return name, "at least 0"
    for name in JUDGEMENTS[:7] if is_class else JUDGEMENTS[:2]:
        if (is_class and getattr(rule, name) < 0) or _is_more(getattr(rule, name), 1.0):
            return name, "a share, from 0 to 1" if is_class else "at most 1"
    if _is_more(rule.caught, rule.support):
        return "caught", "at most the support"
    if _is_more(rule.rows_caught, rule.rows):
        return "rows_caught", "at most the rows"
    if is_class and _is_more(rule.disagreement, rule.caught):
        return "disagreement", "at most what is caught"
    if rule.low > rule.high:
        return "low", "at most high"
    if math.isnan(rule.low) != math.isnan(rule.high):
        return "low", "a number where high is one"
    says_otherwise = rule.disagreement > 0 and rule.instead != rule.prediction
    if rule.instead is not None and not says_otherwise:
        return "instead", "another class than the prediction, with a disagreement"
    return None


JUDGEMENTS = (
    "agreement", "agreement_caught", "precision", "precision_caught", "low", "high",
    "expected", "spread", "disagreement", "instead",
)  # fmt: skip
"""Statistics of rules that are right or wrong; of classes the first 7 are shares."""


def _is_more(part: float, whole: float) -> bool:
    """Whether what is known is more than all; or all is not known."""
    return not math.isnan(part) and not part <= whole * (1 + ROUNDING)


def first_match(matches: np.ndarray) -> np.ndarray:
    """Position of the first True in each row; the number of columns where none is.

    Examples
    --------
    >>> import numpy as np
    >>> first_match(np.array([[False, True], [False, False]]))
    array([1, 2])
    """
    last = np.ones((len(matches), 1), dtype=bool)
    return np.hstack([matches, last]).argmax(axis=1)


def wrapped(line: str) -> str:
    """A line in as many as it needs, those after the first indented."""
    return textwrap.fill(
        line, TEXT_WIDTH, subsequent_indent="     ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def rule_says(rule: Rule, classes: tuple[Any, ...], lines: Iterable[Rule] = ()) -> str:
    """What a rule predicts, how likely that is, and how good the rule is.

    Parameters
    ----------
    rule : Rule
    classes : tuple
    lines : iterable of Rule
        All lines of its rule set.
    """
    said, probability = (
        prediction_text(rule.prediction),
        said_probability(rule, classes),
    )
    if probability is not None:
        ends = () if math.isnan(rule.expected) else (rule.low, rule.high)
        said += f", probability {share_text(probability, *ends)}"
        said += unlikely_text(rule, classes, lines)
    known = ", ".join(statistics_text(rule))
    return f"{said}  ({known})" if known else said


def unlikely_text(
    rule: Rule, classes: tuple[Any, ...], lines: Iterable[Rule] = ()
) -> str:
    """Why a rule predicts a class of a probability below a half; or nothing.

    Examples
    --------
    >>> some = Rule((), "ill", (0.7, 0.3), caught=10.0)
    >>> rest = Rule((), "well", (0.9, 0.1), caught=90.0)
    >>> unlikely_text(some, ("well", "ill"), [some, rest])
    ', against 10 % elsewhere'
    >>> unlikely_text(rest, ("well", "ill"), [some, rest])
    ''
    >>> unlikely_text(Rule((), "b", (0.3, 0.4, 0.3)), ("a", "b", "c"))
    ', the likeliest of 3 classes'
    """
    p = said_probability(rule, classes)
    if p is None or p >= 0.5:
        return ""
    if p >= max(rule.probabilities):
        return f", the likeliest of {len(classes)} classes"
    k = classes.index(rule.prediction)
    others = [(one.caught, one.probabilities[k]) for one in lines if one is not rule]
    total = sum(weight for weight, _ in others)
    if not total > 0:
        return ""
    elsewhere = sum(weight * share for weight, share in others) / total
    if elsewhere >= p:
        return ", which the model predicts here"
    return f", against {share_text(elsewhere)} elsewhere"


def said_probability(rule: Rule, classes: tuple[Any, ...]) -> float | None:
    """The probability of the class that a rule says; None for a value."""
    if not rule.probabilities:
        return None
    return rule.probabilities[classes.index(rule.prediction)]


def expected_text(rule: Rule) -> str:
    """What is expected on new rows, a share or a mean, and its interval; or nothing."""
    if math.isnan(rule.expected):
        return ""
    if math.isnan(rule.low):
        return short_text(rule.expected)
    write = share_text if rule.probabilities else measured_text
    return write(rule.expected, rule.low, rule.high)


def signed_text(value: float) -> str:
    """What is added, with its sign.

    Examples
    --------
    >>> signed_text(2.5), signed_text(-2.0)
    ('+ 2.5', '- 2')
    """
    return f"{'-' if value < 0 else '+'} {number_text(abs(value))}"


def statistics_text(rule: Rule) -> list[str]:
    """What is known of a rule on the rows that it decides, in few words.

    The interval stands behind the number that it is of. What is expected of new rows
    takes the place of how precise the rule was on its own.
    """
    if math.isnan(rule.support):
        return []
    parts = [rows_text(rule)]
    is_class = bool(rule.probabilities)
    is_expected = not math.isnan(rule.expected)
    labels_known = not math.isnan(rule.precision_caught)
    named = {"agreement": rule.agreement_caught}
    if not is_expected:
        named["precision"] = rule.precision_caught
    for name, value in named.items():
        if math.isnan(value):
            continue
        if is_class:
            has_interval = not is_expected and labels_known == (name == "precision")
            ends = (rule.low, rule.high) if has_interval else ()
            parts.append(f"{name} {share_text(value, *ends)}")
        else:
            parts.append(f"{name} {short_text(unrounded(value))}")
    if not is_class:
        if is_expected:
            parts.append(f"mean {expected_text(rule)}")
        elif interval_text(rule):
            parts.append(f"mean in {interval_text(rule)}")
        if not math.isnan(rule.spread):
            parts.append(f"spread {short_text(rule.spread)}")
    return parts


def unrounded(quality: float) -> float:
    """A share or R2; nought, where only the rounding of a value keeps it below.

    Examples
    --------
    >>> unrounded(-1.25e-06), unrounded(-0.1), unrounded(0.75)
    (0.0, -0.1, 0.75)
    """
    return 0.0 if -LOST_BY_ROUNDING <= quality < 0 else quality


def interval_text(rule: Rule) -> str:
    """The 95 % interval of what a rule says of values; empty where there is none."""
    if math.isnan(rule.low) or rule.probabilities:
        return ""
    told = measured_text((rule.low + rule.high) / 2, rule.low, rule.high)
    return told[told.index("[") :]


def rows_text(rule: Rule) -> str:
    """How many rows satisfy a rule and how many it decides; and their weight.

    Examples
    --------
    >>> rows_text(Rule((), 0.0, support=3.0, caught=3.0))
    '3 rows'
    >>> rows_text(Rule((), 0.0, support=5.0, caught=2.5, rows=2, rows_caught=1))
    'decides 1 of 2 rows, weight 2.5 of 5'
    """
    rows, weight = count_text(rule.rows), weight_text(rule)
    rows += " row" if rule.rows == 1 else " rows"
    if rule.rows_caught < rule.rows:
        rows = f"decides {count_text(rule.rows_caught)} of {rows}"
    return f"{rows}, {weight}" if weight else rows


def weight_text(rule: Rule) -> str:
    """The weight of a rule's rows; empty where they weigh one each."""
    if (rule.support, rule.caught) == (rule.rows, rule.rows_caught):
        return ""
    part = f"{short_text(rule.caught, 6)} of " if rule.rows_caught < rule.rows else ""
    return f"weight {part}{short_text(rule.support, 6)}"


def count_text(rows: float) -> str:
    """A number of rows; files of before may hold a weight that is no whole number."""
    return f"{rows:.0f}" if float(rows).is_integer() else short_text(rows, 6)


def few_text(rows: float) -> str:
    """A warning beside a number that rests on next to no rows; else nothing.

    Examples
    --------
    >>> few_text(1), few_text(3), few_text(4), few_text(0)
    ('1 row only', '3 rows only', '', '')
    """
    if not 0 < rows <= FEW_ROWS:
        return ""
    return f"{count_text(rows)} row{'s' * (rows != 1)} only"
