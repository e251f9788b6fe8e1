"""The scores of rules as sums over rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from clearwood._numeric import WeightedMoments
from clearwood.outcomes import Mean
from clearwood.rules.counting.line_sums import EncodedRows
from clearwood.rules.scores import RuleScores

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet


@dataclass(frozen=True)
class ScoreSums:
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

    def __add__(self, other: ScoreSums) -> ScoreSums:
        mine, its = vars(self), vars(other)
        return ScoreSums(**{name: mine[name] + its[name] for name in mine})

    def scores(self, rule_set: RuleSet, known: tuple[bool, bool]) -> RuleScores:
        """The scores; ``known``: what the model says, and what is true."""
        error = fidelity = float("nan")
        if known[1]:
            error = self.wrong / self.rows
        if known[0]:
            unlike = self.unlike / self.rows
            is_class = bool(rule_set.classes)
            fidelity = (
                (self.rows - self.unlike) / self.rows
                if is_class
                else Mean().agreement(unlike, self.taught.variance)
            )
        return RuleScores(
            error,
            fidelity,
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

    taught = WeightedMoments()
    if rows.taught is not None and not rule_set.classes:
        taught = WeightedMoments.of(rows.taught, np.ones(len(rows.taught)))
    return (
        ScoreSums(
            len(matches),
            int(matches.any(axis=1).sum()),
            int(matches.sum()),
            loss(rows.truth),
            loss(rows.taught),
            taught,
            np.array([_n_known(rows.taught), _n_known(rows.truth)]),
        ),
    )


def _n_known(codes: np.ndarray | None) -> int:
    return 0 if codes is None else int(np.count_nonzero(codes >= 0))
