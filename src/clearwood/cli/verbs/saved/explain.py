"""``clearwood explain``: why rules from a file say what they say of a row."""

from __future__ import annotations

from typing import Any

import click

from clearwood._words.labels import printable
from clearwood.cli import options as shared
from clearwood.cli.errors import common_options, plain_warnings, show, speaker
from clearwood.cli.inputs import json_text, names_of_rows, read_rows, read_saved


@click.command(short_help="Say why rules from a file decide a row as they do.")
@shared.saved
@shared.data
@click.option("--row", type=click.IntRange(min=1), help="Only this row, from 1.")
@click.option("--fixed", default="", help="Features that cannot change: age,sex.")
@shared.own
@shared.na
@shared.sep
@shared.encoding
@click.option("--json", "as_json", is_flag=True, help="JSON instead of text.")
@common_options
def explain(
    rules: str,
    data: str,
    row: int | None,
    fixed: str,
    own: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Explain what the RULES of a file say of the rows of DATA (CSV or Parquet).

    For every row: the rule that decides and how the row meets it, the rules before it
    and the conditions that fail, and the smallest changes of one feature, or of two,
    with which the rules would say something else.
    """
    from clearwood.exceptions import InputError
    from clearwood.rules.explain import explain as explain_rows

    _, rule_set = read_saved(rules)
    with plain_warnings(speaker(quiet=False)):
        frame = read_rows(rule_set, data, options)
        if row is not None and row > len(frame):
            raise InputError(f"--row is {row}, but {data} has {len(frame)} row(s).")
        first = 1 if row is None else row
        if row is not None:
            frame = frame.iloc[row - 1 : row]
        told = explain_rows(rule_set, frame, fixed=_names(fixed))
        records = told if isinstance(told, list) else [told]
        heads: list[dict[str, Any]] = [
            {"row": row} for row in range(first, first + len(records))
        ]
        if own is not None:
            taken = {"row", *(key for one in records for key in one.as_dict())}
            named = names_of_rows(frame, own, taken)
            heads = [head | {own: cell} for head, cell in zip(heads, named)]
    if as_json:
        found = [head | one.as_dict() for head, one in zip(heads, records)]
        show(json_text(found, None))
    else:
        texts = [f"{_head_text(head)}\n{one}" for head, one in zip(heads, records)]
        show("\n\n".join(texts))


def _head_text(head: dict[str, Any]) -> str:
    """Which row it is."""
    cells = {name: "missing" if x is None else str(x) for name, x in head.items()}
    return ", ".join(
        f"{printable(name)} {printable(cell)}" for name, cell in cells.items()
    )


def _names(fixed: str) -> list[str]:
    """Names from one line of CSV, in which a name may be quoted."""
    import csv

    parsed = next(csv.reader([fixed], skipinitialspace=True), [])
    return [name.strip() for name in parsed if name.strip()]
