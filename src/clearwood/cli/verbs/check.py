"""``clearwood check``: what is in a model file, and whether it is sound."""

from __future__ import annotations

import sys

import click

from clearwood.cli.errors import FAILED, common_options, show


@click.command(short_help="Say what is in a file, and whether it is sound.")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@common_options
def check(model: str, as_json: bool) -> None:
    """Say what is in the file MODEL and whether it is sound.

    Reads XGBoost's JSON and UBJSON, LightGBM's text, CatBoost's JSON and what Clearwood
    saved with parsers of its own, so no file can do harm. The exit code is 1 for a file
    that is not sound.
    """
    from clearwood.cli.inputs import json_text
    from clearwood.persistence import check as check_model

    found = check_model(model)
    if as_json:
        show(json_text(found.as_dict()))
    else:
        show(found)
    if not found.sound:
        sys.exit(FAILED)
