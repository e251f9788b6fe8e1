"""``clearwood difference``: where the predictions of two models differ."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import (
    read_saved,
    read_table_for,
    with_classes,
    with_column_info,
)
from clearwood.exceptions import InputError


@command(
    "Describe where the predictions of two models differ.",
    click.Argument(["old"], type=shared.FILE),
    click.Argument(["new"], type=shared.FILE),
    shared.data,
    shared.option("--target", shared.TEXT, "Column of DATA with the true values."),
    shared.classes,
    shared.option("--by", shared.TEXT, "Column of DATA: differences by its groups."),
    shared.option("--max-rules", shared.FROM_1, "Maximum number of rules.", 5),
    *shared.TABLE,
    shared.random_state,
    shared.report,
    shared.as_json,
    shared.overwrite,
)
def difference(args: Any) -> Answer:
    """Compare the models OLD and NEW on the rows of DATA (CSV or Parquet).

    Prints the share of rows with another prediction, rules for these rows, and with
    --target the errors of both. Models are files of ensembles, or rules and estimators
    saved by Clearwood. The rules may use all columns of DATA.
    """
    from clearwood.comparison.difference import difference as compare_models

    old, new = (_model(path) for path in (args.old, args.new))
    frame, y = _read(old, new, args), None
    if args.target is not None:
        if args.target not in frame:
            raise InputError(
                f"--target is {args.target!r}, which is no column of {args.data}; it "
                f"has {list(frame.columns)}."
            )
        y, frame = frame[args.target], frame.drop(columns=args.target)
    if args.classes:
        old, new = _named(old, new, [] if y is None else y.tolist(), args.classes)
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


def _read(old: Any, new: Any, args: Any) -> Any:
    """Table with the column types of the new model; other columns as for training."""
    from clearwood.cli.train import READS_TEXT, prepare

    frame = read_table_for(
        new,
        args,
        target=args.target,
        task=new.task,
        drop=args.drop,
        categories=args.categories,
    )
    others = X = frame.drop(columns=args.target or [], errors="ignore")
    for model in (old, new):
        used = getattr(model, "used_features", None)
        names = model.features.as_in(X, used).names
        others = others.drop(columns=list(names), errors="ignore")
    # Rules may use the others, too, which must be such as an ensemble could use.
    frame = frame.assign(**prepare(others, READS_TEXT))
    return with_column_info(frame, args.column_info)


def _named(old: Any, new: Any, labels: list[Any], names: list[str]) -> list[Any]:
    """Both models, of which the ensembles get the classes of ``--classes``."""
    from clearwood.ensembles import TreeEnsemble

    models = [old, new]
    if not any(isinstance(one, TreeEnsemble) for one in models):
        raise click.UsageError("--classes is for a model file.")
    theirs = [one.classes for one in models if not isinstance(one, TreeEnsemble)]
    known = {*labels, *(label for classes in theirs for label in classes)}
    return [
        with_classes(one, names, known) if isinstance(one, TreeEnsemble) else one
        for one in models
    ]


def _model(path: str) -> Any:
    from clearwood.ensembles import read_ensemble
    from clearwood.persistence import is_saved

    return read_saved(path)[1] if is_saved(path) else read_ensemble(path)
