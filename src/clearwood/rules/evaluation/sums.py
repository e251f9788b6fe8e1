"""What a block of rows says about a rule set and each of its lines, as sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from clearwood._numeric import BLOCK_ROWS, Blocks, WeightedMoments
from clearwood.outcomes import Outcome
from clearwood.rules.evaluation.statistics import UNKNOWN, RuleStatistics
from clearwood.rules.scores import RuleScores

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

Kind = TypeVar("Kind", bound="RuleSet")
Known = tuple[bool, bool]
"""Whether it is known what the model says, and what is true."""


class EncodedRows(NamedTuple):
    """A block of rows as rules read them.

    Attributes
    ----------
    encoded : ndarray of shape (n_rows, n_features)
    weight : ndarray of shape (n_rows,)
    taught, truth : ndarray of shape (n_rows,) or None
        Values, or positions in ``classes``, -1 for a class that rules do not know.
    """

    encoded: np.ndarray
    weight: np.ndarray
    taught: np.ndarray | None
    truth: np.ndarray | None

    def cut(self) -> Blocks[EncodedRows]:
        """The same rows in blocks."""
        return Blocks(
            EncodedRows._make(p if p is None else p[i : i + BLOCK_ROWS] for p in self)
            for i in range(0, max(len(self.encoded), 1), BLOCK_ROWS)
        )

    @property
    def known(self) -> Known:
        """What is known of these rows."""
        return self.taught is not None, self.truth is not None


class BlockSums:
    """Numbers that add up over blocks of rows, each with its like."""

    def __add__(self, other: Self) -> Self:
        mine, its = vars(self), vars(other)
        return type(self)(**{name: mine[name] + its[name] for name in mine})


# Of each line


@dataclass(frozen=True)
class LineSums(BlockSums):
    """Of one line: of all rows where it holds, and of those that it decides (caught).

    Attributes
    ----------
    support, caught : float
        The weight of these rows.
    rows, rows_caught : int
        Their number, without those of no weight.
    agrees, agrees_caught, right, right_caught : float
        Of these rows the weight of those where the model, or the truth, says what the
        line says; or the weighted sum of squared differences. 0 where not known.
    shown : WeightedMoments
        Of the truth, or of what the model says, in the rows caught: of values, or of
        whether it is the class that the line says.
    otherwise : ndarray of shape (n_classes + 1,)
        Of the rows caught the weight of those where the model says another class:
        first one that the rules do not know, then each of ``classes``.
    """

    support: float
    caught: float
    rows: int
    rows_caught: int
    agrees: float
    agrees_caught: float
    right: float
    right_caught: float
    shown: WeightedMoments
    otherwise: np.ndarray

    def statistics(
        self, outcome: Outcome, taught: WeightedMoments, known: Known
    ) -> RuleStatistics:
        """What comes of the sums.

        Parameters
        ----------
        outcome : Outcome
        taught : WeightedMoments
            Of what the model says of all rows.
        known : tuple of bool
            Neither, for a line that predicts nothing by itself.
        """
        is_class, (has_teacher, has_truth) = outcome.is_share, known
        found: dict[str, Any] = {}

        def agreement(total: float, weight: float) -> float:
            if not weight > 0:
                return UNKNOWN
            return outcome.agreement(total / weight, taught.variance)

        if has_teacher:
            found["agreement"] = agreement(self.agrees, self.support)
            found["agreement_caught"] = agreement(self.agrees_caught, self.caught)
        if has_truth and is_class:
            found["precision"] = agreement(self.right, self.support)
            found["precision_caught"] = agreement(self.right_caught, self.caught)
        if self.caught > 0 and (has_teacher or has_truth):
            shown = self.shown
            found |= outcome.interval(shown.mean, shown.variance, shown.n_effective)
        if self.caught > 0 and has_teacher:
            if not is_class:
                found["disagreement"] = math.sqrt(self.agrees_caught / self.caught)
            else:
                found["disagreement"] = float(self.otherwise.sum())
                # Labels of a teacher that the rules do not know are the first.
                largest = int(self.otherwise[1:].argmax())
                if self.otherwise[largest + 1] > 0:
                    found["instead"] = outcome.classes[largest]
        return RuleStatistics(
            support=self.support,
            caught=self.caught,
            rows=self.rows,
            rows_caught=self.rows_caught,
            **found,
        )


def described(rule_set: Kind, rows: EncodedRows) -> Kind:
    """The same rules with what some rows say about each."""
    taught, *lines = rows.cut().map_sum(sums_of_lines, rule_set)
    return with_sums(rule_set, lines, taught, rows.known)


def with_sums(
    rule_set: Kind,
    lines: Iterable[LineSums],
    taught: WeightedMoments,
    known: Known,
) -> Kind:
    """The same rules with the statistics that come of sums over rows.

    Parameters
    ----------
    rule_set : RuleSet
    lines, taught, known
        As in :meth:`LineSums.statistics`, of every line.
    """
    known = known if rule_set.lines_predict else (False, False)
    found = (line.statistics(rule_set.outcome, taught, known) for line in lines)
    told = [replace(rule, statistics=own) for rule, own in zip(rule_set, found)]
    return rule_set.with_lines(told)


def sums_of_lines(rows: EncodedRows, rule_set: RuleSet) -> tuple[Any, ...]:
    """Moments of what is taught in one block, and then what it says of each line."""
    matches = rule_set.matches_encoded(rows.encoded)
    caught = rule_set.takes_part(rows.encoded)
    # The last line has no conditions of its own.
    held = np.hstack([matches, caught[:, -1:]])
    said = rule_set.outcome.codes(rule_set.predictions)
    lines = map(partial(_line_sums, rows, rule_set), said, held.T, caught.T)
    return _taught(rows, rows.weight), *lines


def _taught(rows: EncodedRows, weight: np.ndarray) -> WeightedMoments:
    """Moments of what the model says; of classes nobody asks for them."""
    if rows.taught is None:
        return WeightedMoments()
    return WeightedMoments.of(rows.taught, weight)


def _line_sums(
    rows: EncodedRows,
    rule_set: RuleSet,
    said: Any,
    held: np.ndarray,
    caught: np.ndarray,
) -> LineSums:
    weight, outcome = rows.weight, rule_set.outcome
    # A row without weight is none.
    counts = weight > 0
    shown, mass = WeightedMoments(), np.zeros(len(outcome.classes) + 1)
    agrees = right = (0.0, 0.0)
    if rule_set.lines_predict:
        known = (rows.taught, rows.truth)
        terms = [None if v is None else outcome.terms(v, said) for v in known]
        agrees, right = (
            (_weighed(own, weight, held), _weighed(own, weight, caught))
            for own in terms
        )
        values = rows.taught if rows.truth is None else rows.truth
        if values is not None:
            own = outcome.shown(values[caught], said)
            shown = WeightedMoments.of(own, weight[caught])
        if outcome.is_share and rows.taught is not None:
            codes = rows.taught[caught] + 1
            mass += np.bincount(codes, weight[caught], minlength=len(mass))
            mass[said + 1] = 0.0
    return LineSums(
        float(weight[held].sum()),
        float(weight[caught].sum()),
        int(counts[held].sum()),
        int(counts[caught].sum()),
        *agrees,
        *right,
        shown,
        mass,
    )


def _weighed(terms: np.ndarray | None, weight: np.ndarray, rows: np.ndarray) -> float:
    return 0.0 if terms is None else float((terms[rows] * weight[rows]).sum())


# Of all lines together


@dataclass(frozen=True)
class ScoreSums(BlockSums):
    """What scores are made of; they add up over blocks of rows.

    Attributes
    ----------
    rows, covered, overlap : int
        Rows; those that satisfy a rule; rules that rows satisfy.
    wrong : float
        Rows of which the truth says something else than the rules, or losses.
    agrees : float
        Rows of which the model says the same, or losses.
    taught : WeightedMoments
        Of the values that the model says.
    labelled : ndarray of shape (2,)
        Rows of which the model, and the truth, say a class that the rules know.
    """

    rows: int
    covered: int
    overlap: int
    wrong: float
    agrees: float
    taught: WeightedMoments
    labelled: np.ndarray

    def scores(self, rule_set: RuleSet, known: Known) -> RuleScores:
        """What comes of the sums."""
        has_teacher, has_truth = known
        outcome, agrees = rule_set.outcome, self.agrees / self.rows
        fidelity = outcome.agreement(agrees, self.taught.variance)
        return RuleScores(
            self.wrong / self.rows if has_truth else UNKNOWN,
            fidelity if has_teacher else UNKNOWN,
            coverage=self.covered / self.rows,
            overlap=self.overlap / self.rows,
            n_rules=rule_set.n_rules,
            n_literals=rule_set.n_literals,
        )


def sums_of_scores(rows: EncodedRows, rule_set: RuleSet) -> tuple[ScoreSums]:
    """What one block of rows adds to the scores; each row counts once."""
    matches = rule_set.matches_encoded(rows.encoded)
    outcome = rule_set.outcome
    said = outcome.codes(rule_set.predict_encoded(rows.encoded))

    def total(of: Any, values: np.ndarray | None) -> float:
        return 0.0 if values is None else float(of(values, said).sum())

    return (
        ScoreSums(
            len(matches),
            int(matches.any(axis=1).sum()),
            int(matches.sum()),
            total(outcome.losses, rows.truth),
            total(outcome.terms, rows.taught),
            _taught(rows, np.ones(len(matches))),
            np.array([_n_known(rows.taught), _n_known(rows.truth)]),
        ),
    )


def _n_known(codes: np.ndarray | None) -> int:
    return 0 if codes is None else int(np.count_nonzero(codes >= 0))
