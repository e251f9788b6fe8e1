"""Conditions on cells as they are in the data, before encoding.

``RuleSet.predict`` first encodes a table: categories become codes, some numbers encode
missing, some are rounded to float32. Other tools compare the cells themselves, so all
of this becomes part of the comparison, once and exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood.columns.feature_space import ZERO, FeatureSpace
from clearwood.ensembles.casts import float64_cut_of_float32_test
from clearwood.exceptions import InputError
from clearwood.rules.conditions import CategorySet, Condition, Interval

if TYPE_CHECKING:
    from clearwood.rules.rule_set import RuleSet

Piece = tuple[float, float]
"""``low < x <= high``; a ``low`` of minus infinity is included."""

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class NumberQuestion:
    """Whether a number lies in a union of intervals.

    Attributes
    ----------
    feature : int
        Position of the feature.
    pieces : tuple of (low, high)
        Intervals, ascending; no two touch.
    missing : bool
        Whether an empty cell satisfies it.
    """

    feature: int
    pieces: tuple[Piece, ...]
    missing: bool

    @property
    def anything(self) -> bool:
        """Whether every number satisfies it."""
        return self.pieces == ((-math.inf, math.inf),)

    @property
    def nothing(self) -> bool:
        """Whether no number satisfies it."""
        return not self.pieces


@dataclass(frozen=True)
class LabelQuestion:
    """Whether a cell is, or is not, one of some labels.

    Attributes
    ----------
    feature : int
        Position of the feature.
    labels : tuple
        Plain text, numbers or booleans.
    inside : bool
        If False, every other label satisfies it.
    missing : bool
        Whether an empty cell satisfies it.
    """

    feature: int
    labels: tuple[Any, ...]
    inside: bool
    missing: bool

    @property
    def anything(self) -> bool:
        """Whether every label satisfies it."""
        return not self.labels and not self.inside

    @property
    def nothing(self) -> bool:
        """Whether no label satisfies it."""
        return not self.labels and self.inside

    def on_numbers(self, numbers: Iterable[float]) -> NumberQuestion:
        """The question on numbers in place of the labels, in any order."""
        pieces = [(math.nextafter(x, -math.inf), x) for x in sorted(numbers)]
        if not self.inside:
            ends = [-math.inf, *(x for piece in pieces for x in piece), math.inf]
            pieces = list(zip(ends[::2], ends[1::2]))
        return NumberQuestion(self.feature, tuple(pieces), self.missing)


Question = NumberQuestion | LabelQuestion


def questions_of(
    conditions: Iterable[Condition], features: FeatureSpace
) -> list[Question]:
    """Conditions on cells; those that are always true are omitted.

    Examples
    --------
    >>> features = FeatureSpace(("dose",), (None,), missing_at=(-1.0,))
    >>> questions_of([Interval(0, high=5.0)], features)[0].pieces
    ((-inf, -1.0000000000000002), (-1.0, 5.0))
    """
    found = [question_of(condition, features) for condition in conditions]
    return [q for q in found if not (q.anything and q.missing)]


def question_of(condition: Condition, features: FeatureSpace) -> Question:
    """One condition in terms of cells of its feature."""
    d = condition.feature
    labels, lookup = features.categories[d], features.lookup[d]
    if isinstance(condition, Interval) != (labels is None):
        kinds = ("numeric", "a set of categories")
        have, need = kinds if labels is None else ("categorical", "an interval")
        raise InputError(
            f"Feature {features.names[d]!r} is {have}, but a rule uses {need}."
        )
    if isinstance(condition, CategorySet) and lookup != "integer":
        return _label_question(condition, features)
    if isinstance(condition, Interval):
        low, high = condition.low, condition.high
        # As in Interval.matches: minus infinity is in every interval without `low`.
        below_all = low == high == -math.inf and not features.info[d].is_time
        pieces = [(low, high)] if low < high or below_all else []
    else:
        pieces = _pieces_of_codes(condition, labels or (), features.float32)
    gone = missing_piece(features, d)
    if gone is not None:
        pieces = _without(pieces, gone) + [gone] * condition.missing
    return NumberQuestion(d, _joined(pieces), condition.missing)


def bounds_text(
    question: NumberQuestion, cell: str, number: Callable[[float], str], words: Any
) -> str:
    """Intervals as comparisons.

    Parameters
    ----------
    question : NumberQuestion
        Some numbers satisfy it, others do not.
    cell : str
        Left side of the comparisons.
    number : callable
        Formats a number.
    words : mapping
        The language's ``and``, ``or``, ``==`` and ``!=``.
    """
    pieces = question.pieces
    holes = [(a[1], b[0]) for a, b in zip(pieces, pieces[1:])]
    if all(_is_point(hole) for hole in holes):
        # One interval with exceptions reads better than its pieces.
        parts = _piece_parts((pieces[0][0], pieces[-1][1]), cell, number, words)
        parts += [f"{cell} {words['!=']} {number(hole[1])}" for hole in holes]
        return f" {words['and']} ".join(parts)
    texts = []
    for piece in pieces:
        parts = _piece_parts(piece, cell, number, words)
        text = f" {words['and']} ".join(parts)
        texts.append(f"({text})" if len(parts) > 1 else text)
    return f" {words['or']} ".join(texts)


def has_text_cells(features: FeatureSpace, d: int) -> bool:
    """Whether the cells of a feature are text, for tools whose columns have one type.

    Booleans are numbers there.
    """
    labels = features.categories[d]
    if labels is None or features.lookup[d] != "exact":
        return labels is not None and features.lookup[d] == "hash"
    kinds = {isinstance(label, str) for label in labels}
    inexact = kinds == {False} and any(float(label) != label for label in labels)  # type: ignore
    if len(kinds) > 1 or inexact:
        raise InputError(
            f"The categories of {features.names[d]!r} are neither all texts nor all "
            "numbers that float64 holds; export the rules as Python or SQL (to_python, "
            "to_sql)."
        )
    return kinds != {False}


def refuse_times(rule_set: RuleSet, language: str) -> None:
    """Raise an error if rules use dates."""
    for d in sorted(rule_set.used_features):
        if rule_set.features.info[d].is_time:
            raise InputError(
                f"The rules use the date {rule_set.features.names[d]!r}, but "
                f"{language} compares numbers and texts only; export them as Python "
                "or SQL (to_python, to_sql)."
            )


def plain_label(label: Any, what: str) -> Any:
    """A class label or category as plain text, number or boolean."""
    if isinstance(label, np.generic):
        label = label.item()
    if not isinstance(label, str | bool | int | float):
        raise InputError(
            f"Cannot export {what} {label!r} of type {type(label).__name__}; use "
            "text, numbers or booleans as labels."
        )
    if isinstance(label, float) and not math.isfinite(label):
        raise InputError(f"Cannot export {what} {label!r}; it must be finite.")
    return label


def plain_classes(rule_set: RuleSet) -> list[Any]:
    """The classes as all text, all numbers or all booleans."""
    labels = [plain_label(label, "the label") for label in rule_set.classes]
    kinds = {type(label) for label in labels}
    if len(kinds) > 1 and not kinds <= {int, float}:
        raise InputError(
            f"The classes {labels} are of several types; for this export they must "
            "be all text, all numbers or all booleans."
        )
    return labels


def finite_number(value: Any) -> float:
    """Value of a rule; other tools require that it is finite."""
    number = float(value)
    if not math.isfinite(number):
        raise InputError(f"Cannot export the prediction {number}; it must be finite.")
    return number


def _label_question(condition: CategorySet, features: FeatureSpace) -> LabelQuestion:
    d, name = condition.feature, features.names[condition.feature]
    labels = features.categories[d] or ()
    # Unknown categories cannot be listed: only the complement can be written.
    inside = frozenset(condition.codes)
    codes = [c for c in range(len(labels)) if (c in inside) != condition.unseen]
    named = [plain_label(labels[code], f"the category of {name!r}") for code in codes]
    if features.lookup[d] == "hash" and not all(isinstance(x, str) for x in named):
        unknown = next(x for x in named if not isinstance(x, str))
        raise InputError(
            f"The model knows a category of {name!r} only by its hash, {unknown}, "
            "which cannot be compared with a text. Name the categories from a table "
            "that holds them: "
            "dataclasses.replace(rules, features=rules.features.as_in(X))."
        )
    return LabelQuestion(d, tuple(named), not condition.unseen, condition.missing)


def _pieces_of_codes(
    condition: CategorySet, labels: tuple[Any, ...], float32: bool
) -> list[Piece]:
    """Intervals of numbers whose integer part is a label of the set, or no label."""
    known = [_piece_of_code(float(label), float32) for label in labels]
    if not condition.unseen:
        return [known[c] for c in condition.codes if known[c][0] < known[c][1]]
    # Labels ascend, and so do the intervals between them.
    pieces, low, inside = [], -math.inf, frozenset(condition.codes)
    for code, (start, end) in enumerate(known):
        if code not in inside and start < end:
            pieces.append((low, start))
            low = end
    return [p for p in (*pieces, (low, math.inf)) if p[0] < p[1]]


def _piece_of_code(label: float, float32: bool) -> Piece:
    if label < 0 or label != math.floor(label):
        return (label, label)
    # The largest number with this integer part, and the one before the smallest.
    high = math.nextafter(label + 1, label)
    if float32:
        low = float64_cut_of_float32_test(label, strict=True)
        return (float(low), float(float64_cut_of_float32_test(high)))
    # All numbers above -1 have integer part 0.
    return (math.nextafter(label, -1.0) if label else -1.0, high)


def missing_piece(features: FeatureSpace, d: int) -> Piece | None:
    """Interval of numbers that encode missing in a feature, besides NaN."""
    at = features.missing_at[d]
    by_label = features.categories[d] is not None and features.lookup[d] != "integer"
    if at is None or by_label:
        return None
    if features.float32:
        with np.errstate(over="ignore"):
            single = float(np.float32(at))
        low = float(float64_cut_of_float32_test(single, strict=True))
        high = float(float64_cut_of_float32_test(single))
        return (-math.inf if single == -math.inf else low, high)
    # Rounding the difference may include a few more numbers than the sum.
    low, high = at - ZERO, at + ZERO
    while abs(low - at) <= ZERO:
        low = math.nextafter(low, -math.inf)
    while abs(math.nextafter(high, math.inf) - at) <= ZERO:
        high = math.nextafter(high, math.inf)
    return (low, high)


def _without(pieces: list[Piece], hole: Piece) -> list[Piece]:
    if not hole[0] < hole[1]:
        return pieces
    # An unbounded hole includes minus infinity.
    below = [p for p in pieces if hole[0] > -math.inf]
    left = [(low, min(high, hole[0])) for low, high in below]
    right = [(max(low, hole[1]), high) for low, high in pieces]
    return [p for p in left + right if p[0] < p[1] or p == (-math.inf, -math.inf)]


def _joined(pieces: list[Piece]) -> tuple[Piece, ...]:
    result: list[Piece] = []
    for low, high in sorted(pieces):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return tuple(result)


def _is_point(piece: Piece) -> bool:
    return math.nextafter(piece[0], math.inf) == piece[1]


def _piece_parts(
    piece: Piece, cell: str, number: Callable[[float], str], words: Any
) -> list[str]:
    low, high = piece
    if high == -math.inf:
        return [f"{cell} < {number(-LARGEST)}"]
    if low > -math.inf and _is_point(piece) and high < math.inf:
        return [f"{cell} {words['==']} {number(high)}"]
    parts = [] if low == -math.inf else [_above(low, cell, number)]
    return parts + ([] if high == math.inf else [_up_to(high, cell, number)])


def _above(low: float, cell: str, number: Callable[[float], str]) -> str:
    """``x > 4.999999999999999`` is ``x >= 5``: whichever reads better."""
    strict, other = number(low), math.nextafter(low, math.inf)
    if other < math.inf and len(number(other)) < len(strict):
        return f"{cell} >= {number(other)}"
    return f"{cell} > {strict}"


def _up_to(high: float, cell: str, number: Callable[[float], str]) -> str:
    """``x <= 5.999999999999999`` is ``x < 6``."""
    closed, other = number(high), math.nextafter(high, math.inf)
    if other < math.inf and len(number(other)) < len(closed):
        return f"{cell} < {number(other)}"
    return f"{cell} <= {closed}"
