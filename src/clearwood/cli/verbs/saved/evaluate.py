"""``clearwood evaluate``: scores of saved rules on the rows of a table."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import estimates, survival
from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.evaluation import (
    decisions_as_list,
    evaluate_rules,
    evaluation_text,
    scores_as_dict,
)
from clearwood.cli.inputs import read_new_rows, read_saved


@command(
    "Evaluate saved rules on a table.",
    shared.saved,
    shared.data,
    shared.true_target,
    *survival.TIMES,
    *estimates.TREATED,
    shared.model,
    shared.classes,
    shared.pos_label,
    shared.threshold,
    *shared.CELLS,
    shared.as_json,
)
def evaluate(args: Any) -> Answer:
    """Evaluate the RULES of a file on the rows of DATA (CSV or Parquet).

    Prints each rule with its statistics on these rows, the scores of the rule set, and
    the confusion matrix and error rates: against the target of the rows if it is known,
    and the fidelity to a --model. For survival rules: the Kaplan-Meier estimate of the
    rows of each rule, the Brier score and the concordance.
    """
    _, rules = read_saved(args.rules)
    if rules.outcome.horizons:
        return survival.evaluate_survival(rules, args)
    shared.only_for("survival rules", False, "time event")
    is_effect = rules.task == "effect"
    shared.only_for("rules for effects", is_effect, "treatment propensity")
    if is_effect and args.treatment is None:
        raise click.UsageError("Rules for effects need --treatment.")
    X, y, model = read_new_rows(rules, args)
    evaluated = evaluate_rules(rules, X, y, model, args)
    summary = {
        "target": rules.target,
        "task": rules.task,
        "rows": len(X),
        "scores": scores_as_dict(evaluated),
        "rules": json.loads(evaluated.rules.to_json()),
        "decisions": decisions_as_list(evaluated),
    }
    rows = f"{len(X):,} row{'s' * (len(X) != 1)}"
    about = f"Statistics on the {rows} of {args.data}.\n"
    return Answer(summary, lambda: f"{about}\n{evaluation_text(evaluated, rows)}")
