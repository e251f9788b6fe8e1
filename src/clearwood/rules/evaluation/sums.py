"""Sums over blocks of rows, for statistics of each rule and scores of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from clearwood._numeric import BLOCK_ROWS, Blocks, WeightedMoments
from clearwood.outcomes import Outcome
from clearwood.outcomes.intervals import UNKNOWN
from clearwood.rules.evaluation.statistics import RuleStatistics
from clearwood.rules.scores import RuleScores, orders_only

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

Kind = TypeVar("Kind", bound="RuleSet")
Known = tuple[bool, bool]
"""Whether predictions of the model, and true values, are known."""


class EncodedRows(NamedTuple):
    """Block of rows, encoded for rules.

    Attributes
    ----------
    encoded : ndarray of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,)
    target, truth : ndarray of shape (n_rows,) or None
        Values, or positions in ``classes``; -1 for a class that is not among them.
    """

    encoded: np.ndarray
    weight: np.ndarray
    target: np.ndarray | None
    truth: np.ndarray | None

    def cut(self) -> Blocks[EncodedRows]:
        """Split into blocks."""
        return Blocks(
            EncodedRows._make(p if p is None else p[i : i + BLOCK_ROWS] for p in self)
            for i in range(0, max(len(self.encoded), 1), BLOCK_ROWS)
        )

    @property
    def known(self) -> Known:
        """Which of model and truth are known."""
        return self.target is not None, self.truth is not None


class BlockSums:
    """Sums of blocks of rows, added field by field."""

    def __add__(self, other: Self) -> Self:
        mine, its = vars(self), vars(other)
        return type(self)(**{name: mine[name] + its[name] for name in mine})


# Per rule


@dataclass(frozen=True)
class LineSums(BlockSums):
    """Sums of one rule, over the rows where it holds and those it predicts (assigned).

    Attributes
    ----------
    support, assigned : float
        Total weight of these rows.
    rows, rows_assigned : int
        Their number, without rows of weight zero.
    agrees, agrees_assigned, right, right_assigned : float
        Weight of those of these rows for which the model, or the truth, equals the
        rule's prediction; or the weighted sum of squared differences. 0 if unknown.
    shown : WeightedMoments
        Moments of the truth, or of the model's predictions, in the rows assigned: of
        values, or of the indicator of the predicted class.
    otherwise : ndarray of shape (n_classes + 1,)
        Weight of the rows assigned for which the model predicts another class: first
        one that is not among the rules' classes, then each of ``classes``.
    """

    support: float
    assigned: float
    rows: int
    rows_assigned: int
    agrees: float
    agrees_assigned: float
    right: float
    right_assigned: float
    shown: WeightedMoments
    otherwise: np.ndarray

    def statistics(
        self, outcome: Outcome, target: WeightedMoments, known: Known
    ) -> RuleStatistics:
        """Statistics computed from the sums.

        Parameters
        ----------
        outcome : Outcome
        target : WeightedMoments
            Moments of the model's predictions in all rows.
        known : tuple of bool
            Both False for a rule that is not a prediction of its own.
        """
        is_class, (has_model, has_truth) = outcome.is_share, known
        found: dict[str, Any] = {}

        def agreement(total: float, weight: float) -> float:
            if not weight > 0:
                return UNKNOWN
            return outcome.agreement(total / weight, target.variance)

        if has_model:
            found["agreement"] = agreement(self.agrees, self.support)
            found["agreement_assigned"] = agreement(self.agrees_assigned, self.assigned)
        if has_truth and is_class:
            found["precision"] = agreement(self.right, self.support)
            found["precision_assigned"] = agreement(self.right_assigned, self.assigned)
        elif has_truth and outcome.shows_share and self.assigned > 0:
            found["precision_assigned"] = min(self.shown.mean, 1.0)
        if self.assigned > 0 and (
            has_truth or (has_model and not outcome.estimates_truth)
        ):
            shown = self.shown
            found |= outcome.interval(shown.mean, shown.variance, shown.n_effective)
        if self.assigned > 0 and has_model:
            if not is_class:
                found["disagreement"] = math.sqrt(self.agrees_assigned / self.assigned)
            else:
                found["disagreement"] = float(self.otherwise.sum())
                # The first holds labels of the model that are not among the rules'.
                largest = int(self.otherwise[1:].argmax())
                if self.otherwise[largest + 1] > 0:
                    found["instead"] = outcome.classes[largest]
        return RuleStatistics(
            support=self.support,
            assigned=self.assigned,
            rows=self.rows,
            rows_assigned=self.rows_assigned,
            **found,
        )


def described(rule_set: Kind, rows: EncodedRows) -> Kind:
    """Copy of the rules with the statistics of a block of rows."""
    target, *lines = rows.cut().map_sum(sums_of, rule_set, line_sums)
    return with_sums(rule_set, lines, target, rows.known)


def with_sums(
    rule_set: Kind,
    lines: Iterable[LineSums],
    target: WeightedMoments,
    known: Known,
) -> Kind:
    """Copy of the rules with statistics computed from sums over rows.

    Parameters
    ----------
    rule_set : RuleSet
    lines, target, known
        As in :meth:`LineSums.statistics`, for every rule.
    """
    known = known if rule_set.rules_predict else (False, False)
    found = (line.statistics(rule_set.outcome, target, known) for line in lines)
    described = [replace(rule, statistics=own) for rule, own in zip(rule_set, found)]
    return rule_set.with_lines(described)


def sums_of(
    rows: EncodedRows, rule_set: RuleSet, *parts: Callable[..., tuple[Any, ...]]
) -> tuple[Any, ...]:
    """Sums of a block: ``line_sums``, ``score_sums``, or both."""
    matches = rule_set.matches_encoded(rows.encoded)
    return tuple(one for part in parts for one in part(rows, matches, rule_set))


def line_sums(
    rows: EncodedRows, matches: np.ndarray, rule_set: RuleSet
) -> tuple[Any, ...]:
    """Moments of the model's predictions in a block, then the sums of each rule."""
    assigned = rule_set.contributing(matches)
    # The default rule has no conditions of its own.
    held = np.hstack([matches, assigned[:, -1:]])
    predicted = [rule_set.outcome.code(rule.prediction) for rule in rule_set]
    lines = map(partial(_line_sums, rows, rule_set), predicted, held.T, assigned.T)
    return _target_moments(rows, rows.weight), *lines


