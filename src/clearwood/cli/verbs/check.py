"""``clearwood check``: summary and validation of a model file."""

from __future__ import annotations

import sys
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import command, json_text, show
from clearwood.cli.errors import FAILED


@command(
    "Say what is in a file, and whether it is sound.",
    click.Argument(["model"], type=shared.FILE),
    shared.as_json,
)
def check(args: Any) -> None:
    """Say what is in the file MODEL and whether it is sound.

    Reads XGBoost's JSON and UBJSON, LightGBM's text, CatBoost's JSON and what Clearwood
    saved with parsers of its own, so no file can do harm. The exit code is 1 for a file
    that is not sound.
    """
    from clearwood.persistence import check as check_model

    found = check_model(args.model)
    show(json_text(found.as_dict()) if args.as_json else found)
    if not found.sound:
        sys.exit(FAILED)
