"""``clearwood compare``: number of rules against error, for all methods."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import command, json_text, show, write_out, write_page
from clearwood.cli.errors import INTERRUPTED, plain_warnings
from clearwood.cli.inputs import (
    check_files,
    read_labelled,
    read_model_and_table,
    split_rows,
)
from clearwood.exceptions import InputError
from clearwood.simplifiers import METHODS


@command(
    "Find out how many rules are needed, by which method.",
    shared.files,
    shared.target,
    shared.train,
    shared.classes,
    shared.option(
        "--methods",
        shared.TEXT,
        f"all, or some of {', '.join(METHODS)}, and where they are installed "
        f"{', '.join(shared.PEERS)}: --methods list,tree",
        "all",
    ),
    shared.max_rules,
    shared.option(
        "--cv", shared.FROM_2, "Parts of the rows, each of which is held out once.", 5
    ),
    shared.option(
        "--n-refits",
        shared.FROM_0,
        "Bootstrap samples that tell how stable the rules are; 0 for none.",
        5,
    ),
    shared.choice(
        "--scoring",
        "log_loss error",
        "By what rules are enough: log_loss: how near their probabilities are to the "
        "model's; error: how often they are wrong. Of numbers the error decides.",
    ),
    shared.option(
        "--time-limit",
        click.FloatRange(min=0, min_open=True),
        "Seconds for one method, after which it is stopped.",
        120.0,
    ),
    shared.drop,
    shared.categories,
    shared.column_info,
    shared.na,
    shared.test_size,
    shared.sep,
    shared.encoding,
    shared.task,
    shared.option(
        "--best --n-rules best",
        shared.FROM_1,
        "Show and write the rules with least error among those of so many lines at "
        "most. Without it: the fewest within one standard error of the best --scoring.",
    ),
    shared.option("--out", shared.NEW_FILE, "Write these rules to this JSON file."),
    shared.option("--report", shared.NEW_FILE, "Write an HTML page about all."),
    shared.random_state,
    shared.n_jobs("Processes"),
    *shared.PRINTED,
)
def compare(asked: Any) -> None:
    """Find out how many rules a model needs, and which method finds them.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text) or CatBoost (JSON); or
    name an ensemble to train with --train, which is then trained afresh without the
    rows that are held out. DATA is a table (CSV or Parquet). What is on the frontier of
    few lines and little error goes to the standard output, with the rules to take; the
    numbers behind these are of rows that took no part in the comparison.

    Ctrl-C ends the work and shows what is done.
    """
    check_files(asked)
    model, split, fit = (_unfitted if asked.train else _read)(asked)
    with plain_warnings(asked.say, ends=False) as caught:
        found = _compare(model, split, asked)
        said = fit().predict(split.X_test)
        frontier = found.described_on(split.X_test, split.y_test, model=said)
    # Written first: there may be no rules of this size, or none that can be saved.
    told = {"target": asked.target, **frontier.as_dict()}
    show(json_text(told) if asked.as_json else frontier)
    if asked.report:
        with plain_warnings(asked.say):
            write_page(frontier, asked.report, asked)
    chosen = _chosen(frontier, asked.best)
    if chosen is not None and not asked.as_json:
        lines = f"{chosen.n_rules} line{'s' * (chosen.n_rules != 1)}"
        show(
            f"\nThe rules of {chosen.method} with {lines}, their numbers of "
            f"{frontier.n_described:,} rows held out from all of this:\n{chosen.text}"
        )
    if asked.out:
        if chosen is None:
            raise InputError(
                f"There are no rules for {asked.out}: only peers found some."
            )
        write_out(_chosen(found, asked.best).rules.to_json(), asked)
    if caught.interrupted:
        sys.exit(INTERRUPTED)


def _unfitted(asked: Any) -> Any:
    """Unfitted ensemble, training and other rows, and a function to fit it to all."""
    from clearwood.cli.train import make_model, train

    name, seed, jobs = asked.train, asked.random_state, asked.n_jobs
    split = split_rows(read_labelled(asked, name), asked)
    model = make_model(name, split.task, seed, jobs)
    return model, split, lambda: train(name, split, seed, jobs)


def _read(asked: Any) -> Any:
    model, table = read_model_and_table(asked)
    return model, split_rows(table, asked), lambda: model


def _compare(model: Any, split: Any, asked: Any) -> Any:
    import pandas as pd

    from clearwood.comparison import compare

    return compare(
        model,
        split.X,
        pd.Series(split.y, name=asked.target),
        methods="all" if asked.methods == "all" else shared.parted(asked.methods),
        max_rules=asked.max_rules,
        cv=asked.cv,
        n_refits=asked.n_refits,
        scoring=asked.scoring,
        time_limit=asked.time_limit,
        n_jobs=asked.n_jobs,
        random_state=asked.random_state,
        verbose=asked.progress,
    )


def _chosen(frontier: Any, most: int | None) -> Any:
    """Point whose rules are shown and written; None where only peers succeeded."""
    if all(point.rules is None for point in frontier.points):
        return None
    return frontier.enough() if most is None else frontier.best_point(most)
