"""What rules print is what they decide, read back by somebody who has only the text."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wording import refuses

from clearwood.columns.feature_space import UNSEEN, FeatureSpace
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval
from clearwood.rules.building.rule_text import read_conditions

NAMES = ("age (years)", "p and q", "it's", "n", "smokes", "hue", "code")
HUES = ("red", "a, b", "tan or missing", "it's {x}", "5", "grey", "black")
SPACE = FeatureSpace(
    NAMES,
    (None,) * 5 + (HUES, (1, 2, 3)),
    missing_at=(None, -1.0) + (None,) * 5,
    lookup=("exact",) * 6 + ("integer",),
    info=(
        ColumnInfo("", "mg/dl"),
        ColumnInfo(),
        ColumnInfo("that is"),
        ColumnInfo(kind="integer", unit="years"),
        ColumnInfo(kind="boolean"),
        ColumnInfo("colour"),
        ColumnInfo(),
    ),
)
VALUES = {
    0: [-7.5, 0.0, 1e-5, 3.25, 1200.0, 1e20, math.inf, math.nan],
    1: [-7.5, -1.0, 0.0, 3.25, math.nan],
    2: [0.5, 1.5, math.nan],
    3: [-3.0, 7.0, 8.0, 9.0, 1200.0, 1201.0, 4000.0, math.nan],
    4: [0.0, 1.0, math.nan],
    5: [*range(7), UNSEEN, math.nan],
    6: [0.0, 1.0, 2.0, UNSEEN, math.nan],
}
CUTS = st.sampled_from([-math.inf, -3.5, -1.0, 0.0, 0.5, 1e-5, 3.25, 7.0, 7.5, 8.0,
                        1200.0, 1e20, math.inf])  # fmt: skip


@st.composite
def conditions(draw):
    d = draw(st.integers(0, len(NAMES) - 1))
    missing = draw(st.booleans())
    labels = SPACE.categories[d]
    if labels is None:
        low, high = sorted((draw(CUTS), draw(CUTS)))
        if not low < high:
            low, high = (math.inf, math.inf) if missing else (-math.inf, math.inf)
        return Interval(d, low, high, missing)
    codes = draw(st.sets(st.integers(0, len(labels) - 1)))
    if not codes and not missing:
        codes = {0}
    return CategorySet(d, tuple(sorted(codes)), missing, draw(st.booleans()))


def cells(d):
    at = SPACE.missing_at[d]
    column = np.array(VALUES[d], dtype=float)
    return column if at is None else np.where(column == at, np.nan, column)


@given(conditions())
def test_a_text_decides_as_its_condition_does(condition):
    text = condition.text(SPACE)
    (found,) = read_conditions(text, SPACE)
    column = cells(condition.feature)
    np.testing.assert_array_equal(
        found.matches(column), condition.matches(column), err_msg=text
    )


@given(st.lists(conditions(), min_size=2, max_size=3, unique_by=lambda c: c.feature))
def test_texts_with_and_between_them_are_all_read(asked):
    found = read_conditions(" and ".join(c.text(SPACE) for c in asked), SPACE)
    assert [c.feature for c in found] == sorted(c.feature for c in asked)


def test_a_column_answers_to_its_own_name_too():
    assert SPACE.shown(2) == "that is"
    text = Interval(2, low=1.0).text(SPACE).replace("'that is'", '"it\'s"')
    assert read_conditions(text, SPACE) == (Interval(2, low=1.0),)


@pytest.mark.parametrize(
    "text",
    [
        "height > 3",
        "n of 3",
        "colour in {'red', 'green'}",
        "n is 'red'",
    ],
)
def test_what_cannot_be_read_is_told(text):
    with refuses(InputError):
        read_conditions(text, SPACE)


def test_dates_have_the_zone_of_their_column():
    kinds = (ColumnInfo(kind="datetime", unit=unit) for unit in ("", "UTC"))
    space = FeatureSpace(("at", "utc", "n"), (None,) * 3, info=(*kinds, ColumnInfo()))
    # Times in UTC are printed as such; other zones are converted.
    for text in ("utc > 2019-04-01 12:00", "utc > 2019-04-01 12:00 UTC",
                 "utc > 2019-04-01 14:00+02:00"):  # fmt: skip
        (found,) = read_conditions(text, space)
        assert found.text(space) == "utc > 2019-04-01 12:00 UTC"
    assert read_conditions("at > 2019-04-01 12:00", space)[0].low == 17987.5
    for zone in (" UTC", "Z", "+02:00"):
        for text in (f"at <= 2019-04-01 12:00{zone}",
                     f"2019-01-01 < at <= 2019-04-01 12:00{zone}"):  # fmt: skip
            with refuses(InputError, match="'at'"):
                read_conditions(text, space)
    with refuses(InputError):
        read_conditions("n > 2019-04-01", space)


def test_a_reader_may_write_signs_that_rules_do_not_print():
    (found,) = read_conditions("age (years) >= 3", SPACE)
    assert found.matches(np.array([2.99, 3.0, 3.1])).tolist() == [False, True, True]
    (found,) = read_conditions("n < 8", SPACE)
    assert found.matches(np.array([7.0, 8.0])).tolist() == [True, False]
