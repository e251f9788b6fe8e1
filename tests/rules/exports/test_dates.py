"""Dates in SQL and in Python: what they say is what the rules say."""

import datetime
import math
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.wording import refuses

from clearwood.columns.dates import MICROSECONDS
from clearwood.columns.info import ColumnInfo
from clearwood.exceptions import InputError
from clearwood.rules import FeatureSpace, Interval, Rule, RuleList
from clearwood.rules.exports.sql_dates import _microsecond

AT = 17987.5
CELLS = [
    datetime.datetime(2019, 3, 31, 23, 59),
    datetime.datetime(2019, 4, 1),
    datetime.datetime(2019, 4, 1, 12),
    datetime.datetime(2019, 4, 1, 12, 0, 1),
    datetime.datetime(2019, 4, 2),
    None,
]


def rules(kind, low, high, missing=False, unit=""):
    condition = Interval(0, low, high, missing)
    space = FeatureSpace(("at",), (None,), info=(ColumnInfo(kind=kind, unit=unit),))
    yes, no = Rule((condition,), "yes", (0.0, 1.0)), Rule((), "no", (1.0, 0.0))
    return RuleList((yes,), no, space, ("no", "yes"))


@pytest.mark.parametrize("kind", ["date", "datetime"])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize(
    "low, high",
    # No date lies below all others, as minus infinity does among numbers.
    [(AT - 0.5, 1e9), (AT, 1e9), (1.0, AT), (AT, AT + 0.5), (-math.inf, -math.inf)],
)
def test_dates_are_asked_alike(kind, missing, low, high):
    high = float("inf") if high == 1e9 else high
    found = rules(kind, low, high, missing)
    said = found.predict([[cell] for cell in CELLS]).tolist()
    made = {}
    exec(found.to_python(), made)
    assert [made["predict"]({"at": cell}) for cell in CELLS] == said
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (at TEXT)")
        texts = [(None if cell is None else str(cell),) for cell in CELLS]
        connection.executemany("INSERT INTO t VALUES (?)", texts)
        query = f"SELECT {found.to_sql('sqlite')} FROM t"
        assert [row for (row,) in connection.execute(query)] == said
    assert RuleList.from_json(found.to_json()).features == found.features


@pytest.mark.parametrize("unit", ["", "UTC"])
def test_python_refuses_times_that_differ_in_having_a_zone(unit):
    info = (ColumnInfo(kind="datetime", unit=unit),)
    space = FeatureSpace(("at",), (None,), info=info)
    found = RuleList((Rule((Interval(0, AT),), 1.0),), Rule((), 0.0), space)
    made = {}
    exec(found.to_python(), made)
    later = datetime.datetime(2019, 4, 1, 13)
    forms = [later, later.replace(tzinfo=datetime.UTC)]
    fits, other = forms if not unit else forms[::-1]
    assert made["predict"]({"at": fits}) == found.predict([[fits]]).item() == 1
    assert made["predict"]({"at": None}) == 0
    with refuses(ValueError):
        made["predict"]({"at": other})
    with refuses(InputError, match="'at'.*13:00"):
        found.predict([[other]])


def test_dialects_write_dates():
    assert "\"at\" >= DATE '2019-04-02'" in rules("date", AT, 1e5).to_sql("duckdb")
    later = rules("datetime", AT, 1e5)
    assert "TIMESTAMP '2019-04-01 12:00:00'" in later.to_sql("postgresql")
    assert "CAST('2019-04-01 12:00:00' AS DATETIME2)" in later.to_sql("mssql")
    zoned = rules("datetime", AT, 1e5, unit="UTC").to_sql("mysql")
    at = "TIMESTAMP '2019-04-01 12:00:00'"
    assert f"CONVERT_TZ({at}, '+00:00', @@session.time_zone)" in zoned
    with refuses(InputError):
        rules("duration", 1.0, 2.0).to_sql("duckdb")
    with refuses(InputError, match="'at'"):
        later.to_sklearn()


@given(st.floats(-15_000, 15_000))
def test_a_bound_is_the_last_microsecond_before_it(days):
    """Of a cell after the one and before the other nothing may be said."""
    at = round(_microsecond(days) * MICROSECONDS)
    assert at / MICROSECONDS <= days < (at + 1) / MICROSECONDS


def test_oracle_reads_times_by_a_form_of_their_own():
    """What a quoted date means there is else the session's to say."""
    pytest.importorskip("sqlglot")
    assert "TO_DATE('2019-04-02', 'YYYY-MM-DD')" in rules("date", AT, 1e5).to_sql(
        "oracle"
    )
    later = rules("datetime", AT, 1e5).to_sql("oracle")
    form = "YYYY-MM-DD HH24:MI:SS"
    assert f"TO_TIMESTAMP('2019-04-01 12:00:00', '{form}')" in later
    odd = rules("datetime", AT + 0.25 / 86400, 1e5).to_sql("oracle")
    assert f"12:00:00.250000', '{form}.FF6')" in odd
    zoned = rules("datetime", AT, 1e5, unit="UTC").to_sql("oracle")
    assert f"TO_TIMESTAMP_TZ('2019-04-01 12:00:00+00:00', '{form}TZH:TZM')" in zoned
    for text in (later, odd, zoned):
        assert "CAST('" not in text
