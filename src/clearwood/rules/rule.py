"""A rule, a region with a prediction, and its text."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.labels import prediction_text
from clearwood._words.numbers import (
    number_text,
    share_text,
)
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.outcomes import Outcome
from clearwood.outcomes.kaplan_meier import SurvivalCurve
from clearwood.rules.conditions import Condition, Interval, matches_all
from clearwood.rules.evaluation.statistics import RuleStatistics

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

TEXT_WIDTH = 88
MOST_CATEGORIES = 12
"""Categories of a set that are printed in full; exports and files hold all."""
STATISTICS = tuple(f.name for f in fields(RuleStatistics))


@dataclass(frozen=True, eq=False)
class Rule:
    """Region of the feature space, with a prediction.

    Attributes
    ----------
    conditions : tuple of Interval or CategorySet
        All must hold; at most one per feature. Empty for the default rule.
    prediction : float, or a class label
        Prediction of the rule.
    probabilities : tuple of float
        Class probabilities in the order of the rule set's ``classes``; empty in
        regression.
    scores : tuple of float
        Only in a sum for classification: what the rule adds to the log-odds of each
        class. ``prediction`` is the class that gains most.
    weight : float
        Only in an average: the weight of the rule.
    frequency : float
        Only in a sum with ``stability``: the share of small trees that have the rule.
        NaN where unknown.
    selected : tuple of int
        Number of cross-fitting folds that selected the same rule, and number of folds;
        only of rules with ``learn_from="labels"``. Rules are the same if they predict
        the same class and if the rows that both cover are at least 80 % of those that
        either covers (the Jaccard index).
    curve : SurvivalCurve or None
        Only for survival: the curve of the rule, of which ``prediction`` is the mean at
        the horizons.
    statistics : RuleStatistics
        Statistics of the rule on a sample. Its fields are attributes of the rule, too:
        ``rule.support`` is ``rule.statistics.support``.
    """

    conditions: tuple[Condition, ...]
    prediction: Any
    probabilities: tuple[float, ...] = ()
    scores: tuple[float, ...] = ()
    weight: float = 1.0
    frequency: float = math.nan
    selected: tuple[int, ...] = ()
    curve: SurvivalCurve | None = None
    statistics: RuleStatistics = RuleStatistics()

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in STATISTICS:
                return getattr(self.statistics, name)
            raise AttributeError(f"A Rule has no {name!r}.")

    def _key(self) -> tuple[Any, ...]:
        # NaN equals itself here.
        known = (None if v != v else v for v in vars(self).values())
        return (type(self.prediction), *known)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rule) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def in_columns(self, place: Mapping[int, int]) -> Rule:
        """Copy of the rule with features at other positions."""
        moved = (replace(c, feature=place[c.feature]) for c in self.conditions)
        return replace(self, conditions=tuple(moved))

    def matches(self, encoded: np.ndarray) -> np.ndarray:
        """Which rows of an encoded table satisfy all conditions."""
        return matches_all(self.conditions, encoded)

    @property
    def numbers(self) -> tuple[float, ...]:
        """The prediction as numbers: one per class, or a value."""
        return self.probabilities or self.scores or (self.prediction,)

    @property
    def frequency_text(self) -> str:
        """How often the rule was selected; empty where unknown."""
        known = []
        if not math.isnan(self.frequency):
            known.append(f"in {share_text(self.frequency)} of the trees")
        if self.selected:
            known.append("selected in {} of {} folds".format(*self.selected))
        return ", ".join(known)

    @property
    def n_literals(self) -> int:
        """Number of bounds and category sets."""
        return sum(len(condition.literals()) for condition in self.conditions)

    def text(self, features: FeatureSpace, most: int | None = None) -> str:
        """The conditions in words, with at most ``most`` categories of a set."""
        texts = [condition.text(features, most) for condition in self.conditions]
        return " and ".join(texts) or "otherwise"


def check_rule(rule: Rule, number: int, rules: RuleSet) -> None:
    """Validate a rule as part of a rule set of its kind."""
    n_shares = len(rules.classes) if rules.rules_predict else 0
    n_scores = len(rules.classes) - n_shares
    if len(rule.probabilities) != n_shares:
        raise InputError(
            f"A rule has {len(rule.probabilities)} class probabilities; here it must "
            f"have {n_shares}, one per class."
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
    features = [condition.feature for condition in rule.conditions]
    if len(set(features)) < len(features):
        raise InputError(
            f"Rule {number} has several conditions on one feature; put them together, "
            "as in Interval(feature, low, high)."
        )
    for condition in rule.conditions:
        if not 0 <= condition.feature < rules.features.n_features:
            raise InputError(
                f"A rule uses feature {condition.feature}, but there are "
                f"{rules.features.n_features} features."
            )
        _check_condition(condition, number, rules.features)
    n_causes = getattr(rules.outcome, "n_causes", 0)
    if rule.curve and len(rule.curve.causes) != n_causes:
        raise InputError(
            f"Rule {number} has curves of {len(rule.curve.causes)} causes of events; "
            f"expected {n_causes}."
        )
    is_class, judged = bool(rules.classes), rules.rules_predict
    name, expected = rule.statistics.wrong(rule.prediction, is_class, judged)
    if name:
        found = getattr(rule.statistics, name)
        raise InputError(
            f"Rule {number} has {found!r} as its {name}; expected {expected}."
        )


def _check_condition(condition: Condition, number: int, features: FeatureSpace) -> None:
    """Reject a condition that no row can satisfy or that does not fit its feature."""
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
    """Wrap a line of text; continuation lines are indented."""
    return textwrap.fill(
        line, TEXT_WIDTH, subsequent_indent="     ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def rule_says(rule: Rule, outcome: Outcome, lines: Iterable[Rule] = ()) -> str:
    """Prediction of a rule in words, with its probability and quality.

    Parameters
    ----------
    rule : Rule
    outcome : Outcome
    lines : iterable of Rule
        All rules of its rule set.
    """
    predicted = predicted_text(rule, outcome, lines)
    statistics = ", ".join(statistics_text(rule, outcome))
    return f"{predicted}  ({statistics})" if statistics else predicted


def predicted_text(rule: Rule, outcome: Outcome, lines: Iterable[Rule] = ()) -> str:
    """Prediction of a rule in words, with its probability."""
    predicted, classes = prediction_text(rule.prediction), outcome.classes
    probability = predicted_probability(rule, classes)
    if probability is not None:
        known = rule.statistics
        ends = (known.low, known.high) if known.is_expected else ()
        predicted += f", probability {share_text(probability, *ends)}"
        predicted += unlikely_text(rule, classes, lines)
    return outcome.words_of(rule) or predicted


def unlikely_text(
    rule: Rule, classes: tuple[Any, ...], lines: Iterable[Rule] = ()
) -> str:
    """Explain why a class of probability below a half is predicted; may be empty.

    Examples
    --------
    >>> few, many = RuleStatistics(assigned=10.0), RuleStatistics(assigned=90.0)
    >>> some = Rule((), "ill", (0.7, 0.3), statistics=few)
    >>> rest = Rule((), "well", (0.9, 0.1), statistics=many)
    >>> unlikely_text(some, ("well", "ill"), [some, rest])
    ', against 10 % elsewhere'
    >>> unlikely_text(rest, ("well", "ill"), [some, rest])
    ''
    >>> unlikely_text(Rule((), "b", (0.3, 0.4, 0.3)), ("a", "b", "c"))
    ', the likeliest of 3 classes'
    >>> follows = Rule((), "ill", (0.9, 0.1), statistics=RuleStatistics(agreement=0.9))
    >>> unlikely_text(follows, ("well", "ill"), [follows, rest])
    ', which the model predicts here'
    >>> wrong = Rule((), "ill", (0.9, 0.1), statistics=RuleStatistics(agreement=0.1))
    >>> unlikely_text(wrong, ("well", "ill"), [wrong, rest])
    ''
    """
    p = predicted_probability(rule, classes)
    if p is None or p >= 0.5:
        return ""
    if p >= max(rule.probabilities):
        return f", the likeliest of {len(classes)} classes"
    k = classes.index(rule.prediction)
    others = [
        (one.statistics.assigned, one.probabilities[k])
        for one in lines
        if one is not rule
    ]
    total = sum(weight for weight, _ in others)
    if not total > 0:
        return ""
    elsewhere = sum(weight * share for weight, share in others) / total
    if elsewhere >= p:
        # With class weights the model may predict another class on most of the rows.
        disagrees = rule.statistics.agreement < 0.5
        return "" if disagrees else ", which the model predicts here"
    return f", against {share_text(elsewhere)} elsewhere"


def predicted_probability(rule: Rule, classes: tuple[Any, ...]) -> float | None:
    """Probability of the predicted class; None for a value."""
    if not rule.probabilities:
        return None
    return rule.probabilities[classes.index(rule.prediction)]


def signed_text(value: float) -> str:
    """A number that is added, with its sign.

    Examples
    --------
    >>> signed_text(2.5), signed_text(-2.0)
    ('+ 2.5', '- 2')
    """
    return f"{'-' if value < 0 else '+'} {number_text(abs(value))}"


def statistics_text(rule: Rule, outcome: Outcome) -> list[str]:
    """Short text of a rule's statistics on the rows that it predicts."""
    known = rule.statistics
    if math.isnan(known.support):
        return []
    # Those of the curve, which other rows do not change.
    curve = rule.curve
    has_events = curve and (known.is_expected or curve.low)
    is_known = curve and has_events and curve.events is not None
    events = [curve.events_text] if curve and is_known else []
    rows = filter(None, [known.rows_text, rule.frequency_text])
    return [*rows, *events, *outcome.statistics_texts(known)]
