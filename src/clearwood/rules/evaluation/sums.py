"""What a block of rows says about a rule set and each of its lines, as sums."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

import numpy as np

from clearwood._numeric import BLOCK_ROWS, Blocks, WeightedMoments
from clearwood.rules.evaluation.intervals import mean_interval, share_interval
from clearwood.rules.evaluation.statistics import UNKNOWN, RuleStatistics
from clearwood.rules.scores import RuleScores, r_squared

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
        self,
        classes: tuple[Any, ...],
        taught: WeightedMoments,
        known: Known,
    ) -> RuleStatistics:
        """What comes of the sums.

        Parameters
        ----------
        classes : tuple
        taught : WeightedMoments
            Of what the model says of all rows.
        known : tuple of bool
            Neither, for a line that predicts nothing by itself.
        """
        is_class, (has_teacher, has_truth) = bool(classes), known
        found: dict[str, Any] = {}
        if has_teacher:
            total = None if is_class else taught.variance
            found["agreement"] = _quality(self.agrees, self.support, total)
            found["agreement_caught"] = _quality(self.agrees_caught, self.caught, total)
        if has_truth and is_class:
            found["precision"] = _quality(self.right, self.support)
            found["precision_caught"] = _quality(self.right_caught, self.caught)
        if self.caught > 0 and (has_teacher or has_truth):
            shown = self.shown
            if is_class:
                ends = share_interval(shown.mean, shown.n_effective)
            else:
                found["spread"] = math.sqrt(shown.variance)
                ends = mean_interval(shown.mean, shown.variance, shown.n_effective)
            found["low"], found["high"] = ends
        if self.caught > 0 and has_teacher:
            if not is_class:
                found["disagreement"] = math.sqrt(self.agrees_caught / self.caught)
            else:
                found["disagreement"] = float(self.otherwise.sum())
                # Labels of a teacher that the rules do not know are the first.
                largest = int(self.otherwise[1:].argmax())
                if self.otherwise[largest + 1] > 0:
                    found["instead"] = classes[largest]
        return RuleStatistics(
            support=self.support,
            caught=self.caught,
            rows=self.rows,
            rows_caught=self.rows_caught,
            **found,
        )


def _quality(total: float, weight: float, variance: float | None = None) -> float:
    """Share of equal classes, or R2, from weighted hits or squared errors."""
    if not weight > 0:
        return UNKNOWN
    mean = total / weight
    return mean if variance is None else r_squared(mean, variance)


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
    found = (line.statistics(rule_set.classes, taught, known) for line in lines)
    told = [replace(rule, statistics=own) for rule, own in zip(rule_set, found)]
    return rule_set.with_lines(told)


def sums_of_lines(rows: EncodedRows, rule_set: RuleSet) -> tuple[Any, ...]:
    """Moments of what is taught in one block, and then what it says of each line."""
    matches = rule_set.matches_encoded(rows.encoded)
    caught = rule_set.takes_part(rows.encoded)
    # The last line has no conditions of its own.
    held = np.hstack([matches, caught[:, -1:]])
    lines = (
        _line_sums(rows, rule_set, i, held[:, i], caught[:, i])
        for i in range(rule_set.n_rules)
    )
    return _taught(rows, rule_set, rows.weight), *lines


def _taught(
    rows: EncodedRows, rule_set: RuleSet, weight: np.ndarray
) -> WeightedMoments:
    """Moments of the values that the model says; of classes there are none."""
    if rows.taught is None or rule_set.classes:
        return WeightedMoments()
    return WeightedMoments.of(rows.taught, weight)


def _line_sums(
    rows: EncodedRows,
    rule_set: RuleSet,
    i: int,
    held: np.ndarray,
    caught: np.ndarray,
) -> LineSums:
    weight, classes = rows.weight, rule_set.classes
    # A row without weight is none.
    counts = weight > 0
    shown, mass = WeightedMoments(), np.zeros(len(classes) + 1)
    agrees = right = (0.0, 0.0)
    if rule_set.lines_predict:
        said = rule_set.predictions[i] if not classes else _position(rule_set, i)
        known = (rows.taught, rows.truth)
        taught, truth = (_hits(values, said, bool(classes)) for values in known)
        agrees, right = (
            (_weighed(hits, weight, held), _weighed(hits, weight, caught))
            for hits in (taught, truth)
        )
        hits = taught if truth is None else truth
        shown = _shown(rows, hits, rule_set, caught)
        if classes and rows.taught is not None:
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


def _position(rule_set: RuleSet, i: int) -> int:
    """The class that a line says."""
    return rule_set.classes.index((*rule_set.rules, rule_set.otherwise)[i].prediction)


def _hits(values: np.ndarray | None, said: Any, is_class: bool) -> np.ndarray | None:
    """Whether each row is of the class that is said, or its squared difference."""
    if values is None:
        return None
    return values == said if is_class else (values - said) ** 2


def _weighed(hits: np.ndarray | None, weight: np.ndarray, mask: np.ndarray) -> float:
    return 0.0 if hits is None else float(np.multiply(hits[mask], weight[mask]).sum())


def _shown(
    rows: EncodedRows, hits: np.ndarray | None, rule_set: RuleSet, caught: np.ndarray
) -> WeightedMoments:
    values = hits
    if not rule_set.classes:
        values = rows.taught if rows.truth is None else rows.truth
    if values is None:
        return WeightedMoments()
    return WeightedMoments.of(values[caught], rows.weight[caught])


# Of all lines together


@dataclass(frozen=True)
class ScoreSums(BlockSums):
    """What scores are made of; they add up over blocks of rows.

    Attributes
    ----------
    rows, covered, overlap : int
        Rows; those that satisfy a rule; rules that rows satisfy.
    wrong, unlike : float
        Rows of which the truth, or the model, says something else than the rules, or
        squared differences.
    taught : WeightedMoments
        Of the values that the model says.
    labelled : ndarray of shape (2,)
        Rows of which the model, and the truth, say a class that the rules know.
    """

    rows: int
    covered: int
    overlap: int
    wrong: float
    unlike: float
    taught: WeightedMoments
    labelled: np.ndarray

    def scores(self, rule_set: RuleSet, known: Known) -> RuleScores:
        """What comes of the sums."""
        has_teacher, has_truth = known
        if rule_set.classes:
            fidelity = (self.rows - self.unlike) / self.rows
        else:
            fidelity = r_squared(self.unlike / self.rows, self.taught.variance)
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
    said = rule_set.codes_of(rule_set.predict_encoded(rows.encoded))

    def loss(values: np.ndarray | None) -> float:
        if values is None:
            return 0.0
        return float(
            np.sum(values != said if rule_set.classes else (values - said) ** 2)
        )

    return (
        ScoreSums(
            len(matches),
            int(matches.any(axis=1).sum()),
            int(matches.sum()),
            loss(rows.truth),
            loss(rows.taught),
            _taught(rows, rule_set, np.ones(len(matches))),
            np.array([_n_known(rows.taught), _n_known(rows.truth)]),
        ),
    )


def _n_known(codes: np.ndarray | None) -> int:
    return 0 if codes is None else int(np.count_nonzero(codes >= 0))
