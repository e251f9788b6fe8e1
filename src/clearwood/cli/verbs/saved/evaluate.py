"""``clearwood evaluate``: how good rules from a file are on rows of a table."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import common_options, plain_warnings, show, speaker
from clearwood.cli.inputs import json_text, read_new_rows, read_saved


@click.command(short_help="Say how good rules from a file are on a table.")
@shared.saved
@shared.data
@shared.truth
@shared.model
@shared.classes
@shared.positive
@shared.threshold
@shared.na
@shared.sep
@shared.encoding
@shared.as_json
@shared.quiet
@common_options
def evaluate(rules: str, data: str, **options: Any) -> None:
    """Say how good the RULES of a file are on the rows of DATA (CSV or Parquet).

    Every line of the rules is printed with its numbers of these rows, then the scores
    of all, and what decisions come of them: with the target of the rows how often
    rules are right, with a MODEL how far they follow it.
    """
    import json

    from clearwood.cli.judging import (
        decisions_as_list,
        judge,
        judged_lines,
        scores_as_dict,
    )

    say = speaker(options["quiet"])
    _, rule_set = read_saved(rules)
    with plain_warnings(say):
        X, y, model = read_new_rows(rule_set, data, options, say)
        judged = judge(rule_set, X, y, model, options)
    if options["as_json"]:
        told = {
            "target": rule_set.target,
            "task": rule_set.task,
            "rows": len(X),
            "scores": scores_as_dict(judged),
            "rules": json.loads(judged.rules.to_json()),
            "decisions": decisions_as_list(judged),
        }
        show(json_text(told))
        return
    rows = f"{len(X):,} row{'s' * (len(X) != 1)}"
    lines = [f"All numbers are of the {rows} of {data}.", ""]
    show("\n".join([*lines, *judged_lines(judged, rows)]))
