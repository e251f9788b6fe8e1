"""``clearwood stability``: how far rules stay the same on other samples."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import (
    check_outputs,
    common_options,
    plain_warnings,
    show,
    speaker,
)
from clearwood.cli.finding import (
    check_finding,
    find_rules,
    finding_options,
    read_or_train,
)
from clearwood.cli.inputs import json_text


@click.command(short_help="Say how far rules stay the same on other samples.")
@finding_options
@click.option(
    "--refits",
    type=click.IntRange(min=2),
    default=20,
    show_default=True,
    help="Bootstrap samples on which the rules are found again.",
)
@click.option(
    "--refit-ensemble",
    is_flag=True,
    help="Train the ensemble on each of them again, too; for --train.",
)
@click.option("--out", type=click.Path(), help="Write all numbers to this JSON file.")
@shared.as_json
@shared.force
@shared.quiet
@common_options
def stability(files: tuple[str, ...], **options: Any) -> None:
    """Say how far the rules of a model stay the same on other samples.

    The rules are those that 'clearwood simplify' finds with the same files and options;
    they are found again on bootstrap samples of the same rows. MODEL is a file, or is
    trained on the table, as there.
    """
    check_finding("stability", files, options)
    out, force = options["out"], options["force"]
    check_outputs([out], list(files), force)
    if options["refit_ensemble"] and not options["train"]:
        raise click.UsageError(
            "--refit-ensemble is for a model that is trained here; leave MODEL out."
        )
    from clearwood.cli.train import make_model
    from clearwood.codec.files import write_text
    from clearwood.comparison.stability import stability as found_again

    say = speaker(options["quiet"])
    model, split, task = read_or_train(files, options, say)
    with plain_warnings(say):
        fitted = find_rules(model, split, task, options)
        if options["refit_ensemble"]:
            fresh = make_model(options["train"], task, options["seed"], options["jobs"])
            fitted.set_params(estimator=fresh)
        found = found_again(
            fitted,
            split.X,
            split.y,
            n_refits=options["refits"],
            refit_ensemble=options["refit_ensemble"],
            n_jobs=options["jobs"],
            random_state=options["seed"],
            verbose=sys.stderr.isatty() and not options["quiet"],
        )
    told = {"target": options["target"], **found.as_dict()}
    if out:
        write_text(out, json_text(told), overwrite=force)
        say(f"wrote {out}")
    show(json_text(told) if options["as_json"] else found)