def _target_moments(rows: EncodedRows, weight: np.ndarray) -> WeightedMoments:
    """Moments of the model's predictions; not needed for classes."""
    if rows.target is None:
        return WeightedMoments()
    return WeightedMoments.of(rows.target, weight)


def _line_sums(
    rows: EncodedRows,
    rule_set: RuleSet,
    predicted: Any,
    held: np.ndarray,
    assigned: np.ndarray,
) -> LineSums:
    weight, outcome = rows.weight, rule_set.outcome
    # A row of weight zero does not count.
    counts = weight > 0
    shown, mass = WeightedMoments(), np.zeros(len(outcome.classes) + 1)
    agrees = right = (0.0, 0.0)
    if rule_set.rules_predict:
        known = (rows.target, rows.truth)
        terms = [None if v is None else outcome.terms(v, predicted) for v in known]
        agrees, right = (
            (_weighed(own, weight, held), _weighed(own, weight, assigned))
            for own in terms
        )
        values = rows.target if rows.truth is None else rows.truth
        if values is not None:
            own = outcome.shown(values[assigned], predicted)
            shown = WeightedMoments.of(own, weight[assigned])
        if outcome.is_share and rows.target is not None:
            codes = rows.target[assigned] + 1
            mass += np.bincount(codes, weight[assigned], minlength=len(mass))
            mass[predicted + 1] = 0.0
    return LineSums(
        float(weight[held].sum()),
        float(weight[assigned].sum()),
        int(counts[held].sum()),
        int(counts[assigned].sum()),
        *agrees,
        *right,
        shown,
        mass,
    )


def _weighed(terms: np.ndarray | None, weight: np.ndarray, rows: np.ndarray) -> float:
    return 0.0 if terms is None else float((terms[rows] * weight[rows]).sum())


# All rules together


@dataclass(frozen=True)
class ScoreSums(BlockSums):
    """Sums from which scores are computed, added over blocks of rows.

    Attributes
    ----------
    rows, covered, overlap : int
        Rows; rows that satisfy a rule; pairs of a row and a rule that it satisfies.
    wrong : float
        Number of rows where rules and truth differ, or sum of losses.
    agrees : float
        Number of rows where rules and model agree, or sum of losses.
    target : WeightedMoments
        Moments of the model's values.
    labelled : ndarray of shape (2,)
        Rows for which the class of the model, and of the truth, is among the rules'.
    """

    rows: int
    covered: int
    overlap: int
    wrong: float
    agrees: float
    target: WeightedMoments
    labelled: np.ndarray

    def scores(self, rule_set: RuleSet, known: Known) -> RuleScores:
        """Scores computed from the sums."""
        has_model, has_truth = known[0], known[1] and not orders_only(rule_set)
        outcome, agrees = rule_set.outcome, self.agrees / self.rows
        fidelity = outcome.agreement(agrees, self.target.variance)
        return RuleScores(
            self.wrong / self.rows if has_truth else UNKNOWN,
            fidelity if has_model else UNKNOWN,
            coverage=self.covered / self.rows,
            overlap=self.overlap / self.rows,
            n_rules=rule_set.n_rules,
            n_literals=rule_set.n_literals,
            error_name=outcome.error if outcome.horizons else "error",
        )


def score_sums(
    rows: EncodedRows, matches: np.ndarray, rule_set: RuleSet
) -> tuple[ScoreSums]:
    """Contribution of one block to the scores; rows are unweighted."""
    outcome = rule_set.outcome
    predicted = outcome.codes(rule_set.predictions_by(matches))

    def total(of: Any, values: np.ndarray | None) -> float:
        return 0.0 if values is None else float(of(values, predicted).sum())

    return (
        ScoreSums(
            len(matches),
            int(matches.any(axis=1).sum()),
            int(matches.sum()),
            total(outcome.losses, rows.truth),
            total(outcome.terms, rows.target),
            _target_moments(rows, np.ones(len(matches))),
            np.array([_n_known(rows.target), _n_known(rows.truth)]),
        ),
    )


def _n_known(codes: np.ndarray | None) -> int:
    return 0 if codes is None else int(np.count_nonzero(codes >= 0))
