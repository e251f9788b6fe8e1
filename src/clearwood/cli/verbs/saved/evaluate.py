"""``clearwood evaluate``: scores of saved rules on the rows of a table."""

from __future__ import annotations

import json
from typing import Any

from clearwood.cli import options as shared
from clearwood.cli.command import Findings, command
from clearwood.cli.inputs import read_new_rows, read_saved
from clearwood.cli.judging import (
    decisions_as_list,
    judge,
    judged_lines,
    scores_as_dict,
)


@command(
    "Say how good rules from a file are on a table.",
    shared.saved,
    shared.data,
    shared.truth,
    shared.model,
    shared.classes,
    shared.pos_label,
    shared.threshold,
    *shared.CELLS,
    shared.as_json,
    shared.quiet,
)
def evaluate(asked: Any) -> Findings:
    """Say how good the RULES of a file are on the rows of DATA (CSV or Parquet).

    Every line of the rules is printed with its numbers of these rows, then the scores
    of all, and what decisions come of them: with the target of the rows how often
    rules are right, with a MODEL how far they follow it.
    """
    _, rules = read_saved(asked.rules)
    X, y, model = read_new_rows(rules, asked)
    judged = judge(rules, X, y, model, asked)
    summary = {
        "target": rules.target,
        "task": rules.task,
        "rows": len(X),
        "scores": scores_as_dict(judged),
        "rules": json.loads(judged.rules.to_json()),
        "decisions": decisions_as_list(judged),
    }
    rows = f"{len(X):,} row{'s' * (len(X) != 1)}"
    about = f"All numbers are of the {rows} of {asked.data}.\n"
    return Findings(summary, lambda: "\n".join([about, *judged_lines(judged, rows)]))
