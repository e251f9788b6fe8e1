"""Report section on a posterior of feature graphs, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from markupsafe import Markup

from clearwood._html.disclosure import FEW, OfRows, of_parts
from clearwood._words.labels import prediction_text, printable
from clearwood._words.numbers import (
    percent_text,
    probability_text,
    share_text,
    short_text,
)
from clearwood.charts.chart import svg
from clearwood.columns.info import shown_names
from clearwood.rules.decisions import (
    CalibrationPoint,
    Decisions,
    calibration_of,
    decisions,
)
from clearwood.rules.decisions.display import calibration_chart, roc_chart
from clearwood.rules.scores import class_scores
from clearwood.sampling.chains import GOOD_ESS, GOOD_RHAT, LARGEST_RHAT
from clearwood.sampling.diagnostics import Diagnosis, diagnose
from clearwood.sbfc.estimators import SelectiveBayesianForestClassifier
from clearwood.sbfc.reading.display import FeatureGraphDisplay, signal_diagnoses
from clearwood.sbfc.reading.draws_display import drawn_heights
from clearwood.sbfc.reading.feature_graph import (
    FeatureGraph,
    average_graph,
    check_classifier,
)
from clearwood.sbfc.reading.level_odds import odds_of

MOST_LISTED, MOST_LEVELS = 50, 8
"""Features in the table besides those in the graph, and levels of one of them."""

LEAST_SIGNAL, MOST_ODDS = 0.5, 20
"""Least probability of features whose levels are described, and their number."""


def section(result: Any, X: Any = None, y: Any = None) -> dict[str, Any]:
    """Report data: average graph, ranking, scores on given rows, and sampling."""
    estimator = check_classifier(result)
    graph = average_graph(estimator)
    order = np.argsort(-estimator.inclusion_probability_, kind="stable").tolist()
    listed = order[: max(MOST_LISTED, len(graph.shown))]
    number = {j: i for i, j in enumerate(dict.fromkeys([*graph.shown, *listed]))}
    scored = X is not None and y is not None
    return {
        "picture": _picture(graph),
        "features": _features(estimator, graph, number, order),
        "n_hidden": len(order) - len(number),
        # Those listed for their edges may be less probable than some left out.
        "n_sure": len(listed),
        "tiles": _tiles(estimator),
        "facts": _facts(estimator),
        "odds": odds_lines(estimator),
        "scores": score_lines(estimator, X, y) if scored else None,
        "sampling": _sampling(estimator, order),
    }


def _picture(graph: FeatureGraph) -> dict[str, Any]:
    notes = " ".join(graph.notes)
    words = f"{notes} The table below has the same numbers."
    chart = FeatureGraphDisplay(graph).chart()
    return {"svg": svg(chart, "graph", words), "notes": notes, "n": len(graph.shown)}


# Features


def _features(
    estimator: SelectiveBayesianForestClassifier,
    graph: FeatureGraph,
    number: dict[int, int],
    order: list[int],
) -> list[dict[str, Any]]:
    neighbours: dict[int, list[tuple[str, str, int]]] = {j: [] for j in number}
    for first, second, p in graph.edges:
        for j, k in ((first, second), (second, first)):
            name = printable(graph.names[k])
            neighbours[j].append((name, probability_text(p), number[k]))
    in_picture = set(graph.shown)
    found = []
    for j in (j for j in order if j in number):
        levels = [printable(text) for text in estimator.levels_.names_of(j)]
        more = len(levels) - MOST_LEVELS
        if more > 0:
            levels = [*levels[:MOST_LEVELS], f"{more} more"]
        p = float(graph.signal[j])
        found.append({
            "number": number[j],
            "name": printable(graph.names[j]),
            "text": probability_text(p),
            "share": p,
            "neighbours": neighbours[j],
            "levels": levels,
            "is_constant": bool(estimator.levels_.n_levels[j] < 2),
            "is_number": estimator.levels_.cuts[j] is not None,
            "in_picture": j in in_picture,
        })  # fmt: skip
    return found


def _tiles(estimator: SelectiveBayesianForestClassifier) -> list[tuple[str, str, str]]:
    p = estimator.inclusion_probability_
    pairs = estimator.edge_probability_.tocoo()
    edges = int(((pairs.row < pairs.col) & (pairs.data >= 0.5)).sum())
    return [
        (
            "Signal features",
            f"{int((p >= 0.5).sum()):,}",
            f"of {len(p):,}; with a probability of at least 1/2",
        ),
        (
            "Expected number of signal features",
            f"{p.sum():.3g}",
            "sum of the probabilities",
        ),
        ("Dependent pairs", f"{edges:,}", "with a probability of at least 1/2"),
    ]


def _facts(estimator: SelectiveBayesianForestClassifier) -> list[tuple[str, str]]:
    classes = [printable(str(label)) for label in estimator.classes_]
    many = len(classes) - 20
    labels = ", ".join([*classes[:20], *([f"{many} more"] if many > 0 else [])])
    varies = int((estimator.levels_.n_levels > 1).sum())
    return [
        ("Task", f"classification into {len(classes)} classes: {labels}"),
        ("Features", f"{estimator.n_features_in_:,}, of which {varies:,} vary"),
        ("Calibration", _calibration_text(estimator)),
        ("Prior", f"{estimator._setting('prior')}, over forests of rooted trees"),
    ]


def _calibration_text(estimator: SelectiveBayesianForestClassifier) -> str:
    found = estimator.calibration_
    if found is None:
        return "none: the average over graphs"
    words = f"log odds of the graphs times {found.temperature:.3g}"
    return words + ", and a step function of every feature" * bool(len(found.effect))


# Levels


def odds_lines(estimator: SelectiveBayesianForestClassifier) -> dict[str, Any] | None:
    """Shares by level of the most probable features; None without counts.

    Of two classes the second is shown, of more the one with the largest odds ratio.
    """
    p, classes = estimator.inclusion_probability_, estimator.classes_
    if estimator._counts is None:
        return None
    order = [int(j) for j in np.argsort(-p, kind="stable") if p[j] >= LEAST_SIGNAL]
    overall = estimator._counts[: estimator.levels_.n_levels[0]].sum(axis=0)
    names = shown_names(estimator.levels_.features)
    labels = [printable(str(label)) for label in classes]
    found = []
    for j in order[:MOST_ODDS]:
        odds, lines = odds_of(estimator, j), []
        for i, level in enumerate(estimator.levels_.names_of(j)):
            k = 1 if len(classes) == 2 else int(odds.odds_ratio[i].argmax())
            predicted = [percent_text(float(part[i, k])) for part in odds.predicted]
            lines.append({
                "level": printable(level),
                "rows": float(odds.rows[i]),
                "label": labels[k],
                "share": share_text(odds.share[i, k], odds.low[i, k], odds.high[i, k]),
                "ratio": short_text(odds.odds_ratio[i, k], 2),
                "predicted": " to ".join(dict.fromkeys(predicted)),
            })  # fmt: skip
        found.append({
            "name": printable(names[j]),
            "text": probability_text(float(p[j])),
            "direction": odds.direction[1] if len(classes) == 2 else "",
            "lines": [_of_level(line) for line in lines[:MOST_LEVELS]],
            "more": max(len(lines) - MOST_LEVELS, 0),
        })  # fmt: skip
    return {
        "features": found,
        "n_others": len(order) - len(found),
        "label": labels[1] if len(classes) == 2 else None,
        "overall": percent_text(float(overall[1] / overall.sum())),
        "is_calibrated": estimator.calibration_ is not None,
    }


def _of_level(line: dict[str, Any]) -> OfRows:
    few = {"rows": FEW, "share": "–", "ratio": "–", "predicted": "–"}
    return OfRows(line, line["rows"], instead=line | few)


# Scores


def score_classes(
    estimator: SelectiveBayesianForestClassifier, X: Any, y: Any
) -> dict[str, Any]:
    """Error and log loss of the predictions, and of the class frequencies alone.

    Returns
    -------
    dict
        ``error`` and ``log_loss``, ``error_without`` and ``log_loss_without`` of a
        prediction without features, ``monte_carlo_error``: the largest standard error
        of a probability, None where unknown, and ``n_rows``.
    """
    p = estimator.predict_proba(X)
    without = np.exp(np.tile(estimator._average.log_class, (len(p), 1)))
    found: dict[str, Any] = {"n_rows": len(p)}
    for name, of in (("", p), ("_without", without)):
        scores = class_scores(of, estimator.classes_, y)
        found |= {f"{key}{name}": scores[key] for key in ("error", "log_loss")}
    error = float(estimator.predict_proba_error(X).max())
    return found | {"monte_carlo_error": None if np.isnan(error) else error}


def score_lines(
    estimator: SelectiveBayesianForestClassifier, X: Any, y: Any
) -> dict[str, Any]:
    """The scores as rows of a table, with the confusion matrix and calibration."""
    found = decisions(estimator, X, y)
    assert isinstance(found, Decisions)
    scores = score_classes(estimator, X, y)
    return {
        "n_rows": scores["n_rows"],
        "lines": [
            {"name": name, "unit": unit, "own": scores[key],
             "without": scores[f"{key}_without"]}
            for name, unit, key in (("Error rate", "percent", "error"),
                                    ("Log loss", "number", "log_loss"))
        ],
        "monte_carlo": scores["monte_carlo_error"],
        "calls": found.calls,
        "confusion": list(zip(found.labels, found.first.rows.astype(int).tolist())),
        "charts": score_charts(estimator, found, X, y),
    }  # fmt: skip


def score_charts(
    estimator: SelectiveBayesianForestClassifier, found: Decisions, X: Any, y: Any
) -> list[Any]:
    """Calibration and, of two classes, the ROC curve.

    Of more classes, calibration of the predicted one.
    """
    if found.pos_label is not None:
        points, label = found.calibration, prediction_text(found.pos_label)
    else:
        p, label = estimator.predict_proba(X), "the predicted class"
        is_right = estimator.classes_[p.argmax(axis=1)] == np.asarray(y)
        points = calibration_of(p.max(axis=1), is_right, np.ones(len(p)))
    calibration = of_parts(
        points, lambda point: point.found.rows, lambda some: _calibration(some, label)
    )
    charts: list[Any] = [calibration]
    if found.pos_label is not None:
        area = f"Area under the curve: {found.first.rates[0].area.as_number()}."
        charts.append(svg(roc_chart(found), "roc", area, look="half"))
    return charts


def _calibration(points: Sequence[CalibrationPoint], label: str) -> Markup:
    words = " ".join(
        f"Predicted probability of {label} {percent_text(point.predicted)}, observed "
        f"{point.found} of {point.found.rows:,} rows."
        for point in points
    )
    return svg(calibration_chart(points, label), "calibration", words, look="half")


# Sampling


def sampling_words(estimator: SelectiveBayesianForestClassifier) -> str:
    """Sentence on the sampler used and the convergence of the chains."""
    ranked = np.argsort(-estimator.inclusion_probability_, kind="stable")
    found = _sampling(estimator, ranked.tolist())
    return f"{'' if found['is_good'] else 'WARNING: '}{found['words']}"


def _sampling(
    estimator: SelectiveBayesianForestClassifier, order: list[int]
) -> dict[str, Any]:
    """Description of the sampler, and a row of diagnostics per quantity."""
    drawn = f"Predictions average over {len(estimator.graphs_):,} sampled graphs."
    if estimator.chains_ is None:
        exact = estimator.log_evidence_ is not None
        words = (
            "All graphs were summed: these probabilities are exact."
            if exact
            else "The posterior was sampled by Markov chains. Files do not keep their "
            "draws, so that convergence cannot be reported."
        )
        return {"words": f"{words} {drawn}", "lines": [], "is_good": True}
    chains = estimator.chains_
    name, _ = drawn_heights(estimator)
    found = chains.diagnose()
    lines = [
        _line("log posterior", found[name]),
        _line("number of signal features", found["n_signal"]),
    ]
    worst = _worst(estimator, order[:MOST_LISTED])
    lines += [] if worst is None else [worst]
    edges = {ends: diagnose(own) for ends, own in estimator._edge_draws.items()}
    if edges:
        (i, j), edge = max(edges.items(), key=lambda item: item[1].rhat)
        varies = np.flatnonzero(estimator.levels_.n_levels > 1)[[i, j]]
        names = [printable(shown_names(estimator.levels_.features)[k]) for k in varies]
        lines.append(_line(f"edge of {' and '.join(names)} (largest R-hat)", edge))
    least = GOOD_ESS * chains.n_chains
    known = not any(np.isnan(line["rhat"]) for line in lines)
    # The largest of many is above that of most by chance.
    bounds = [GOOD_RHAT] * 2 + [LARGEST_RHAT] * 2
    agree = all(line["rhat"] <= most for line, most in zip(lines, bounds))
    enough = all(line["ess"] >= least for line in lines[:2])
    verdict = (
        "They are too short to assess convergence: increase n_draws"
        if not known
        else "They have not converged: increase n_draws before you use these results"
        if not agree
        else "They have converged"
        if enough
        else "They have converged, but to few effective draws: increase n_draws"
    )
    return {
        "words": f"{chains.n_chains} Markov chains of {chains.n_draws:,} draws "
        f"each. {verdict}. {drawn}",
        "lines": lines,
        "is_good": agree and enough,
        "least_ess": least,
        "most_rhat": GOOD_RHAT,
        "largest_rhat": LARGEST_RHAT,
    }


def _worst(
    estimator: SelectiveBayesianForestClassifier, features: list[int]
) -> dict[str, Any] | None:
    diagnoses = zip(features, signal_diagnoses(estimator, features))
    known = [(one.rhat, j, one) for j, one in diagnoses if one is not None]
    if not known:
        return None
    _, j, one = max(known, key=lambda item: item[:2])
    names = shown_names(estimator.levels_.features)
    all_of = "all" if len(features) == len(names) else f"the first {len(features)}"
    of = f"{printable(names[j])} is signal (largest R-hat of {all_of} features)"
    return _line(of, one)


def _line(name: str, of: Diagnosis) -> dict[str, Any]:
    return {
        "name": name,
        "mean": of.mean,
        "error": of.mcse,
        "rhat": of.rhat,
        "ess": of.ess,
    }
