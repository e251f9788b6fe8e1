"""Parser of printed conditions."""

from __future__ import annotations

import math
import re
from typing import NoReturn

from clearwood._words.labels import label_text
from clearwood.columns.cells import refuse_zone
from clearwood.columns.dates import DATES, date_number, has_zone
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules.conditions import (
    CategorySet,
    Condition,
    Interval,
    combine_literals,
    name_text,
)

QUOTED = re.compile(r"'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"")
MASKED = re.compile("\0([0-9]+)\0")
ZONE = r"(?: ?(?:UTC|Z|[-+][0-9]{2}:?[0-9]{2}))?"
DATE = rf"[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}(?: [0-9:.]+)?{ZONE}"
NUMBER = rf"(?:{DATE}|[-+]?(?:inf|[0-9.]+(?:e[-+]?[0-9]+)?))"
BETWEEN = re.compile(rf"({NUMBER}) (<=?) (.+) (<=?) ({NUMBER})(?: .*)?")
ONE_SIDE = re.compile(rf"(.+?) (>=|>|<=|<|is) ({NUMBER}|true|false)(?: .*)?")
OF_SET = re.compile(r"(.+?) (is known but not|is not|is|not in|in)(?: in)? (.+)")
WHOLE = {"is missing": (False, True), "is anything": (True, True),
         "is not missing": (True, False)}  # fmt: skip
"""Whether all values, and missing ones, satisfy the condition."""


def read_conditions(text: str, features: FeatureSpace) -> tuple[Condition, ...]:
    """Parse conditions as rules print them.

    Parameters
    ----------
    text : str
        Conditions joined by "and"; names are those of the data, or display names of the
        columns.
    features : FeatureSpace

    Returns
    -------
    tuple of Interval or CategorySet

    Raises
    ------
    InputError
        A part is not a condition, or its column or category does not exist.

    Examples
    --------
    >>> features = FeatureSpace(("age", "hue"), (None, ("red", "blue", "tan")))
    >>> read_conditions("20 < age <= 30 and hue is not 'red'", features)[0]
    Interval(feature=0, low=20.0, high=30.0, missing=False)
    """
    quoted = QUOTED.findall(text)
    count = iter(range(len(quoted)))
    masked = QUOTED.sub(lambda _: f"\0{next(count)}\0", text)
    parts = [_Part(part, quoted, features) for part in masked.split(" and ")]
    return combine_literals(part.condition() for part in parts)


class _Part:
    """One condition; quoted text is masked."""

    def __init__(self, text: str, quoted: list[str], features: FeatureSpace) -> None:
        self.text, self.quoted, self.features = text.strip(), quoted, features
        names = range(features.n_features)
        self.position = {name: d for d, name in enumerate(features.names)}
        self.position |= {repr(features.names[d]): d for d in names}
        self.position |= {name_text(features.names[d]): d for d in names}
        self.position |= {name_text(features.shown(d)): d for d in names}

    def shown(self, text: str) -> str:
        return MASKED.sub(lambda found: self.quoted[int(found[1])], text)

    def fail(self) -> NoReturn:
        raise InputError(
            f"{self.shown(self.text)!r} is no condition; write it as rules are "
            "printed: age > 30, 20 < age <= 30, hue is 'red', hue in {'red', 'tan'}, "
            "age is missing, (age > 30 or missing)."
        )

    def feature(self, name: str) -> int:
        found = self.position.get(self.shown(name))
        if found is None:
            raise InputError(
                f"There is no column {self.shown(name)}; there are "
                f"{list(self.features.names)}."
            )
        return found

    def condition(self) -> Condition:
        words, missing = self.text, False
        if words.startswith("(") and words.endswith(")"):
            # A number that encodes missing belongs to missing.
            words = re.sub(rf" but not {NUMBER}$", "", words[1:-1])
            words, *with_missing = re.split(" or missing| is missing or ", words)
            missing = bool(with_missing)
            words += " is missing" * (" is missing or " in self.text)
        words = re.sub(" is neither missing nor .*", " is not missing", words)
        for ending, (valued, empty) in WHOLE.items():
            if words.endswith(f" {ending}"):
                d = self.feature(words.removesuffix(f" {ending}"))
                return self._whole(d, valued, empty)
        between, one_side = BETWEEN.fullmatch(words), ONE_SIDE.fullmatch(words)
        if between:
            low, above, name, below, high = between.groups()
            d = self.feature(name)
            least, most = self._number(low, d), self._number(high, d)
            low_end = self._low(d, least, ">" if above == "<" else ">=")
            return Interval(d, low_end, self._high(most, below), missing)
        if one_side and self._is_number(self.feature(one_side[1])):
            return self._one_side(one_side, missing)
        of_set = OF_SET.fullmatch(words)
        return self._set(of_set, missing) if of_set else self.fail()

    def _is_number(self, d: int) -> bool:
        return self.features.categories[d] is None

    def _whole(self, d: int, valued: bool, empty: bool) -> Condition:
        if self._is_number(d):
            return Interval(d, -math.inf if valued else math.inf, missing=empty)
        codes = range(len(self.features.categories[d] or ()))
        return CategorySet(d, tuple(codes) if valued else (), empty, valued)

    def _one_side(self, found: re.Match[str], missing: bool) -> Condition:
        name, sign, value = found.groups()
        d = self.feature(name)
        number = self._number(value, d)
        low, high = -math.inf, math.inf
        if sign in (">", ">=", "is"):
            low = self._low(d, number, ">" if sign == ">" else ">=")
        if sign in ("<", "<=", "is"):
            high = self._high(number, "<" if sign == "<" else "<=")
        return Interval(d, low, high, missing)

    def _number(self, text: str, d: int) -> float:
        known = {"true": 1.0, "false": 0.0}
        if text in known:
            return known[text]
        at, info = date_number(text), self.features.info[d]
        if math.isnan(at):
            return float(text)
        if info.kind not in DATES:
            raise InputError(
                f"{self.shown(self.text)!r} compares with a date, but the column holds "
                "none; compare it with a number."
            )
        # As printed, times of a column with a time zone are in UTC.
        if has_zone(text) and not info.is_zoned:
            refuse_zone(self.features.names[d], False, f"{self.shown(self.text)!r} has")
        return at

    def _low(self, d: int, number: float, sign: str) -> float:
        """Exclusive lower bound of a comparison; for integers the one before."""
        if sign == ">":
            return number
        is_whole = self.features.info[d].is_whole and number.is_integer()
        return number - 1 if is_whole else math.nextafter(number, -math.inf)

    def _high(self, number: float, sign: str) -> float:
        return number if sign == "<=" else math.nextafter(number, -math.inf)

    def _set(self, found: re.Match[str], missing: bool) -> Condition:
        name, sign, listed = found.groups()
        d = self.feature(name)
        labels, lookup = self.features.categories[d] or (), self.features.lookup[d]
        code = {label_text(label, lookup): c for c, label in enumerate(labels)}
        at = self.features.missing_at[d]
        members = {self.shown(one) for one in listed.strip("{}").split(", ")}
        gone = {"missing"} | ({f"{at:g}"} if at is not None else set())
        unknown = members - set(code) - gone - {""}
        if unknown or self._is_number(d):
            raise InputError(
                f"{sorted(unknown)[:3]} are no categories of {self.shown(name)}; there "
                f"are {list(code)[:10]}."
                if code
                else f"{self.shown(self.text)!r} compares a number with a category."
            )
        inside = {code[member] for member in members if member in code}
        others = tuple(c for c in range(len(labels)) if c not in inside)
        if sign in ("is", "in"):
            within = tuple(sorted(inside))
            return CategorySet(d, within, missing or "missing" in members)
        if sign == "is known but not":
            return CategorySet(d, others, missing)
        return CategorySet(d, others, "missing" not in members, unseen=True)
