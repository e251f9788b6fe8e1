"""``clearwood stability``: stability of rules under refits on other samples."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Result, command
from clearwood.cli.fitting import OPTIONS, check_options, fit_rules, read_or_train


@command(
    "Say how far rules stay the same on other samples.",
    *OPTIONS,
    shared.option(
        "--n-refits",
        shared.FROM_2,
        "Bootstrap samples on which the rules are found again.",
        20,
    ),
    shared.flag(
        "--refit-ensemble",
        "Train the ensemble on each of them again, too; for --train.",
    ),
    shared.option("--out", shared.NEW_FILE, "Write all numbers to this JSON file."),
    *shared.PRINTED,
)
def stability(args: Any) -> Result:
    """Say how far the rules of a model stay the same on other samples.

    The rules are those that 'clearwood simplify' finds with the same files and options;
    they are found again on bootstrap samples of the same rows. MODEL is a file, or is
    trained on the table, as there.
    """
    check_options(args)
    if args.refit_ensemble and not args.train:
        raise click.UsageError(
            "--refit-ensemble is for a model that is trained here; leave MODEL out."
        )
    from clearwood.cli.train import make_model
    from clearwood.comparison.stability import stability as found_again

    model, split = read_or_train(args)
    fitted = fit_rules(model, split, args)
    if args.refit_ensemble:
        fresh = make_model(args.train, split.task, args.random_state, args.n_jobs)
        fitted.set_params(estimator=fresh)
    found = found_again(
        fitted,
        split.X,
        split.y,
        n_refits=args.n_refits,
        refit_ensemble=args.refit_ensemble,
        n_jobs=args.n_jobs,
        random_state=args.random_state,
        verbose=args.progress,
    )
    return Result({"target": args.target, **found.as_dict()}, lambda: found)
