"""Predictions of exported rules in databases and other runtimes.

Usage: python -m benchmarks.engines [--quick] [--fresh]

Random rule sets and tables, those of the tests, are run in every available database:
SQLite and DuckDB inside Python, PostgreSQL by libpq's variables (PGHOST ...), MySQL or
MariaDB by MYSQL_UNIX_PORT (`.ci/databases` sets these), ClickHouse by chdb. For other
dialects the queries are parsed by sqlglot. ONNX is run by onnxruntime, PMML by PMML4S,
which needs Java (package pypmml).
"""

import warnings
from functools import partial
from importlib.metadata import version as version_of

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from tests.rules.exports import engines, samples, test_onnx, test_pmml

from benchmarks._study import Study, arguments, markdown_table
from clearwood.exceptions import InputError, UnknownCategoriesWarning
from clearwood.rules.exports.dialects import BASES, DIALECTS

N_RULE_SETS = 400
QUICK = 40

TEXT = """\
Random rule sets (lists and sums, with numbers, texts, booleans, dates and times with
and without a time zone), each with a random table of at most 12 rows: values at and
next to every bound, missing values, NaN and unknown texts. If a database is available,
a row differs if its prediction is not that of `predict`, or if a probability differs by
more than 1 part in 10^12. Otherwise sqlglot parses the query in its dialect; *not read*
counts the queries that it refuses. Since sqlglot also writes most of these dialects,
this is weak evidence for the database itself.

ONNX and PMML are evaluated by other projects, for rule sets without times: a row
differs if its class does, or a value or probability by more than 1 part in 10^12 (PMML:
10^9)."""

RUNTIMES = {
    "ONNX": ("onnxruntime", "onnxruntime", test_onnx.agree),
    "PMML": ("PMML4S in pypmml", "pypmml", test_pmml.agree_in_java),
}
"""Runtime of an export, its package, and a function that raises if a row differs."""

VERSIONS = {
    "sqlite": "SELECT sqlite_version()",
    "duckdb": "SELECT version()",
    "postgresql": "SHOW server_version",
    "mysql": "SELECT version()",
    "clickhouse": "SELECT version()",
}


def main():
    options = arguments(__doc__)
    n = QUICK if options.quick else N_RULE_SETS
    study = Study("engines", ["dialect"], options)
    dialects = [*engines.ENGINES, *(d for d in DIALECTS if d not in engines.ENGINES)]
    dialects += [d for d in BASES if d not in dialects]
    cases = {(d,): partial(case, d, n) for d in dialects}
    cases |= {(name,): partial(case_of_runtime, name, n) for name in RUNTIMES}
    study.run(cases, warm=lambda: None)
    frame = study.frame().astype(object).fillna("")
    header = ["export", "run in", "rule sets", "rows", "differ", "not read"]
    lines = [[row.get(key, "") for key in COLUMNS] for row in frame.to_dict("records")]
    study.write_markdown(
        "Exports: SQL, ONNX and PMML", TEXT, markdown_table(header, lines)
    )


COLUMNS = ("dialect", "engine", "n_rule_sets", "n_rows", "n_differ", "n_not_read")


def case(dialect, n):
    """One row: run in a database if available, otherwise parsed."""
    found = dict.fromkeys(COLUMNS[1:], "")
    found["n_rule_sets"] = n
    if dialect not in engines.ENGINES:
        return [found | {"n_not_read": count(partial(is_not_read, dialect), n)[0]}]
    try:
        with engines.ENGINES[dialect]() as query_of:
            n_differ, n_rows = count(partial(rows_that_differ, dialect, query_of), n)
            engine = f"{dialect} {version(dialect, query_of)}"
    except pytest.skip.Exception as error:
        return [found | {"engine": f"not available: {error}"}]
    return [found | {"engine": engine, "n_rows": n_rows, "n_differ": n_differ}]


def case_of_runtime(name, n):
    """One row: evaluated by a runtime that reads the file."""
    runtime, package, agree = RUNTIMES[name]
    found = dict.fromkeys(COLUMNS[1:], "")
    # Without conditions there is no column to read.
    rule_sets = samples.rule_sets().filter(lambda rules: rules.used_features)
    n_differ, n_rows = count(partial(rows_apart, agree), n, rule_sets)
    found["engine"] = f"{runtime} {version_of(package)}"
    return [found | {"n_rule_sets": n, "n_rows": n_rows, "n_differ": n_differ}]


def rows_apart(agree, rules, rows):
    """Number of rows with different predictions by a runtime, and of all rows."""

    def differs(some):
        try:
            agree(rules, some)
        except AssertionError:
            return True
        return False

    # Missing texts are empty in ONNX.
    rows = test_onnx.without_empty_texts(rows)
    n_differ = sum(differs([row]) for row in rows) if differs(rows) else 0
    return n_differ, len(rows)


def count(compare, n, rule_sets=None):
    """Sums of ``compare`` over ``n`` random rule sets and tables."""
    rule_sets = samples.rule_sets(dates=True) if rule_sets is None else rule_sets
    totals = np.zeros(2, dtype=int)

    @settings(
        max_examples=n,
        database=None,
        derandomize=True,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def every(data):
        rules = data.draw(rule_sets)
        rows = data.draw(samples.tables(rules))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnknownCategoriesWarning)
            totals[:] += compare(rules, rows)

    every()
    return totals.tolist()


def rows_that_differ(dialect, query_of, rules, rows):
    """Number of rows with different predictions by a database, and of all rows."""
    n_shares = len(rules.classes)
    query = rules.to_sql(dialect, table=engines.TABLE, probabilities=n_shares > 0)
    predicted = [row[-1 - n_shares :] for row in query_of(rules, rows, query)]
    wrong = np.array([row[0] for row in predicted]) != rules.predict(rows)
    if n_shares:
        shares = np.array([row[1:] for row in predicted], dtype=float)
        near = np.isclose(shares, rules.predict_proba(rows), rtol=1e-12, atol=0)
        wrong |= ~near.all(axis=1)
    return int(wrong.sum()), len(rows)


def is_not_read(dialect, rules, rows):
    """Whether the query is refused in its own dialect."""
    import sqlglot

    names = {"mssql": "tsql", "postgresql": "postgres", "standard": ""}
    try:
        query = rules.to_sql(dialect, table=engines.TABLE)
    except InputError:
        reject()  # a name that clients of this database do not support
    try:
        (tree,) = sqlglot.parse(query, read=names.get(dialect, dialect))
    except sqlglot.errors.SqlglotError:
        return 1, 0
    return int(tree is None), 0


def version(dialect, query_of):
    """The version of the database."""
    rules = samples.example()
    return str(query_of(rules, [[1.0, "a"]], VERSIONS[dialect])[0][0]).lstrip("v")


if __name__ == "__main__":
    main()
