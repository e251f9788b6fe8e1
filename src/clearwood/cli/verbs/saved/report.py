"""``clearwood report``: a page about rules from a file."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import check_outputs, common_options, plain_warnings, speaker
from clearwood.cli.inputs import NewRows, read_new_rows, read_saved

OF_ROWS = ("target", "model", "positive", "threshold", "row", "new_to")
"""Options that say something of rows."""


@click.command(short_help="Write a page about rules from a file.")
@shared.saved
@click.argument(
    "data",
    required=False,
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
)
@click.option("--out", type=click.Path(), required=True, help="The HTML file to write.")
@shared.truth
@shared.model
@shared.classes
@click.option(
    "--new-to",
    type=click.Choice(["rules", "model"]),
    help="To whom the rows of DATA are new: to the rules alone, or to the model, too. "
    "The page says so.",
)
@shared.positive
@shared.threshold
@click.option(
    "--row", type=click.IntRange(min=1), help="Explain this row of DATA, too, from 1."
)
@shared.columns
@click.option("--title", help="Title of the page.")
@shared.na
@shared.sep
@shared.encoding
@shared.force
@shared.quiet
@common_options
def report(rules: str, data: str | None, **options: Any) -> None:
    """Write a page about the RULES of a file.

    With rows of DATA (CSV or Parquet) all its numbers are of these: with their target
    how often rules are right, with a MODEL where they differ from it.
    """
    from clearwood._words.labels import check_names
    from clearwood.cli.tables.columns_file import read_columns_file
    from clearwood.reporting import report as write_page

    say = speaker(options["quiet"])
    out, columns = options["out"], options["columns"]
    given = [path for path in (rules, data, options["model"], columns) if path]
    check_outputs([out], given, options["force"])
    check_names((options["title"],), "--title")
    result, rule_set = read_saved(rules)
    with plain_warnings(say):
        if data is None:
            _check_alone(options)
            found = NewRows(None, None, None)
        else:
            found = read_new_rows(rule_set, data, options, say)
        write_page(
            result,
            out,
            X=found.X,
            y=found.y,
            teacher=found.model,
            title=options["title"],
            column_info=None if columns is None else read_columns_file(columns),
            positive=options["positive"],
            threshold=options["threshold"],
            new_to=options["new_to"],
            row=None if options["row"] is None else _row(found.X, data, options["row"]),
            overwrite=options["force"],
        )
    say(f"wrote {out}")


def _check_alone(options: dict[str, Any]) -> None:
    for name in OF_ROWS:
        if options[name] is not None:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for rows; name the table, too.")


def _row(X: Any, data: Any, row: int) -> Any:
    from clearwood.exceptions import InputError

    if row > len(X):
        raise InputError(f"--row is {row}, but {data} has {len(X)} row(s).")
    return X.iloc[[row - 1]]
