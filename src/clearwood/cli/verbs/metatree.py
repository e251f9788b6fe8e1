"""``clearwood metatree``: a tree that averages over all its prunings."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Result, command
from clearwood.cli.evaluation import score_text
from clearwood.cli.inputs import read_labelled, split_rows

NAMES = {
    "average": "average of all prunings",
    "map_tree": "most probable tree",
    "full_tree": "tree in full (CART)",
}


@command(
    "Average all prunings of a tree, and read the likeliest.",
    shared.data,
    shared.target,
    shared.task,
    *shared.TABLE,
    shared.option("--max-depth", shared.FROM_1, "Most questions in a row; no limit."),
    shared.option(
        "--min-samples-leaf",
        shared.FROM_1,
        "Least rows in a leaf of the tree in full.",
        1,
    ),
    shared.choice(
        "--missing",
        "evidence branch",
        "Where missing values go: to the side where they fit, or to one of their own.",
    ),
    shared.option(
        "--n-trees",
        click.IntRange(1, 1000),
        "How many of the most probable trees to give the probability of.",
        3,
    ),
    shared.test_size,
    shared.out,
    shared.report,
    shared.random_state,
    *shared.PRINTED,
)
def metatree(args: Any) -> Result:
    """Average all prunings of a tree, and read the most probable.

    DATA is a table (CSV or Parquet). A tree is grown on a part of its rows; every way
    of cutting it back then has a probability, and predictions average over all of them.
    The most probable tree, and the scores on held-out rows of the average, of this tree
    and of the tree in full, go to the standard output.
    """
    from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor

    split = split_rows(read_labelled(args), args)
    is_class = split.task == "classification"
    fitted = (MetaTreeClassifier if is_class else MetaTreeRegressor)(
        max_depth=args.max_depth,
        min_samples_leaf=args.min_samples_leaf,
        missing=args.missing,
        random_state=args.random_state,
    ).fit(split.X, split.y)
    fitted.target_name = args.target
    summary = _summarize(fitted, split, args)
    return Result(
        summary,
        lambda: _text(fitted, summary),
        fitted,
        out=fitted.rules_.to_json,
        page=split.held_out | {"held_out_from": "model"},
    )


def _summarize(fitted: Any, split: Any, args: Any) -> dict[str, Any]:
    from clearwood.metatree.reading.annotated_tree import summarize_tree
    from clearwood.metatree.reading.compare_scores import compare_scores

    best = fitted.map_tree_
    return {
        "target": args.target,
        "task": split.task,
        "rows": split.counts,
        "scores": compare_scores(fitted, split.X_test, split.y_test),
        "log_evidence": fitted.log_evidence_,
        "top_trees": [
            {"log_probability": tree.log_probability, "n_leaves": tree.n_leaves}
            for tree in fitted.top_trees(args.n_trees)
        ],
        "feature_used": dict(
            zip(best.features.names, fitted.inclusion_probability_.tolist())
        ),
        "tree": summarize_tree(best),
        "rules": json.loads(best.rules.to_json()),
    }


def _text(fitted: Any, summary: dict[str, Any]) -> str:
    from clearwood.metatree.reading.annotated_tree import leaves_text, small_text

    trees = ", ".join(
        f"{small_text(tree['log_probability'])} ({leaves_text(tree['n_leaves'])})"
        for tree in summary["top_trees"]
    )
    return "\n".join(
        [
            f"{fitted.map_tree_}\n",
            f"On {summary['rows']['held_out']:,} rows held out from training:",
            *(
                f"  {NAMES[name]:24s}{score_text(scores)}, "
                f"{leaves_text(scores['n_leaves'])}"
                for name, scores in summary["scores"].items()
            ),
            f"\nMost probable trees: {trees}",
        ]
    )
