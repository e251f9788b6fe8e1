"""``clearwood sbfc``: which features tell the class, and how they depend."""

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

MOST_LINES, LEAST_EDGE = 20, 0.1
"""Features that are printed, and the least probable edge."""


@click.command(short_help="Find the features that tell the class, and their graph.")
@shared.data
@shared.target
@shared.drop
@shared.categories
@shared.columns
@shared.na
@shared.sep
@shared.encoding
@click.option(
    "--sampler",
    type=click.Choice(["auto", "exact", "collapsed", "original"]),
    default="auto",
    show_default=True,
    help="auto: exact for few features, else chains.",
)
@click.option(
    "--prior",
    type=click.Choice(["thesis", "balanced"]),
    help="balanced, the default: correlated noise stays noise.",
)
@click.option(
    "--draws",
    type=click.IntRange(min=1),
    help="Draws of each of the chains, if there are any; by default those of the "
    "estimator.",
)
@shared.test_size
@click.option(
    "--out", type=click.Path(), help="Write probabilities and the graph to this JSON."
)
@shared.report
@shared.seed
@shared.as_json
@shared.force
@shared.quiet
@common_options
def sbfc(data: str, **options: Any) -> None:
    """Find the features that tell the class, and how they depend on each other.

    DATA is a table (CSV or Parquet). Every feature gets the probability that it is
    signal, and every two the probability that they depend on each other: the average
    over all graphs in which features form trees. The most probable of them, and scores
    of predictions on held-out rows, go to the standard output.
    """
    from clearwood.codec.files import write_text
    from clearwood.reporting import report

    say = speaker(options["quiet"])
    out, page, force = options["out"], options["report"], options["force"]
    # Before anything that takes long.
    check_outputs([out, page], [data], force)
    with plain_warnings(say):
        split = _read(data, options, say)
        fitted = _fit(split, options)
        summary = _summarize(fitted, split, options)
        if out:
            write_text(out, json_text(summary), overwrite=force)
            say(f"wrote {out}")
        if page:
            report(
                fitted, page, X=split.X_test, y=split.y_test, overwrite=force,
                title=f"What tells {options['target']}",
            )  # fmt: skip
            say(f"wrote {page}")
    show(json_text(summary) if options["as_json"] else _text(summary))


def _read(data: str, options: dict[str, Any], say: Any) -> Any:
    from sklearn.utils.multiclass import type_of_target

    from clearwood.cli.train import READS_TEXT, hold_out
    from clearwood.exceptions import InputError

    # It reads text, as categories, and missing values.
    settings = {**options, "task": "classification"}
    table = read_training_table(data, READS_TEXT, settings, say)
    if type_of_target(table.y) == "continuous":
        raise InputError(
            f"The column {options['target']!r} holds fractions, which are no classes; "
            "put its values into groups first."
        )
    return hold_out(table.X, table.y, table.task, options["test_size"], options["seed"])


def _fit(split: Any, options: dict[str, Any]) -> Any:
    from clearwood.sbfc import SelectiveBayesianForestClassifier

    asked = {"prior": options["prior"], "n_draws": options["draws"]}
    return SelectiveBayesianForestClassifier(
        options["sampler"],
        random_state=options["seed"],
        verbose=not options["quiet"],
        **{name: value for name, value in asked.items() if value is not None},
    ).fit(split.X, split.y)


def _summarize(fitted: Any, split: Any, options: dict[str, Any]) -> dict[str, Any]:
    from clearwood.sbfc.reading.feature_graph import average_graph
    from clearwood.sbfc.reading.section import sampling_words, score_classes

    scores = score_classes(fitted, split.X_test, split.y_test)
    names = fitted.levels_.features.names
    return {
        "target": options["target"],
        "rows": {"training": len(split.y), "held_out": len(split.y_test)},
        "scores": scores,
        "sampling": sampling_words(fitted),
        "log_evidence": fitted.log_evidence_,
        "signal_probability": dict(fitted.feature_ranking()),
        "single_level": [names[j] for j in (fitted.levels_.n_levels < 2).nonzero()[0]],
        "edges": [
            {"features": [names[i], names[j]], "probability": p}
            for i, j, p in average_graph(fitted, LEAST_EDGE).edges
        ],
        "best_graph": {
            "log_posterior": fitted.best_log_posterior_,
            "signal": [names[j] for j in fitted.best_graph_.signal.nonzero()[0]],
            "edges": [[names[i], names[j]] for i, j in fitted.best_graph_.edges],
        },
    }


def _text(summary: dict[str, Any]) -> str:
    from clearwood._words.numbers import probability_text
    from clearwood.rules.conditions import name_text

    ranking = list(summary["signal_probability"].items())
    lines = ["Probability that a feature is signal:"]
    lines += [
        f"  {probability_text(p):>6}  {name_text(name)}"
        f"{' (has a single level)' * (name in summary['single_level'])}"
        for name, p in ranking[:MOST_LINES]
    ]
    if len(ranking) > MOST_LINES:
        lines.append(f"  ... {len(ranking) - MOST_LINES:,} more features (--json)")
    lines += ["", f"That two features depend on each other (from {LEAST_EDGE:g} on):"]
    for edge in summary["edges"][:MOST_LINES]:
        first, second = map(name_text, edge["features"])
        lines.append(f"  {probability_text(edge['probability']):>6}  {first}, {second}")
    more = len(summary["edges"]) - MOST_LINES
    if more > 0:
        lines.append(f"  ... {more:,} more (--json)")
    if not summary["edges"]:
        lines.append("  none")
    scores, n_held = summary["scores"], summary["rows"]["held_out"]
    lines += [
        "",
        f"On {n_held:,} rows held out from training (class shares alone):",
        *(
            f"  {name:10}{scores[key]:.4g} ({scores[key + '_without']:.4g})"
            for name, key in (("log loss", "log_loss"), ("error", "error"))
        ),
        "",
        summary["sampling"],
    ]
    return "\n".join(lines)
