"""One encoding for arrays, lists, pandas and polars."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearwood._features import UNSEEN, FeatureSpace
from clearwood.exceptions import InputError

SPACE = FeatureSpace(
    ("dose", "hue", "flag"), (None, ("red", "blue"), (False, True)), named=True
)
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
    renamed = space.renamed(["a", "b"])
    np.testing.assert_array_equal(renamed.encode(frame), [[2.0, 1.0]])


def test_number_categories_match_whatever_their_type():
    space = FeatureSpace(("k",), ((0.0, 2.0, 5.0),))
    np.testing.assert_array_equal(
        space.encode(np.array([[5], [0], [1]])), [[2.0], [0.0], [UNSEEN]]
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (pd.DataFrame({"dose": [1.0], "hue": ["red"]}), r"\['flag'\]"),
        (np.zeros((2, 4)), "4 features"),
        (np.zeros(3), "dimension"),
        (np.zeros((2, 2, 2)), "dimension"),
        ([["high", "red", True]], "'dose' is numeric.*'high'"),
        ([[datetime.date(2020, 1, 1), "red", True]], "'dose' is numeric"),
    ],
)
def test_what_does_not_fit_is_named(table, message):
    with pytest.raises(InputError, match=message):
        SPACE.encode(table)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: FeatureSpace(("a", "a"), (None, None)), r"\['a'\]"),
        (lambda: FeatureSpace(("a",), (None, None)), "1 feature names"),
        (lambda: FeatureSpace.numeric(2).renamed(["a"]), "1 columns"),
    ],
)
def test_impossible_spaces_are_refused(make, message):
    with pytest.raises(InputError, match=message):
        make()
