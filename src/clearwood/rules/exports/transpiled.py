"""SQL for databases whose dialects sqlglot writes, translated from DuckDB's.

NaN is equivalent to NULL in rules. Where a database follows IEEE 754, in which NaN does
not equal itself, the comparison becomes a function call.
"""

from __future__ import annotations

from typing import Any

from clearwood.exceptions import InputError

ASKS_NAN = ("bigquery", "clickhouse")
"""Dialects in which NaN is not equal to itself."""

ZONED = "TIMESTAMPTZ"
ORACLE_TIMES = {
    "DATE": "TO_DATE",
    "TIMESTAMP": "TO_TIMESTAMP",
    "TIMESTAMPNTZ": "TO_TIMESTAMP",
    ZONED: "TO_TIMESTAMP_TZ",
}
"""Oracle's formats of times, by sqlglot's names of the types."""


def transpiled(text: str, dialect: str) -> str:
    """Translate a query or an expression into another dialect.

    Parameters
    ----------
    text : str
        In DuckDB's dialect, comments first.
    dialect : str
        Name of the dialect in sqlglot.

    Returns
    -------
    str

    Examples
    --------
    >>> print(transpiled('SELECT *, CASE WHEN "a" > 1e0 THEN 2 END FROM "t"', "spark"))
    SELECT
      *,
      CASE WHEN `a` > 1e0 THEN 2 END
    FROM `t`
    """
    try:
        import sqlglot
        from sqlglot import exp
    except ImportError:
        raise InputError(
            f"The dialect {dialect!r} needs sqlglot; install it with "
            'pip install "clearwood[sql]".'
        ) from None
    # Several expressions are no statement, but they are one as the body of a query.
    bare = not text.lstrip().upper().startswith("SELECT *")
    tree: Any = sqlglot.parse_one(f"SELECT {text}" if bare else text, read="duckdb")
    if dialect in ASKS_NAN:
        tree = tree.transform(_call_for_nan)
        # They read escapes in names, too, which only recent versions of sqlglot handle.
        if exp.to_identifier("\\", quoted=True).sql(dialect=dialect).count("\\") == 1:
            tree = tree.transform(_doubled_backslashes)
    if dialect == "oracle":
        for select in tree.find_all(exp.Select):
            _name_star(select)
        tree = tree.transform(_time_by_format)
    written = tree.sql(dialect=dialect, pretty=True)
    return written.removeprefix("SELECT").lstrip() if bare else written


def _call_for_nan(node: Any) -> Any:
    """``x = NaN`` as ``IS_NAN(x)``."""
    from sqlglot import exp

    if not isinstance(node, exp.EQ | exp.NEQ) or not isinstance(node.right, exp.Cast):
        return node
    if node.right.this.name != "NaN":
        return node
    test = exp.IsNan(this=node.left)
    return exp.Not(this=test) if isinstance(node, exp.NEQ) else test


def _doubled_backslashes(node: Any) -> Any:
    from sqlglot import exp

    if isinstance(node, exp.Identifier):
        node.set("this", node.name.replace("\\", "\\\\"))
    return node


def _time_by_format(node: Any) -> Any:
    """A quoted time with an explicit format for Oracle, whatever the session's."""
    from sqlglot import exp

    if not isinstance(node, exp.Cast) or not node.this.is_string:
        return node
    text, kind = node.this.name, node.to.this.name
    if kind not in ORACLE_TIMES:
        return node
    form = "YYYY-MM-DD"
    if kind != "DATE":
        form += " HH24:MI:SS" + ".FF6" * ("." in text) + "TZH:TZM" * (kind == ZONED)
    read = exp.Literal.string(text), exp.Literal.string(form)
    return exp.Anonymous(this=ORACLE_TIMES[kind], expressions=list(read))


def _name_star(select: Any) -> None:
    """``SELECT *, x FROM t`` as ``SELECT t.*, x FROM t``, as Oracle requires."""
    from sqlglot import exp

    source = select.args.get("from_") or select.args.get("from")
    first = select.expressions[0]
    if source is not None and isinstance(first, exp.Star):
        table = exp.to_identifier(source.this.alias_or_name, quoted=True)
        if isinstance(source.this, exp.Subquery):
            source.this.set("alias", exp.TableAlias(this=table.copy()))
        first.replace(exp.Column(this=exp.Star(), table=table))
