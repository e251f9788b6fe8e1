"""Conditions of rules on one feature, in the units of the data."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from clearwood._words.labels import label_text
from clearwood._words.numbers import number_text
from clearwood.columns.cells import UNSEEN
from clearwood.columns.dates import value_text
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.info import LARGEST_WHOLE, ColumnInfo

if TYPE_CHECKING:
    from clearwood.rules.bins import FeatureBins

LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Interval:
    """Condition ``low < x <= high`` on a numeric feature.

    Parameters
    ----------
    feature : int
        Position of the feature.
    low, high : float
        Bounds; infinite where there is none.
    missing : bool
        Whether a missing value satisfies the condition too.

    Examples
    --------
    >>> import numpy as np
    >>> condition = Interval(0, low=1.0, high=2.5)
    >>> condition.matches(np.array([1.0, 2.0, 2.5, np.nan])).tolist()
    [False, True, True, False]
    >>> condition.text(FeatureSpace(("dose",), (None,)))
    '1 < dose <= 2.5'
    """

    feature: int
    low: float = -math.inf
    high: float = math.inf
    missing: bool = False

    @property
    def has_values(self) -> bool:
        """Whether any number satisfies it; that may be minus infinity alone."""
        return self.low < self.high or self.low == self.high == -math.inf

    def matches(self, column: np.ndarray) -> np.ndarray:
        """Mask of the encoded values of the feature that satisfy it."""
        inside = (column > self.low) & (column <= self.high)
        if self.low == -math.inf:
            inside |= column == -math.inf
        return inside | np.isnan(column) if self.missing else inside

    def literals(self) -> list[Interval]:
        """The literals: parts that count, and can be dropped, separately."""
        parts = []
        if self.low > -math.inf:
            parts.append(replace(self, high=math.inf))
        if self.high < math.inf:
            parts.append(replace(self, low=-math.inf))
        return parts or [self]

    def text(
        self, features: FeatureSpace, most: int | None = None, quoted: bool = False
    ) -> str:
        """The condition in words; ``most`` is for sets of categories."""
        name = name_text(features.shown(self.feature), quoted)
        at = features.missing_at[self.feature]
        # A number that encodes missing belongs to missing, wherever it lies.
        gone = [] if at is None else [number_text(at)]
        inside = at is not None and self.low < at <= self.high
        if self.low == math.inf:
            return f"({name} is missing or {gone[0]})" if gone else f"{name} is missing"
        words = self._bounds_text(name, features.info[self.feature])
        if words:
            pass
        elif self.missing:
            return f"{name} is anything"
        elif gone:
            return f"{name} is neither missing nor {gone[0]}"
        else:
            return f"{name} is not missing"
        if self.missing:
            return f"({' or '.join([words, 'missing', *([] if inside else gone)])})"
        return f"({words} but not {gone[0]})" if inside else words

    def _bounds_text(self, name: str, info: ColumnInfo) -> str:
        """The bounds in words; empty without bounds."""
        whole = whole_bounds(self, info.kind)
        low, high = whole or (self.low, self.high)
        unit = info.unit or ("days" if info.kind == "duration" else "")
        unit = f" {unit}" if unit and info.kind != "boolean" else ""
        if whole and low == high:
            return f"{name} is {value_text(low, info.kind)}{unit}"
        is_inside, bound = shown_low(self, info.kind)
        # A boolean is described by one bound: here there is none, or both.
        kind = "number" if info.kind == "boolean" else info.kind
        least = value_text(bound, kind)
        below = f"<= {value_text(high, kind)}{unit}"
        if -math.inf < low and high < math.inf:
            return f"{least} {'<=' if is_inside else '<'} {name} {below}"
        if low > -math.inf:
            return f"{name} {'>=' if is_inside else '>'} {least}{unit}"
        return f"{name} {below}" if high < math.inf else ""


def shown_low(interval: Interval, kind: str) -> tuple[bool, float]:
    """Lower bound as printed, and whether it is inclusive.

    For integers "> 1200" is equivalent to ">= 1201", and shorter.

    Examples
    --------
    >>> [shown_low(Interval(0, low), "integer") for low in (7.5, 1200.0)]
    [(True, 8.0), (False, 1200.0)]
    """
    whole = whole_bounds(interval, kind)
    if whole and kind == "date":
        return True, whole[0]
    if whole and _digits(whole[0]) <= _digits(interval.low):
        return True, whole[0]
    return False, interval.low


def _digits(value: float) -> int:
    return len(number_text(abs(value)).replace(".", "").strip("0"))


def whole_bounds(interval: Interval, kind: str) -> tuple[float, float] | None:
    """Smallest and largest integer inside, if these describe the interval.

    Examples
    --------
    >>> whole_bounds(Interval(0, 7.5, 9.0), "integer")
    (8.0, 9.0)
    >>> whole_bounds(Interval(0, low=0.5), "binary")
    (1.0, 1.0)
    """
    if kind in ("number", "datetime", "duration"):
        return None
    is_flag = kind in ("binary", "boolean")
    low, high = interval.low, interval.high
    if is_flag:
        low, high = max(low, -1.0), min(high, 1.0)
    ends = [end for end in (low, high) if math.isfinite(end)]
    if not ends or max(map(abs, ends)) >= LARGEST_WHOLE:
        return None
    first = math.floor(low) + 1.0 if low > -math.inf else low
    last = math.floor(high) + 0.0 if high < math.inf else high
    both = is_flag and (first, last) == (0.0, 1.0)
    # Between 7.2 and 7.5 there is none; 0 to 1 covers all of a binary feature.
    return None if first > last or both else (first, last)


@dataclass(frozen=True)
class CategorySet:
    """Condition that a feature is one of a set of categories.

    Parameters
    ----------
    feature : int
        Position of the feature.
    codes : tuple of int
        Category codes, ascending.
    missing, unseen : bool
        Whether a missing value, or a category unknown to the model, satisfies the
        condition, too.

    Examples
    --------
    >>> features = FeatureSpace(("hue",), (("red", "blue", "tan"),))
    >>> CategorySet(0, (0, 2)).text(features)
    "hue in {'red', 'tan'}"
    >>> CategorySet(0, (0, 2), missing=True, unseen=True).text(features)
    "hue is not 'blue'"
    """

    feature: int
    codes: tuple[int, ...]
    missing: bool = False
    unseen: bool = False

    def matches(self, column: np.ndarray) -> np.ndarray:
        """Mask of the encoded values of the feature that satisfy it."""
        inside = np.isin(column, self.codes)
        if self.missing:
            inside |= np.isnan(column)
        if self.unseen:
            inside |= column == UNSEEN
        return inside

    def literals(self) -> list[CategorySet]:
        """A set of categories is one literal."""
        return [self]

    def text(
        self, features: FeatureSpace, most: int | None = None, quoted: bool = False
    ) -> str:
        """The condition in words, listing at most ``most`` categories."""
        name = name_text(features.shown(self.feature), quoted)
        lookup = features.lookup[self.feature]
        labels = features.categories[self.feature] or ()
        at, gone = None, ["missing"]
        if lookup == "integer":
            at = features.missing_at[self.feature]
            gone += [] if at is None else [number_text(at)]
        # A number that encodes missing never occurs as the category of that name.
        codes = [code for code, label in enumerate(labels) if label != at]
        inside = frozenset(self.codes)
        within = [label_text(labels[c], lookup) for c in codes if c in inside]
        others = [label_text(labels[c], lookup) for c in codes if c not in inside]
        if self.unseen:
            # Unknown categories cannot be listed: only the complement can be printed.
            others += gone * (not self.missing)
            if not others:
                return f"{name} is anything"
            return _one_of(name, "is not", "not in", others, most)
        if others and len(within) > LONG and len(within) > 2 * len(others):
            known = _one_of(f"{name} is known", "but not", "but not in", others, most)
            return f"({' or '.join([known, *gone])})" if self.missing else known
        return _one_of(name, "is", "in", within + gone * self.missing, most)


LONG = 4
"""Number of categories above which the complement may be printed if shorter."""


def _one_of(
    name: str, is_one: str, is_in: str, choices: list[str], most: int | None
) -> str:
    if len(choices) == 1:
        return f"{name} {is_one} {choices[0]}"
    if most is not None and len(choices) > most + 1:
        choices = [*choices[:most], f"... {len(choices) - most} more"]
    return f"{name} {is_in} {{{', '.join(choices)}}}"


Condition = Interval | CategorySet

# No comparison, brace or quote, and no keyword of printed rules.
PLAIN_NAME = re.compile(
    r"(?!.*\b(?:and|or|is|not|if|then|otherwise|missing|unseen)\b)"
    r"(?:[^\W\d]|[°#])(?:[\w ().%/:*+\-–\[\]$€&#^°’]*[\w).%\]°$€])?",
    re.IGNORECASE,
)


def combine_literals(literals: Iterable[Any]) -> tuple[Condition, ...]:
    """Conjunction of literals: one condition per feature, in feature order."""
    by_feature: dict[int, Condition] = {}
    for literal in literals:
        known = by_feature.get(literal.feature)
        if known is None:
            by_feature[literal.feature] = literal
        elif isinstance(known, Interval):
            by_feature[literal.feature] = Interval(
                known.feature,
                max(known.low, literal.low),
                min(known.high, literal.high),
                known.missing and literal.missing,
            )
        else:
            inside = frozenset(literal.codes)
            by_feature[literal.feature] = CategorySet(
                known.feature,
                tuple(code for code in known.codes if code in inside),
                known.missing and literal.missing,
                known.unseen and literal.unseen,
            )
    return tuple(by_feature[d] for d in sorted(by_feature))


def matches_all(conditions: Iterable[Condition], encoded: np.ndarray) -> np.ndarray:
    """Mask of the rows of an encoded table that satisfy every condition."""
    inside = np.ones(len(encoded), dtype=bool)
    for condition in conditions:
        inside &= condition.matches(encoded[:, condition.feature])
    return inside


def name_text(name: str, quoted: bool = False) -> str:
    """Name of a feature, quoted on demand, or where it could be part of a sentence.

    Examples
    --------
    >>> print(name_text("worst area (mm)"), name_text("p and q"), name_text("0"))
    worst area (mm) 'p and q' '0'
    """
    closed = name.count("(") == name.count(")") and "  " not in name
    return name if closed and not quoted and PLAIN_NAME.fullmatch(name) else repr(name)


EVERYTHING = object()
"""The empty conjunction."""


def region_conditions(
    bins: FeatureBins, allowed: np.ndarray, seen: np.ndarray
) -> tuple[Condition, ...] | None:
    """Conditions that hold for given bins of every feature.

    Parameters
    ----------
    bins : FeatureBins
    allowed : ndarray of bool of shape (total number of bins,)
        The allowed bins of a numeric feature, apart from missing, are contiguous.
    seen : ndarray of bool of shape (total number of bins,)
        Bins that hold training rows. Whether a region includes missing values or
        unknown categories is only defined where there were some.

    Returns
    -------
    tuple of Interval or CategorySet, or None
        None where a feature has no allowed value.
    """
    conditions: list[Condition] = []
    for d in bins.used_features:
        part = slice(bins.bin_start[d], bins.bin_start[d] + bins.n_bins[d])
        make = _interval if bins.groups[d] is None else _category_set
        condition = make(bins, int(d), allowed[part], seen[part])
        if condition is None:
            return None
        if condition is not EVERYTHING:
            conditions.append(condition)
    return tuple(conditions)


def _interval(bins: FeatureBins, d: int, allowed: np.ndarray, seen: np.ndarray) -> Any:
    cuts, inside = bins.cuts[d], np.flatnonzero(allowed[:-1])
    missing = bool(allowed[-1] and seen[-1])
    if len(inside) == 0:
        return Interval(d, low=np.inf, missing=True) if missing else None
    if len(inside) == len(cuts) + 1:
        return Interval(d) if seen[-1] and not missing else EVERYTHING
    # Above minus infinity are all finite values (except the smallest).
    low = max(float(cuts[inside[0] - 1]), -LARGEST) if inside[0] > 0 else -np.inf
    high = float(cuts[inside[-1]]) if inside[-1] < len(cuts) else np.inf
    return Interval(d, low, high, missing)


def _category_set(
    bins: FeatureBins, d: int, allowed: np.ndarray, seen: np.ndarray
) -> Any:
    n_groups = len(allowed) - 2
    # Missing or unknown values are no restriction on a feature that had none.
    open_ends = (allowed[n_groups:] | ~seen[n_groups:]).all()
    if allowed[:n_groups].all() and open_ends:
        return EVERYTHING
    codes = tuple(np.flatnonzero(allowed[bins.groups[d]]).tolist())
    missing, unseen = (allowed[n_groups:] & seen[n_groups:]).tolist()
    if not seen[n_groups]:
        # "is not 'red'", without missing values, for which nothing is defined.
        missing = unseen
    if not codes and not missing and not unseen:
        return None
    return CategorySet(d, codes, missing, unseen)
