"""``clearwood simplify``: a model, read or trained here, becomes a few rules."""

from __future__ import annotations

import re
import sys
from typing import Any, NamedTuple

import click
from click.core import ParameterSource

from clearwood.cli import options as shared
from clearwood.cli.errors import check_outputs, debug_option, plain_warnings, speaker
from clearwood.cli.inputs import (
    check_files,
    json_text,
    read_model_and_table,
    read_training_table,
)
from clearwood.cli.large import open_large
from clearwood.cli.options import names
from clearwood.cli.outputs import write_rules
from clearwood.exceptions import InputError
from clearwood.simplifiers import METHODS

SCORED = ("list", "tree", "additive")
"""Methods whose size and settings are chosen on held-out rows."""


@click.command(short_help="Explain a model, or one trained here, by a few rules.")
@shared.files
@shared.target
@shared.train
@shared.classes
@click.option(
    "--method",
    type=click.Choice([*METHODS, "auto"]),
    default="list",
    show_default=True,
    help="list: the first rule that fits decides; found by a search for what says best "
    "what the ensemble says. tree: rules that never overlap. born-again: such rules by "
    "asking the model about synthetic rows. additive: all that fit add up. in-trees: "
    "the ensemble's own rules, shortened. fab, em: rules of a mixture model. "
    "node-harvest: the weighted average of the ensemble's own nodes (extra harvest). "
    f"auto: what is best on held-out rows of {', '.join(SCORED)}.",
)
@shared.max_rules
@click.option(
    "--n-rules",
    default="auto",
    show_default=True,
    metavar="auto|NUMBER",
    help="auto: as many rules as pay; or so many, fewer where more do not pay.",
)
@click.option(
    "--min-rows",
    type=click.IntRange(min=1),
    help="Fewest rows that a rule catches; by default the method's own (mostly 5).",
)
@click.option(
    "--scoring",
    type=click.Choice(["agreement", "log_loss", "balanced"]),
    default="agreement",
    show_default=True,
    help="By what size and settings are chosen (list, tree, additive): same class as "
    "the ensemble; probabilities near its own; or rare classes as much as others, "
    "which rules then name.",
)
@click.option(
    "--class-weight",
    metavar="balanced|CLASS=NUMBER,...",
    help="How much each class counts where rules are searched for (list, tree, "
    "additive): balanced, or --class-weight ill=5,well=1.",
)
@click.option(
    "--learn-from",
    type=click.Choice(["ensemble", "labels"]),
    default="ensemble",
    show_default=True,
    help="What the rules shall say: what the ensemble says, or what the table does.",
)
@click.option(
    "--exact-cuts",
    is_flag=True,
    help="Keep the ensemble's own cuts and exact values in place of short numbers.",
)
@click.option(
    "--restarts",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="Random starts, of which the best is kept.",
)
@click.option(
    "--statement-counts",
    type=click.Choice(["distinct", "all"]),
    default="distinct",
    show_default=True,
    help="all: a question that many trees ask counts more.",
)
@shared.drop
@shared.categories
@shared.na
@shared.sep
@shared.encoding
@click.option("--forbid", help="Columns that no rule may ask: --forbid sex,age")
@click.option(
    "--increasing",
    help="Columns with which the value, or the probability of the second class, must "
    "not fall (list).",
)
@click.option("--decreasing", help="Columns with which it must not rise (list).")
@shared.columns
@click.option("--positive", help="The class that is looked for; by default the second.")
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    help="Call a row positive from this probability on; by default, what rules say.",
)
@shared.test_size
@shared.task
@shared.out
@shared.report
@shared.seed
@click.option("--jobs", type=int, help="Threads to use; the result does not change.")
@shared.as_json
@shared.force
@shared.quiet
@debug_option
def simplify(files: tuple[str, ...], **options: Any) -> None:
    """Explain a model by a few rules.

    MODEL is a file of XGBoost (JSON, UBJSON), LightGBM (text) or CatBoost (JSON); or
    name an ensemble to train with --train. DATA is a table (CSV or Parquet). The rules
    and the scores on held-out rows go to the standard output. Of a Parquet file of more
    than 200,000 rows a sample is searched, and all rows are counted.
    """
    _check_usage(files, options)
    say = speaker(options["quiet"])
    # Before anything that takes long.
    check_outputs([options["out"], options["report"]], list(files), options["force"])
    prepare = _train_model if options["train"] else _read_model
    model, split, task = prepare(*files, options=options, say=say)
    _check_class(model, task, options)
    with plain_warnings(say):
        fitted = _explain(model, split, task, options)
        judged = _judge(fitted, split, options)
        summary = _summarize(fitted, split, task, options, judged)
    with plain_warnings(say):
        write_rules(
            fitted, split, options, say,
            positive=options["positive"], threshold=options["threshold"],
            # A model from a file may have been trained on any row of the table.
            new_to="model" if options["train"] else "rules",
        )  # fmt: skip
    click.echo(json_text(summary) if options["as_json"] else _text(judged, summary))


