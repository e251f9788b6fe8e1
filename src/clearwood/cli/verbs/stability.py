"""``clearwood stability``: stability of rules under refits on other samples."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.fitting import OPTIONS, check_options, fit_rules, read_or_train


@command(
    "Measure the stability of rules under resampling.",
    *OPTIONS,
    shared.option(
        "--n-refits",
        shared.FROM_2,
        "Number of bootstrap samples on which the rules are refitted.",
        20,
    ),
    shared.flag(
        "--refit-ensemble",
        "Refit also the ensemble on each sample; for --train.",
    ),
    shared.out(shared.NUMBERS),
    shared.as_json,
    shared.overwrite,
)
def stability(args: Any) -> Answer:
    """Measure the stability of the rules of a model under resampling.

    The rules of 'clearwood simplify' with the same files and options are refitted on
    bootstrap samples of the rows. MODEL is a file, or is trained on the table.
    """
    check_options(args)
    if args.refit_ensemble and not args.train:
        raise click.UsageError(
            "--refit-ensemble requires an ensemble trained here; leave MODEL out."
        )
    from clearwood.cli.train import make_model
    from clearwood.comparison.stability import stability as measure_stability

    model, split = read_or_train(args)
    fitted = fit_rules(model, split, args)
    if args.refit_ensemble:
        fresh = make_model(args.train, split.task, args.random_state, args.n_jobs)
        fitted.set_params(estimator=fresh)
    result = measure_stability(
        fitted,
        split.X,
        split.y,
        groups=split.groups,
        n_refits=args.n_refits,
        refit_ensemble=args.refit_ensemble,
        n_jobs=args.n_jobs,
        random_state=args.random_state,
        verbose=args.progress,
    )
    return Answer({"target": args.target, **result.as_dict()}, lambda: result)
