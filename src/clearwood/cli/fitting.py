"""Search for the rules of a model: options and fit.

``simplify`` prints the rules, ``stability`` refits them on other samples.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.errors import plain_warnings
from clearwood.cli.inputs import (
    check_files,
    read_labelled,
    read_model_and_table,
    search_settings,
    split_rows,
)
from clearwood.cli.large import open_large
from clearwood.exceptions import InputError
from clearwood.simplifiers import METHODS

PRESET = ("fab", "em", "in-trees", "node-harvest", "born-again")
"""Methods with the settings of a paper."""

SCORED = ("list", "tree", "additive")
"""Methods whose size and settings are chosen on held-out rows."""

OPTIONS = (
    shared.files,
    shared.target,
    shared.train,
    shared.classes,
    shared.option(
        "--method",
        click.Choice([*METHODS, "auto"]),
        "By default additive for values or with --stability, list for classes or with "
        "--increasing or --decreasing. list: the first rule that holds predicts; a "
        "search for the highest fidelity to the ensemble. tree: disjoint rules. "
        "born-again: disjoint rules fitted to the model's predictions for synthetic "
        "rows. additive: the sum of all rules that hold. in-trees: the ensemble's own "
        "rules, pruned. fab, em: rules of a mixture model. node-harvest: a weighted "
        "average of the ensemble's own nodes (extra harvest). auto: the best of "
        f"{', '.join(SCORED)} on held-out rows.",
        None,
    ),
    shared.max_rules,
    shared.option(
        "--n-rules",
        shared.TEXT,
        "auto: chosen by the score; a number: at most so many, fewer if more do not "
        "help.",
        "auto",
        metavar="auto|NUMBER",
        callback=shared.auto_or_number,
    ),
    shared.min_samples_leaf(),
    shared.choice(
        "--scoring",
        "auto log_loss agreement balanced",
        "Criterion for the number of rules and other settings (list, tree, additive). "
        "auto: distance of probabilities, or values, from the ensemble's; log_loss: "
        "the same, for lists also within the search; agreement: same class as the "
        "ensemble; balanced: rare classes weigh as much as others, so that rules "
        "predict them.",
    ),
    shared.option(
        "--class-weight",
        shared.TEXT,
        "Weight of each class in the search (list, tree, additive): balanced, or "
        "--class-weight ill=5,well=1.",
        metavar="balanced|CLASS=NUMBER,...",
    ),
    shared.choice(
        "--learn-from",
        "model labels",
        "Target of the rules: predictions of the model, or labels of the table.",
    ),
    shared.option(
        "--stability",
        click.FloatRange(0, 1),
        "From 0, the most faithful rules, to 1, those that change least with the rows "
        "(additive).",
        0.0,
    ),
    shared.flag(
        "--exact-thresholds",
        "Keep the ensemble's own thresholds and values instead of rounded ones.",
    ),
    shared.option(
        "--n-init",
        shared.FROM_1,
        "Number of random starts, of which the best is kept (fab, em).",
        20,
    ),
    shared.choice(
        "--statement-counts",
        "distinct all",
        "How often a split of the ensemble counts (fab, em). distinct: once; all: once "
        "for each tree that uses it.",
    ),
    shared.option(
        "--preset",
        click.Choice(["paper"]),
        "Settings of the papers (fab, em, in-trees, node-harvest, born-again).",
    ),
    *shared.TABLE,
    shared.groups,
    shared.exclude_features,
    shared.listing(
        "--increasing",
        "Columns in which the value, or the probability of the second class, must not "
        "decrease (list).",
    ),
    shared.listing("--decreasing", "Columns in which it must not increase (list)."),
    shared.test_size,
    shared.task,
    shared.random_state,
    shared.n_jobs("Threads"),
)
"""Options that define the rules to find, and their data."""


def check_options(args: Any) -> None:
    """Raise a usage error for contradictory options."""
    check_files(args)
    method, scored = args.method, args.method in (None, *SCORED, "auto")
    mixture = method in ("fab", "em")
    shared.only_for("--method fab or em", mixture, "n_init statement_counts")
    by_preset = f"--method {', '.join(PRESET[:-1])} or {PRESET[-1]}"
    shared.only_for(by_preset, method in PRESET, "preset")
    by_score = f"--method {' or '.join(SCORED)}"
    shared.only_for(by_score, scored or args.scoring == "auto", "scoring")
    shared.only_for(by_score, scored, "class_weight")
    if method == "auto" and args.n_rules != "auto":
        raise click.UsageError(
            "--method auto also chooses the number of rules: see --max-rules."
        )
    is_list = method in (None, "list")
    shared.only_for("--method list", is_list, "increasing decreasing")
    is_limited = bool(args.increasing or args.decreasing)
    is_sum = method == "additive" or (method is None and not is_limited)
    shared.only_for("--method additive", is_sum or not args.stability, "stability")
    if args.n_rules != "auto" and args.n_rules > args.max_rules:
        raise click.UsageError(
            f"--n-rules {args.n_rules} is more than --max-rules {args.max_rules}, "
            "the maximum."
        )
    both = set(args.increasing) & set(args.decreasing)
    if both:
        raise click.UsageError(
            f"--increasing and --decreasing both name {', '.join(sorted(both))}."
        )


def read_or_train(
    args: Any,
    *,
    sample_large: bool = True,
    change: Callable[[Any], Any] = lambda table: table,
    **settings: Any,
) -> tuple[Any, Any]:
    """Model from a file, or trained on a part of the table, and rows in two parts.

    Parameters
    ----------
    args : namespace
        Options of the command.
    sample_large : bool
        Whether of a large file a sample is read.
    change : callable
        Applied to the table before a model is trained.
    **settings
        Of a model that is trained, other than the default ones.
    """
    from clearwood.cli.train import train

    if not args.train:
        args.large = open_large(args) if sample_large else None
        model, table = read_model_and_table(args)
        return model, split_rows(table, args)
    split = split_rows(change(read_labelled(args, args.train)), args)
    seed, jobs = args.random_state, args.n_jobs
    with plain_warnings(args.log):
        return train(args.train, split, seed, jobs, **settings), split


def fit_rules(model: Any, split: Any, args: Any, outcome: Any = None) -> Any:
    """Fit the simplifier with the given options, for means unless of another type."""
    from clearwood.simplifiers.api import (
        default_method,
        fit_best_kind,
        make_simplifier,
    )

    ordered = bool(args.increasing or args.decreasing)
    task = split.task if outcome is None else outcome.task
    args.method = args.method or default_method(
        task, ordered=ordered, stable=bool(args.stability)
    )
    settings: dict[str, Any] = {
        **search_settings(args),
        **_goals(model, split.task, args),
    }
    if args.method == "additive":
        settings["stability"] = args.stability
    if args.method == "list":
        signs = dict.fromkeys(args.increasing, 1) | dict.fromkeys(args.decreasing, -1)
        settings["monotonic_cst"] = signs
    if args.method in ("fab", "em"):
        settings["n_init"] = args.n_init
        settings["statement_counts"] = args.statement_counts
    if args.method in PRESET:
        settings["preset"] = args.preset
    if args.method == "auto":
        rows = split.X, split.y, None, split.groups
        rules = fit_best_kind(model, rows, args.random_state, **settings)
    else:
        settings["random_state"] = args.random_state
        rules = make_simplifier(model, args.method, task, outcome=outcome, **settings)
        rules.fit(split.X, split.y, groups=split.groups)
    # The estimator receives values without a name; the file has the target's name.
    rules.rules_ = rules.rules_.with_target(args.target)
    return rules


def classes_of(model: Any) -> list[Any]:
    """Class labels of a model, trained here or read; none in regression."""
    found = getattr(model, "classes_", getattr(model, "classes", None))
    return [] if found is None else list(found)


def _goals(model: Any, task: str, args: Any) -> dict[str, Any]:
    """Non-default options of classification rules."""
    goals = {}
    if args.scoring != "auto":
        goals["scoring"] = args.scoring
    if args.class_weight is not None:
        goals["class_weight"] = _class_weight(args.class_weight, model)
    if goals and task == "regression":
        raise InputError(
            f"--{next(iter(goals)).replace('_', '-')} is for classes, and the target "
            "is a number; leave it out, or use --task classification."
        )
    return goals


def _class_weight(text: str, model: Any) -> str | dict[Any, float]:
    """``balanced``, or weights of the model's classes."""
    if text == "balanced":
        return text
    known = {str(label): label for label in classes_of(model)}
    pairs = [part.rpartition("=") for part in shared.parted(text)]
    try:
        return {known.get(label, label): float(weight) for label, _, weight in pairs}
    except ValueError:
        raise InputError(
            f"--class-weight is {text!r}; expected balanced, or numbers for classes, "
            "as in ill=5,well=1."
        ) from None
