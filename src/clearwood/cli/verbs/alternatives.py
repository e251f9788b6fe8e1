"""``clearwood alternatives``: best short lists, and a bound on all of them."""

from __future__ import annotations

import json
from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.fitting import OPTIONS, check_options, fit_rules, read_or_train

N_RULES = shared.option(
    "--n-rules",
    shared.FROM_2,
    "Maximum number of rules of all lists, and of the rules they are compared with. "
    "The time is exponential in it.",
    3,
)


@command(
    "Find alternative short lists, and a bound on all.",
    *(N_RULES if option.name == "n_rules" else option for option in OPTIONS),
    shared.option(
        "--max-literals",
        click.IntRange(1, 2),
        "Maximum number of literals per rule.",
        2,
    ),
    shared.option(
        "--n-cuts", shared.FROM_1, "Maximum number of splits per feature.", 4
    ),
    shared.option(
        "--tolerance",
        click.FloatRange(0, 1, max_open=True),
        "Difference to the highest fidelity up to which a list is an alternative.",
        0.01,
    ),
    shared.option(
        "--time-limit",
        click.FloatRange(0),
        "Seconds after which each search ends; the bound is valid nevertheless.",
        10.0,
    ),
    shared.report,
    shared.as_json,
    shared.overwrite,
)
def alternatives(args: Any) -> Answer:
    """Bound the fidelity of all short rule lists, and find those nearly best.

    The rules of 'clearwood simplify' with the same files and options are compared with
    all lists of a small size on the rows they are fitted to. Lists of other features
    with about the same fidelity are other explanations of the same predictions.
    """
    check_options(args)
    from clearwood.simplifiers.alternatives import alternatives as search_lists

    model, split = read_or_train(args)
    found = search_lists(
        fit_rules(model, split, args),
        split.X,
        n_rules=args.n_rules,
        max_literals=args.max_literals,
        n_cuts=args.n_cuts,
        tolerance=args.tolerance,
        time_limit=args.time_limit,
    )
    summary = {
        "target": args.target,
        "rows": found.n_rows,
        "splits": found.n_splits,
        "fidelity": found.fidelity,
        "bound": found.bound,
        "best": json.loads(found.best.to_json()),
        "best_fidelity": found.best_fidelity,
        "sets": [
            {"features": sorted(used), "fidelity": fidelity}
            for used, fidelity in found.fidelities.items()
        ],
        "features": found.features,
        "without": found.without,
        "is_complete": found.is_complete,
    }
    return Answer(summary, lambda: found, found)
