"""``clearwood difference``: where the predictions of two models differ."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import read_saved, read_table_for
from clearwood.exceptions import InputError


@command(
    "Describe where the predictions of two models differ.",
    click.Argument(["old"], type=shared.FILE),
    click.Argument(["new"], type=shared.FILE),
    shared.data,
    shared.option("--target", shared.TEXT, "Column of DATA with the true values."),
    shared.option("--by", shared.TEXT, "Column of DATA: differences by its groups."),
    shared.option("--max-rules", shared.FROM_1, "Maximum number of rules.", 5),
    *shared.CELLS,
    shared.random_state,
    shared.report,
    shared.as_json,
    shared.overwrite,
)
def difference(args: Any) -> Answer:
    """Compare the models OLD and NEW on the rows of DATA (CSV or Parquet).

    Prints the share of rows with another prediction, rules for these rows, and with
    --target the errors of both. Models are files of ensembles, or rules and estimators
    saved by Clearwood.
    """
    from clearwood.comparison.difference import difference as compare_models

    old, new = (_model(path) for path in (args.old, args.new))
    frame = read_table_for(new, args, target=args.target, task=new.task)
    y = None
    if args.target is not None:
        if args.target not in frame:
            raise InputError(
                f"--target is {args.target!r}, which is no column of {args.data}; it "
                f"has {list(frame.columns)}."
            )
        y, frame = frame[args.target], frame.drop(columns=args.target)
    found = compare_models(
        old,
        new,
        frame,
        y,
        by=args.by,
        max_rules=args.max_rules,
        random_state=args.random_state,
    )
    summary = {
        "rows": found.n_rows,
        "differences": json.loads(found.to_frame().to_json(orient="records")),
        "rules": None if found.rules is None else json.loads(found.rules.to_json()),
    }
    return Answer(summary, lambda: found, found)


def _model(path: str) -> Any:
    from clearwood.ensembles import read_ensemble
    from clearwood.persistence import is_saved

    return read_saved(path)[1] if is_saved(path) else read_ensemble(path)
