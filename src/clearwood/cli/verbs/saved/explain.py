"""``clearwood explain``: explanation of single predictions of saved rules."""

from __future__ import annotations

import csv
from typing import Any

from clearwood._words.labels import prediction_text, printable
from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import numbered_row, read_rows, read_saved, row_names


@command(
    "Explain predictions of saved rules.",
    shared.saved,
    shared.data,
    shared.row,
    shared.option(
        "--fixed", shared.TEXT, "Features held fixed in counterfactuals: age,sex."
    ),
    shared.flag(
        "--reasons", "Print the principal reasons for each prediction instead."
    ),
    shared.id_column,
    *shared.CELLS,
    shared.as_json,
)
def explain(args: Any) -> Answer:
    """Explain the predictions of the RULES of a file for rows of DATA (CSV or Parquet).

    For each row: the rule that predicts and how the row satisfies it, the preceding
    rules and the conditions that fail, and the smallest changes of one or two features
    that change the prediction (counterfactuals).
    """
    from clearwood.rules.explain import explain as explain_rows

    _, rules = read_saved(args.rules)
    frame = read_rows(rules, args)
    if args.row is not None:
        frame = numbered_row(frame, args)
    explanations = explain_rows(rules, frame, fixed=_quoted_names(args.fixed or ""))
    records = explanations if isinstance(explanations, list) else [explanations]
    first = args.row or 1
    heads: list[dict[str, Any]] = [{"row": first + i} for i in range(len(records))]
    if args.id_column is not None:
        taken = {"row", *(key for one in records for key in one.as_dict())}
        named = row_names(frame, args.id_column, taken)
        heads = [head | {args.id_column: cell} for head, cell in zip(heads, named)]
    both = list(zip(heads, records))
    return Answer(
        [head | one.as_dict() for head, one in both],
        lambda: "\n\n".join(
            f"{_head_text(head)}\n{_reasons_text(one) if args.reasons else one}"
            for head, one in both
        ),
        indent=None,
    )


def _reasons_text(explained: Any) -> str:
    predicted = prediction_text(explained.prediction)
    reasons = explained.reasons()
    if not reasons:
        return f"no change of one or two features changes the prediction {predicted}"
    lines = [f"principal reasons for {printable(explained.target)}: {predicted}"]
    return "\n".join(lines + [f"  {i}. {text}" for i, text in enumerate(reasons, 1)])


def _head_text(head: dict[str, Any]) -> str:
    cells = {name: "missing" if x is None else str(x) for name, x in head.items()}
    return ", ".join(
        f"{printable(name)} {printable(cell)}" for name, cell in cells.items()
    )


def _quoted_names(fixed: str) -> list[str]:
    """Names from one line of CSV, in which a name may be quoted."""
    parsed = next(csv.reader([fixed], skipinitialspace=True), [])
    return [name.strip() for name in parsed if name.strip()]
