"""Which columns are discrete, and tables there and back."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.wording import refuses

from clearwood.columns.variables import (
    MANY_LEVELS,
    read_variables,
    row_of,
    table_of,
)
from clearwood.exceptions import InputError
from clearwood.rules import FeatureSpace


def test_kinds_of_columns():
    n = 60
    table = pd.DataFrame(
        {
            "text": ["a", "b", None] * 20,
            "truth": [True, False] * 30,
            "declared": pd.Categorical([7, 8, 9] * 20),
            "grade": [1, 2, 3, 4, 5, np.nan] * 10,
            "halves": [0.5, 1.5] * 30,
            "number": np.arange(n) / 7,
            "code": np.arange(n) % 12,
            "one": [3] * n,
            "none": [np.nan] * n,
            "no text": pd.Series([None] * n, dtype="string"),
        }
    )
    wanted = {
        "text": ("a", "b"),
        "truth": (False, True),
        "declared": (7, 8, 9),
        "grade": (1, 2, 3, 4, 5),
        "halves": (0.5, 1.5),
        "number": None,
        "code": tuple(range(12)),
        "one": (3,),
        "none": (None,),
        "no text": (None,),
    }
    for frame in (table, pl.from_pandas(table)):
        found = read_variables(frame, discrete=["code"])
        assert dict(zip(found.names, found.categories)) == wanted
        encoded = found.encode(frame)
        assert (encoded[:, -3] == 0).all() and np.isnan(encoded[:, -2:]).all()
    assert read_variables(table).categories[6] is None
    assert type(read_variables(table).categories[1][0]) is bool
    assert read_variables(table[["code"]].to_numpy(), [0]).categories[0] == tuple(
        range(12)
    )


def test_numbers_of_few_rows_are_continuous_unless_one_occurs_again():
    assert read_variables(np.array([[1.5], [2.5], [3.5]])).categories == (None,)
    assert read_variables(np.array([[1.0], [0.0], [1.0]])).categories == ((0, 1),)
    assert read_variables(np.array([[1.0], [np.nan]])).categories == ((1,),)


@pytest.mark.parametrize(
    "column",
    [
        [f"patient {i}" for i in range(40)],
        [1.0, -np.inf, *range(38)],
        [datetime.time(7)] * 40,
        ["a", 1] * 20,
    ],
)
def test_columns_of_no_distribution_are_refused(column):
    with refuses(InputError):
        read_variables(pd.DataFrame({"x": column}))


@pytest.mark.parametrize(("n_rows", "most"), [(30, MANY_LEVELS), (60, 30)])
def test_half_of_the_cells_or_twenty_may_differ(n_rows, most):
    def column(n_levels):
        return pd.DataFrame({"x": [f"level {i % n_levels}" for i in range(n_rows)]})

    (levels,) = read_variables(column(most)).categories
    assert len(levels) == most
    with refuses(InputError, match=str(most + 1)):
        read_variables(column(most + 1))


def test_a_row_of_which_some_columns_are_known():
    table = pd.DataFrame({"hue": ["red", "blue"] * 20, "size": np.arange(40) / 7})
    features = read_variables(table)
    row = row_of(features, {"hue": "red"})
    assert row[0] == features.encode(table)[0, 0] and np.isnan(row[1])
    np.testing.assert_array_equal(row_of(features, {1: 0.5}), [np.nan, 0.5])
    with refuses(InputError, match="'hue' to 'green'"):
        row_of(features, {"hue": "green"})


def test_columns_that_are_not_there_are_named():
    with refuses(InputError, match="'z'"):
        read_variables(pd.DataFrame({"x": [1, 2]}), discrete=["x", "z", 7])


def test_tables_come_back():
    table = pd.DataFrame(
        {
            "hue": ["red", None, "blue", "red"],
            "ill": [True, False, False, True],
            "grade": [1, 2, 2, 1],
            "size": [0.5, np.nan, 2.0, 7.25],
            "none": [np.nan] * 4,
        }
    )
    space = read_variables(table)
    again = table_of(space.encode(table), space)
    pd.testing.assert_frame_equal(again, table, check_dtype=False)
    assert again["grade"].dtype.kind == "i" and again["ill"].dtype == bool
    assert table_of(np.array([[-1.0, np.nan, np.nan, 1.0, 0.0]]), space).isna().sum(
        axis=1
    ).tolist() == [4]
    plain = table[["grade", "size"]].to_numpy()
    space = read_variables(plain)
    np.testing.assert_array_equal(table_of(space.encode(plain), space), plain)


def test_missing_cells_are_null_in_polars():
    features = FeatureSpace(("hue", "size"), (("blue", "red"), None))
    table = table_of(np.array([[1.0, 2.5], [np.nan, np.nan]]), features, "polars")
    assert table.rows() == [("red", 2.5), (None, None)]
