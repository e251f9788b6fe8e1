"""``clearwood export``: rules from a file as SQL, LaTeX or Python."""

from __future__ import annotations

import click
from click.core import ParameterSource

from clearwood.cli import options as shared
from clearwood.cli.errors import check_outputs, common_options
from clearwood.cli.inputs import read_saved

# Written out, because the module that knows them loads numpy.
DIALECTS = (
    *("standard", "duckdb", "mssql", "mysql", "postgresql", "sqlite"),
    *("bigquery", "clickhouse", "oracle", "redshift", "snowflake", "spark"),
)
FORMATS = ("sql", "latex", "python")
ONLY_FOR = {
    "dialect": "sql",
    "table": "sql",
    "probabilities": "sql",
    "name": "python",
}


@click.command(short_help="Write rules from a file as SQL, LaTeX or Python.")
@shared.saved
@click.option(
    "--to", "kind", type=click.Choice(FORMATS), required=True, help="What to write."
)
@click.option(
    "--dialect",
    type=click.Choice(DIALECTS),
    default="standard",
    show_default=True,
    help="Whose SQL; SQLite, PostgreSQL and DuckDB read the standard.",
)
@click.option("--table", help="Table that the SQL selects from; else an expression.")
@click.option("--probabilities", is_flag=True, help="SQL with a column per class.")
@click.option(
    "--name", default="predict", show_default=True, help="Name of the Python function."
)
@click.option("--out", type=click.Path(), help="Write to this file.")
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@common_options
def export(
    rules: str,
    kind: str,
    dialect: str,
    table: str | None,
    probabilities: bool,
    name: str,
    out: str | None,
    force: bool,
) -> None:
    """Write the RULES of a file for another tool.

    SQL predicts inside a database, Python without a library; LaTeX is a table to
    print.
    """
    _check_usage(kind)
    check_outputs([out], [rules], force)

    from clearwood._words.labels import check_names
    from clearwood.codec.files import write_text

    check_names((table,), "--table")
    _, rule_set = read_saved(rules)
    if kind == "sql":
        text = rule_set.to_sql(dialect, table=table, probabilities=probabilities)
    else:
        text = rule_set.to_latex() if kind == "latex" else rule_set.to_python(name)
    if out:
        write_text(out, text, overwrite=force)
    else:
        click.echo(text, nl=False)


def _check_usage(kind: str) -> None:
    given = click.get_current_context().get_parameter_source
    for option, where in ONLY_FOR.items():
        if kind != where and given(option) is not ParameterSource.DEFAULT:
            raise click.UsageError(f"--{option} is for --to {where}, not {kind}.")
