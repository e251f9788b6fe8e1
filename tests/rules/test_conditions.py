"""What conditions hold, count and say."""

import sys

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from tests.wording import same_text

from clearwood._words.numbers import (
    TINY,
    measured_text,
    number_text,
    share_text,
    short_text,
    shortest_between,
)
from clearwood.columns.feature_space import UNSEEN, FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.rules import CategorySet, Interval
from clearwood.rules.conditions import combine_literals, matches_all

COLUMN = np.array([-np.inf, -1.0, 0.0, 1.0, 2.0, np.inf, np.nan])
BOUND = st.sampled_from([-np.inf, -1.0, 0.0, 0.5, 1.0, 2.0, np.inf])
NUMBERS = st.floats(-1e12, 1e12, allow_nan=False)


@given(BOUND, BOUND, st.booleans())
def test_interval_is_its_definition(low, high, missing):
    found = Interval(0, low, high, missing).matches(COLUMN)
    for x, inside in zip(COLUMN, found):
        above = x > low or low == -np.inf
        expected = missing if np.isnan(x) else above and x <= high
        assert inside == expected


@given(BOUND, BOUND, st.booleans())
def test_literals_together_are_the_condition(low, high, missing):
    condition = Interval(0, low, high, missing)
    parts = condition.literals()
    assert 1 <= len(parts) <= 2
    together = np.all([p.matches(COLUMN) for p in parts], axis=0)
    np.testing.assert_array_equal(together, condition.matches(COLUMN))
    assert combine_literals(parts) == (condition,)


def test_category_set_holds_missing_and_unseen_only_where_it_says_so():
    column = np.array([0.0, 1.0, 2.0, UNSEEN, np.nan])
    plain = CategorySet(0, (0, 2))
    assert plain.matches(column).tolist() == [True, False, True, False, False]
    wide = CategorySet(0, (0,), missing=True, unseen=True)
    assert wide.matches(column).tolist() == [True, False, False, True, True]


def test_sets_of_one_feature_intersect():
    both = combine_literals(
        [CategorySet(1, (0, 1), unseen=True), CategorySet(1, (1, 2), unseen=True)]
    )
    assert both == (CategorySet(1, (1,), unseen=True),)


def test_all_conditions_must_hold():
    X = np.array([[0.5, 5.0], [0.5, 7.0], [3.0, 5.0]])
    held = matches_all([Interval(0, high=1.0), Interval(1, low=4.0, high=6.0)], X)
    assert held.tolist() == [True, False, False]
    assert matches_all([], X).all()


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval(0, low=1.5), "age > 1.5"),
        (Interval(0, high=60.0), "age <= 60"),
        (Interval(0, 1.0, 2.0), "1 < age <= 2"),
        (Interval(0, 1.0, 2.0, missing=True), "(1 < age <= 2 or missing)"),
        (Interval(0, low=np.inf, missing=True), "age is missing"),
        (Interval(0), "age is not missing"),
        (Interval(0, missing=True), "age is anything"),
        (CategorySet(1, (1,)), "sex is 'm'"),
        (CategorySet(1, (0, 1)), "sex in {'f', 'm'}"),
        (CategorySet(1, (0,), True, True), "sex is not 'm'"),
        (CategorySet(1, (0,), False, True), "sex not in {'m', missing}"),
        (CategorySet(1, (0, 1), False, True), "sex is not missing"),
        (CategorySet(1, (), True), "sex is missing"),
    ],
)
def test_text(condition, text):
    assert condition.text(FeatureSpace(("age", "sex"), (None, ("f", "m")))) == text


def test_what_the_model_does_not_name_is_told_by_what_it_does():
    letters = FeatureSpace(("k",), (tuple("abcd"),))
    some = CategorySet(0, (0,), unseen=True).text(letters)
    same_text(some)
    most = CategorySet(0, (0, 1, 2), missing=True, unseen=True).text(letters)
    same_text(most)


def test_categories_known_by_hash():
    space = FeatureSpace(("k",), (("red", "5", 77),), lookup=("hash",))
    assert CategorySet(0, (0, 1)).text(space) == "k in {'red', 5}"
    same_text(CategorySet(0, (2,)).text(space))


