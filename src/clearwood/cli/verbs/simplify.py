"""``clearwood simplify``: rules of a model that is read or trained here."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Findings, command
from clearwood.cli.finding import (
    OPTIONS,
    check_finding,
    classes_of,
    find_rules,
    read_or_train,
)
from clearwood.cli.judging import (
    JudgedRules,
    decisions_as_list,
    judge,
    judged_lines,
    scores_as_dict,
)


@command(
    "Explain a model, or one trained here, by a few rules.",
    *OPTIONS,
    shared.pos_label,
    shared.threshold,
    shared.out,
    shared.report,
    *shared.PRINTED,
    shared.option(
        "--scheduler",
        shared.TEXT,
        "Count the rows of a large Parquet file on a cluster of Dask, whose scheduler "
        "is at this address: --scheduler tcp://host:8786. It changes no number.",
        metavar="ADDRESS",
    ),
)
def simplify(asked: Any) -> Findings:
    """Explain a model by a few rules.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text) or CatBoost (JSON); or
    name an ensemble to train with --train. DATA is a table (CSV or Parquet). The rules
    and the scores on held-out rows go to the standard output. Of a Parquet file of more
    than 200,000 rows a sample is searched, and all rows are counted.
    """
    from clearwood.rules.decisions import check_asked

    check_finding(asked)
    if asked.scheduler and asked.train:
        raise click.UsageError("--scheduler is for a model file.")
    model, split = read_or_train(asked)
    # Raises for an unknown class, before the work.
    check_asked(classes_of(model), asked.pos_label, asked.threshold)
    fitted = find_rules(model, split, asked)
    judged = judge(fitted.rules_, split.X_test, split.y_test, fitted.ensemble_, asked)
    if asked.large is not None:
        fitted.rules_, all_rows = asked.large.counted(fitted, split.X)
        judged = judged._replace(rules=fitted.rules_, all_rows=all_rows)
    summary = _summarize(fitted, split, asked, judged)
    shown = {
        "pos_label": asked.pos_label,
        "threshold": asked.threshold,
        # A model from a file may have been trained on any row of the table.
        "held_out_from": "model" if asked.train else "rules",
    }
    return Findings(
        summary,
        lambda: _text(judged, summary),
        fitted,
        out=fitted.rules_.to_json,
        page=split.held_out | shown,
    )


def _summarize(
    fitted: Any, split: Any, asked: Any, judged: JudgedRules
) -> dict[str, Any]:
    all_rows = {}
    if judged.all_rows is not None:
        rows = {"rows": asked.large.n_rows, "rules": judged.all_rows.as_dict()}
        all_rows = {"all_rows": rows}
    return {
        "target": asked.target,
        "task": split.task,
        "model": fitted.ensemble_.source,
        "model_trained_here": asked.train is not None,
        "method": asked.method,
        "kinds": fitted.rules_.about.get("kinds"),
        "rows": split.counts,
        "scores": scores_as_dict(judged),
        **all_rows,
        "rules": json.loads(fitted.rules_.to_json()),
        "rules_held_out": json.loads(judged.rules.to_json()),
        "decisions": decisions_as_list(judged),
    }


def _text(judged: JudgedRules, summary: dict[str, Any]) -> str:
    # A model from a file may have been trained on any row of the table.
    held_from, seen = "training", ""
    if not summary["model_trained_here"]:
        held_from = "the fit of the rules"
        seen = " (it may have been trained on these rows)"
    held_out = f"{summary['rows']['held_out']:,} rows held out from {held_from}"
    about = f"All numbers are of the {held_out}."
    if judged.all_rows is not None:
        about = (
            f"Numbers of the rules are of all {summary['all_rows']['rows']:,} rows: "
            f"{judged.rules.about['sample']}."
        )
    kinds = [f"Kinds of rules, {summary['kinds']}."] if summary["kinds"] else []
    return "\n".join([about, *kinds, "", *judged_lines(judged, held_out, seen)])
