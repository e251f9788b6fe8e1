"""``clearwood export``: saved rules as SQL, LaTeX, PMML, ONNX, Python or a prompt."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import read_saved

# A literal, because the module that defines them loads numpy.
DIALECTS = (
    *("standard", "duckdb", "mssql", "mysql", "postgresql", "sqlite"),
    *("bigquery", "clickhouse", "databricks", "oracle", "redshift", "snowflake"),
    "spark",
)


@command(
    "Export saved rules as SQL, LaTeX, PMML, ONNX, Python or a prompt.",
    shared.saved,
    shared.option(
        "--to kind",
        click.Choice(["sql", "latex", "onnx", "pmml", "prompt", "python"]),
        "Output language.",
        required=True,
    ),
    shared.choice(
        "--dialect",
        DIALECTS,
        "SQL dialect; SQLite, PostgreSQL and DuckDB read the standard.",
    ),
    shared.option(
        "--table",
        shared.TEXT,
        "Table of a SELECT statement; without it, an SQL expression.",
    ),
    shared.flag(
        "--probabilities", "One SQL column with the probability of each class."
    ),
    shared.option("--name", shared.TEXT, "Name of the Python function.", "predict"),
    shared.option(
        "--max-tokens",
        shared.FROM_1,
        "Maximum length of a prompt; states what it lacks.",
    ),
    shared.out("the rules"),
    shared.overwrite,
)
def export(args: Any) -> Answer:
    """Export the RULES of a file as SQL, LaTeX, PMML, ONNX, Python or a prompt.

    SQL predicts inside a database; Python is a function without dependencies; PMML is
    XML and ONNX a binary file for other runtimes; LaTeX is a table for print; a prompt
    states the rules for a language model.
    """
    kind, other = args.kind, f", not {args.kind}"
    sql_only = "dialect table probabilities"
    shared.only_for("--to sql", kind == "sql", sql_only, other)
    shared.only_for("--to python", kind == "python", "name", other)
    shared.only_for("--to prompt", kind == "prompt", "max_tokens", other)

    if kind == "onnx" and not args.out and sys.stdout.isatty():
        raise click.UsageError(
            "--to onnx writes a binary file; give --out FILE, or redirect the output."
        )

    from clearwood._words.labels import check_names

    check_names((args.table,), "--table")
    _, rules = read_saved(args.rules)
    if kind == "sql":
        text = rules.to_sql(
            args.dialect, table=args.table, probabilities=args.probabilities
        )
    elif kind == "python":
        text = rules.to_python(args.name)
    elif kind == "prompt":
        text = rules.to_prompt(args.max_tokens)
    elif kind == "onnx":
        text = rules.to_onnx().SerializeToString()
    else:
        text = {"latex": rules.to_latex, "pmml": rules.to_pmml}[kind]()
    return Answer(out=lambda: text, prints_out=True)
