"""``clearwood explore``: first look at a table, with models and anomalies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.errors import INTERRUPTED, plain_warnings


@command(
    "Take a first look at a table: columns, readable models, anomalies.",
    click.Argument(["data"], type=shared.FILE),
    shared.option("--target", shared.TEXT, "Column to predict; without it no models."),
    shared.option(
        "--model",
        shared.FILE,
        "Model file, scored next to the models on the same rows.",
    ),
    shared.held_out_from("model"),
    shared.option(
        "--seconds",
        click.FloatRange(min=0, min_open=True),
        "Time after which no further model is fitted.",
        30.0,
    ),
    shared.random_state,
    shared.report,
    shared.as_json,
    shared.overwrite,
)
def explore(args: Any) -> Answer:
    """Take a first look at a table: columns, readable models, anomalies.

    DATA is a table (CSV or Parquet). Percentages, decimal commas, dates and units are
    parsed, codes such as 999 are read as missing, identifiers are set aside. Prints an
    overview of the columns; with --target, readable models and a gradient boosting on
    held-out rows, and the recommended one in full; clusters of rows and anomalies.

    Ctrl-C ends the fits and prints the results so far.
    """
    from clearwood.exploration import explore as explore_table

    shared.only_for("--model", args.model, "held_out_from")
    with plain_warnings(args.log, ends=False) as caught:
        found = explore_table(
            args.data,
            args.target,
            args.model,
            args.seconds,
            held_out_from=args.held_out_from,
            random_state=args.random_state,
            verbose=args.progress,
        )
    title = f"Exploration of {Path(args.data).name}"
    return Answer(
        found.as_dict(),
        lambda: found,
        found,
        page={"title": title},
        exit_code=INTERRUPTED if caught.interrupted else 0,
    )
