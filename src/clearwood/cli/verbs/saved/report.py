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
    shared.true_target,
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
def report(args: Any) -> None:
    """Write a page about the RULES of a file.

    With rows of DATA (CSV or Parquet) all its numbers are of these: with their target
    how often rules are right, with a MODEL where they differ from it.
    """
    from clearwood._words.labels import check_names
    from clearwood.cli.tables.columns_file import read_columns_file

    check_names((args.title,), "--title")
    of_rows = "target model pos_label threshold row held_out_from"
    shared.only_for("rows", args.data, of_rows, "; name the table, too")
    result, rules = read_saved(args.rules)
    found = read_new_rows(rules, args) if args.data else NewRows()
    column_info = (
        None if args.column_info is None else read_columns_file(args.column_info)
    )
    write_page(
        result,
        args.out,
        args,
        X=found.X,
        y=found.y,
        model=found.model,
        title=args.title,
        column_info=column_info,
        pos_label=args.pos_label,
        threshold=args.threshold,
        held_out_from=args.held_out_from,
        row=None if args.row is None else numbered_row(found.X, args),
    )
