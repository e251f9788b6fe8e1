"""``clearwood check``: summary and validation of a model file."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import command, json_text, show
from clearwood.cli.errors import FAILED


@command(
    "Describe and validate a model file.",
    click.Argument(["model"], type=shared.FILE),
    shared.as_json,
)
def check(args: Any) -> None:
    """Describe and validate the model file MODEL.

    XGBoost's JSON and UBJSON, LightGBM's text, CatBoost's JSON and files saved by
    Clearwood are read by validating parsers that never run code from a file. The exit
    code is 1 if the file is invalid.
    """
    from clearwood.persistence import check as check_model

    found = check_model(args.model)
    show(json_text(found.as_dict()) if args.as_json else found)
    if not found.sound:
        sys.exit(FAILED)
