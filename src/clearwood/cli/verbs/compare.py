"""``clearwood compare``: number of rules against error, for all methods."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.errors import INTERRUPTED, plain_warnings
from clearwood.cli.fitting import read_or_train
from clearwood.cli.inputs import check_files
from clearwood.exceptions import InputError
from clearwood.simplifiers import METHODS


@command(
    "Compare methods and numbers of rules.",
    shared.files,
    shared.target,
    shared.train,
    shared.classes,
    shared.option(
        "--methods",
        shared.TEXT,
        f"all, or some of {', '.join(METHODS)}, and, if installed, "
        f"{', '.join(shared.PEERS)}: --methods list,tree",
        "all",
    ),
    shared.max_rules,
    shared.option("--cv", shared.FROM_2, "Number of cross-validation folds.", 5),
    shared.option(
        "--n-refits",
        shared.FROM_0,
        "Bootstrap samples for the stability of the rules; 0 for none.",
        5,
    ),
    shared.choice(
        "--scoring",
        "log_loss error",
        "Criterion for the number of rules: the log loss of their probabilities "
        "against the model's, or their error; in regression always the error.",
    ),
    shared.option(
        "--time-limit",
        click.FloatRange(min=0, min_open=True),
        "Maximum seconds per method.",
        120.0,
    ),
    *shared.TABLE,
    shared.groups,
    shared.test_size,
    shared.task,
    shared.option(
        "--best --n-rules best",
        shared.FROM_1,
        "Select the rules of least error among those of at most this number. Default: "
        "the fewest rules within one standard error of the best --scoring.",
    ),
    shared.random_state,
    shared.n_jobs("Processes"),
    shared.out("the selected rules as JSON"),
    shared.report,
    shared.as_json,
    shared.overwrite,
)
def compare(args: Any) -> Answer:
    """Compare methods and numbers of rules by cross-validation.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text), CatBoost (JSON), PMML or
    R (CSV); without it the ensemble --train is trained in each fold. DATA is a table
    (CSV or Parquet). Prints the Pareto frontier of number of rules and error, and the
    selected rules with their statistics on rows that took no part in the comparison.

    Ctrl-C ends the comparison and prints the results so far.
    """
    from clearwood.rules.serialise import file_text

    check_files(args)
    model, split = read_or_train(args, sample_large=False)
    with plain_warnings(args.log, ends=False) as caught:
        compared = _compare(model, split, args)
        predicted = model.predict(split.X_test)
        frontier = compared.described_on(split.X_test, split.y_test, model=predicted)

    chosen = error = None
    try:
        chosen = _chosen(frontier, args.best)
    except InputError as failure:  # There are no rules of this size.
        error = failure
    if args.out and not (chosen or error):
        error = InputError(
            f"No rules for {args.out}: only methods of other libraries succeeded."
        )
    return Answer(
        {"target": args.target, **frontier.as_dict()},
        lambda: _text(frontier, chosen),
        fitted=frontier,
        out=lambda: file_text(_chosen(compared, args.best).rules),
        exit_code=INTERRUPTED if caught.interrupted else 0,
        error=error,
    )


def _text(frontier: Any, chosen: Any) -> str:
    if chosen is None:
        return str(frontier)
    lines = f"{chosen.n_rules} line{'s' * (chosen.n_rules != 1)}"
    return (
        f"{frontier}\n\nRules of {chosen.method} with {lines}, with statistics on "
        f"{frontier.n_described:,} rows held out from the comparison:\n{chosen.text}"
    )


def _compare(model: Any, split: Any, args: Any) -> Any:
    import pandas as pd

    from clearwood.cli.train import make_model
    from clearwood.comparison import compare

    if args.train:  # Anew in each fold.
        model = make_model(args.train, split.task, args.random_state, args.n_jobs)
    return compare(
        model,
        split.X,
        pd.Series(split.y, name=args.target),
        methods="all" if args.methods == "all" else shared.parted(args.methods),
        max_rules=args.max_rules,
        cv=args.cv,
        n_refits=args.n_refits,
        scoring=args.scoring,
        time_limit=args.time_limit,
        groups=split.groups,
        n_jobs=args.n_jobs,
        random_state=args.random_state,
        verbose=args.progress,
    )


def _chosen(frontier: Any, most: int | None) -> Any:
    """Point whose rules are shown and written; None where only peers succeeded."""
    if all(point.rules is None for point in frontier.points):
        return None
    return frontier.enough() if most is None else frontier.best_point(most)
