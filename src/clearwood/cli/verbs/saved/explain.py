"""``clearwood explain``: why rules from a file say what they say of a row."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import debug_option, plain_warnings, speaker
from clearwood.cli.inputs import read_rows


@click.command(short_help="Say why rules from a file decide a row as they do.")
@click.argument("rules", type=click.Path(exists=True, dir_okay=False))
@shared.data
@click.option("--row", type=click.IntRange(min=1), help="Only this row, from 1.")
@click.option("--fixed", default="", help="Features that cannot change: age,sex.")
@shared.na
@shared.sep
@shared.encoding
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@debug_option
def explain(
    rules: str,
    data: str,
    row: int | None,
    fixed: str,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain what the RULES of a file say of the rows of DATA (CSV or Parquet).

    For every row: the rule that decides and how the row meets it, the rules before it
    and the conditions that fail, and the smallest changes of one feature, or of two,
    with which the rules would say something else.
    """
    from clearwood.exceptions import InputError
    from clearwood.rules import RuleSet
    from clearwood.rules.explain import explain as explain_rows

    rule_set = RuleSet.load(rules)
    with plain_warnings(speaker(quiet=False)):
        frame = read_rows(rule_set, data, options)
        if row is not None and row > len(frame):
            raise InputError(f"--row is {row}, but {data} has {len(frame)} row(s).")
        first = 1 if row is None else row
        if row is not None:
            frame = frame.iloc[row - 1 : row]
        told = explain_rows(rule_set, frame, fixed=_names(fixed))
    rows = list(enumerate(told if isinstance(told, list) else [told], start=first))
    if as_json:
        click.echo(_as_json(rows))
    else:
        click.echo("\n\n".join(f"row {number}\n{one}" for number, one in rows))


def _names(fixed: str) -> list[str]:
    """Names from one line of CSV, in which a name may be quoted."""
    import csv

    parsed = next(csv.reader([fixed], skipinitialspace=True), [])
    return [name.strip() for name in parsed if name.strip()]


def _as_json(rows: list[tuple[int, Any]]) -> str:
    import json

    records = [{"row": number, **one.as_dict()} for number, one in rows]
    return json.dumps(records, ensure_ascii=False, allow_nan=False)
