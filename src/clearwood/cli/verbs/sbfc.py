"""``clearwood sbfc``: features related to the class, and their dependences."""

from __future__ import annotations

from typing import Any

import click

from clearwood.cli import options as shared
from clearwood.cli.command import Answer, command
from clearwood.cli.inputs import given, read_labelled, split_rows
from clearwood.cli.templates import fill
from clearwood.exceptions import InputError

LEAST_EDGE = 0.1
"""Minimum probability of an edge."""


@command(
    "Select features for classification; report their dependences.",
    shared.data,
    shared.target,
    *shared.TABLE,
    shared.choice(
        "--sampler",
        "auto exact collapsed exchange original",
        "auto: exact for few features, otherwise MCMC.",
    ),
    shared.option(
        "--preset",
        click.Choice(["paper"]),
        "Sampler, prior and smoothing of the paper.",
    ),
    shared.option(
        "--prior",
        click.Choice(["balanced", "paper"]),
        "balanced (default): correlated noise is not selected.",
    ),
    shared.n_draws,
    shared.test_size,
    shared.random_state,
    shared.out(shared.NUMBERS),
    *shared.FITTED,
)
def sbfc(args: Any) -> Answer:
    """Select features for classification and estimate their dependences.

    DATA is a table (CSV or Parquet). Prints the posterior probability that each feature
    is related to the class, and that each pair of features is dependent, averaged over
    all graphs whose features form trees; how the odds of the class change with the
    levels of features; and the scores on held-out rows.
    """
    from sklearn.utils.multiclass import type_of_target

    from clearwood._html.disclosure import disclosed
    from clearwood.sbfc import SelectiveBayesianForestClassifier
    from clearwood.sbfc.reading.section import odds_lines

    args.task = "classification"
    table = read_labelled(args)
    if type_of_target(table.y) == "continuous":
        raise InputError(
            f"The column {args.target!r} holds fractions, not classes; "
            "discretize it first."
        )
    split = split_rows(table, args)
    fitted = SelectiveBayesianForestClassifier(
        args.sampler,
        random_state=args.random_state,
        verbose=args.progress,
        **given(args, "preset", "prior", "n_draws"),
    ).fit(split.X, split.y)
    summary = _summarize(fitted, split, args.target)
    title = f"Features related to {args.target}"
    return Answer(
        summary,
        lambda: fill(
            "sbfc.txt",
            **summary,
            odds=disclosed(odds_lines(fitted), show_rows=True),
            least_edge=LEAST_EDGE,
        ),
        fitted,
        page=split.held_out | {"title": title, "held_out_from": "model"},
    )


def _summarize(fitted: Any, split: Any, target: str) -> dict[str, Any]:
    from clearwood.sbfc.reading.feature_graph import average_graph
    from clearwood.sbfc.reading.level_odds import level_odds
    from clearwood.sbfc.reading.section import sampling_words, score_classes

    names, best = fitted.levels_.features.names, fitted.best_graph_
    single = (fitted.levels_.n_levels < 2).nonzero()[0]
    return {
        "target": target,
        "rows": split.counts,
        "scores": score_classes(fitted, split.X_test, split.y_test),
        "sampling": sampling_words(fitted),
        "log_evidence": fitted.log_evidence_,
        "signal_probability": dict(fitted.feature_ranking()),
        "single_level": [names[j] for j in single],
        "no_cut": [names[j] for j in single if fitted.levels_.cuts[j] is not None],
        "edges": [
            {"features": [names[i], names[j]], "probability": p}
            for i, j, p in average_graph(fitted, LEAST_EDGE).edges
        ],
        "level_odds": level_odds(fitted).to_dict("records"),
        "best_graph": {
            "log_posterior": fitted.best_log_posterior_,
            "signal": [names[j] for j in best.signal.nonzero()[0]],
            "edges": [[names[i], names[j]] for i, j in best.edges],
        },
    }
