"""Which columns of a table hold labels, and which numbers."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.wording import refuses

import clearwood as cw
from clearwood.columns.schema import features_of
from clearwood.exceptions import InputError

DAY = datetime.date(2020, 1, 2)
IDS = 1_500_000_000_000_000_000 + 7 * np.arange(6)


def categories_of(column):
    frame = column if isinstance(column, pl.DataFrame) else pd.DataFrame({"c": column})
    return features_of(frame, np.ones(len(frame), dtype=bool)).categories[0]


def objects(*cells):
    return pd.Series(cells, dtype=object)


@pytest.mark.parametrize(
    ("column", "labels"),
    [
        # Declared labels are labels, numbers too,
        (pd.Categorical([2, 1, None]), (1, 2)),
        (pd.Categorical([0.5, 1.5]), (0.5, 1.5)),
        # in the order of texts, so that either spelling grows the same tree,
        (pd.Categorical([9, 10, 2]), (10, 2, 9)),
        (pd.Categorical([True, False]), (False, True)),
        (pd.Categorical(IDS[:2]), tuple(IDS[:2].tolist())),
        (pl.DataFrame({"c": pl.Series(["b", "a"], dtype=pl.Categorical)}), ("a", "b")),
        (pl.DataFrame({"c": pl.Series(["a"], dtype=pl.Enum(["a", "b"]))}), ("a",)),
        # and so are texts,
        (pd.Series(["b", "a", None]), ("a", "b")),
        (objects("b", np.str_("a"), np.nan, pd.NA), ("a", "b")),
        # numbers are not, in whatever form they come.
        (objects(1, 2.5, None), None),
        (objects(Decimal("1.5"), Decimal("NaN"), 2), None),
        (objects(np.longdouble(1.5), np.int64(2)), None),
        (objects(True, False, np.bool_(True)), None),
        (np.array([1.5, 2], dtype=np.longdouble), None),
        (pd.array([1, None], dtype="Int64"), None),
        (pd.array([IDS[0], None], dtype="Int64"), None),
        (pl.DataFrame({"c": pl.Series([1, 2], dtype=pl.Decimal(10, 2))}), None),
        # Nor are dates and durations.
        (objects(None, DAY), None),
        (objects(pd.Timestamp(DAY)), None),
        (objects(np.datetime64("2020", "D")), None),
        (pd.Series([pd.Timedelta("1s")]), None),
        # Nothing is known of a column without cells.
        (objects(None, np.nan), ()),
    ],
)
def test_labels_and_numbers(column, labels):
    assert categories_of(column) == labels


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (objects("a", DAY), "'c'"),
        (pl.DataFrame({"c": [datetime.time(1)]}), "'c'"),
        (objects(1.5, 2, "-"), "'c'.*'-'"),
        (pd.Series(pd.period_range("2020", periods=2)), "'c'"),
        (objects("a", (1, 2)), "'c'"),
        (objects([1]), "'c'"),
        (objects(10**400), "'c'.*1000"),
        (pd.Categorical([(1, 2)]), "'c'"),
    ],
)
def test_what_is_neither_is_refused(column, message):
    with refuses(InputError, match=message):
        categories_of(column)


@pytest.mark.parametrize("make", [cw.MetaTreeRegressor, cw.MetaForestRegressor])
def test_ids_are_categories_however_they_are_spelled(make):
    """64 bits: as float64 all six would be one. As texts they say the same."""
    rng = np.random.default_rng(0)
    code = rng.integers(0, 6, 300)
    y = np.array([0.0, 5.0, 1.0, 7.0, 2.0, 9.0])[code]
    ids = IDS[code]
    X = pd.DataFrame({"id": pd.Categorical(ids), "a": rng.normal(size=300)})
    found = make(random_state=0).fit(X, y)
    text = X.assign(id=pd.Categorical(ids.astype(str)))
    expected = make(random_state=0).fit(text, y).predict(text)
    assert np.abs(expected - y).mean() < 1
    for column in (
        X["id"],
        ids,
        ids.astype(np.uint64),
        ids.astype(object),
        pd.array(ids, dtype="Int64"),
    ):
        np.testing.assert_array_equal(found.predict(X.assign(id=column)), expected)
    np.testing.assert_array_equal(
        found.predict(pl.DataFrame({"id": ids, "a": X["a"].to_numpy()})), expected
    )
    rows = [list(row) for row in zip(ids.tolist(), X["a"].tolist())]
    with pytest.warns(UserWarning, match="valid feature names"):
        np.testing.assert_array_equal(found.predict(rows), expected)
