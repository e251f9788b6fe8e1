"""Indexing and editing of rule sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self, cast

from clearwood._words.labels import prediction_text
from clearwood.columns.info import glossary
from clearwood.exceptions import InputError
from clearwood.rules.evaluation.statistics import RuleStatistics
from clearwood.rules.rule import Rule

if TYPE_CHECKING:
    from clearwood.columns.feature_space import FeatureSpace
    from clearwood.rules.rule_set import RuleSet

BY_HAND = "edited by hand"
"""Key of ``about`` under which edits are recorded."""


class Editable:
    """Mixin of ``RuleSet`` for indexing and editing.

    Rules are immutable: every method returns a copy. The statistics of a rule describe
    the original rules, so that an edit removes those of all rules; ``described_on``
    computes them again.
    """

    rules: tuple[Rule, ...]
    otherwise: Rule
    features: FeatureSpace
    about: dict[str, str]

    def _with(self, **parts: Any) -> Self:
        return cast(Self, replace(cast(Any, self), **parts))

    def _edited(
        self, rules: tuple[Rule, ...], what: str, otherwise: Rule | None = None
    ) -> Self:
        """Copy that records the edit, without statistics, which were of others."""
        earlier = self.about.get(BY_HAND)
        about = {**self.about, BY_HAND: f"{earlier}, {what}" if earlier else what}
        lines = map(bare, (*rules, otherwise or self.otherwise))
        return self._with(about=about).with_lines(lines)

    def __getitem__(self, place: int | slice) -> Any:
        """One rule; for a slice, a rule set of these with the default rule.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> high = Rule((Interval(0, low=39.0),), 2.0)
        >>> rules = RuleList(
        ...     (high, Rule((Interval(0, low=37.5),), 1.0)),
        ...     Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["temperature"]))
        >>> rules[-1].prediction
        0.0
        >>> print(rules[:1])
        1. if temperature > 39
           then 2
        2. otherwise 0
        """
        if not isinstance(place, slice):
            return (*self.rules, self.otherwise)[place]
        kept = (*self.rules, self.otherwise)[place]
        if len(kept) > len(self.rules):
            return self
        rules = tuple(rule for rule in kept if rule.conditions)
        return self._edited(rules, "some lines taken")

    def with_lines(self, lines: Iterable[Rule]) -> Self:
        """Copy with other rules, of which the last is the default rule."""
        *rules, otherwise = lines
        return self._with(rules=tuple(rules), otherwise=otherwise)

    def with_metadata(self, **about: str) -> Self:
        """Copy with further entries of ``about``."""
        return self._with(about={**self.about, **about})

    def with_target(self, target: str) -> Self:
        """Copy with another name of the target."""
        return self._with(target=target)

    def with_columns(self, column_info: Any) -> Self:
        """Copy with display names, units and descriptions of columns.

        Parameters
        ----------
        column_info : mapping of str to mapping
            Per column of the data its display ``name``, ``unit`` and ``description``,
            or some of these. Text, pages, charts and explanations use them; data and
            exports still use the column's own name.

        Returns
        -------
        RuleSet

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=240.0),), 1.0),), Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["chol"]))
        >>> info = {"chol": {"name": "cholesterol", "unit": "mg/dl"}}
        >>> print(rules.with_columns(info))
        1. if cholesterol > 240 mg/dl
           then 1
        2. otherwise 0
        """
        return self._with(features=self.features.with_info(column_info))

    def glossary(self) -> list[tuple[str, str]]:
        """Display names and descriptions of the columns that rules use.

        Only of columns that were described by :meth:`with_columns`. Pages and exports
        include them.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=240.0),), 1.0),), Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["chol"]))
        >>> info = {"chol": {"description": "serum cholesterol"}}
        >>> rules.with_columns(info).glossary()
        [('chol', 'serum cholesterol')]
        """
        used = {c.feature for rule in self.rules for c in rule.conditions}
        return glossary(self.features.names, self.features.info, used)

    @property
    def feature_counts_(self) -> dict[str, int]:
        """Number of rules that use each feature, most used first.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(1, low=37.5),), 1.0),), Rule((), 0.0),
        ...     FeatureSpace.numeric(2, ["age", "temperature"]))
        >>> rules.feature_counts_
        {'temperature': 1}
        """
        counts = Counter(c.feature for rule in self.rules for c in rule.conditions)
        names = self.features.names
        most = sorted(counts, key=lambda d: (-counts[d], d))
        return {names[d]: counts[d] for d in most}

    def drop(self, number: int) -> Self:
        """Remove a rule.

        Parameters
        ----------
        number : int
            Number of the rule, counted from 1, as printed.

        Returns
        -------
        RuleSet
            Without statistics: see :meth:`described_on`.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> high = Rule((Interval(0, low=39.0),), 2.0)
        >>> rules = RuleList(
        ...     (high, Rule((Interval(0, low=37.5),), 1.0)),
        ...     Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["temperature"]))
        >>> print(rules.drop(1))
        1. if temperature > 37.5
           then 1
        2. otherwise 0
        """
        i = _place(self.rules, number)
        kept = (*self.rules[:i], *self.rules[i + 1 :])
        return self._edited(kept, f"rule {number} dropped")

    def add(self, rule: Rule | str, *, at: int | None = None) -> Self:
        """Insert a rule.

        Parameters
        ----------
        rule : Rule or str
            With at least one condition. Or its text, as rules are printed: ``"age > 60
            and ward is 'a' then ill"``. A class given as text has probability 1, until
            that is changed (``change``).
        at : int, optional
            Its number, counted from 1; by default it becomes the last rule before the
            default rule.

        Returns
        -------
        RuleSet
            Without statistics: see :meth:`described_on`.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=39.0),), 2.0),), Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["temperature"]))
        >>> print(rules.add("temperature <= 35 then 1", at=1))
        1. if temperature <= 35
           then 1
        2. if temperature > 39
           then 2
        3. otherwise 0
        """
        if isinstance(rule, str):
            rule = _read_rule(rule, cast(Any, self))
        if not rule.conditions:
            raise InputError(
                "A rule that is added needs a condition; to change the prediction "
                "where no rule holds, change the default rule."
            )
        n_lines = len(self.rules) + 1
        at = n_lines if at is None else at
        if not 1 <= at <= n_lines:
            raise InputError(f"at is {at}; expected a line from 1 to {n_lines}.")
        rules = (*self.rules[: at - 1], rule, *self.rules[at - 1 :])
        return self._edited(rules, f"rule {at} added")

    def change(
        self,
        number: int,
        feature: str | None = None,
        *,
        low: float | None = None,
        high: float | None = None,
        **predicted: Any,
    ) -> Self:
        """Change a bound or the prediction of a rule.

        Parameters
        ----------
        number : int
            Number of the rule, counted from 1, as printed.
        feature : str, optional
            The feature of the bound; not needed if the rule uses one numeric feature
            only. A numeric feature that it does not use yet becomes a further
            condition.
        low, high : float, optional
            New bounds, ``low < x <= high``; infinite for none.
        **predicted
            ``prediction``, ``probabilities``, ``scores`` or ``weight`` of the
            :class:`~clearwood.Rule`.

        Returns
        -------
        RuleSet
            Without statistics: see :meth:`described_on`.

        Examples
        --------
        >>> from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
        >>> rules = RuleList((Rule((Interval(0, low=37.48),), 2.0),), Rule((), 0.0),
        ...     FeatureSpace.numeric(1, ["temperature"]))
        >>> print(rules.change(1, low=37.5, prediction=1.0))
        1. if temperature > 37.5
           then 1
        2. otherwise 0
        """
        unknown = set(predicted) - {"prediction", "probabilities", "scores", "weight"}
        if unknown:
            raise InputError(
                f"change knows no {sorted(unknown)[0]!r}; it takes low, high, "
                "prediction, probabilities, scores and weight."
            )
        last = number == len(self.rules) + 1
        i = len(self.rules) if last else _place(self.rules, number)
        rule = replace(self[i], **predicted)
        if low is not None or high is not None:
            if last:
                raise InputError("The last line has no conditions; add a rule instead.")
            rule = _with_bounds(self.features, rule, feature, low, high)
        lines = [*self.rules, self.otherwise]
        lines[i] = rule
        return self._edited(tuple(lines[:-1]), f"rule {number} changed", lines[-1])


def _place(rules: tuple[Rule, ...], number: int) -> int:
    if not 1 <= number <= len(rules):
        raise InputError(
            f"There is no rule {number} with conditions; they are numbered from 1 to "
            f"{len(rules)}."
        )
    return number - 1


def _with_bounds(
    features: FeatureSpace,
    rule: Rule,
    feature: str | None,
    low: float | None,
    high: float | None,
) -> Rule:
    from clearwood.rules.conditions import Interval

    names, of_feature = features.names, {c.feature: c for c in rule.conditions}
    numbers = [d for d, c in of_feature.items() if isinstance(c, Interval)]
    if feature is not None and feature not in names:
        raise InputError(f"There is no feature {feature!r}; there are {list(names)}.")
    if feature is None and len(numbers) != 1:
        raise InputError(
            f"The rule uses {len(numbers)} numeric features "
            f"({', '.join(repr(names[d]) for d in numbers)}); name the one whose "
            "bound to change."
        )
    d = numbers[0] if feature is None else names.index(feature)
    known = of_feature.get(d, Interval(d))
    if features.categories[d] is not None or not isinstance(known, Interval):
        raise InputError(f"Feature {names[d]!r} holds categories and has no bounds.")
    low = known.low if low is None else float(low)
    high = known.high if high is None else float(high)
    if not low < high:
        raise InputError(f"low is {low} and high {high}; low must be below high.")
    of_feature[d] = replace(known, low=low, high=high)
    return replace(rule, conditions=tuple(of_feature[d] for d in sorted(of_feature)))


def _read_rule(text: str, rules: RuleSet) -> Rule:
    from clearwood.rules.building.rule_text import NUMBER, read_conditions

    conditions, then, prediction = text.strip().removeprefix("if ").rpartition(" then ")
    labels = {prediction_text(label): label for label in rules.classes}
    is_number = re.fullmatch(NUMBER, prediction) is not None
    if not then or not (prediction in labels if labels else is_number):
        raise InputError(
            f"{text!r} is no rule; write its conditions, 'then' and its prediction"
            + (f", one of {list(labels)}." if labels else ", a number.")
        )
    if rules.classes and not rules.rules_predict:
        raise InputError(
            "Rules of this sum add log-odds, not a class; add a Rule with scores."
        )
    shares = tuple(float(label == labels[prediction]) for label in rules.classes)
    value = labels[prediction] if labels else float(prediction)
    return Rule(read_conditions(conditions, rules.features), value, shares)


def bare(rule: Rule) -> Rule:
    """Copy of a rule without statistics."""
    return replace(rule, statistics=RuleStatistics())
