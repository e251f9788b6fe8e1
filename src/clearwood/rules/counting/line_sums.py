"""What a block of rows says about every line of a rule set, as sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from clearwood._numeric import BLOCK_ROWS, Blocks, WeightedMoments

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet


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
    def known(self) -> tuple[bool, bool]:
        """Whether it is known what the model says, and what is true."""
        return self.taught is not None, self.truth is not None


@dataclass(frozen=True)
class LineSums:
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

    def __add__(self, other: LineSums) -> LineSums:
        mine, its = vars(self), vars(other)
        return LineSums(**{name: mine[name] + its[name] for name in mine})


class LinesSums(tuple[LineSums, ...]):
    """The sums of all lines in printed order, which add up line by line."""

    def __add__(self, other: Any) -> LinesSums:
        return LinesSums(a + b for a, b in zip(self, other, strict=True))


def sums_of_lines(
    rows: EncodedRows, rule_set: RuleSet
) -> tuple[LinesSums, WeightedMoments]:
    """What one block says of each line, and the moments of what is taught in it."""
    matches = rule_set.matches_encoded(rows.encoded)
    caught = rule_set.takes_part(rows.encoded)
    # The last line has no conditions of its own.
    held = np.hstack([matches, caught[:, -1:]])
    lines = LinesSums(
        _line_sums(rows, rule_set, i, held[:, i], caught[:, i])
        for i in range(rule_set.n_rules)
    )
    if rows.taught is None or rule_set.classes:
        return lines, WeightedMoments()
    return lines, WeightedMoments.of(rows.taught, rows.weight)


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
