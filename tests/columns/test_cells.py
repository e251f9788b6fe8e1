"""A cell means the same in every kind of table, or is refused by name."""

from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wording import refuses

from clearwood.columns.cells import EXACT, UNSEEN, category_codes, is_missing
from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError

NAME = "c"
IDS = (0, 1, 7, 2**53, 2**53 + 1, 2**53 + 2, 2**60 + 2**36 + 1, 2**63 - 1)
OTHERS = (2, 2**53 - 1, 2**53 + 3, 2**60 + 2**36, 2**63 - 2)
"""Neighbours of the ids: as float64 some are the same."""

WITH_GAPS = {
    "rows": lambda cells: [[cell] for cell in cells],
    "array of objects": lambda cells: np.array(cells, dtype=object)[:, None],
    "pandas objects": lambda cells: pd.DataFrame(
        {NAME: pd.Series(cells, dtype=object)}
    ),
    "pandas Int64": lambda cells: pd.DataFrame({NAME: pd.array(cells, dtype="Int64")}),
    "pandas category": lambda cells: pd.DataFrame(
        {NAME: pd.Categorical(pd.array(cells, dtype="Int64"))}
    ),
    "polars": lambda cells: pl.DataFrame({NAME: pl.Series(cells, dtype=pl.Int64)}),
    "polars UInt64": lambda cells: pl.DataFrame(
        {NAME: pl.Series(cells, dtype=pl.UInt64)}
    ),
    "polars Int128": lambda cells: pl.DataFrame(
        {NAME: pl.Series(cells, dtype=pl.Int128)}
    ),
}
WITHOUT = {
    "array": lambda cells: np.array(cells, dtype=np.int64)[:, None],
    "array of uint64": lambda cells: np.array(cells, dtype=np.uint64)[:, None],
    "pandas": lambda cells: pd.DataFrame({NAME: np.array(cells, dtype=np.int64)}),
    "pandas uint64": lambda cells: pd.DataFrame(
        {NAME: np.array(cells, dtype=np.uint64)}
    ),
}


def naive_codes(column, labels):
    """Cell by cell, as Python compares."""
    if column.dtype.kind in "iu" and all(isinstance(x, float) for x in labels):
        column = column.astype(np.float64)
    code = {label: float(i) for i, label in enumerate(labels)}
    return [
        np.nan if is_missing(cell) else code.get(cell, UNSEEN)
        for cell in column.tolist()
    ]


AS_INT = [0, 1, 2, 3, 100, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1]
AS_FLOAT = [0.5, -0.0, 1.0, 2.0**53, np.inf, -np.inf, np.nan, 0.1, -3.0]
ANY_LABEL = st.sampled_from(
    [*AS_INT, *AS_FLOAT, -1, -(2**60), True, False, "1", "a", None]
    + [Decimal(1), Fraction(1, 2), 1j, np.int64(1), np.float32(0.1), (1, 2)]
)


@given(data=st.data())
def test_codes_of_numbers_are_those_of_cell_by_cell(data):
    dtype = np.dtype(data.draw(st.sampled_from("? i1 u1 i4 i8 u8 f2 f4 f8 g".split())))
    given = AS_FLOAT if dtype.kind == "f" else [0, 1]
    if dtype.kind in "iu":
        given = [x for x in AS_INT if x <= np.iinfo(dtype).max]
    cells = data.draw(st.lists(st.sampled_from(given), max_size=8))
    column = np.array(cells, dtype=dtype)
    labels = tuple(data.draw(st.lists(ANY_LABEL, max_size=6)))
    found = category_codes(column, labels)
    np.testing.assert_array_equal(found, naive_codes(column, labels))


@pytest.mark.parametrize(
    ("column", "label"),
    [(np.array([2**53, 2**53 + 1]), 2**53), (np.array([0.1, 1], "g") / [1, 10], 0.1)],
    ids=["whole", "long"],
)
def test_codes_of_numbers_that_float64_takes_for_one(column, label):
    assert category_codes(column, (label,)).tolist() == naive_codes(column, (label,))


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@pytest.mark.parametrize("kind", [*WITH_GAPS, *WITHOUT])
@given(data=st.data())
def test_whole_numbers_are_categories_of_their_own(kind, data):
    """Each is known as itself, and no other one is taken for it."""
    cell = st.sampled_from(IDS + OTHERS)
    cell = cell if kind in WITHOUT else cell | st.none()
    cells = data.draw(st.lists(cell, min_size=1, max_size=8))
    table = (WITH_GAPS | WITHOUT)[kind](cells)
    space = FeatureSpace((NAME,), (IDS,))
    expected = [
        np.nan if c is None else IDS.index(c) if c in IDS else UNSEEN for c in cells
    ]
    np.testing.assert_array_equal(space.encode(table)[:, 0], expected)


@pytest.mark.parametrize("kind", [*WITH_GAPS, *WITHOUT])
@given(data=st.data())
def test_whole_numbers_are_the_nearest_float64(kind, data):
    cells = data.draw(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=5))
    table = (WITH_GAPS | WITHOUT)[kind](cells)
    found = FeatureSpace.numeric(1).encode(table)[:, 0]
    assert found.tolist() == [float(cell) for cell in cells]


def float32_space():
    return FeatureSpace((NAME,), (None,), float32=True)


