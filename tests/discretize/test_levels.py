"""Tables in levels: what is one, what is none, and what they are called."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.wording import same_text

from clearwood.discretize import UNSEEN_LEVEL, LevelCoder


@pytest.fixture(scope="module")
def table():
    X = pd.DataFrame(
        {
            "dose": np.arange(40.0),
            "sex": [1.0, 2.0, 2.0, np.nan] * 10,
            "ward": ["north", "south", "east", "north"] * 10,
            "same": 7,
            "gone": np.nan,
        }
    )
    return X, (np.arange(40) >= 25).astype(int)


def fitted(X, y, weight=None):
    return LevelCoder.fit(X, y, np.ones(len(y)) if weight is None else weight, 2)


def test_levels_and_their_names(table):
    coder = fitted(*table)
    same_text(", ".join(coder.names_of(d)) for d in range(5))
    assert coder.n_levels.tolist() == [2, 3, 3, 1, 1]


def test_codes_use_every_level_and_no_other(table):
    X, y = table
    coder = fitted(X, y)
    codes = coder.codes(X)
    for column, n in zip(codes.T, coder.n_levels):
        assert sorted(set(column.tolist())) == list(range(n))
    np.testing.assert_array_equal(coder.codes(pl.from_pandas(X)), codes)


def test_what_was_not_there_is_of_no_level(table):
    coder = fitted(*table)
    strange = pd.DataFrame(
        {
            "dose": [np.nan, 1e9],
            "sex": [9.0, np.nan],
            "ward": ["west", None],
            "same": [8.0, np.nan],
            "gone": [1.0, np.nan],
        }
    )
    assert coder.codes(strange).tolist() == [
        [UNSEEN_LEVEL, 1, UNSEEN_LEVEL, 0, UNSEEN_LEVEL],
        [1, 2, UNSEEN_LEVEL, UNSEEN_LEVEL, 0],
    ]


def test_rows_without_weight_say_nothing(table):
    X, y = table
    weight = np.where(X["sex"].isna() | (X["ward"] == "east"), 0.0, 1.0)
    coder = fitted(X, y, weight)
    fewer = fitted(X[weight > 0], y[weight > 0])
    assert coder.n_levels.tolist() == fewer.n_levels.tolist() == [2, 2, 2, 1, 1]
    np.testing.assert_array_equal(coder.codes(X), fewer.codes(X))


def test_numbers_of_few_values_are_levels_though_they_say_nothing_alone():
    rng = np.random.default_rng(0)
    X = rng.integers(1, 4, size=(300, 2))
    coder = fitted(X, ((X[:, 0] + X[:, 1]) % 2 == 0).astype(int))
    assert coder.n_levels.tolist() == [3, 3]
    np.testing.assert_array_equal(coder.codes(X), X - 1)


def test_numbers_without_a_cut_are_halved_if_asked_for():
    values, label = np.arange(40.0)[:, None], np.arange(40) % 2
    for halves, n_levels in ((False, 1), (True, 2)):
        coder = LevelCoder.fit(values, label, np.ones(40), 2, halves)
        assert coder.n_levels.tolist() == [n_levels]
    assert coder.cuts[0].tolist() == [19.5]
    parts = coder.in_even_parts(coder.features.encode(values), np.ones(40), 4)
    assert parts.cuts[0].tolist() == [9.5, 19.5, 29.5]
    # Where MDLP finds cuts, there are no others.
    told = values[:, 0] > 30
    coder = LevelCoder.fit(values, told.astype(int), np.ones(40), 2, True)
    assert coder.cuts[0].tolist() == [30.5]


def test_dates_and_booleans_are_told_as_such():
    at = pd.date_range("2020-01-01", periods=60, tz="Asia/Kathmandu")
    y = (np.arange(60) >= 31).astype(int)
    X = pd.DataFrame({"at": at, "flag": np.where(np.arange(60) < 9, None, y == 1)})
    coder = fitted(X, y)
    day = "2020-01-31 06:15 UTC"
    assert coder.names_of(0) == (f"at <= {day}", f"at > {day}")
    same_text(coder.names_of(1))
