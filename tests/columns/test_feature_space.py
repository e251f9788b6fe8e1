"""One encoding for arrays, lists, pandas and polars."""

import datetime
from contextlib import chdir
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.wording import refuses

from clearwood import report
from clearwood.codec.files import write_text
from clearwood.columns.cityhash import category_hash
from clearwood.columns.dates import date_number, date_text, plain_date
from clearwood.columns.feature_space import (
    UNSEEN,
    EncodedTable,
    FeatureSpace,
    check_text,
)
from clearwood.columns.info import ColumnInfo
from clearwood.columns.validation import check_target
from clearwood.exceptions import InputError
from clearwood.rules import Interval, Rule, RuleList
from clearwood.rules.building.rule_text import read_conditions
from clearwood.rules.building.shorten import rounded
from clearwood.simplifiers import RuleListClassifier

SPACE = FeatureSpace(
    ("dose", "hue", "flag"), (None, ("red", "blue"), (False, True)), named=True
)
RULES = RuleList((), Rule((), 1.0), FeatureSpace.numeric(1))
EXPECTED = np.array(
    [[1.5, 0.0, 1.0], [np.nan, UNSEEN, 0.0], [3.0, np.nan, np.nan]], dtype=float
)


def pandas_frame():
    return pd.DataFrame(
        {
            "flag": pd.array([True, False, None], dtype="boolean"),
            "hue": pd.Categorical(["red", "green", None]),
            "dose": pd.array([1.5, None, 3.0], dtype="Float64"),
            "unused": ["a", "b", "c"],
        }
    )


def polars_frame():
    return pl.DataFrame(
        {
            "hue": ["red", "green", None],
            "dose": [1.5, None, 3.0],
            "flag": [True, False, None],
        }
    )


def plain_rows():
    return [[1.5, "red", True], [None, "green", False], [3.0, None, None]]


@pytest.mark.parametrize("table", [pandas_frame, polars_frame, plain_rows])
def test_all_kinds_of_tables_mean_the_same(table):
    np.testing.assert_array_equal(SPACE.encode(table()), EXPECTED)


def test_numeric_arrays_are_not_copied_needlessly():
    X = np.arange(6.0).reshape(3, 2)
    assert FeatureSpace.numeric(2).encode(X) is X
    assert FeatureSpace.numeric(2).encode(X.astype(np.float32)).dtype == np.float64


def test_made_up_names_go_by_position():
    space = FeatureSpace.numeric(2)
    assert space.names == ("x0", "x1")
    frame = pd.DataFrame({"b": [1.0], "a": [2.0]})
    np.testing.assert_array_equal(space.encode(frame), [[1.0, 2.0]])
    named = FeatureSpace.numeric(2, ["a", "b"])
    np.testing.assert_array_equal(named.encode(frame), [[2.0, 1.0]])


def test_number_categories_match_whatever_their_type():
    space = FeatureSpace(("k",), ((0.0, 2.0, 5.0),))
    np.testing.assert_array_equal(
        space.encode(np.array([[5], [0], [1]])), [[2.0], [0.0], [UNSEEN]]
    )


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"dose": [1.0], "hue": ["red"]}),
        np.zeros((2, 4)),
        np.zeros(3),
        np.zeros((2, 2, 2)),
        [["high", "red", True]],
        [[datetime.date(2020, 1, 1), "red", True]],
    ],
)
def test_what_does_not_fit_is_named(table):
    with refuses(InputError):
        SPACE.encode(table)


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeatureSpace(("a", "a"), (None, None)),
        lambda: FeatureSpace(("a",), (None, None)),
    ],
)
def test_impossible_spaces_are_refused(make):
    with refuses(InputError):
        make()


def test_categories_by_the_whole_part_of_a_number():
    space = FeatureSpace(("k",), ((0, 2, 5),), lookup=("integer",))
    cells = [0, 2.0, 5.9, 1, 6, -1, -0.5, 1e300, np.inf, -np.inf, np.nan]
    expected = [0, 1, 2, -1, -1, -1, 0, -1, -1, -1, np.nan]
    np.testing.assert_array_equal(space.encode(np.c_[cells])[:, 0], expected)
    np.testing.assert_array_equal(
        space.encode([[cell] for cell in cells])[:, 0], expected
    )


