"""``clearwood metatree``: Bayesian average over all prunings of a tree."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import read_labelled, split_rows
from clearwood.cli.templates import fill

NAMES = {
    "average": "average over prunings",
    "map_tree": "most probable tree",
    "full_tree": "full tree (CART)",
}


@command(
    "Average over all prunings of a tree; show the most probable.",
    shared.data,
    shared.target,
    shared.task,
    *shared.TABLE,
    shared.option("--max-depth", shared.FROM_1, "Maximum depth; unlimited by default."),
    shared.min_samples_leaf(1),
    shared.choice(
        "--missing",
        "evidence branch",
        "Missing values: sent to the side of higher evidence, or to a branch of their "
        "own.",
    ),
    shared.option(
        "--n-trees",
        click.IntRange(1, 1000),
        "Number of most probable trees whose probability is reported.",
        3,
    ),
    shared.test_size,
    shared.random_state,
    shared.out(shared.RULES),
    *shared.FITTED,
)
def metatree(args: Any) -> Answer:
    """Average over all prunings of a tree; show the most probable.

    DATA is a table (CSV or Parquet). A tree is grown on the training rows; predictions
    are averaged over all its prunings, weighted by their posterior probability. Prints
    the most probable tree, and the scores on held-out rows of the average, of this tree
    and of the full tree.
    """
    from clearwood.metatree.estimators import MetaTreeClassifier, MetaTreeRegressor
    from clearwood.rules.serialise import file_text

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
    return Answer(
        summary,
        lambda: _text(fitted, summary),
        fitted,
        out=lambda: file_text(fitted.rules_),
        page=split.held_out | {"held_out_from": "model"},
    )


def _summarize(fitted: Any, split: Any, args: Any) -> dict[str, Any]:
    from clearwood._html.disclosure import disclosed
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
        "tree": disclosed(summarize_tree(best), show_rows=True),
        "rules": json.loads(best.rules.to_json()),
    }


def _text(fitted: Any, summary: dict[str, Any]) -> str:
    from clearwood.metatree.reading.annotated_tree import leaves_text, small_text

    facts = {"map_tree": fitted.map_tree_, "names": NAMES}
    return fill(
        "metatree.txt", **summary, **facts, leaves=leaves_text, small=small_text
    )
