"""``clearwood sbfc``: features related to the class, and their dependences."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Result, command, first_lines
from clearwood.cli.inputs import read_labelled, split_rows
from clearwood.exceptions import InputError

MOST_LINES, LEAST_EDGE = 20, 0.1
"""Maximum number of features printed, and the least probability of an edge."""


@command(
    "Find the features that tell the class, and their graph.",
    shared.data,
    shared.target,
    *shared.TABLE,
    shared.choice(
        "--sampler",
        "auto exact collapsed original",
        "auto: exact for few features, else chains.",
    ),
    shared.option(
        "--preset",
        click.Choice(["paper"]),
        "Sampler, prior and smoothing of the thesis.",
    ),
    shared.option(
        "--prior",
        click.Choice(["balanced", "paper"]),
        "balanced, the default: correlated noise stays noise.",
    ),
    shared.option(
        "--n-draws",
        shared.FROM_1,
        "Draws of each of the chains, if there are any; by default those of the "
        "estimator.",
    ),
    shared.test_size,
    shared.option(
        "--out", shared.NEW_FILE, "Write probabilities and the graph to this JSON."
    ),
    shared.report,
    shared.random_state,
    *shared.PRINTED,
)
def sbfc(args: Any) -> Result:
    """Find the features that tell the class, and how they depend on each other.

    DATA is a table (CSV or Parquet). Every feature gets the probability that it is
    signal, and every two the probability that they depend on each other: the average
    over all graphs in which features form trees. The most probable of them, and scores
    of predictions on held-out rows, go to the standard output.
    """
    from sklearn.utils.multiclass import type_of_target

    from clearwood.sbfc import SelectiveBayesianForestClassifier

    args.task = "classification"
    table = read_labelled(args)
    if type_of_target(table.y) == "continuous":
        raise InputError(
            f"The column {args.target!r} holds fractions, which are no classes; "
            "put its values into groups first."
        )
    split = split_rows(table, args)
    given = {"prior": args.prior, "n_draws": args.n_draws}
    fitted = SelectiveBayesianForestClassifier(
        args.sampler,
        random_state=args.random_state,
        verbose=args.progress,
        **{name: value for name, value in given.items() if value is not None},
    ).fit(split.X, split.y)
    summary = _summarize(fitted, split, args.target)
    title = f"What tells {args.target}"
    return Result(
        summary, lambda: _text(summary), fitted, page=split.held_out | {"title": title}
    )


def _summarize(fitted: Any, split: Any, target: str) -> dict[str, Any]:
    from clearwood.sbfc.reading.feature_graph import average_graph
    from clearwood.sbfc.reading.section import sampling_words, score_classes

    names, best = fitted.levels_.features.names, fitted.best_graph_
    return {
        "target": target,
        "rows": split.counts,
        "scores": score_classes(fitted, split.X_test, split.y_test),
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
            "signal": [names[j] for j in best.signal.nonzero()[0]],
            "edges": [[names[i], names[j]] for i, j in best.edges],
        },
    }


def _text(summary: dict[str, Any]) -> str:
    from clearwood._words.numbers import probability_text
    from clearwood.rules.conditions import name_text

    features = [
        f"  {probability_text(p):>6}  {name_text(name)}"
        f"{' (has a single level)' * (name in summary['single_level'])}"
        for name, p in summary["signal_probability"].items()
    ]
    pairs = [
        f"  {probability_text(edge['probability']):>6}  "
        f"{', '.join(map(name_text, edge['features']))}"
        for edge in summary["edges"]
    ]
    scores = summary["scores"]
    return "\n".join(
        [
            "Probability that a feature is signal:",
            *first_lines(features, MOST_LINES, " features"),
            f"\nThat two features depend on each other (from {LEAST_EDGE:g} on):",
            *(first_lines(pairs, MOST_LINES) or ["  none"]),
            f"\nOn {summary['rows']['held_out']:,} rows held out from training "
            "(class shares alone):",
            *(
                f"  {name:10}{scores[key]:.4g} ({scores[key + '_without']:.4g})"
                for name, key in (("log loss", "log_loss"), ("error", "error"))
            ),
            f"\n{summary['sampling']}",
        ]
    )
