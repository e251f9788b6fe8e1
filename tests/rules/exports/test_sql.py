"""SQL says what the rules say: run in SQLite on the same cells."""

import math
import sqlite3
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.rules.exports import samples
from tests.rules.exports.engines import TABLE, open_sqlite, quoted
from tests.rules.exports.samples import example
from tests.wording import refuses

from clearwood.columns.feature_space import FeatureSpace
from clearwood.exceptions import InputError
from clearwood.rules import CategorySet, Interval, Rule, RuleList, RuleSum
from clearwood.rules.exports.dialects import DIALECTS

YES = ("no", "yes")


def asked(rule_set, rows, dialect="standard", *, probabilities=False):
    """What SQLite says of each row: without the columns of the table."""
    query = rule_set.to_sql(dialect, table=TABLE, probabilities=probabilities)
    width = 1 + probabilities * len(rule_set.classes)
    with open_sqlite() as ask:
        return [row[-width:] for row in ask(rule_set, rows, query)]


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=50)
@given(st.data())
def test_sqlite_reads_the_standard(data):
    rules = data.draw(samples.rule_sets())
    rows = data.draw(samples.tables(rules))
    shares = len(rules.classes) > 0 and data.draw(st.booleans())
    said = asked(rules, rows, probabilities=shares)
    assert [row[0] for row in said] == rules.predict(rows).tolist()
    if shares:
        found = np.array([row[1:] for row in said])
        np.testing.assert_allclose(found, rules.predict_proba(rows), rtol=1e-12, atol=0)


@pytest.mark.filterwarnings("ignore::clearwood.exceptions.UnknownCategoriesWarning")
@settings(max_examples=30)
@given(st.data())
def test_without_a_table_it_is_an_expression(data):
    rules = data.draw(samples.rule_sets())
    rows = data.draw(samples.tables(rules))
    query = f"SELECT {rules.to_sql()} FROM {quoted(TABLE)}"
    with open_sqlite() as ask:
        said = [row[0] for row in ask(rules, rows, query)]
    assert said == rules.predict(rows).tolist()


def test_how_it_reads():
    assert example().to_sql() == (
        "CASE\n"
        """  WHEN ("age" IS NULL OR ("age" > 1.5e0 AND "age" <= 60e0))"""
        """ AND "ward" <> 'a' THEN 'yes'\n"""
        "  ELSE 'no'\n"
        "END\n"
    )


def test_how_a_sum_reads():
    rules = RuleSum(
        (Rule((Interval(0, low=5.25),), -8.9),),
        Rule((), 22.3),
        FeatureSpace(("height",), (None,)),
    )
    assert rules.to_sql("sqlite", table="houses") == (
        "SELECT *,\n"
        "  22.3e0\n"
        "    + CASE WHEN `height` > 5.25e0 THEN -8.9e0 ELSE 0e0 END AS `prediction`\n"
        "FROM `houses`\n"
    )
    assert rules.to_sql().startswith("CAST(22.3e0 AS DOUBLE PRECISION)\n  + CASE")


def test_quotes_of_the_dialects():
    rules = example('a]b`c"d', ("x'\\y", "\\\nz"))
    assert '"a]b`c""d"' in rules.to_sql("postgresql")
    assert '[a]]b`c"d]' in rules.to_sql("mssql")
    assert '`a]b``c"d`' in rules.to_sql("mysql")
    assert "`ward`) COLLATE" not in rules.to_sql("mysql")
    assert "CAST(CONVERT(`ward` USING utf8mb4) AS BINARY) <> 'x''\\\\y'" in (
        rules.to_sql("mysql")
    )
    assert "[ward] COLLATE Latin1_General_100_BIN2 <> N'x''\\y'" in (
        rules.to_sql("mssql")
    )
    # A backslash at the end of a line would join it with the next, and "GO" in a line
    # of its own end the batch, inside quotes too.
    other = example(labels=("\\\nz", "b"))
    assert "N'\\' + NCHAR(10) + N'z'" in other.to_sql("mssql")
    assert "'\\\nz'" in other.to_sql()


def test_bounds_take_their_shorter_form():
    """Whole parts are cut just before whole numbers; that is how it must not read."""
    space = FeatureSpace(("code",), ((0, 1, 5),), lookup=("integer",))
    rule = Rule((CategorySet(0, (0, 1, 2)),), 1.0)
    assert (
        'WHEN (("code" > -1e0 AND "code" < 2e0) OR ("code" >= 5e0 AND "code" < 6e0))'
    ) in RuleList((rule,), Rule((), 0.0), space).to_sql()
    zero = FeatureSpace(("x",), (None,), missing_at=(-999.0,))
    rule = Rule((Interval(0, high=5.0),), 1.0)
    text = RuleList((rule,), Rule((), 0.0), zero).to_sql()
    assert 'WHEN "x" <= 5e0 AND "x" <> -999e0 THEN' in text


def test_booleans_and_whole_numbers():
    flags = example(labels=(True, False), classes=(10, 20))
    assert '"ward" <> TRUE THEN 20' in flags.to_sql()
    assert "[ward] <> 1 THEN 20" in flags.to_sql("mssql")


