"""``clearwood predict``: predictions of saved rules for the rows of a table."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import command, json_text, out_or_print
from clearwood.cli.inputs import read_rows, read_saved, row_names

TAKEN = {"row", "prediction", "probabilities", "rule", "rules"}
"""Keys that a line of the result has already."""

FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Prefixes of text that a spreadsheet takes for a formula; the last in full width."""


@command(
    "Predict with saved rules.",
    shared.saved,
    shared.data,
    shared.id_column,
    *shared.CELLS,
    shared.out("the predictions"),
    shared.as_json,
    shared.overwrite,
    shared.flag(
        "--for-spreadsheets",
        "Prefix texts that a spreadsheet would run as a formula with ': those that "
        "begin with = + - @, a tab or a line break.",
    ),
)
def predict(args: Any) -> None:
    """Predict with the RULES of a file for each row of DATA (CSV or Parquet).

    Writes CSV with the row number, counted from 1, the prediction, the class
    probabilities, and the number of the rule that predicts (for a sum or an average,
    the numbers of all rules that hold). Other columns of DATA are ignored.
    """
    if args.as_json and args.for_spreadsheets:
        raise click.UsageError("--for-spreadsheets is for CSV, not for --json.")
    _, rules = read_saved(args.rules)
    frame = read_rows(rules, args)
    records = _records(rules, frame)
    if args.id_column is not None:
        carried = row_names(frame, args.id_column, TAKEN)
        records = [
            {"row": record["row"], args.id_column: cell, **record}
            for record, cell in zip(records, carried)
        ]
    if args.as_json:
        text = json_text(records, None) + "\n"
    else:
        written = _inert if args.for_spreadsheets else _as_it_is
        text = _as_csv(rules, records, args.id_column, written)
    out_or_print(text, args)


def _records(rules: Any, frame: Any) -> list[dict[str, Any]]:
    """Number of the rule that predicts each row, or those of all that contribute."""
    encoded = rules.encode(frame)
    predicting = rules.predicting_rule(encoded)
    if predicting is not None:
        contributing = [{"rule": i + 1} for i in decides.tolist()]
    else:
        matched = rules.matches_encoded(encoded)
        contributing = [{"rules": (row.nonzero()[0] + 1).tolist()} for row in matched]
    predicted = rules.predict_encoded(encoded).tolist()
    records = [
        {"row": row, "prediction": value, **by}
        for row, (value, by) in enumerate(zip(predicted, contributing), start=1)
    ]
    if rules.classes:
        probabilities = rules.answers_encoded(encoded).tolist()
        for record, shares in zip(records, probabilities):
            record["probabilities"] = shares
    return records


def _as_it_is(cell: Any) -> Any:
    return cell


def _inert(cell: Any) -> Any:
    """Cell that a spreadsheet displays as text, if it is text."""
    is_formula = isinstance(cell, str) and cell.startswith(FORMULA)
    return f"'{cell}" if is_formula else cell


def _as_csv(
    rules: Any,
    records: list[dict[str, Any]],
    id_column: str | None,
    written: Callable[[Any], Any],
) -> str:
    from clearwood.rules import RuleList

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    first = ["row", *([] if id_column is None else [id_column]), "prediction"]
    named = [f"probability {label}" for label in rules.classes]
    last = "rule" if isinstance(rules, RuleList) else "rules"
    writer.writerow(map(written, [*first, *named, last]))
    for record in records:
        cells = [record[name] for name in first] + record.get("probabilities", [])
        rule = record.get("rule", " ".join(map(str, record.get("rules", []))))
        writer.writerow(map(written, [*cells, rule]))
    return text.getvalue()