@pytest.mark.parametrize(
    ("condition", "text"),
    [
        (Interval(0, high=60.0), "(age <= 60 but not 0)"),
        (Interval(0, high=60.0, missing=True), "(age <= 60 or missing)"),
        (Interval(0, low=60.0), "age > 60"),
        (Interval(0, low=60.0, missing=True), "(age > 60 or missing or 0)"),
        (Interval(0, -1.0, 1.0), "(-1 < age <= 1 but not 0)"),
        (Interval(0, low=np.inf, missing=True), "(age is missing or 0)"),
        (Interval(0), "age is neither missing nor 0"),
        (Interval(0, missing=True), "age is anything"),
    ],
)
def test_text_where_a_number_counts_as_missing(condition, text):
    space = FeatureSpace(("age",), (None,), missing_at=(0.0,))
    assert condition.text(space) == text
    # What is printed is what predicts.
    values = np.array([[-5.0], [0.0], [1e-36], [0.5], [30.0], [70.0], [np.nan]])
    read = condition.matches(space.encode(values)[:, 0])
    low, high = condition.low, condition.high
    zero = np.array([0, 1, 1, 0, 0, 0, 1], bool)
    inside = (values[:, 0] > low) & (values[:, 0] <= high)
    assert read.tolist() == np.where(zero, condition.missing, inside).tolist()


@pytest.mark.parametrize(
    ("condition", "text", "holds"),
    [
        (CategorySet(0, (0, 1)), "ward is 1", [0, 1, 0, 0, 0]),
        (CategorySet(0, (1,), True), "ward in {1, missing, 0}", [1, 1, 0, 0, 1]),
        (CategorySet(0, (1,), True, True), "ward is not 2", [1, 1, 0, 1, 1]),
        (CategorySet(0, (0, 1), False, True), "ward not in {2, missing, 0}",
         [0, 1, 0, 1, 0]),
    ],
)  # fmt: skip
def test_text_where_the_number_of_a_category_counts_as_missing(condition, text, holds):
    space = FeatureSpace(("ward",), ((0, 1, 2),), True, ("integer",), (0.0,))
    assert condition.text(space) == text
    codes = space.encode([[0], [1], [2], [9], [None]])[:, 0]
    assert condition.matches(codes).tolist() == [bool(x) for x in holds]


@pytest.mark.parametrize(
    "name",
    ["a<b", "x <= 3", "p and q", "p AND q", "0", "", "a\nb", " a", "'", "x)", "a  b",
     "age missing", "Otherwise"],
)  # fmt: skip
def test_odd_names_are_quoted(name):
    space = FeatureSpace((name,), (None,))
    assert Interval(0, high=1.0).text(space) == f"{name!r} <= 1"
    hue = FeatureSpace((name,), (("a", "b"),))
    assert CategorySet(0, (1,)).text(hue) == f"{name!r} is 'b'"


@given(NUMBERS)
def test_number_text_reads_back(value):
    assert float(number_text(value)) == value


ANY_FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(ANY_FINITE, ANY_FINITE | st.none(), st.floats(0, 1))
@example(1.7976931348623155e308, None, 1.0)
@example(-sys.float_info.max, sys.float_info.max, 0.5)
@example(0.0, 5e-324, 0.0)
@example(-5e-324, 1e-320, 0.5)
@example(1.7e308, 1.75e308, 0.5)
def test_shortest_between_lies_between_and_is_short(a, b, share):
    assume(b is not None or a < sys.float_info.max)
    b = np.nextafter(a, np.inf) if b is None else b
    low, high = float(min(a, b)), float(max(a, b))
    assume(low < high < np.inf)
    near = low * (1 - share) + high * share
    near = float(min(max(near, low), np.nextafter(high, low)))
    found = shortest_between(low, high, near)
    assert low <= found < high
    assert significant_digits(found) <= significant_digits(near)
    assert significant_digits(found) <= significant_digits(low)
    assert float(number_text(found)) == found


def significant_digits(value):
    digits = f"{abs(value):.17g}" if value == 0 else repr(abs(value))
    mantissa = digits.split("e")[0].replace(".", "")
    return len(mantissa.strip("0"))


