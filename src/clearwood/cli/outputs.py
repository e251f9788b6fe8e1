"""``clearwood simplify --target a,b``: rules for several numeric targets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer
from clearwood.cli.errors import plain_warnings
from clearwood.cli.inputs import check_complete, csv_form, read_frame, search_settings
from clearwood.exceptions import InputError

MODELS = ("random-forest", "extra-trees", "decision-tree")
"""Ensembles that predict several targets; the first one by default."""

OTHERS = (
    "classes scoring class_weight stability n_init statement_counts preset increasing "
    "decreasing pos_label threshold scheduler quantile treatment propensity"
)
"""Options for one target only."""


def targets_of(args: Any) -> list[str]:
    """Targets that are named; a column whose name has commas is one."""
    from clearwood._tables.csv_file import column_names

    path = args.files[-1]
    # A pipe can be read only once.
    is_column = (
        "," in args.target
        and Path(path).is_file()
        and args.target in column_names(path, csv_form(args))
    )
    return [args.target] if is_column else shared.parted(args.target)


def simplify_targets(args: Any, targets: list[str]) -> Answer:
    """Train an ensemble for all targets, and approximate it by one rule list."""
    from clearwood.cli.train import hold_out, prepare, train
    from clearwood.rules.serialise import file_text
    from clearwood.simplifiers.multi_output import simplify_outputs

    shared.only_for("one target", False, OTHERS, ", not for several")
    if args.method not in (None, "list") or args.task not in ("auto", "regression"):
        raise click.UsageError(
            "For several targets the method is list and the task regression."
        )
    name = args.train or MODELS[0]
    if len(args.files) > 1 or name not in MODELS:
        raise click.UsageError(
            "Several targets are for a table without a MODEL file, and --train "
            f"{', '.join(MODELS[:-1])} or {MODELS[-1]}."
        )
    (args.data,) = args.files
    with plain_warnings(args.log):
        frame = read_frame(args)
    check_complete(frame, [*targets, *filter(None, [args.groups])])
    for target in targets:
        if frame[target].dtype.kind not in "iuf":
            raise InputError(f"The target {target!r} holds other than numbers.")
    groups = None if args.groups is None else frame[args.groups].to_numpy()
    X = frame.drop(columns=[*targets, *filter(None, [args.groups])])
    Y = frame[targets].to_numpy(float)
    seed = args.random_state
    split = hold_out(prepare(X, name), Y, "regression", args.test_size, seed, groups)
    model = train(name, split, seed, args.n_jobs)
    rules = simplify_outputs(
        model,
        split.X,
        frame[targets].loc[split.X.index],
        None,
        split.groups,
        random_state=seed,
        **search_settings(args),
    )
    scores = rules.evaluate(split.X_test, split.y_test, model=model)
    summary = {
        "target": targets,
        "task": "regression",
        "model": rules.lists[0].about["model"],
        "rows": split.counts,
        "scores": {target: one.as_dict() for target, one in scores.scores.items()},
        "rules": json.loads(rules.to_json()),
    }
    text = f"{rules}\n\nOn {split.counts['held_out']:,} held-out rows:\n{scores}"
    return Answer(summary, lambda: text, rules, out=lambda: file_text(rules))
