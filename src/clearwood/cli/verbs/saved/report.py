"""``clearwood report``: HTML page about saved rules."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import estimates, survival
from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import NewRows, numbered_row, read_new_rows, read_saved


@command(
    "Write an HTML report on saved rules.",
    shared.saved,
    click.Argument(["data"], required=False, type=shared.FILE_OR_PIPE),
    shared.out("the HTML page", "report", required=True),
    shared.true_target,
    *survival.TIMES,
    *estimates.TREATED,
    shared.model,
    shared.classes,
    shared.held_out_from("rules", "model"),
    shared.pos_label,
    shared.threshold,
    shared.row,
    shared.column_info,
    shared.option("--title", shared.TEXT, "Title of the page."),
    *shared.CELLS,
    shared.overwrite,
)
def report(args: Any) -> Answer:
    """Write an HTML report on the RULES of a file.

    With DATA (CSV or Parquet) all statistics are on its rows: the error if they have
    the target, and the disagreement with a --model.
    """
    from clearwood._words.labels import check_names
    from clearwood.cli.tables.columns_file import read_columns_file

    check_names((args.title,), "--title")
    of_rows = "target time event treatment propensity model pos_label threshold row "
    of_rows += "held_out_from"
    shared.only_for("rows", args.data, of_rows, "; pass a table, too")
    result, rules = read_saved(args.rules)
    is_effect = rules.task == "effect"
    shared.only_for("rules for effects", is_effect, "treatment propensity")
    new_rows = read_new_rows(rules, args) if args.data else NewRows()
    info = None if args.column_info is None else read_columns_file(args.column_info)
    row = None if args.row is None else numbered_row(new_rows.X, args)
    options = {
        name: getattr(args, name)
        for name in ("title", "pos_label", "threshold", "held_out_from")
    }
    page = {**new_rows._asdict(), **options, "column_info": info, "row": row}
    return Answer(fitted=result, page=page)