def test_no_negative_number_is_a_code_to_xgboost():
    space = FeatureSpace(("k",), ((0, 2),), lookup=("integer",), float32=True)
    cells = [0.5, -0.0, -0.5, -1e-45, -1e-50, 2]
    expected = [0, 0, -1, -1, 0, 1]
    np.testing.assert_array_equal(space.encode(np.c_[cells])[:, 0], expected)


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(["a", "b"]),
        pd.Series(["a", "b"], dtype="category"),
        pd.Series([2, 5], dtype="category"),
    ],
)
def test_labels_are_no_codes(column):
    space = FeatureSpace(("k",), ((0, 2, 5),), lookup=("integer",))
    with refuses(InputError, match="'k'"):
        space.encode(pd.DataFrame({"k": column}))


def test_categories_by_the_hash_of_the_text_of_a_cell():
    space = FeatureSpace(("k",), (("3", "a", "1"),), lookup=("hash",))
    cells = [[3], [3.0], ["3"], ["a"], [True], [3.5], [None], [np.int64(3)]]
    found = space.encode(cells)[:, 0]
    np.testing.assert_array_equal(found, [0, 0, 0, 1, 2, -1, np.nan, 0])
    whole = space.encode(np.array([[3], [4]]))[:, 0]
    np.testing.assert_array_equal(whole, [0, -1])


def test_a_number_that_counts_as_missing():
    space = FeatureSpace(("a", "b"), (None, None), missing_at=(0.0, -999.0))
    X = np.array([[0.0, 0.0], [-1e-36, -999.0], [1e-34, -998.0], [np.nan, np.inf]])
    expected = [[np.nan, 0], [np.nan, np.nan], [1e-34, -998], [np.nan, np.inf]]
    np.testing.assert_array_equal(space.encode(X), expected)


@pytest.mark.parametrize("field", ["lookup", "missing_at"])
def test_one_entry_per_feature(field):
    with refuses(InputError):
        FeatureSpace(("a", "b"), (None, None), **{field: (None,)})


def test_categories_by_hash_of_the_text_of_a_cell():
    labels = ("red", category_hash("1"), category_hash("0"), category_hash(str(10**18)))
    space = FeatureSpace(("k",), (labels,), lookup=("hash",))
    cells = ["red", 1, True, 1.0, "0", False, 10**18, "Red", None, np.nan, np.int64(1)]
    expected = [0, 1, 1, 1, 2, 2, 3, UNSEEN, np.nan, np.nan, 1]
    found = space.encode([[cell] for cell in cells])[:, 0]
    np.testing.assert_array_equal(found, expected)
    frame = pd.DataFrame({"k": cells}, dtype=object)
    np.testing.assert_array_equal(space.encode(frame)[:, 0], expected)
    # Whole numbers that float64 cannot tell apart, and a column of true and false.
    large = pd.DataFrame({"k": [10**18, 10**18 + 1]})
    np.testing.assert_array_equal(space.encode(large)[:, 0], [3, UNSEEN])
    polars = pl.DataFrame({"k": [True, False, None]})
    np.testing.assert_array_equal(space.encode(polars)[:, 0], [1, 2, np.nan])
    named = space.as_in(frame)
    assert named.categories == (("red", "1", "0", str(10**18)),)
    np.testing.assert_array_equal(named.encode(frame)[:, 0], expected)
    assert space.as_in([["blue"]]) == space


def test_underscores_of_a_model_may_be_blanks_in_the_data():
    space = FeatureSpace(("my_age", "b", "a_b"), (None, None, None))
    frame = pd.DataFrame({"a b": [1.0], "a_b": [2.0], "b": [3.0], "my age": [4.0]})
    assert space.encode(frame).tolist() == [[4.0, 3.0, 2.0]]
    named = space.as_in(frame)
    assert named.named
    assert named.names == ("my age", "b", "a_b")
    assert named.encode(frame).tolist() == [[4.0, 3.0, 2.0]]
    with refuses(InputError, match="'my_age'"):
        space.as_in(frame.drop(columns="my age"))


@pytest.mark.parametrize(
    ("model", "table"),
    [(("a_b", "a b"), ["a b", "c"]), (("a_b_c", "d"), ["a b_c", "a_b c", "d"])],
)
def test_no_column_is_taken_for_two_and_none_is_guessed(model, table):
    space = FeatureSpace(model, (None, None))
    frame = pd.DataFrame([range(len(table))], columns=table)
    with refuses(InputError):
        space.encode(frame)


