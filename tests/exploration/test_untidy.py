"""Cells that are written as people write them."""

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses, same_text

from clearwood.exploration.untidy import infer_reading, read_any, unusable

NAN = float("nan")


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        (["8.1%", "12 %", "", "-0.5%"], [8.1, 12.0, NAN, -0.5]),
        (["3,5", "1.234,25", "-7"], [3.5, 1234.25, -7.0]),
        (["1,234", "12,000"], [1234.0, 12000.0]),
        (["1,234.5", "7"], [1234.5, 7.0]),
        (["$5", "$1,250.50"], [5.0, 1250.5]),
        (["1 200 EUR", "15,5 EUR"], [1200.0, 15.5]),
        (["24 months", "36 months", "N/A"], [24.0, 36.0, NAN]),
        (["1e3", "2.5", None, "null"], [1000.0, 2.5, NAN, NAN]),
    ],
)
def test_numbers_as_people_write_them(cells, expected):
    column = pd.Series(cells, name="x")
    reading, _ = infer_reading(column)
    assert reading.kind == "numbers"
    np.testing.assert_array_equal(reading.read(column), expected)


@pytest.mark.parametrize(
    "cells", [["5 kg", "3 lb"], ["R1", "R2"], ["a", "7"], ["1,2,3", "x"]]
)
def test_what_is_no_number_stays_text(cells):
    column = pd.Series(cells, name="x")
    reading, notes = infer_reading(column)
    assert reading.kind == "text" and not notes
    assert reading.read(column).tolist() == cells


@pytest.mark.parametrize(
    "cells",
    [
        ["2019-04-01", "2019-12-31"],
        ["01.04.2019", "31.12.2019"],
        ["01/04/2019", "31/12/2019"],
        ["04/01/2019", "12/31/2019"],
        ["2019/04/01", "2019/12/31"],
    ],
)
def test_dates_in_one_form(cells):
    column = pd.Series([*cells, None], name="day")
    read = infer_reading(column)[0].read(column)
    expected = [pd.Timestamp("2019-04-01"), pd.Timestamp("2019-12-31"), pd.NaT]
    assert read.tolist()[:2] == expected[:2] and read.isna().tolist()[2]


def test_booleans_and_spellings():
    flags = pd.Series(["TRUE", "false", "", "true"], name="owner")
    assert infer_reading(flags)[0].read(flags).tolist()[:2] == [True, False]
    texts = pd.Series(["Oak", "oak", "oak ", "elm", "N/A"], name="tree")
    reading, notes = infer_reading(texts)
    assert reading.read(texts).tolist()[:4] == ["oak", "oak", "oak", "elm"]
    assert reading.read(texts).isna().tolist() == [False] * 4 + [True]
    same_text(notes)


def test_few_words_among_many_numbers_are_missing_and_many_are_not():
    numbers = [str(n) for n in range(100)]
    column = pd.Series([*numbers, "unknown"], name="dose")
    reading, notes = infer_reading(column)
    assert reading.kind == "numbers" and reading.read(column).isna().sum() == 1
    same_text(notes)
    mixed = pd.Series([*numbers, *["unknown"] * 20], name="dose")
    assert infer_reading(mixed)[0].kind == "text"


def test_a_code_far_from_all_others_is_missing():
    rng = np.random.default_rng(0)
    ages = pd.Series([*rng.integers(18, 80, 50), 999, 999, -9, -9], name="age")
    reading, notes = infer_reading(ages)
    same_text(notes)
    read = reading.read(ages)
    assert set(reading.codes) == {999.0} or set(reading.codes) == {999.0, -9.0}
    assert read.notna().sum() == 54 - ages.isin(reading.codes).sum()
    # 99 among ages up to 90, and a single 999, may be true.
    assert not infer_reading(pd.Series([*range(20, 91), 99, 99]))[0].codes
    assert not infer_reading(pd.Series([*range(20, 80), 999]))[0].codes


def test_new_rows_are_read_as_the_first():
    """Though they alone would be read otherwise."""
    column = pd.Series(["3,5", "1,250", "7"], name="x")
    reading, _ = infer_reading(column)
    assert reading.read(pd.Series(["1,234"])).tolist() == [1.234]


def test_columns_that_cannot_be_used():
    n = 40
    frame = {
        "code": [f"A{i}" for i in range(n)],
        "line": range(100, 100 + n),
        "customer_id": np.random.default_rng(0).permutation(10 * n)[:n],
        "same": 1,
        "none": None,
        "salary": [9.0, 8.0, 7.0, 6.0, *[None] * (n - 4)],
        "income": np.random.default_rng(0).permutation(10 * n)[:n],
        "height": np.linspace(1, 2, n),
        "sex": ["f", "m"] * (n // 2),
    }
    table = pd.DataFrame(frame)
    reasons = {name: unusable(table[name]) for name in table}
    assert [name for name in table if reasons[name]] == list(table)[:6]
    same_text([f"{name}: {why}" for name, why in reasons.items() if why])


def test_tables_of_other_libraries_and_files(tmp_path):
    polars = pytest.importorskip("polars")
    frame = pd.DataFrame({"a": [1, 2], "b": ["x", None]})
    path = tmp_path / "t.csv"
    frame.to_csv(path, index=False, sep=";")
    for table in (frame, polars.from_pandas(frame), path, str(path)):
        read = read_any(table)
        assert list(read) == ["a", "b"] and read["a"].tolist() == [1, 2]
    with refuses(ValueError):
        read_any([1, 2])
    with refuses(ValueError):
        read_any(pd.DataFrame([[1, 2]], columns=["a", "a"]))
