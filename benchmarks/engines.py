"""Do exported rules predict as the rules do, in databases and in other runtimes?

Usage: python -m benchmarks.engines [--quick] [--fresh]

Random rule sets and tables, those of the tests, are asked of every database that can be
opened: SQLite and DuckDB inside Python, PostgreSQL by libpq's variables (PGHOST ...),
MySQL or MariaDB by MYSQL_UNIX_PORT (`.ci/databases` sets these), ClickHouse by chdb. In
the other dialects the queries are read back by sqlglot. ONNX is run by onnxruntime,
PMML by PMML4S, which needs Java (package pypmml).
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
Random rule sets (lists and sums, of numbers, texts, truth values, days and times with
and without a zone), each with a random table of at most 12 rows: values at and beside
every bound, missing ones, NaN and texts that no rule knows. Where a database can be
opened, a row differs if it says another prediction than `predict`, or a probability
that is off by more than a part in 10^12. Else sqlglot reads the query in its dialect;
*not read* counts what it refuses. It is the parser that wrote most of these dialects:
that says little of what the database itself makes of them.

ONNX and PMML are computed by evaluators of other projects, for rule sets without times:
a row differs if its class does, or a value or probability by more than a part in 10^12
(PMML: 10^9)."""

RUNTIMES = {
    "ONNX": ("onnxruntime", "onnxruntime", test_onnx.agree),
    "PMML": ("PMML4S in pypmml", "pypmml", test_pmml.agree_in_java),
}
"""Who computes an export, the package, and what raises where a row differs."""

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
    """One row: run where there is an engine, read back elsewhere."""
    found = dict.fromkeys(COLUMNS[1:], "")
    found["n_rule_sets"] = n
    if dialect not in engines.ENGINES:
        return [found | {"n_not_read": count(partial(is_not_read, dialect), n)[0]}]
    try:
        with engines.ENGINES[dialect]() as ask:
            n_differ, n_rows = count(partial(rows_that_differ, dialect, ask), n)
            engine = f"{dialect} {version(dialect, ask)}"
    except pytest.skip.Exception as error:
        return [found | {"engine": f"not here: {error}"}]
    return [found | {"engine": engine, "n_rows": n_rows, "n_differ": n_differ}]


def case_of_runtime(name, n):
    """One row: computed by a runtime that reads the file."""
    runtime, package, agree = RUNTIMES[name]
    found = dict.fromkeys(COLUMNS[1:], "")
    # Without a condition there is no column to read.
    rule_sets = samples.rule_sets().filter(lambda rules: rules.used_features)
    n_differ, n_rows = count(partial(rows_apart, agree), n, rule_sets)
    found["engine"] = f"{runtime} {version_of(package)}"
    return [found | {"n_rule_sets": n, "n_rows": n_rows, "n_differ": n_differ}]


def rows_apart(agree, rules, rows):
    """How many rows a runtime predicts otherwise, and of how many."""

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


def count(judge, n, rule_sets=None):
    """Sums of what ``judge`` gives of so many random rule sets and tables."""
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
            totals[:] += judge(rules, rows)

    every()
    return totals.tolist()


def rows_that_differ(dialect, ask, rules, rows):
    """How many rows a database answers otherwise, and of how many."""
    n_shares = len(rules.classes)
    query = rules.to_sql(dialect, table=engines.TABLE, probabilities=n_shares > 0)
    said = [row[-1 - n_shares :] for row in ask(rules, rows, query)]
    wrong = np.array([row[0] for row in said]) != rules.predict(rows)
    if n_shares:
        shares = np.array([row[1:] for row in said], dtype=float)
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
        reject()  # a name that no client of this database takes
    try:
        (tree,) = sqlglot.parse(query, read=names.get(dialect, dialect))
    except sqlglot.errors.SqlglotError:
        return 1, 0
    return int(tree is None), 0


def version(dialect, ask):
    """What the database says of itself."""
    rules = samples.example()
    return str(ask(rules, [[1.0, "a"]], VERSIONS[dialect])[0][0]).lstrip("v")


if __name__ == "__main__":
    main()
