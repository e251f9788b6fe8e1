"""``clearwood predict``: what rules from a file say of the rows of a table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import check_outputs, common_options, plain_warnings, speaker
from clearwood.cli.inputs import json_text, names_of_rows, read_rows, read_saved

TAKEN = {"row", "prediction", "probabilities", "rule", "rules"}
"""What a line of the result has already."""


@click.command(short_help="Apply rules from a file to a table.")
@shared.saved
@shared.data
@shared.own
@shared.na
@shared.sep
@shared.encoding
@click.option("--out", type=click.Path(), help="Write to this CSV file.")
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of CSV.")
@click.option(
    "--for-spreadsheets",
    is_flag=True,
    help="Put ' before texts that a spreadsheet would run as a formula: those that "
    "begin with = + - @, a tab or a line break. They are no longer as in the data.",
)
@common_options
def predict(
    rules: str,
    data: str,
    own: str | None,
    out: str | None,
    force: bool,
    as_json: bool,
    for_spreadsheets: bool,
    **options: Any,
) -> None:
    """Apply the RULES of a file to every row of DATA (CSV or Parquet).

    Each line of the result has the number of the data row, counted from 1, the
    prediction, the class probabilities, and the number of the rule that decided; of a
    sum or an average, the numbers of the rules that took part.
    Columns that the rules do not know are ignored.
    """
    check_outputs([out], [rules, data], force)
    if as_json and for_spreadsheets:
        raise click.UsageError("--for-spreadsheets is for CSV, not for --json.")

    from clearwood.codec.files import write_text

    _, rule_set = read_saved(rules)
    with plain_warnings(speaker(quiet=False)):
        frame = read_rows(rule_set, data, options)
        records = _records(rule_set, frame)
        if own is not None:
            carried = names_of_rows(frame, own, TAKEN)
            records = [
                {"row": record["row"], own: cell, **record}
                for record, cell in zip(records, carried)
            ]
    text = (
        json_text(records, None) + "\n"
        if as_json
        else _as_csv(rule_set, records, own, _inert if for_spreadsheets else _as_it_is)
    )
    if out:
        write_text(out, text, overwrite=force)
    else:
        click.echo(text, nl=False)


def _records(rule_set: Any, frame: Any) -> list[dict[str, Any]]:
    encoded = rule_set.encode(frame)
    said = rule_set.predict_encoded(encoded).tolist()
    records = [
        {"prediction": value, **rules}
        for value, rules in zip(said, _rules_behind(rule_set, encoded))
    ]
    if rule_set.classes:
        probabilities = rule_set.probabilities_encoded(encoded).tolist()
        for record, shares in zip(records, probabilities):
            record["probabilities"] = shares
    return [{"row": row, **record} for row, record in enumerate(records, start=1)]


def _rules_behind(rule_set: Any, encoded: Any) -> list[dict[str, Any]]:
    """The number of the rule that decides each row, or those of all that take part."""
    decides = rule_set.decides(encoded)
    if decides is not None:
        return [{"rule": i + 1} for i in decides.tolist()]
    held = rule_set.matches_encoded(encoded)
    return [{"rules": (row.nonzero()[0] + 1).tolist()} for row in held]


FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""How a text begins that a spreadsheet takes for a formula; the last in full width."""


def _as_it_is(cell: Any) -> Any:
    return cell


def _inert(cell: Any) -> Any:
    """A cell that a spreadsheet shows as a text, if it is one."""
    is_formula = isinstance(cell, str) and cell.startswith(FORMULA)
    return f"'{cell}" if is_formula else cell


def _as_csv(
    rule_set: Any,
    records: list[dict[str, Any]],
    own: str | None,
    written: Callable[[Any], Any],
) -> str:
    import csv
    import io

    from clearwood.rules import RuleList

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = [f"probability {label}" for label in rule_set.classes]
    last = "rule" if isinstance(rule_set, RuleList) else "rules"
    carried = [] if own is None else [own]
    writer.writerow(map(written, ["row", *carried, "prediction", *named, last]))
    for record in records:
        probabilities = record.get("probabilities", [])
        rule = record.get("rule", " ".join(map(str, record.get("rules", []))))
        first = [record[name] for name in ("row", *carried, "prediction")]
        writer.writerow(map(written, [*first, *probabilities, rule]))
    return text.getvalue()
