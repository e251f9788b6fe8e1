"""Databases that run exported rules on a table of cells, where they are installed.

Each is a function that opens one, with nothing in it, and gives back how to ask it.
"""

import math
import sqlite3
from functools import partial

import pytest

TABLE = 'the "table`]'


def open_sqlite():
    connection = sqlite3.connect(":memory:")
    # SQLite has EXP only where it was built with mathematical functions.
    connection.create_function("EXP", 1, math.exp)
    types = {"number": "REAL", "text": "TEXT", "boolean": "BOOLEAN"}
    types |= dict.fromkeys(["date", "datetime", "zoned"], "TEXT")
    return partial(_asked_with_marks, connection, types, "?", _text_of_time)


def open_duckdb():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")

    def ask(rules, rows, query):
        connection.register(TABLE, arrow_table(rules, rows))
        return _tuples(connection.sql(query).to_arrow_table())

    return ask


def open_postgresql():
    """The server that libpq's own variables name (PGHOST ...)."""
    psycopg2 = pytest.importorskip("psycopg2")
    try:
        connection = psycopg2.connect("")
    except psycopg2.OperationalError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    types = {"number": "DOUBLE PRECISION", "text": "TEXT", "boolean": "BOOLEAN"}
    types |= {"date": "DATE", "datetime": "TIMESTAMP", "zoned": "TIMESTAMPTZ"}
    cursor = connection.cursor()
    cursor.execute("SET TIME ZONE 'Asia/Tokyo'")
    return partial(_asked_with_marks, cursor, types, "%s", lambda cell: cell)


def open_clickhouse():
    """ClickHouse local, inside Python."""
    session = pytest.importorskip("chdb.session").Session()

    def ask(rules, rows, query):
        name = "`" + TABLE.replace("\\", "\\\\").replace("`", "\\`") + "`"
        cells = arrow_table(rules, rows)  # noqa: F841, found by its name
        session.query(f"DROP TABLE IF EXISTS {name}")
        session.query(
            f"CREATE TABLE {name} ENGINE = Memory AS SELECT * FROM Python(cells)"
        )
        return _tuples(session.query(query, "ArrowTable"))

    return ask


ENGINES = {
    "sqlite": open_sqlite,
    "duckdb": open_duckdb,
    "postgresql": open_postgresql,
    "clickhouse": open_clickhouse,
}


def kind_of(rules, d):
    """What the cells of a column are."""
    space = rules.features
    labels = space.categories[d]
    if space.info[d].is_time:
        return "zoned" if space.info[d].unit else space.info[d].kind
    if space.lookup[d] == "hash" or (labels and isinstance(labels[0], str)):
        return "text"
    if space.info[d].kind == "boolean" or labels and isinstance(labels[0], bool):
        return "boolean"
    return "number"


def arrow_table(rules, rows):
    import pyarrow as pa

    kinds = {"number": pa.float64(), "text": pa.string(), "boolean": pa.bool_()}
    kinds |= {"date": pa.date32(), "datetime": pa.timestamp("us")}
    kinds["zoned"] = pa.timestamp("us", tz="UTC")
    names = rules.features.names
    columns = [
        pa.array([row[d] for row in rows], kinds[kind_of(rules, d)])
        for d in range(len(names))
    ]
    return pa.table(dict(zip(names, columns)))


def _tuples(table):
    return [tuple(row.values()) for row in table.to_pylist()]


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def _asked_with_marks(cursor, types, mark, cell, rules, rows, query):
    kinds = [kind_of(rules, d) for d in range(rules.features.n_features)]
    columns = [f"{quoted(n)} {types[k]}" for n, k in zip(rules.features.names, kinds)]
    cursor.execute(f"DROP TABLE IF EXISTS {quoted(TABLE)}")
    cursor.execute(f"CREATE TABLE {quoted(TABLE)} ({', '.join(columns)})")
    marks = ", ".join([mark] * len(columns))
    filled = [[cell(value) for value in row] for row in rows]
    cursor.executemany(f"INSERT INTO {quoted(TABLE)} VALUES ({marks})", filled)
    said = cursor.execute(query)
    return (said or cursor).fetchall()


def _text_of_time(cell):
    return str(cell) if hasattr(cell, "year") else cell
