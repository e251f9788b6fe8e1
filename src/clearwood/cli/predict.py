"""``clearwood predict``: what rules from a file say of the rows of a table."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli.errors import check_outputs, debug_option


@click.command(short_help="Apply rules from a file to a table.")
@click.argument("rules", type=click.Path(exists=True, dir_okay=False))
@click.argument("data", type=click.Path(exists=True, dir_okay=False))
@click.option("--out", type=click.Path(), help="Write to this CSV file.")
@click.option("--force", is_flag=True, help="Overwrite a file that exists.")
@click.option("--json", "as_json", is_flag=True, help="JSON instead of CSV.")
@debug_option
def predict(rules: str, data: str, out: str | None, force: bool, as_json: bool) -> None:
    """Apply the RULES of a file to every row of DATA (CSV or Parquet).

    Each line of the result has the number of the data row, counted from 1, the
    prediction, the class probabilities, and the number of the rule that decided.
    Columns that the rules do not know are ignored.
    """
    check_outputs([out], [rules, data], force)

    from clearwood._files import write_text
    from clearwood.cli.tables import read_table_of
    from clearwood.rules import RuleSet

    rule_set = RuleSet.load(rules)
    frame = read_table_of(rule_set.features, data)
    records = _records(rule_set, frame)
    text = _as_json(records) if as_json else _as_csv(rule_set, records)
    if out:
        write_text(out, text, overwrite=force)
    else:
        click.echo(text, nl=False)


def _records(rule_set: Any, frame: Any) -> list[dict[str, Any]]:
    decided = rule_set.apply(frame)
    lines = list(rule_set)
    records = []
    for row, position in enumerate(decided.tolist(), start=1):
        line = lines[position]
        record = {"row": row, "prediction": line.prediction}
        if rule_set.classes:
            record["probabilities"] = list(line.probabilities)
        records.append({**record, "rule": position + 1})
    return records


def _as_json(records: list[dict[str, Any]]) -> str:
    import json

    return json.dumps(records, ensure_ascii=False, allow_nan=False) + "\n"


def _as_csv(rule_set: Any, records: list[dict[str, Any]]) -> str:
    import csv
    import io

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    named = [f"probability {label}" for label in rule_set.classes]
    writer.writerow(["row", "prediction", *named, "rule"])
    for record in records:
        probabilities = record.get("probabilities", [])
        writer.writerow(
            [record["row"], record["prediction"], *probabilities, record["rule"]]
        )
    return text.getvalue()
