"""Parts of a table that are put together: what a part without a cell changes."""

import numpy as np
import pandas as pd
import pytest
from tests.wording import refuses

from clearwood._tables.joining import check_kinds, joined, kinds_of
from clearwood.exceptions import InputError

DAYS = pd.to_datetime(["2024-01-01", "2024-01-02"])
EMPTY = [[None, None], [np.nan, np.nan]]


def frames(*columns):
    return [pd.DataFrame({"a": column}) for column in columns]


@pytest.mark.parametrize("empty", EMPTY, ids=["objects", "numbers"])
@pytest.mark.parametrize(
    ("cells", "kind"),
    [
        ([3, 4], "f"), (np.array([3, 4], np.uint8), "f"), ([0.5, 1.5], "f"),
        ([True, False], "O"), (np.array(["x", "y"], object), "O"), (DAYS, "M"),
    ],
    ids=["integers", "bytes", "numbers", "truths", "text", "dates"],
)  # fmt: skip
def test_a_part_without_a_cell_takes_the_kind_of_the_others(cells, kind, empty):
    for parts in (frames(cells, empty), frames(empty, cells)):
        column = joined(parts)["a"]
        assert column.dtype.kind == kind
        assert column.dropna().tolist() == list(cells)
        assert column.isna().sum() == 2 and len(column) == 4
        assert column.index.tolist() == [0, 1, 2, 3]


def test_parts_of_one_type_keep_it():
    for cells in ([3, 4], [True, False], np.array([3, 4], np.uint8)):
        parts = frames(cells, cells)
        assert joined(parts)["a"].dtype == parts[0]["a"].dtype


def test_categories_that_differ_are_all_kept_in_order():
    parts = frames(pd.Categorical(["b", "a"], ["b", "a"]), pd.Categorical(["c", "a"]))
    column = joined(parts)["a"]
    assert column.tolist() == ["b", "a", "c", "a"]
    assert column.cat.categories.tolist() == ["b", "a", "c"]


def test_arrays_are_put_together_and_none_stays_none():
    assert joined([np.zeros((2, 1)), np.ones((1, 1))]).tolist() == [[0.0], [0.0], [1.0]]
    assert joined([None, None]) is None


@pytest.mark.parametrize("empty", EMPTY, ids=["objects", "numbers"])
@pytest.mark.parametrize(
    ("cells", "held"),
    [
        ([3, 4], "numbers"), ([True, None], "booleans"), (DAYS, "dates"),
        (DAYS.tz_localize("UTC"), "times with a time zone"),
        (DAYS - DAYS[0], "durations"), (["x", None], "text"),
        (pd.Categorical([3, 4]), "numbers"), (pd.Categorical(["x", "y"]), "text"),
    ],
)  # fmt: skip
def test_what_a_column_holds_is_told_from_its_cells(cells, held, empty):
    other = [0.5, 1.5] if held != "numbers" else ["x", "y"]
    seen = {}
    for part, place in zip(frames(empty, cells, cells), ("one", "two", "three")):
        seen = check_kinds(kinds_of(part), place, seen)
    assert seen == {"a": (held, "two")}
    with refuses(InputError, match=f"four: .*'a'.* two .*{held}"):
        check_kinds(kinds_of(frames(other)[0]), "four", seen)
