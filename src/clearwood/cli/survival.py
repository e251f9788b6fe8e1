"""Rules for survival on the command line."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer
from clearwood.cli.errors import plain_warnings
from clearwood.cli.inputs import (
    MODEL_FILES,
    check_complete,
    read_frame,
    read_survival,
    search_settings,
    survival_times,
)

OPTIONS = (
    shared.option(
        "--time", shared.TEXT, "With --task survival, the column of times.",
        metavar="COLUMN",
    ),
    shared.option(
        "--event", shared.TEXT,
        "With --task survival, the column that is 1, or true, for an event and 0 for a "
        "censored row; of competing risks 1, 2 and so on, of which 1 is of interest.",
        metavar="COLUMN",
    ),
    shared.option(
        "--horizons", shared.TEXT,
        "Times of the survival probabilities of the rules: --horizons 1,2,5. By "
        "default the quartiles of the times of events.",
        metavar="NUMBER,...",
    ),
    shared.option("--time-unit", shared.TEXT, "Unit of times: --time-unit years."),
)  # fmt: skip
"""Options of survival only."""

TIMES = (
    shared.option(
        "--time", shared.TEXT, "For survival rules, the column of times.",
        metavar="COLUMN",
    ),
    shared.option(
        "--event", shared.TEXT,
        "For survival rules, the column that is 1, or true, for an event and 0 for a "
        "censored row; of competing risks 1, 2 and so on.",
        metavar="COLUMN",
    ),
)  # fmt: skip
"""Options of commands on saved rules."""

OTHERS = (
    "target classes scoring class_weight stability n_init statement_counts increasing "
    "decreasing train pos_label threshold scheduler"
)
"""Options of other tasks only."""


def simplify_survival(args: Any) -> Answer:
    """Fit rules to a survival model, and evaluate them on held-out rows."""
    from clearwood.cli.train import hold_out
    from clearwood.rules.serialise import file_text
    from clearwood.simplifiers.api import make_simplifier

    shared.only_for("other tasks", False, OTHERS, ", not for --task survival")
    if args.time is None or args.event is None:
        raise click.UsageError("--task survival needs --time and --event.")
    *models, args.data = args.files
    if len(models) > 1 or args.data.lower().endswith(MODEL_FILES):
        raise click.UsageError("Give a table, or a model file of XGBoost and a table.")
    with plain_warnings(args.log):
        frame = read_frame(args)
    X, y, groups = split_times(frame, args)
    split = hold_out(X, y, "survival", args.test_size, args.random_state, groups)
    model = models[0] if models else default_model(split.X, args)
    fitted = make_simplifier(
        model,
        args.method or "list",
        "survival",
        horizons=_numbers(args.horizons),
        time_unit=args.time_unit or "",
        random_state=args.random_state,
        **search_settings(args),
    ).fit(split.X, split.y, groups=split.groups)
    scores = fitted.evaluate(split.X_test, split.y_test, y_train=split.y)
    summary = {
        "time": args.time,
        "event": args.event,
        "task": "survival",
        "model": fitted.ensemble_.source,
        "rows": split.counts,
        "scores": scores._asdict(),
        "rules": json.loads(fitted.rules_.to_json()),
    }
    return Answer(
        summary,
        lambda: f"{fitted.rules_}\n\nOn held-out rows: {scores}",
        fitted,
        out=lambda: file_text(fitted.rules_),
        page=split.held_out | {"held_out_from": "rules" if models else "model"},
    )


def split_times(frame: Any, args: Any) -> tuple[Any, Any, Any]:
    """Table without times and groups, survival times, and groups."""
    from clearwood.cli.train import prepare

    named = [args.time, args.event, *filter(None, [args.groups])]
    check_complete(frame, named)
    y = survival_times(frame, args)
    groups = None if args.groups is None else frame[args.groups].to_numpy()
    return prepare(frame.drop(columns=named), "random-forest"), y, groups


def evaluate_survival(rules: Any, args: Any) -> Answer:
    """Evaluate saved rules on the rows of a table."""
    from clearwood.outcomes.survival import check_survival
    from clearwood.rules.evaluation.survival_scores import observed_curves

    of_others = "target treatment propensity model classes pos_label threshold"
    shared.only_for("other rules", False, of_others, ", not for those of survival")
    X, y = read_survival(rules, args)
    if y is None:
        raise click.UsageError("Rules for survival need --time and --event.")
    scores = rules.evaluate_survival(X, y)
    y = check_survival(y, len(X), n_causes=rules.outcome.n_causes)
    curves = observed_curves(rules, X, y)
    horizons, unit = rules.outcome.horizons, rules.outcome.time_unit
    rows = f"{len(X):,} row{'s' * (len(X) != 1)}"
    summary = {
        "task": "survival",
        "rows": len(X),
        "scores": scores._asdict(),
        "rules": json.loads(rules.to_json()),
        "observed": [one.as_dict(horizons) for one in curves],
    }
    how = "Aalen-Johansen" if rules.outcome.n_causes > 1 else "Kaplan-Meier"
    lines = [f"{i}. {one.text(horizons, unit)}" for i, one in enumerate(curves, 1)]
    text = "\n".join(
        [
            str(rules),
            "",
            f"{how} estimates on the {rows} of {args.data}:",
            *lines,
        ]
    )
    return Answer(summary, lambda: f"{text}\n\nOn these rows: {scores}")


def default_model(X: Any, args: Any) -> Any:
    """Unfitted random survival forest, for a table that may hold texts."""
    from clearwood.simplifiers import RuleListSurvival
    from clearwood.simplifiers.survival.models import with_encoder

    forest = RuleListSurvival._default_estimator()
    forest.set_params(random_state=args.random_state, n_jobs=args.n_jobs)
    return with_encoder(forest, X)


def _numbers(text: str | None) -> list[float] | None:
    try:
        return None if text is None else [float(part) for part in text.split(",")]
    except ValueError:
        raise click.UsageError(
            f"--horizons is {text!r}; expected numbers, as in 1,2,5."
        ) from None