def test_features_without_names_are_called_as_the_columns():
    space = FeatureSpace.numeric(2)
    named = space.as_in(pd.DataFrame([[1.0, 2.0]], columns=["u", "v"]))
    assert named.names == ("u", "v") and named.named
    assert space.as_in(np.ones((1, 2))) == space
    with refuses(InputError):
        space.as_in(pd.DataFrame({"u": [1.0]}))


HALF = "a\udc80"


@pytest.mark.parametrize(
    "make",
    [
        lambda: FeatureSpace((HALF,), (None,)),
        lambda: FeatureSpace(("x",), ((1, "b", HALF),)),
        lambda: FeatureSpace.numeric(1, [HALF]),
        lambda: check_target([HALF, "b"], 2, numeric=False),
        lambda: check_target(np.array([HALF, "b"]), 2, numeric=False),
        lambda: RULES.with_target(HALF),
        lambda: RULES.with_metadata(model=HALF),
        lambda: RULES.with_metadata(**{HALF: "x"}),
        lambda: report(RULES, "page.html", title=HALF),
        lambda: write_text("rules.txt", HALF),
        lambda: write_text(f"\ud800{HALF}", "x"),
    ],
)
def test_halves_of_characters_are_refused_where_they_come_in(make, tmp_path):
    with chdir(tmp_path), refuses(InputError):
        make()
    assert list(tmp_path.iterdir()) == []


def test_names_of_estimators_are_refused_before_the_fit():
    X = pd.DataFrame([[0.0], [1.0]] * 9, columns=pd.Index([HALF], dtype=object))
    with refuses(InputError, match="'a.udc80'"):
        RuleListClassifier("no such model").fit(X, [0, 1] * 9)


def test_a_letter_beyond_16_bits_is_a_whole_one():
    check_text(["\U0001f333", "é"], "The feature")
    with pytest.raises(InputError):
        # Halves that would fit together are two letters to Python.
        check_text(["\ud83d", "\udf33"], "The feature")


def test_dates_are_told_and_read_back_as_dates():
    info = (ColumnInfo(kind="date"), ColumnInfo(kind="datetime"))
    space = FeatureSpace(("day", "at"), (None, None), info=info)
    evening = datetime.datetime(2019, 4, 1, 18, 30)
    np.testing.assert_array_equal(
        space.encode([[evening, evening], [evening.date(), None], [None, None]]),
        [[17987, 17987 + 18.5 / 24], [17987, np.nan], [np.nan, np.nan]],
    )
    for words in (
        "day >= 2019-04-01",
        "day <= 2019-04-01",
        "2018-01-01 <= day <= 2018-12-31",
        "at > 2019-04-01 18:30",
        "(at <= 2019-04-01 00:00:01 or missing)",
    ):
        (condition,) = read_conditions(words, space)
        assert condition.text(space) == words


def test_bounds_between_dates_are_starts_of_something():
    rows = np.array([[17600.0], [17700.0]])
    for kind, words in (("date", "x >= 2018-05-01"), ("datetime", "x > 2018-05-01")):
        space = FeatureSpace(("x",), (None,), info=(ColumnInfo(kind=kind),))
        (found,) = rounded([Interval(0, low=17650.25)], rows, space)
        assert found.text(space) == words
    for low, high in ((17600.25, 17600.5), (17600.0, 17601.0), (-3.5, -3.25)):
        for kind in ("date", "datetime"):
            cut = plain_date(low, high, (low + high) / 2, kind)
            assert low <= cut < high
            assert kind == "date" or date_number(date_text(cut)) == cut


def test_encoded_rows_are_not_encoded_again():
    space = FeatureSpace(("age", "hue"), (None, ("red", "blue")))
    frame = pd.DataFrame({"age": [30, 40, 50], "hue": ["blue", "red", "blue"]})
    rows = space.as_encoded(space.encode(frame, {1}))
    called = space.with_info({"age": {"name": "Age"}})
    for reader in (space, called):
        found = reader.encode(rows[1:])
        assert type(found) is np.ndarray
        assert found[:, 1].tolist() == [0.0, 1.0] and np.isnan(found[:, 0]).all()
    for other in (
        FeatureSpace(("age", "hue"), (None, ("blue", "red"))),
        FeatureSpace.numeric(2),
        FeatureSpace.numeric(3),
        replace(space, info=(ColumnInfo(kind="date"), ColumnInfo())),
    ):
        with pytest.raises(TypeError, match="other features"):
            other.encode(rows)
    with pytest.raises(TypeError, match="other features"):
        space.encode(np.zeros((2, 2)).view(EncodedTable))
