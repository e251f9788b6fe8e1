"""What is said by blocks is what is said of the whole table."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from clearwood._numeric import blocks
from clearwood.columns.feature_space import FeatureSpace
from clearwood.columns.some_rows import map_rows
from clearwood.exceptions import InputError

NUMBERS = np.random.default_rng(0).integers(-9, 9, size=(20, 3)) / 2.0
NUMBERS[4, 1] = np.nan
TABLES = {
    "array": NUMBERS,
    "single": NUMBERS.astype(np.float32),
    "whole": np.arange(60).reshape(20, 3) + 2**60,
    "columns first": np.asfortranarray(NUMBERS),
    "masked": np.ma.array(NUMBERS, mask=NUMBERS > 3),
    "rows": NUMBERS.tolist(),
    "pandas": pd.DataFrame(NUMBERS, columns=list("abc")).assign(d="more"),
    "polars": pl.DataFrame(NUMBERS, schema=list("abc")),
    "objects": pd.DataFrame(NUMBERS, columns=list("abc"), dtype=object),
    "nullable": pd.DataFrame(NUMBERS, columns=list("abc"), dtype="Float64"),
    "words": pd.DataFrame(NUMBERS, columns=list("abc")).assign(c=list("yxyzy") * 4),
}


@pytest.mark.parametrize("kind", TABLES)
@pytest.mark.parametrize("float32", [False, True])
def test_what_is_said_some_rows_at_a_time(kind, float32, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_OF_ROWS", 7)
    categories = (None, None, ("x", "y", "z") if kind == "words" else None)
    space = FeatureSpace(("a", "b", "c"), categories, float32=float32)
    table, sizes = TABLES[kind], []

    def says(rows):
        sizes.append(len(rows))
        return rows

    for asked in (None, {0, 2}):
        encoded = space.encode(table, asked)
        found = map_rows(space, table, says, asked)
        read = sorted(asked or range(3))
        np.testing.assert_array_equal(found[:, read], encoded[:, read])
    assert sizes == [7, 7, 6] * 2
    # Rows that are encoded already stay what they are.
    given = space.as_encoded(encoded)
    np.testing.assert_array_equal(map_rows(space, given, says), encoded)


def test_errors_in_later_blocks_name_the_row_of_the_table(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_OF_ROWS", 7)
    space = FeatureSpace.numeric(3)

    def says(rows):
        bad = np.flatnonzero(rows[:, 0] < 0)
        if bad.size:
            raise InputError(f"below 0 in row {bad[0]}")
        return rows

    table = np.ones((20, 3))
    table[[9, 16], 0] = -1
    for X in (table, pd.DataFrame(table), table.tolist()):
        with pytest.raises(InputError, match="row 9"):
            map_rows(space, X, says)
