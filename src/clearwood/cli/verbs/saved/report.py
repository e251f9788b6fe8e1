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
        "--held-out-from",
        click.Choice(["rules", "model"]),
        "What the rows of DATA were held out from: the search for the rules, or the "
        "training of the model, too.",
    ),
    shared.pos_label,
    shared.threshold,
    shared.option("--row", shared.FROM_1, "Explain this row of DATA, too, from 1."),
    shared.column_info,
    shared.option("--title", shared.TEXT, "Title of the page."),
    *shared.CELLS,
    shared.overwrite,
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
    of_rows = "target model pos_label threshold row held_out_from"
    shared.only_for("rows", asked.data, of_rows, "; name the table, too")
    result, rules = read_saved(asked.rules)
    found = read_new_rows(rules, asked) if asked.data else NewRows()
    said = None if asked.column_info is None else read_columns_file(asked.column_info)
    write_page(
        result,
        asked.out,
        asked,
        X=found.X,
        y=found.y,
        model=found.model,
        title=asked.title,
        column_info=said,
        pos_label=asked.pos_label,
        threshold=asked.threshold,
        held_out_from=asked.held_out_from,
        row=None if asked.row is None else numbered_row(found.X, asked),
    )