def test_nan_is_missing_where_columns_can_hold_it():
    rules = example().to_sql("duckdb")
    assert """("age" IS NULL OR "age" = CAST('NaN' AS DOUBLE PRECISION) OR""" in rules
    above = RuleList(
        (Rule((Interval(0, low=1.0),), 1.0), Rule((Interval(0, high=0.0),), 2.0)),
        Rule((), 0.0),
        FeatureSpace.numeric(1),
    )
    assert above.to_sql("duckdb").splitlines()[1:3] == [
        """  WHEN "x0" > 1e0 AND "x0" <> CAST('NaN' AS DOUBLE PRECISION) THEN 1e0""",
        """  WHEN "x0" <= 0e0 THEN 2e0""",
    ]
    # NaN is above all numbers, so that a rule which wants it need not ask.
    wanted = replace(above.rules[0], conditions=(Interval(0, 1.0, missing=True),))
    text = replace(above, rules=(wanted,)).to_sql("duckdb")
    assert 'WHEN ("x0" IS NULL OR "x0" > 1e0) THEN' in text


@pytest.mark.parametrize("number", [1e-35, 1.0000000180025095e-35, 0.1 + 0.2, 2.0**53])
def test_numbers_are_read_back_as_they_are(number):
    space = FeatureSpace.numeric(1)
    rules = RuleList((Rule((Interval(0, high=number),), number),), Rule((), 0.0), space)
    rows = [[number], [math.nextafter(number, math.inf)]]
    assert asked(rules, rows) == [(number,), (0.0,)]


def test_an_absent_column_is_an_error_in_sqlite():
    query = example("age").to_sql("sqlite", table=TABLE)
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        with open_sqlite() as ask:
            ask(example("other"), [[1.0, "a"]], query)


def test_a_sum_beside_columns_of_its_own_names():
    space = FeatureSpace(("total a", "total a_"), (None, None))
    rule = Rule((Interval(0, low=1.0),), "b", scores=(0.0, 2.0))
    constant = Rule((), "a", scores=(0.0, -1.0))
    rules = RuleSum((rule,), constant, space, ("a", "b"))
    rows = [[0.0, 5.0], [2.0, -5.0]]
    assert [row[0] for row in asked(rules, rows)] == ["a", "b"]


@pytest.mark.parametrize(
    "rules",
    [
        example("a\0b"),
        example(classes=("a\0", "b")),
        example(""),
        example(labels=(1, "a")),
        example(labels=(True, 2)),
        example(classes=("a", 2)),
        example(classes=(0, 2**63)),
        example(classes=(0.0, math.inf)),
        RuleList((), Rule((), math.nan), FeatureSpace.numeric(1)),
    ],
)
def test_what_cannot_be_written(rules):
    with refuses(InputError):
        rules.to_sql(table="t")
    with refuses(InputError):
        example().to_sql(table="\ud800")


def test_hashes_that_no_text_is_known_of():
    hashed = FeatureSpace(("hue",), ((3510494104, "y"),), lookup=("hash",))
    rule = Rule((CategorySet(0, (0,)),), 1.0)
    with refuses(InputError, match="as_in"):
        RuleList((rule,), Rule((), 0.0), hashed).to_sql()
    # What is not in is known here: only `y`.
    other = Rule((CategorySet(0, (0,), unseen=True),), 1.0)
    assert "<> 'y'" in RuleList((other,), Rule((), 0.0), hashed).to_sql()
    known = hashed.as_in([["x"], ["y"]])
    assert asked(RuleList((rule,), Rule((), 0.0), known), [["x"], ["y"]]) == [
        (1.0,),
        (0.0,),
    ]


def test_wrong_arguments():
    with refuses(InputError, match="'dbase'"):
        example().to_sql("dbase")
    with refuses(InputError):
        RuleList((), Rule((), 1.0), FeatureSpace.numeric(1)).to_sql(probabilities=True)
    steep = Rule((Interval(0, low=1.0),), "b", scores=(0.0, 800.0))
    constant = Rule((), "a", scores=(0.0, 0.0))
    space = FeatureSpace.numeric(1)
    rules = RuleSum((steep,), constant, space, ("a", "b"))
    assert [row[0] for row in asked(rules, [[0.0], [2.0]])] == ["a", "b"]
    with refuses(InputError, match="800"):
        rules.to_sql(probabilities=True)


def test_every_dialect_is_tried():
    for dialect in DIALECTS:
        assert example().to_sql(dialect, table="t", probabilities=True)


def test_postgresql_knows_nan_and_takes_numbers_for_decimals():
    assert "CAST('NaN' AS DOUBLE PRECISION)" in example().to_sql("postgresql")
    lines = (Rule((Interval(0, low=1.0),), 0.1),)
    rules = RuleSum(lines, Rule((), 0.2), FeatureSpace.numeric(1))
    assert "CAST(2e-1 AS" in rules.to_sql("postgresql") or "CAST(0.2e0 AS" in (
        rules.to_sql("postgresql")
    )
