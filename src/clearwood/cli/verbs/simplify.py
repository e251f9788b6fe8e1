"""``clearwood simplify``: a model, read or trained here, becomes a few rules."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import (
    check_outputs,
    common_options,
    plain_warnings,
    show,
    speaker,
)
from clearwood.cli.finding import (
    check_finding,
    find_rules,
    finding_options,
    read_or_train,
)
from clearwood.cli.inputs import json_text
from clearwood.cli.judging import (
    JudgedRules,
    decisions_as_list,
    judge,
    judged_lines,
    scores_as_dict,
)
from clearwood.cli.outputs import write_rules


@click.command(short_help="Explain a model, or one trained here, by a few rules.")
@finding_options
@shared.positive
@shared.threshold
@shared.out
@shared.report
@shared.as_json
@shared.force
@shared.quiet
@click.option(
    "--scheduler",
    metavar="ADDRESS",
    help="Count the rows of a large Parquet file on a cluster of Dask, whose scheduler "
    "is at this address: --scheduler tcp://host:8786. It changes no number.",
)
@common_options
def simplify(files: tuple[str, ...], **options: Any) -> None:
    """Explain a model by a few rules.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text) or CatBoost (JSON); or
    name an ensemble to train with --train. DATA is a table (CSV or Parquet). The rules
    and the scores on held-out rows go to the standard output. Of a Parquet file of more
    than 200,000 rows a sample is searched, and all rows are counted.
    """
    check_finding("simplify", files, options)
    if options["scheduler"] and options["train"]:
        raise click.UsageError("--scheduler is for a model file.")
    say = speaker(options["quiet"])
    # Before anything that takes long.
    check_outputs([options["out"], options["report"]], list(files), options["force"])
    model, split, task = read_or_train(files, options, say)
    _check_class(model, task, options)
    with plain_warnings(say):
        fitted = find_rules(model, split, task, options)
        held_out = split.X_test, split.y_test
        judged = judge(fitted.rules_, *held_out, fitted.ensemble_, options)
        large = options.get("large")
        if large is not None:
            fitted.rules_, all_rows = large.counted(fitted, split.X)
            judged = judged._replace(rules=fitted.rules_, all_rows=all_rows)
        summary = _summarize(fitted, split, task, options, judged)
    with plain_warnings(say):
        write_rules(
            fitted, split, options, say,
            positive=options["positive"], threshold=options["threshold"],
            # A model from a file may have been trained on any row of the table.
            new_to="model" if options["train"] else "rules",
        )  # fmt: skip
    show(json_text(summary) if options["as_json"] else _text(judged, summary))


def _check_class(model: Any, task: str, options: dict[str, Any]) -> None:
    """Refuse, before the work, a class that is looked for and not there."""
    from clearwood.rules.decisions import check_asked

    # Of a model that was trained here, or read from a file.
    classes = getattr(model, "classes_", getattr(model, "classes", ()))
    if task == "regression":
        classes = ()
    check_asked(list(classes), options["positive"], options["threshold"])


def _summarize(
    fitted: Any, split: Any, task: str, options: dict[str, Any], judged: JudgedRules
) -> dict[str, Any]:
    import json

    return {
        "target": options["target"],
        "task": task,
        "model": fitted.ensemble_.source,
        "model_trained_here": options["train"] is not None,
        "method": options["method"],
        "kinds": fitted.rules_.about.get("kinds"),
        "rows": {"training": len(split.y), "held_out": len(split.y_test)},
        "scores": scores_as_dict(judged),
        **_on_all_rows(judged, options),
        "rules": json.loads(fitted.rules_.to_json()),
        "rules_held_out": json.loads(judged.rules.to_json()),
        "decisions": decisions_as_list(judged),
    }


def _on_all_rows(judged: JudgedRules, options: dict[str, Any]) -> dict[str, Any]:
    """The rows of a large file, and the scores on all of them; else nothing."""
    if judged.all_rows is None:
        return {}
    scores = judged.all_rows.as_dict()
    return {"all_rows": {"rows": options["large"].n_rows, "rules": scores}}


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
    return "\n".join(
        [
            about,
            *([f"Kinds of rules, {summary['kinds']}."] if summary["kinds"] else []),
            "",
            *judged_lines(judged, held_out, seen),
        ]
    )
