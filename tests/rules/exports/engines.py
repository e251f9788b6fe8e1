"""Databases that run exported rules on a table of cells, where they are installed.

Each is a context that opens one, with nothing in it, and gives how to ask it.
"""

import datetime
import math
import os
import sqlite3
import string
from contextlib import closing, contextmanager
from functools import partial

import numpy as np
import pytest
from hypothesis import reject

TABLE = 'the "table`]'
LARGEST = float(np.finfo(np.float64).max)


@contextmanager
def open_sqlite():
    types = {"number": "REAL", "text": "TEXT", "boolean": "BOOLEAN"}
    types |= dict.fromkeys(["date", "datetime", "zoned"], "TEXT")
    with closing(sqlite3.connect(":memory:")) as connection:
        # SQLite has EXP only where it was built with mathematical functions.
        connection.create_function("EXP", 1, math.exp)
        cursor = connection.cursor()
        yield partial(_asked_with_marks, cursor, types, "?", '"', _text_of_time)


@contextmanager
def open_duckdb():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'Asia/Tokyo'")

    def ask(rules, rows, query):
        connection.register(TABLE, arrow_table(rules, rows))
        return _tuples(connection.sql(query).to_arrow_table())

    yield ask
    connection.close()


@contextmanager
def open_postgresql():
    """The server that libpq's own variables name (PGHOST ...)."""
    psycopg = pytest.importorskip("psycopg")
    try:
        # Nothing is prepared: tables of one name come and go.
        connection = psycopg.connect(
            "", autocommit=True, prepare_threshold=None, connect_timeout=10
        )
    except psycopg.OperationalError as error:
        pytest.skip(f"no PostgreSQL: {error}")
    types = {"number": "DOUBLE PRECISION", "text": "TEXT", "boolean": "BOOLEAN"}
    types |= {"date": "DATE", "datetime": "TIMESTAMP", "zoned": "TIMESTAMPTZ"}
    with connection:
        cursor = connection.cursor()
        cursor.execute("SET TIME ZONE 'Asia/Tokyo'")
        yield partial(_asked_with_marks, cursor, types, "%s", '"', lambda cell: cell)


@contextmanager
def open_mysql():
    """The MySQL or MariaDB whose socket MySQL's own variable names."""
    pymysql = pytest.importorskip("pymysql")
    if not (socket := os.environ.get("MYSQL_UNIX_PORT")):
        pytest.skip("no MySQL: MYSQL_UNIX_PORT names no socket")
    connection = pymysql.connect(
        unix_socket=socket, user="root", charset="utf8mb4", connect_timeout=10
    )
    cursor = connection.cursor()
    cursor.execute("CREATE DATABASE IF NOT EXISTS clearwood")
    cursor.execute("USE clearwood")
    types = {"number": "DOUBLE", "text": "LONGTEXT", "boolean": "BOOLEAN"}
    types |= {"date": "DATE", "datetime": "DATETIME(6)"}

    def ask(rules, rows, query):
        if any(name[-1] in string.whitespace for name in rules.features.names):
            reject()  # MySQL has no such names.
        numbers = [cell for row in rows for cell in row if isinstance(cell, float)]
        if repr(LARGEST) in query and any(map(math.isinf, numbers)):
            reject()  # Nor infinities, which this query tells from the largest number.
        # A TIMESTAMP is what the session's zone makes of it; other years than
        # these are kept as DATETIME, which is UTC where the session is.
        times = [cell for row in rows for cell in row if getattr(cell, "tzinfo", None)]
        in_range = all(1970 < at.year < 2038 for at in times)
        zoned = "TIMESTAMP(6) NULL" if in_range else "DATETIME(6)"
        cursor.execute("SET time_zone = '+00:00'")
        zone = f"SET time_zone = '{'+09:00' if in_range else '+00:00'}'"
        every = types | {"zoned": zoned}
        return _asked_with_marks(
            cursor, every, "%s", "`", _mysql_cell, rules, rows, query, zone
        )

    yield ask
    connection.close()


@contextmanager
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

    yield ask


ENGINES = {
    "sqlite": open_sqlite,
    "duckdb": open_duckdb,
    "postgresql": open_postgresql,
    "mysql": open_mysql,
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


def quoted(name, quote='"'):
    return quote + name.replace(quote, 2 * quote) + quote


def _asked_with_marks(
    cursor, types, mark, quote, cell, rules, rows, query, before=None
):
    """Answers from a table that only this session sees."""
    table = quoted(TABLE, quote)
    columns = [
        f"{quoted(name, quote)} {types[kind_of(rules, d)]}"
        for d, name in enumerate(rules.features.names)
    ]
    cursor.execute(f"DROP TABLE IF EXISTS {table}")
    cursor.execute(f"CREATE TEMPORARY TABLE {table} ({', '.join(columns)})")
    marks = ", ".join([mark] * len(columns))
    filled = [[cell(value) for value in row] for row in rows]
    cursor.executemany(f"INSERT INTO {table} VALUES ({marks})", filled)
    if before:
        cursor.execute(before)
    cursor.execute(query)
    return cursor.fetchall()


def _text_of_time(cell):
    return str(cell) if hasattr(cell, "year") else cell


def _mysql_cell(cell):
    """A cell as MySQL keeps it: it has no NaN, no infinity and no offsets."""
    if getattr(cell, "tzinfo", None):
        return cell.astimezone(datetime.UTC).replace(tzinfo=None)
    if isinstance(cell, float) and not math.isfinite(cell):
        return None if math.isnan(cell) else math.copysign(LARGEST, cell)
    return cell