def _check_usage(files: tuple[str, ...], options: dict[str, Any]) -> None:
    check_files("simplify", files, options)
    given = click.get_current_context().get_parameter_source
    method = options["method"]
    for name in ("restarts", "statement_counts"):
        if method not in ("fab", "em") and given(name) is not ParameterSource.DEFAULT:
            option = name.replace("_", "-")
            raise click.UsageError(f"--{option} is for --method fab or em.")
    for name, plain in (("scoring", "agreement"), ("class_weight", None)):
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


def _check_class(model: Any, task: str, options: dict[str, Any]) -> None:
    """Refuse, before the work, a class that is looked for and not there."""
    from clearwood.rules.decisions import check_asked

    # Of a model that was trained here, or read from a file.
    classes = getattr(model, "classes_", getattr(model, "classes", ()))
    if task == "regression":
        classes = ()
    check_asked(list(classes), options["positive"], options["threshold"])


def _explain(model: Any, split: Any, task: str, options: dict[str, Any]) -> Any:
    from clearwood.cli.tables.columns_file import read_columns_file
    from clearwood.simplifiers.api import fit_best_kind, make_simplifier

    # Before the search: a wrong file is told of at once.
    path = options["columns"]
    column_info = None if path is None else read_columns_file(path)
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
    if column_info is not None:
        rules.rules_ = rules.rules_.with_columns(column_info)
    return rules


def _goals(model: Any, task: str, options: dict[str, Any]) -> dict[str, Any]:
    """What is asked of rules for classes, where it is not the default."""
    asked = {}
    if options["scoring"] != "agreement":
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


class _Judged(NamedTuple):
    """The rules with their numbers on held-out rows, and what comes of them there."""

    rules: Any
    decisions: Any
    all_rows: Any = None
    """Scores on all rows of a large file."""


def _judge(fitted: Any, split: Any, options: dict[str, Any]) -> _Judged:
    from clearwood.rules.decisions import decisions

    X, y, teacher = split.X_test, split.y_test, fitted.ensemble_
    decided = decisions(
        fitted, X, y, positive=options["positive"], threshold=options["threshold"]
    )
    large = options.get("large")
    if large is not None:
        fitted.rules_, scores = large.counted(fitted, split.X)
        return _Judged(fitted.rules_, decided, scores)
    return _Judged(fitted.rules_.described_on(X, y, teacher=teacher), decided)


def _summarize(
    fitted: Any, split: Any, task: str, options: dict[str, Any], judged: _Judged
) -> dict[str, Any]:
    import json

    from clearwood.rules.scores import prediction_error

    said = fitted.ensemble_.predict(split.X_test)
    scores = fitted.rules_.evaluate(split.X_test, split.y_test, teacher=said)
    return {
        "target": options["target"],
        "task": task,
        "model": fitted.ensemble_.source,
        "model_trained_here": options["train"] is not None,
        "method": options["method"],
        "kinds": fitted.rules_.about.get("kinds"),
        "rows": {"training": len(split.y), "held_out": len(split.y_test)},
        "scores": {
            "rules": scores.as_dict(),
            "ensemble": {
                "error": prediction_error(split.y_test, said, task),
                "n_trees": fitted.ensemble_.n_trees,
                "n_splits": fitted.ensemble_.n_splits,
            },
        },
        **_on_all_rows(judged, options),
        "rules": json.loads(fitted.rules_.to_json()),
        "rules_held_out": json.loads(judged.rules.to_json()),
        # Numbers that are not known are null.
        "decisions": json.loads(judged.decisions.to_frame().to_json(orient="records")),
    }


def _on_all_rows(judged: _Judged, options: dict[str, Any]) -> dict[str, Any]:
    """The rows of a large file, and the scores on all of them; else nothing."""
    if judged.all_rows is None:
        return {}
    scores = judged.all_rows.as_dict()
    return {"all_rows": {"rows": options["large"].n_rows, "rules": scores}}


def _counted(counts: dict[str, Any], name: str) -> str:
    n = counts[f"n_{name}s"]
    return f"{n:,} {name}{'s' * (n != 1)}"


def _text(judged: _Judged, summary: dict[str, Any]) -> str:
    from clearwood._words.numbers import short_text

    rules, ensemble = summary["scores"]["rules"], summary["scores"]["ensemble"]
    error = "error" if summary["task"] == "classification" else "mean squared error"
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
            str(judged.rules),
            "",
            f"On {held_out}:",
            f"  rules     {error} {short_text(rules['error'], 4)}, "
            f"{_counted(rules, 'rule')}, {_counted(rules, 'literal')}",
            f"  ensemble  {error} {short_text(ensemble['error'], 4)}, "
            f"{_counted(ensemble, 'tree')}, {_counted(ensemble, 'split')}{seen}",
            "  fidelity of the rules to the ensemble "
            f"{short_text(rules['fidelity'], 4)}",
            "",
            str(judged.decisions),
        ]
    )
