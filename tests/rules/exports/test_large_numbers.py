"""Whole numbers that float64 cannot tell apart: everything says what predict says."""

import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleSet
from clearwood.rules.exports.dialects import DIALECTS

EDGE = 2**53
NUMBERS = [n + by for n in (EDGE, -EDGE, 2**60, 2**62) for by in range(-3, 4)]
NUMBERS += [0, 5, 2**63 - 1, -(2**63)]


def in_sqlite(rules, values, dialect="sqlite", kind="INTEGER"):
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute(f'CREATE TABLE t ("{rules.features.names[0]}" {kind})')
        rows = [(value,) for value in values]
        connection.executemany("INSERT INTO t VALUES (?)", rows)
        query = f"SELECT {rules.to_sql(dialect)} FROM t"
        return [row[0] for row in connection.execute(query)]


def in_duckdb(rules, values):
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute(f'CREATE TABLE t ("{rules.features.names[0]}" BIGINT)')
    connection.executemany("INSERT INTO t VALUES (?)", [(value,) for value in values])
    query = f"SELECT {rules.to_sql('duckdb')} FROM t"
    return [row[0] for row in connection.execute(query).fetchall()]


def in_python(rules, values):
    namespace = {}
    exec(rules.to_python(), namespace)
    name = rules.features.names[0]
    return [namespace["predict"]({name: value}) for value in values]


def interval(low, high):
    rule = Rule((Interval(0, low, high),), 1.0)
    return RuleList((rule,), Rule((), 0.0), FeatureSpace(("id",), (None,)))


@settings(max_examples=50)
@given(st.data())
def test_bounds_beyond_all_whole_numbers(data):
    ends = st.sampled_from(NUMBERS).map(float) | st.sampled_from([-np.inf, np.inf])
    low, high = sorted(data.draw(st.sets(ends, min_size=2, max_size=2)))
    rules = interval(low, high)
    values = data.draw(st.lists(st.sampled_from(NUMBERS), min_size=1, max_size=20))
    said = rules.predict(pd.DataFrame({"id": np.array(values, dtype=np.int64)}))
    for dialect in ("standard", "sqlite"):
        assert in_sqlite(rules, values, dialect) == said.tolist()
    assert in_python(rules, values) == said.tolist()
    again = RuleSet.from_json(rules.to_json())
    np.testing.assert_array_equal(again.predict(np.array(values)[:, None]), said)


def test_duckdb_says_the_same():
    for low, high in ((-np.inf, float(EDGE)), (float(EDGE), 2.0**60)):
        rules = interval(low, high)
        said = rules.predict(np.array(NUMBERS)[:, None]).tolist()
        assert in_duckdb(rules, NUMBERS) == said


@pytest.mark.parametrize("dialect", DIALECTS)
def test_only_bounds_that_need_it_are_cast(dialect):
    assert "CAST" not in interval(-np.inf, EDGE - 1.0).to_sql(dialect).split("WHEN")[1]
    cast = "CAST({}id{} AS " + DIALECTS[dialect].number_type + ") <= 9007199254740992e0"
    assert cast.format(*DIALECTS[dialect].quotes) in (
        interval(-np.inf, float(EDGE)).to_sql(dialect).replace("(\n", "(")
    )


def test_labels_are_compared_as_whole_numbers():
    ids = (EDGE, EDGE + 1, EDGE + 2)
    rule = Rule((CategorySet(0, (1,)),), 1.0)
    rules = RuleList((rule,), Rule((), 0.0), FeatureSpace(("id",), (ids,)))
    assert rules.predict(pd.DataFrame({"id": ids})).tolist() == [0, 1, 0]
    assert in_sqlite(rules, ids) == in_python(rules, ids) == [0, 1, 0]
    again = RuleSet.from_json(rules.to_json())
    assert again.predict(np.array(ids)[:, None]).tolist() == [0, 1, 0]


@pytest.mark.parametrize("name", ["true", "FALSE"])
@pytest.mark.parametrize("dialect", ["standard", "sqlite"])
def test_a_column_called_true_is_not_the_word(name, dialect):
    first = Rule((Interval(0, high=0.5),), False, (1.0, 0.0))
    last = Rule((), True, (0.0, 1.0))
    rules = RuleList((first,), last, FeatureSpace((name,), (None,)), (False, True))
    assert in_sqlite(rules, [0.1, 0.7], dialect, "REAL") == [False, True]
    flags = FeatureSpace((name,), ((False, True),))
    rules = RuleList((Rule((CategorySet(0, (1,)),), 1.0),), Rule((), 0.0), flags)
    assert in_sqlite(rules, [0, 1], dialect) == [0.0, 1.0]
    plain = RuleList((first,), last, FeatureSpace(("dose",), (None,)), (False, True))
    assert "THEN FALSE" in plain.to_sql(dialect)
