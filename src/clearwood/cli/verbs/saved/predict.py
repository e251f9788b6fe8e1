"""``clearwood predict``: predictions of saved rules for the rows of a table."""

from __future__ import annotations

import csv
import io
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command, json_text
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
def predict(args: Any) -> Answer:
    """Predict with the RULES of a file for each row of DATA (CSV or Parquet).

    Writes CSV with the row number, counted from 1, the prediction, the class
    probabilities, and the number of the rule that predicts (for a sum or an average,
    the numbers of all rules that hold); of survival rules the mean survival at the
    horizons, and survival at each; with several causes of events, the mean probability
    of no event of cause 1, and the incidence of each cause; of rules for several
    targets a prediction of each. Other columns of DATA are ignored.
    """
    from clearwood.rules.several_targets import MultiOutputRules

    if args.as_json and args.for_spreadsheets:
        raise click.UsageError("--for-spreadsheets is for CSV, not for --json.")
    _, rules = read_saved(args.rules, several=True)
    one = rules.lists[0] if isinstance(rules, MultiOutputRules) else rules
    frame = read_rows(one, args)
    columns, found = {"row": list(range(1, len(frame) + 1))}, _predictions(rules, frame)
    if args.id_column is not None:
        taken = TAKEN | found.keys()
        columns[args.id_column] = row_names(frame, args.id_column, taken)
    columns |= found
    if args.as_json:
        records = [dict(zip(columns, cells)) for cells in zip(*columns.values())]
        text = json_text(records, None) + "\n"
    else:
        text = _as_csv(columns, one.classes, inert=args.for_spreadsheets)
    return Answer(out=lambda: text, prints_out=True)


def _predictions(rules: Any, frame: Any) -> dict[str, list[Any]]:
    """Predictions, and the number of the rule, or those of all that contribute."""
    from clearwood.rules.several_targets import MultiOutputRules

    if isinstance(rules, MultiOutputRules):
        values = zip(rules.targets, rules.predict(frame).T.tolist())
        number = {"rule": (rules.apply(frame) + 1).tolist()}
        return {f"prediction {target}": cells for target, cells in values} | number
    matches = rules.matches_encoded(rules.encode(frame))
    columns = {"prediction": rules.predictions_by(matches).tolist()}
    horizons = rules.outcome.horizons
    deciding = rules.predicting_rule(matches)
    curves = [rule.curve.named(horizons) for rule in rules if rule.curve]
    if len(curves) == rules.n_rules:
        for name in curves[0]:
            columns[name] = [curves[j][name][0] for j in deciding.tolist()]
    if deciding is not None:
        columns["rule"] = (deciding + 1).tolist()
    else:
        columns["rules"] = [(row.nonzero()[0] + 1).tolist() for row in matches]
    if rules.classes:
        columns["probabilities"] = rules.answers_by(matches).tolist()
    return columns


def _as_csv(columns: dict[str, list[Any]], classes: Any, *, inert: bool) -> str:
    """Table with a column per class, and the rule last."""
    rule = "rule" if "rule" in columns else "rules"
    shares, numbers = columns.get("probabilities", []), columns[rule]
    if rule == "rules":
        numbers = [" ".join(map(str, several)) for several in numbers]
    table = [
        *(pair for pair in columns.items() if pair[0] not in (rule, "probabilities")),
        *((f"probability {c}", [p[k] for p in shares]) for k, c in enumerate(classes)),
        (rule, numbers),
    ]
    names, cells = zip(*table)
    written = _inert if inert else _as_it_is
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows(map(written, line) for line in (names, *zip(*cells)))
    return text.getvalue()


def _as_it_is(cell: Any) -> Any:
    return cell


def _inert(cell: Any) -> Any:
    """Cell that a spreadsheet displays as text, if it is text."""
    is_formula = isinstance(cell, str) and cell.startswith(FORMULA)
    return f"'{cell}" if is_formula else cell
