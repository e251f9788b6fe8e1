"""``clearwood check``: what is in a model file, and whether it is sound."""

from __future__ import annotations

import sys

import click

from clearwood.cli.errors import FAILED, debug_option


@click.command(short_help="Say what is in a file, and whether it is sound.")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
@debug_option
def check(model: str, as_json: bool) -> None:
    """Say what is in the file MODEL and whether it is sound.

    Reads XGBoost's JSON and UBJSON, LightGBM's text, CatBoost's JSON and what Clearwood
    saved with parsers of its own, so no file can do harm. The exit code is 1 for a file
    that is not sound.
    """
    import json

    from clearwood.persistence import check as check_model

    found = check_model(model)
    if as_json:
        click.echo(json.dumps(found.as_dict(), indent=2, ensure_ascii=False))
    else:
        click.echo(str(found))
    if not found.sound:
        sys.exit(FAILED)
