"""``clearwood simplify``: rules of a model that is read or trained here."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import click

from clearwood.cli import estimates, outputs, survival
from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.evaluation import (
    EvaluatedRules,
    decisions_as_list,
    evaluate_rules,
    evaluation_text,
    scores_as_dict,
)
from clearwood.cli.fitting import (
    OPTIONS,
    check_options,
    classes_of,
    fit_rules,
    read_or_train,
)

REPLACED: dict[Any, click.Parameter] = {
    shared.target: shared.target_of_task,
    shared.task: shared.any_task,
}
"""Options that its tasks change."""


@command(
    "Approximate a model by a few rules.",
    *(REPLACED.get(option, option) for option in OPTIONS),
    *survival.OPTIONS,
    *estimates.OPTIONS,
    shared.pos_label,
    shared.threshold,
    shared.out(shared.RULES),
    *shared.FITTED,
    shared.option(
        "--scheduler",
        shared.TEXT,
        "Address of a Dask scheduler, whose workers evaluate the rules on a large "
        "Parquet file, with the same results: --scheduler tcp://host:8786.",
        metavar="ADDRESS",
    ),
)
def simplify(args: Any) -> Answer:
    """Approximate a model by a few rules.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text), CatBoost (JSON), PMML or
    R (CSV); without it the ensemble --train is trained. DATA is a table (CSV or
    Parquet). Prints the rules and their scores on held-out rows. With --task survival,
    MODEL is a file of XGBoost, by default a random survival forest of scikit-survival.
    With --task quantile, by default histogram gradient boosting with the quantile loss
    is trained; with --task effect a random forest, on doubly robust scores. With
    several targets, as in --target a,b, each rule predicts all of them. For a Parquet
    file of more than 200,000 rows the rules are fitted to a sample and evaluated on all
    rows.
    """
    from clearwood.rules.decisions import positive_position
    from clearwood.rules.serialise import file_text

    if args.task == "survival":
        return survival.simplify_survival(args)
    survival_only = "time event horizons time_unit"
    shared.only_for("--task survival", False, survival_only)
    if args.target is None:
        raise click.UsageError("Missing option '--target'.")
    targets = outputs.targets_of(args)
    if len(targets) > 1 and all(targets):
        return outputs.simplify_targets(args, targets)
    settings, task = estimates.check(args), args.task
    if task in estimates.TASKS:
        args.task = "regression"
    check_options(args)
    if args.scheduler and args.train:
        raise click.UsageError("--scheduler is for a model file.")
    changes: dict[str, Any] = {}
    if task == "effect":
        changes["change"] = partial(estimates.with_scores, args=args)
    small = task in estimates.TASKS
    model, split = read_or_train(args, sample_large=not small, **changes, **settings)
    # Raises for an unknown class, before the work.
    positive_position(classes_of(model), args.pos_label, args.threshold)
    outcome = None
    if split.task == "regression" and args.large is None:
        outcome = estimates.outcome_of(model, split.y, args, task)
    fitted = fit_rules(model, split, args, outcome)
    evaluated = evaluate_rules(
        fitted.rules_, split.X_test, split.y_test, fitted.ensemble_, args
    )
    if args.large is not None:
        fitted.rules_, all_rows = args.large.counted(fitted, split.X)
        evaluated = evaluated._replace(rules=fitted.rules_, all_rows=all_rows)
    summary = _summarize(fitted, split, args, evaluated)
    shown = {
        "pos_label": args.pos_label,
        "threshold": args.threshold,
        # A model from a file may have been trained on any row of the table.
        "held_out_from": "model" if args.train else "rules",
    }
    return Answer(
        summary,
        lambda: _text(evaluated, summary),
        fitted,
        out=lambda: file_text(fitted.rules_),
        page=split.held_out | shown,
    )


def _summarize(
    fitted: Any, split: Any, args: Any, evaluated: EvaluatedRules
) -> dict[str, Any]:
    all_rows = {}
    if evaluated.all_rows is not None:
        rows = {"rows": args.large.n_rows, "rules": evaluated.all_rows.as_dict()}
        all_rows = {"all_rows": rows}
    return {
        "target": args.target,
        "task": fitted.rules_.task,
        "model": fitted.ensemble_.source,
        "model_trained_here": args.train is not None,
        "method": args.method,
        "kinds": fitted.rules_.about.get("kinds"),
        "rows": split.counts,
        "scores": scores_as_dict(evaluated),
        **all_rows,
        "rules": json.loads(fitted.rules_.to_json()),
        "rules_held_out": json.loads(evaluated.rules.to_json()),
        "decisions": decisions_as_list(evaluated),
    }


def _text(evaluated: EvaluatedRules, summary: dict[str, Any]) -> str:
    # A model from a file may have been trained on any row of the table.
    held_from, seen = "training", ""
    if not summary["model_trained_here"]:
        held_from = "the fit of the rules"
        seen = " (possibly trained on these rows)"
    rows = f"{summary['rows']['held_out']:,} rows held out from {held_from}"
    about = f"Statistics on {rows}."
    if evaluated.all_rows is not None:
        about = (
            f"Statistics of the rules on all {summary['all_rows']['rows']:,} rows: "
            f"{evaluated.rules.about['sample']}."
        )
    if summary["kinds"]:
        about += f"\nMethods compared {summary['kinds']}."
    return f"{about}\n\n{evaluation_text(evaluated, rows, seen)}"
