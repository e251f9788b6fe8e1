"""``clearwood check``: summary and validation of a model file."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.errors import FAILED


@command(
    "Describe and validate a model file.",
    click.Argument(["model"], type=shared.FILE),
    shared.as_json,
)
def check(args: Any) -> Answer:
    """Describe and validate the model file MODEL.

    XGBoost's JSON and UBJSON, LightGBM's text, CatBoost's JSON, PMML, trees of R in CSV
    and files saved by Clearwood are read by validating parsers that never run code from
    a file. The exit code is 1 if the file is invalid.
    """
    from clearwood.persistence import check as check_model

    report = check_model(args.model)
    exit_code = 0 if report.sound else FAILED
    return Answer(report.as_dict(), lambda: report, exit_code=exit_code)
