"""Dialects that sqlglot writes: each is read back, and is what DuckDB's SQL says."""

import pytest
from tests.rules.exports.samples import example

from clearwood.columns.feature_space import FeatureSpace
from clearwood.rules import Interval, Rule, RuleSum
from clearwood.rules.exports.dialects import BASES

sqlglot = pytest.importorskip("sqlglot")


@pytest.mark.parametrize("dialect", BASES)
def test_without_a_table_it_is_an_expression(dialect):
    text = example().to_sql(dialect)
    assert text.startswith("CASE") and text.endswith("END\n")
    # One line per case, for people.
    assert text.count("\n") >= 3
    sqlglot.parse_one(f"SELECT {text} FROM t", read=dialect)


def a_sum():
    rule = Rule((Interval(0, low=1.0, missing=True),), "b", scores=(0.0, 2.0))
    constant = Rule((), "a", scores=(0.0, -1.0))
    return RuleSum((rule,), constant, FeatureSpace(("x",), (None,)), ("a", "b"))


def test_nan_is_asked_as_each_database_can():
    for rules in (example(), a_sum()):
        assert "IS_NAN(`" in rules.to_sql("bigquery", table="t")
        assert 'isNaN("' in rules.to_sql("clickhouse", table="t")
        assert "NaN" not in rules.to_sql("oracle", table="t")
    assert "= CAST('NaN' AS DOUBLE)" in example().to_sql("spark")


def test_numbers_are_doubles_where_literals_are_decimals():
    assert "CAST(0e0 AS DOUBLE PRECISION)" in a_sum().to_sql("redshift", table="t")
    assert "CAST(0e0 AS DOUBLE)" in a_sum().to_sql("snowflake", table="t")


def test_a_star_beside_columns_has_a_name_in_oracle():
    text = a_sum().to_sql("oracle", table="t", probabilities=True)
    assert '"totals".*' in text and '"t".*' in text and text.count("*") == 2
    assert ') "totals"' in text
