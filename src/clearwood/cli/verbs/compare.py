"""``clearwood compare``: how many rules are needed, and which method finds them."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import (
    INTERRUPTED,
    check_outputs,
    common_options,
    plain_warnings,
    show,
    speaker,
)
from clearwood.cli.inputs import (
    check_files,
    json_text,
    read_model_and_table,
    read_training_table,
)
from clearwood.simplifiers import METHODS


@click.command(short_help="Find out how many rules are needed, by which method.")
@shared.files
@shared.target
@shared.train
@shared.classes
@click.option(
    "--methods",
    default="all",
    show_default=True,
    help=f"all, or some of {', '.join(METHODS)}, and where they are installed "
    f"{', '.join(shared.PEERS)}: --methods list,tree",
)
@shared.max_rules
@click.option(
    "--cv",
    type=click.IntRange(min=2),
    default=5,
    show_default=True,
    help="Parts of the rows, each of which is held out once.",
)
@click.option(
    "--refits",
    type=click.IntRange(min=0),
    default=5,
    show_default=True,
    help="Bootstrap samples that tell how stable the rules are; 0 for none.",
)
@click.option(
    "--scoring",
    type=click.Choice(["log_loss", "error"]),
    default="log_loss",
    show_default=True,
    help="By what rules are enough: log_loss: how near their probabilities are to the "
    "model's; error: how often they are wrong. Of numbers the error decides.",
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    default=120.0,
    show_default=True,
    help="Seconds for one method, after which it is stopped.",
)
@shared.drop
@shared.categories
@shared.columns
@shared.na
@shared.test_size
@shared.sep
@shared.encoding
@shared.task
@click.option(
    "--best",
    "--n-rules",
    "best",
    type=click.IntRange(min=1),
    help="Show and write the rules with least error among those of so many lines at "
    "most. Without it: the fewest within one standard error of the best --scoring.",
)
@click.option("--out", type=click.Path(), help="Write these rules to this JSON file.")
@click.option("--report", type=click.Path(), help="Write an HTML page about all.")
@shared.seed
@click.option("--jobs", type=int, help="Processes to use; the result does not change.")
@shared.as_json
@shared.force
@shared.quiet
@common_options
def compare(files: tuple[str, ...], **options: Any) -> None:
    """Find out how many rules a model needs, and which method finds them.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text) or CatBoost (JSON); or
    name an ensemble to train with --train, which is then trained afresh without the
    rows that are held out. DATA is a table (CSV or Parquet). What is on the frontier of
    few lines and little error goes to the standard output, with the rules to take; the
    numbers behind these are of rows that took no part in the comparison.

    Ctrl-C ends the work and shows what is done.
    """
    check_files("compare", files, options)
    if options["jobs"] == 0:
        raise click.UsageError("--jobs must not be 0; -1 means all cores.")
    say = speaker(options["quiet"])
    # Before anything that takes long.
    check_outputs([options["out"], options["report"]], list(files), options["force"])
    model, split, fit = (_unfitted if options["train"] else _read)(files, options, say)
    with plain_warnings(say, ends=False) as caught:
        found = _compare(model, split, options)
        said = fit().predict(split.X_test)
        frontier = found.described_on(split.X_test, split.y_test, teacher=said)
    # First what was found: there may be no rules so short, or for a file.
    as_json = options["as_json"]
    told = {"target": options["target"], **frontier.as_dict()} if as_json else None
    show(json_text(told) if as_json else frontier)
    with plain_warnings(say):
        _write_page(frontier, options, say)
    chosen = _chosen(frontier, options["best"])
    if chosen is not None and not as_json:
        lines = f"{chosen.n_rules} line{'s' * (chosen.n_rules != 1)}"
        show(
            f"\nThe rules of {chosen.method} with {lines}, their numbers of "
            f"{frontier.n_described:,} rows held out from all of this:\n{chosen.text}"
        )
    _write_rules(_chosen(found, options["best"]), options, say)
    if caught.interrupted:
        sys.exit(INTERRUPTED)


def _unfitted(files: tuple[str, ...], options: dict[str, Any], say: Any) -> Any:
    """An ensemble to be fitted, rows for it and others, and how to fit it to all."""
    from clearwood.cli.train import hold_out, make_model, train

    name, seed, jobs = options["train"], options["seed"], options["jobs"]
    table = read_training_table(files[0], name, options, say)
    split = hold_out(table.X, table.y, table.task, options["test_size"], seed)
    model = make_model(name, table.task, seed, jobs)
    return model, split, lambda: train(name, split, table.task, seed, jobs)


def _read(files: tuple[str, ...], options: dict[str, Any], say: Any) -> Any:
    from clearwood.cli.train import hold_out

    model, table = read_model_and_table(files[0], files[1], options, say)
    share, seed = options["test_size"], options["seed"]
    return model, hold_out(table.X, table.y, table.task, share, seed), lambda: model


def _compare(model: Any, split: Any, options: dict[str, Any]) -> Any:
    import pandas as pd

    from clearwood.comparison import compare

    methods = options["methods"]
    return compare(
        model,
        split.X,
        pd.Series(split.y, name=options["target"]),
        methods=methods if methods == "all" else shared.names(methods),
        max_rules=options["max_rules"],
        cv=options["cv"],
        n_refits=options["refits"],
        scoring=options["scoring"],
        time_limit=options["time_limit"],
        n_jobs=options["jobs"],
        random_state=options["seed"],
        verbose=sys.stderr.isatty() and not options["quiet"],
    )


def _chosen(frontier: Any, most: int | None) -> Any:
    """The point whose rules are shown and written; None where only peers did it."""
    if all(point.rules is None for point in frontier.points):
        return None
    return frontier.enough() if most is None else frontier.best_point(most)


def _write_page(frontier: Any, options: dict[str, Any], say: Any) -> None:
    from clearwood.reporting import report

    if options["report"]:
        report(frontier, options["report"], overwrite=options["force"])
        say(f"wrote {options['report']}")


def _write_rules(chosen: Any, options: dict[str, Any], say: Any) -> None:
    from clearwood.codec.files import write_text
    from clearwood.exceptions import InputError

    out = options["out"]
    if out and chosen is None:
        raise InputError(f"There are no rules for {out}: only peers found some.")
    if out:
        write_text(out, chosen.rules.to_json(), overwrite=options["force"])
        say(f"wrote {out}")