@pytest.mark.parametrize("kind", [*WITHOUT, "polars"])
@given(data=st.data())
def test_they_are_rounded_to_float32_once(kind, data):
    """As a library does that casts int64 itself; and never away from themselves."""
    # Between two float32 numbers, and beside the middle of them.
    middle = st.builds(
        lambda e, k, by: 2**e + (2 * k + 1) * 2 ** (e - 24) + by,
        st.integers(54, 61), st.integers(0, 1000), st.integers(-300, 300),
    )  # fmt: skip
    cells = data.draw(st.lists(middle, min_size=1, max_size=5))
    found = float32_space().encode((WITH_GAPS | WITHOUT)[kind](cells))[:, 0]
    once = np.array(cells, dtype=np.int64).astype(np.float32)
    np.testing.assert_array_equal(found.astype(np.float32), once)
    for cell, value in zip(cells, found.tolist()):
        assert abs(Fraction(value) - cell) <= np.spacing(float(cell))


def test_small_numbers_keep_what_float32_would_lose():
    cells = [16777217, 2**53 - 1, -3]
    assert float32_space().encode(np.array(cells)[:, None])[:, 0].tolist() == cells
    assert float32_space().encode([[0.1]]).item() == 0.1


# Which cells are of one category

ONE = [1, 1.0, True, np.int64(1), np.float32(1), np.bool_(True), Decimal(1)]


@pytest.mark.parametrize("label", [1, 1.0, True])
@pytest.mark.parametrize("cell", ONE)
def test_equal_cells_are_one_category(cell, label):
    space = FeatureSpace((NAME,), ((0, label),))
    assert space.encode([[cell]]).item() == 1
    assert space.encode(pd.DataFrame({NAME: [cell]})).item() == 1
    assert space.encode(pd.DataFrame({NAME: [cell]}, dtype=object)).item() == 1


def test_a_text_is_no_number():
    space = FeatureSpace((NAME, "d"), (("1", "True"), (1, True + 1)))
    assert space.encode([[1, "1"], ["1", 1]]).tolist() == [[UNSEEN, UNSEEN], [0, 0]]
    assert space.encode([[True, "2"]]).tolist() == [[UNSEEN, UNSEEN]]


@pytest.mark.parametrize("cell", [1, 1.0, True, np.int64(1), "1"])
def test_to_catboost_the_text_decides(cell):
    space = FeatureSpace((NAME,), (("0", "1"),), lookup=("hash",))
    assert space.encode([[cell]]).item() == 1
    assert space.encode(pl.DataFrame({NAME: [cell]})).item() == 1


def test_where_labels_are_floats_cells_are():
    """A model that was fitted on floats cannot tell more apart than these."""
    space = FeatureSpace((NAME,), ((5.0, EXACT),))
    cells = np.array([[2**53], [2**53 + 1], [5]])
    assert space.encode(cells)[:, 0].tolist() == [1, 1, 0]
    assert space.encode(pd.DataFrame({NAME: cells[:, 0]}))[:, 0].tolist() == [1, 1, 0]


def test_codes_are_compared_as_whole_numbers():
    space = FeatureSpace((NAME,), ((3, 2**53),), lookup=("integer",))
    cells = [2**53, 2**53 + 1, 3, None]
    expected = [1, UNSEEN, 0, np.nan]
    for kind in ("rows", "pandas Int64", "polars", "polars UInt64"):
        found = space.encode(WITH_GAPS[kind](cells))[:, 0]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("empty", [None, np.nan, pd.NaT, pd.NA, Decimal("NaN")])
def test_empty_cells(empty):
    assert is_missing(empty)


@pytest.mark.parametrize("cell", [0, "", np.array([1, 2]), Decimal("sNaN")])
def test_cells_that_are_not_empty(cell):
    assert not is_missing(cell)


# Cells that nothing can read


class Unhashable:
    __hash__ = None


ODD = {
    "list": [1, 2],
    "tuple": (1, 2),
    "set": {1},
    "dict": {"a": 1},
    "array": np.array([1, 2]),
    "series": pd.Series([1]),
    "signalling": Decimal("sNaN"),
    "huge": 10**400,
    "too many digits": 10**5000,
    "complex": 1j,
    "unhashable": Unhashable(),
}
SPACES = {
    "numeric": FeatureSpace((NAME,), (None,)),
    "labels": FeatureSpace((NAME,), (("a", 1),)),
    "codes": FeatureSpace((NAME,), ((0, 1),), lookup=("integer",)),
    "hashes": FeatureSpace((NAME,), (("1",),), lookup=("hash",)),
}


def column_of(*cells):
    column = np.empty(len(cells), dtype=object)
    for i, cell in enumerate(cells):
        column[i] = cell
    return column


@pytest.mark.parametrize("odd", ODD)
@pytest.mark.parametrize("space", SPACES)
def test_odd_cells_are_refused_by_name_and_row(space, odd):
    column = column_of(1, ODD[odd])
    for table in (column[:, None], pd.DataFrame({NAME: column})):
        with refuses(InputError, match="'c'"):
            SPACES[space].encode(table)


@pytest.mark.parametrize("space", SPACES)
def test_columns_of_lists_are_refused(space):
    frame = pl.DataFrame({NAME: [[1], [2, 3]]})
    with refuses(InputError, match="'c'"):
        SPACES[space].encode(frame)
    tuples = pd.DataFrame({NAME: pd.Categorical([(1, 2), (3, 4)])})
    if space != "codes":
        with refuses(InputError, match="'c'"):
            SPACES[space].encode(tuples)


def test_dates_are_no_numbers_since_some_day():
    days = np.array([["2020-01-01"]], dtype="datetime64[ns]")
    with refuses(InputError):
        FeatureSpace.numeric(1).encode(days)


def test_rows_of_all_lengths_are_no_table():
    with refuses(InputError):
        FeatureSpace.numeric(2).encode([[1, 2], [3]])
