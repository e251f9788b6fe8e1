"""``clearwood simplify --task quantile`` and ``--task effect``."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.exceptions import InputError

TREATED = (
    shared.option(
        "--treatment", shared.TEXT,
        "For effects, the column that is 1, or true, for treated rows and 0 for "
        "others.",
        metavar="COLUMN",
    ),
    shared.option(
        "--propensity",
        click.FloatRange(0, 1, min_open=True, max_open=True),
        "For effects, the known probability of treatment, as in a randomized trial; by "
        "default it is estimated.",
        metavar="NUMBER",
    ),
)  # fmt: skip
"""Options of commands on effects."""

OPTIONS = (
    shared.option(
        "--quantile",
        click.FloatRange(0, 1, min_open=True, max_open=True),
        "With --task quantile, the share of values that are at most the prediction; by "
        "default that of the MODEL.",
        metavar="NUMBER",
    ),
    *TREATED,
)  # fmt: skip

TASKS = ("quantile", "effect")

OTHERS = "classes scoring class_weight stability increasing decreasing pos_label "
OTHERS += "threshold train scheduler"
"""Options of other tasks only."""


def check(args: Any) -> dict[str, Any]:
    """Validate the options, and choose the model to train where none is given.

    Returns the settings of that model.
    """
    shared.only_for("--task effect", args.task == "effect", "treatment propensity")
    shared.only_for("--task quantile", args.task != "effect", "quantile")
    if args.task not in TASKS:
        return {}
    shared.only_for("other tasks", False, OTHERS, f", not for --task {args.task}")
    if args.task == "effect":
        if args.treatment is None:
            raise click.UsageError("--task effect needs --treatment.")
        if len(args.files) > 1:
            raise click.UsageError(
                "--task effect trains its own model; in Python, simplify accepts any "
                "function of the features."
            )
        args.train = "random-forest"
        # Scores of single rows are mostly noise.
        return {"min_samples_leaf": 30}
    if len(args.files) > 1:
        return {}
    if args.quantile is None:
        raise click.UsageError("--task quantile needs --quantile, or a MODEL of one.")
    args.train = "hist-gradient-boosting"
    return {"loss": "quantile", "quantile": args.quantile}


def with_scores(table: Any, args: Any) -> Any:
    """A table without its treatment, and doubly robust scores as its target."""
    X, scores = scores_of(table.X, table.y, args, table.groups, args.random_state)
    return table._replace(X=X, y=scores)


def scores_of(
    X: Any, y: Any, args: Any, groups: Any = None, random_state: int = 0
) -> tuple[Any, Any]:
    """Features without the treatment, and the scores of effects on the outcome y."""
    from clearwood.simplifiers.effects import effect_scores

    if args.treatment not in X or X[args.treatment].isna().any():
        raise InputError(
            f"--treatment is {args.treatment!r}; expected a column of the table "
            f"without empty cells, other than the target; it has {list(X)}."
        )
    treatment = X[args.treatment].to_numpy()
    X = X.drop(columns=args.treatment)
    scores = effect_scores(
        X, y, treatment, propensity=args.propensity, groups=groups,
        random_state=random_state,
    )  # fmt: skip
    return X, scores


def outcome_of(model: Any, y: Any, args: Any, task: str) -> Any:
    """Type of what the rules estimate; None for the model's own."""
    from clearwood.outcomes import OUTCOMES
    from clearwood.simplifiers.estimates import METHODS, quantile_outcome

    if task == "effect":
        return OUTCOMES["effect"]
    is_other = args.method not in (None, *METHODS) or args.increasing or args.decreasing
    if task == "auto" and args.quantile is None and (is_other or args.stability):
        return None
    return quantile_outcome(model, y, None if task == "auto" else task, args.quantile)