@pytest.mark.parametrize(
    "name",
    ["T (°C)", "°C", "x [mm]", "price ($)", "a&b", "#x", "time in days", "µg/L", "CO₂",
     "温度", "is_member", "rate %", "a-b", "cat__sex_male"],
)  # fmt: skip
def test_ordinary_names_are_not_quoted(name):
    assert Interval(0, high=1.0).text(FeatureSpace((name,), (None,))) == f"{name} <= 1"


def told(kind, low, high, missing=False, unit=""):
    info = (ColumnInfo("age", unit, kind=kind),)
    space = FeatureSpace(("x",), (None,), info=info)
    return Interval(0, low, high, missing).text(space)


@pytest.mark.parametrize(
    ("kind", "low", "high", "text"),
    [
        ("number", 7.5, np.inf, "age > 7.5 mg"),
        ("integer", 7.5, np.inf, "age >= 8 mg"),
        ("integer", 7.0, np.inf, "age >= 8 mg"),
        ("integer", 1200.0, np.inf, "age > 1200 mg"),
        ("integer", -np.inf, 7.5, "age <= 7 mg"),
        ("integer", 2.5, 7.5, "3 <= age <= 7 mg"),
        ("integer", 1200.0, 1300.0, "1200 < age <= 1300 mg"),
        ("integer", 7.5, 8.5, "age is 8 mg"),
        ("integer", 7.2, 7.5, "7.2 < age <= 7.5 mg"),
        ("integer", 1e17, np.inf, "age > 1e+17 mg"),
        ("integer", -np.inf, np.inf, "age is not missing"),
        ("binary", 0.5, np.inf, "age is 1 mg"),
        ("binary", -np.inf, 0.0, "age is 0 mg"),
        ("binary", -0.5, np.inf, "age > -0.5 mg"),
        ("boolean", 0.5, np.inf, "age is true"),
        ("boolean", -np.inf, 0.5, "age is false"),
        ("boolean", np.inf, np.inf, "age is missing"),
    ],
)
def test_numbers_are_told_as_what_they_are(kind, low, high, text):
    assert told(kind, low, high, unit="mg", missing=low == np.inf) == text
    if low < np.inf:
        words = told(kind, low, high, missing=True, unit="mg")
        assert words in (f"({text} or missing)", "age is anything")


def test_of_many_categories_the_others_are_named_where_that_is_shorter():
    space = FeatureSpace(("hue",), (tuple("abcdefghij"),))
    most = CategorySet(0, tuple(range(8)))
    same_text(most.text(space))
    with_missing = CategorySet(0, tuple(range(9)), missing=True)
    same_text(with_missing.text(space))
    half = CategorySet(0, tuple(range(6)))
    same_text(half.text(space))
    few = CategorySet(0, (0, 1, 2, 3, 4))
    same_text(few.text(space))
    same_text(few.text(space, 3))
    assert few.text(space, 4) == few.text(space)


@given(st.floats(allow_nan=False, allow_infinity=False) | st.floats(-1e6, 1e6))
def test_short_text_is_near_and_has_an_exponent_only_far_out(value):
    text = short_text(value)
    assert abs(float(text) - value) <= 0.005 * abs(value) + 1e-320
    assert ("e" in text) == (value != 0 and not 9.995e-7 <= abs(value) < 1e16)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(0, 1))
def test_a_measured_number_is_told_within_its_error(low, width, share):
    value = low + share * width
    text = measured_text(value, low, low + width)
    shown, ends = text.rstrip("]").split(" [")
    # Half the last digit is at most a fourteenth of the interval.
    numbers = [float(shown), *map(float, ends.split(", "))]
    for told, true in zip(numbers, (value, low, low + width)):
        assert abs(told - true) <= width / 13
    assert numbers[1] < numbers[2]


@given(st.floats(0, 1), st.floats(0.001, 1))
def test_a_share_is_0_or_100_percent_only_where_it_is(share, width):
    for text in (share_text(share), share_text(share, 0.0, width)):
        told = text.split(" %")[0]
        assert (told in ("0", "0.0", "0.00", "100", "100.0", "100.00")) == (
            share <= TINY or share >= 1 - TINY
        )
