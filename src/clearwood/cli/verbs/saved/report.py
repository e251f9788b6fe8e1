"""``clearwood report``: HTML page about saved rules."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import command, write_page
from clearwood.cli.inputs import NewRows, numbered_row, read_new_rows, read_saved


@command(
    "Write a page about rules from a file.",
    shared.saved,
    click.Argument(["data"], required=False, type=shared.FILE_OR_PIPE),
    shared.option("--out", shared.NEW_FILE, "The HTML file to write.", required=True),
    shared.truth,
    shared.model,
    shared.classes,
    shared.option(
        "--new-to",
        click.Choice(["rules", "model"]),
        "To whom the rows of DATA are new: to the rules alone, or to the model, too. "
        "The page says so.",
    ),
    shared.positive,
    shared.threshold,
    shared.option("--row", shared.FROM_1, "Explain this row of DATA, too, from 1."),
    shared.columns,
    shared.option("--title", shared.TEXT, "Title of the page."),
    *shared.CELLS,
    shared.force,
    shared.quiet,
)
def report(asked: Any) -> None:
    """Write a page about the RULES of a file.

    With rows of DATA (CSV or Parquet) all its numbers are of these: with their target
    how often rules are right, with a MODEL where they differ from it.
    """
    from clearwood._words.labels import check_names
    from clearwood.cli.tables.columns_file import read_columns_file

    check_names((asked.title,), "--title")
    of_rows = "target model positive threshold row new_to"
    shared.only_for("rows", asked.data, of_rows, "; name the table, too")
    result, rules = read_saved(asked.rules)
    found = read_new_rows(rules, asked) if asked.data else NewRows()
    said = None if asked.columns is None else read_columns_file(asked.columns)
    write_page(
        result,
        asked.out,
        asked,
        X=found.X,
        y=found.y,
        teacher=found.model,
        title=asked.title,
        column_info=said,
        positive=asked.positive,
        threshold=asked.threshold,
        new_to=asked.new_to,
        row=None if asked.row is None else numbered_row(found.X, asked),
    )
