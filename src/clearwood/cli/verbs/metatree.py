"""``clearwood metatree``: one tree that averages all its prunings."""

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
from clearwood.cli.inputs import json_text, read_training_table
from clearwood.cli.outputs import write_rules


@click.command(short_help="Average all prunings of a tree, and read the likeliest.")
@shared.data
@shared.target
@shared.task
@shared.drop
@shared.categories
@shared.columns
@shared.na
@shared.sep
@shared.encoding
@click.option(
    "--depth", type=click.IntRange(min=1), help="Most questions in a row; no limit."
)
@click.option(
    "--min-leaf",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    help="Least rows in a leaf of the tree in full.",
)
@click.option(
    "--missing",
    type=click.Choice(["evidence", "branch"]),
    default="evidence",
    show_default=True,
    help="Where missing values go: to the side where they fit, or to one of their own.",
)
@click.option(
    "--trees",
    type=click.IntRange(1, 1000),
    default=3,
    show_default=True,
    help="How many of the most probable trees to give the probability of.",
)
@shared.test_size
@shared.out
@shared.report
@shared.seed
@shared.as_json
@shared.force
@shared.quiet
@common_options
def metatree(data: str, **options: Any) -> None:
    """Average all prunings of a tree, and read the most probable.

    DATA is a table (CSV or Parquet). A tree is grown on a part of its rows; every way
    of cutting it back then has a probability, and predictions average over all of them.
    The most probable tree, and the scores on held-out rows of the average, of this tree
    and of the tree in full, go to the standard output.
    """
    say = speaker(options["quiet"])
    # Before anything that takes long.
    check_outputs([options["out"], options["report"]], [data], options["force"])
    split, task = _read(data, options, say)
    with plain_warnings(say):
        fitted = _fit(split, task, options)
        summary = _summarize(fitted, split, task, options)
    with plain_warnings(say):
        write_rules(fitted, split, options, say)
    show(json_text(summary) if options["as_json"] else _text(fitted, summary))


def _read(data: str, options: dict[str, Any], say: Any) -> tuple[Any, str]:
    from clearwood.cli.train import READS_TEXT, hold_out

    # It reads text, as categories, and missing values.
    table = read_training_table(data, READS_TEXT, options, say)
    split = hold_out(
        table.X, table.y, table.task, options["test_size"], options["seed"]
    )
    return split, table.task


def _fit(split: Any, task: str, options: dict[str, Any]) -> Any:
    from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor

    kind = MetaTreeClassifier if task == "classification" else MetaTreeRegressor
    fitted = kind(
        max_depth=options["depth"],
        min_samples_leaf=options["min_leaf"],
        missing=options["missing"],
        random_state=options["seed"],
    ).fit(split.X, split.y)
    fitted.target_name = options["target"]
    return fitted


def _summarize(
    fitted: Any, split: Any, task: str, options: dict[str, Any]
) -> dict[str, Any]:
    import json

    from clearwood.metatree.reading.annotated_tree import summarize_tree
    from clearwood.metatree.reading.compare_scores import compare_scores

    best = fitted.map_tree_
    used = zip(best.features.names, fitted.feature_used_.tolist())
    return {
        "target": options["target"],
        "task": task,
        "rows": {"training": len(split.y), "held_out": len(split.y_test)},
        "scores": compare_scores(fitted, split.X_test, split.y_test),
        "log_evidence": fitted.log_evidence_,
        "top_trees": [
            {"log_probability": tree.log_probability, "n_leaves": tree.n_leaves}
            for tree in fitted.top_trees(options["trees"])
        ],
        "feature_used": dict(used),
        "tree": summarize_tree(best),
        "rules": json.loads(best.rules.to_json()),
    }


NAMES = {
    "average": "average of all prunings",
    "map_tree": "most probable tree",
    "full_tree": "tree in full (CART)",
}


def _text(fitted: Any, summary: dict[str, Any]) -> str:
    from clearwood.metatree.reading.annotated_tree import leaves_text, small_text

    lines = [str(fitted.map_tree_), ""]
    n_held = summary["rows"]["held_out"]
    lines.append(f"On {n_held:,} rows held out from training:")
    for name, scores in summary["scores"].items():
        lines.append(f"  {NAMES[name]:24s}{_score_text(scores)}")
    shown = [
        f"{small_text(tree['log_probability'])} ({leaves_text(tree['n_leaves'])})"
        for tree in summary["top_trees"]
    ]
    lines += ["", f"Most probable trees: {', '.join(shown)}"]
    return "\n".join(lines)


def _score_text(scores: dict[str, float]) -> str:
    from clearwood._words.numbers import percent_text, short_text
    from clearwood.metatree.reading.annotated_tree import leaves_text

    if "error" in scores:
        parts = [f"log loss {scores['log_loss']:.4g}, error {scores['error']:.4g}"]
    else:
        parts = [
            f"root mean squared error {short_text(scores['rmse'], 4)}",
            f"90 % intervals hold {percent_text(scores['coverage'])}",
        ]
    return ", ".join([*parts, leaves_text(scores["n_leaves"])])
