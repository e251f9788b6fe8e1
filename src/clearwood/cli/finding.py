"""Finding the rules of a model: what may be asked of them, and the fit.

``simplify`` prints what is found, ``stability`` finds it again on other samples.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from clearwood.cli import options as shared
from clearwood.cli.errors import plain_warnings
from clearwood.cli.inputs import (
    check_files,
    read_model_and_table,
    read_training_table,
)
from clearwood.cli.large import open_large
from clearwood.cli.options import names
from clearwood.exceptions import InputError
from clearwood.simplifiers import METHODS

SCORED = ("list", "tree", "additive")
"""Methods whose size and settings are chosen on held-out rows."""

OPTIONS = (
    shared.files,
    shared.target,
    shared.train,
    shared.classes,
    click.option(
        "--method",
        type=click.Choice([*METHODS, "auto"]),
        default="list",
        show_default=True,
        help="list: the first rule that fits decides; found by a search for what says "
        "best what the ensemble says. tree: rules that never overlap. born-again: "
        "such rules by asking the model about synthetic rows. additive: all that "
        "fit add up. in-trees: the ensemble's own rules, shortened. fab, em: "
        "rules of a mixture model. node-harvest: the weighted average of the "
        "ensemble's own nodes (extra harvest). auto: what is best on held-out "
        f"rows of {', '.join(SCORED)}.",
    ),
    shared.max_rules,
    click.option(
        "--n-rules",
        default="auto",
        show_default=True,
        metavar="auto|NUMBER",
        help="auto: as many rules as pay; or so many, fewer where more do not pay.",
    ),
    click.option(
        "--min-rows",
        type=click.IntRange(min=1),
        help="Fewest rows that a rule catches; by default the method's own (mostly 5).",
    ),
    click.option(
        "--scoring",
        type=click.Choice(["auto", "log_loss", "agreement", "balanced"]),
        default="auto",
        show_default=True,
        help="By what size and settings are chosen (list, tree, additive). auto: how "
        "near probabilities, or values, are to the ensemble's; log_loss: the same, and "
        "rules are searched for more by probabilities; agreement: same class as the "
        "ensemble; balanced: rare classes count as much as others; rules name them.",
    ),
    click.option(
        "--class-weight",
        metavar="balanced|CLASS=NUMBER,...",
        help="How much each class counts where rules are searched for (list, tree, "
        "additive): balanced, or --class-weight ill=5,well=1.",
    ),
    click.option(
        "--learn-from",
        type=click.Choice(["ensemble", "labels"]),
        default="ensemble",
        show_default=True,
        help="What the rules shall say: what the ensemble says, or what the table "
        "does.",
    ),
    click.option(
        "--exact-cuts",
        is_flag=True,
        help="Keep the ensemble's own cuts and exact values in place of short numbers.",
    ),
    click.option(
        "--restarts",
        type=click.IntRange(min=1),
        default=20,
        show_default=True,
        help="Random starts, of which the best is kept.",
    ),
    click.option(
        "--statement-counts",
        type=click.Choice(["distinct", "all"]),
        default="distinct",
        show_default=True,
        help="all: a question that many trees ask counts more.",
    ),
    shared.drop,
    shared.categories,
    shared.na,
    shared.sep,
    shared.encoding,
    click.option("--forbid", help="Columns that no rule may ask: --forbid sex,age"),
    click.option(
        "--increasing",
        help="Columns with which the value, or the probability of the second class, "
        "must not fall (list).",
    ),
    click.option("--decreasing", help="Columns with which it must not rise (list)."),
    shared.columns,
    shared.test_size,
    shared.task,
    shared.seed,
    click.option(
        "--jobs", type=int, help="Threads to use; the result does not change."
    ),
)
"""All that says which rules are looked for, and in what."""


def finding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add them to a command, in this order."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def check_finding(verb: str, files: tuple[str, ...], options: dict[str, Any]) -> None:
    """Refuse what does not go together, as a wrongly written command."""
    check_files(verb, files, options)
    given = click.get_current_context().get_parameter_source
    method = options["method"]
    for name in ("restarts", "statement_counts"):
        if method not in ("fab", "em") and given(name) is not ParameterSource.DEFAULT:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --method fab or em.")
    for name, plain in (("scoring", "auto"), ("class_weight", None)):
        if method not in (*SCORED, "auto") and options[name] != plain:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --method {' or '.join(SCORED)}.")
    if method == "auto" and options["n_rules"] != "auto":
        raise click.UsageError("--method auto chooses the size too: see --max-rules.")
    for name in ("increasing", "decreasing"):
        if method != "list" and options[name]:
            raise click.UsageError(f"--{name} is for --method list.")
    if not re.fullmatch("auto|[1-9][0-9]*", options["n_rules"]):
        raise click.UsageError("--n-rules must be auto or a number from 1.")
    if options["n_rules"] != "auto" and int(options["n_rules"]) > options["max_rules"]:
        raise click.UsageError(
            f"--n-rules {options['n_rules']} is more than --max-rules "
            f"{options['max_rules']}, the most lines that are printed."
        )
    both = set(names(options["increasing"])) & set(names(options["decreasing"]))
    if both:
        raise click.UsageError(
            f"--increasing and --decreasing both name {', '.join(sorted(both))}."
        )


def read_or_train(
    files: tuple[str, ...], options: dict[str, Any], say: Any
) -> tuple[Any, Any, str]:
    """The model, the rows in two parts, and whether it is for classes or numbers."""
    prepare = _train_model if options["train"] else _read_model
    return prepare(*files, options=options, say=say)


def _train_model(
    data: str, *, options: dict[str, Any], say: Any
) -> tuple[Any, Any, str]:
    """An ensemble trained on a part of the table."""
    from clearwood.cli.train import hold_out, train

    table = read_training_table(data, options["train"], options, say)
    seed, jobs = options["seed"], options["jobs"]
    split = hold_out(table.X, table.y, table.task, options["test_size"], seed)
    with plain_warnings(say):
        model = train(options["train"], split, table.task, seed, jobs)
    return model, split, table.task


def _read_model(
    path: str, data: str, *, options: dict[str, Any], say: Any
) -> tuple[Any, Any, str]:
    """The ensemble of a file, and the table as the ensemble reads it."""
    from clearwood.cli.train import hold_out

    options["large"] = large = open_large(data, options, say)
    sample = None if large is None else large.sample.X
    ensemble, (X, y, task, _) = read_model_and_table(path, data, options, say, sample)
    split = hold_out(X, y, task, options["test_size"], options["seed"])
    return ensemble, split, task


def find_rules(model: Any, split: Any, task: str, options: dict[str, Any]) -> Any:
    """A simplifier that is fitted as the options say."""
    from clearwood.simplifiers.api import fit_best_kind, make_simplifier

    n_rules = options["n_rules"]
    settings: dict[str, Any] = {
        "n_rules": n_rules if n_rules == "auto" else int(n_rules),
        "max_rules": options["max_rules"],
        "target": options["learn_from"],
        "forbidden": names(options["forbid"]),
        "round_cuts": not options["exact_cuts"],
        "n_jobs": options["jobs"],
        "verbose": sys.stderr.isatty() and not options["quiet"],
        "random_state": options["seed"],
    }
    if options["min_rows"] is not None:
        settings["min_rows"] = options["min_rows"]
    if options["method"] == "list":
        rising, falling = names(options["increasing"]), names(options["decreasing"])
        signs = dict.fromkeys(rising, 1) | dict.fromkeys(falling, -1)
        settings["monotonic_cst"] = signs
    settings |= _goals(model, task, options)
    if options["method"] in ("fab", "em"):
        settings["n_restarts"] = options["restarts"]
        settings["statement_counts"] = options["statement_counts"]
    if options["method"] == "auto":
        settings.pop("random_state")
        rules = fit_best_kind(model, (split.X, split.y), options["seed"], **settings)
    else:
        rules = make_simplifier(model, options["method"], task, **settings)
        rules.fit(split.X, split.y)
    # The estimator sees values without a name; the file knows what they are called.
    rules.rules_ = rules.rules_.with_target(options["target"])
    return rules


def _goals(model: Any, task: str, options: dict[str, Any]) -> dict[str, Any]:
    """What is asked of rules for classes, where it is not the default."""
    asked = {}
    if options["scoring"] != "auto":
        asked["scoring"] = options["scoring"]
    if options["class_weight"] is not None:
        asked["class_weight"] = _class_weight(options["class_weight"], model)
    if asked and task == "regression":
        raise InputError(
            f"--{next(iter(asked)).replace('_', '-')} is for classes, and the target "
            "is a number; leave it out, or say --task classification."
        )
    return asked


def _class_weight(text: str, model: Any) -> str | dict[Any, float]:
    """``balanced``, or numbers for classes as the model knows them."""
    if text == "balanced":
        return text
    classes = getattr(model, "classes_", getattr(model, "classes", ()))
    known = {str(label): label for label in list(classes)}
    pairs = [part.rpartition("=") for part in names(text)]
    try:
        return {known.get(label, label): float(weight) for label, _, weight in pairs}
    except ValueError:
        raise InputError(
            f"--class-weight is {text!r}; expected balanced, or numbers for classes, "
            "as in ill=5,well=1."
        ) from None
