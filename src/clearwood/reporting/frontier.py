"""Results of a comparison as plain data for its page."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

from clearwood._html.disclosure import OfRows, disclosed
from clearwood._words.labels import printable
from clearwood._words.numbers import short_text
from clearwood.charts.chart import keys, svg
from clearwood.comparison.display import FrontierDisplay
from clearwood.comparison.frontier import ORDERED, Frontier
from clearwood.comparison.point import OF_MODEL, SCORES, FrontierPoint
from clearwood.reporting.lead import model_in_words
from clearwood.rules.exports.html_table import summarize_rules

LARGEST_TABLES, LARGEST_TEXTS = 1_000_000, 400_000
"""Maximum characters on the page for rules as tables, and for those as text."""
TABLE_SHARE, LINE_SHARE, LITERAL_SHARE = 3_000, 1_300, 60
"""Characters of a table beside its text: in all, per rule, per literal."""


def summarize_frontier(
    frontier: Frontier, *, title: str | None = None, show_rows: bool = True
) -> dict[str, Any]:
    """Data of the page of a comparison, as plain values.

    Parameters
    ----------
    frontier : Frontier
        Result of ``compare``.
    title : str, optional
        Title of the page.
    show_rows : bool, default=True
        Whether statistics of few rows are shown.

    Returns
    -------
    dict
        Keys ``title``, ``version``, ``unit``, ``points``, ``charts`` and ``keys``
        (empty if no error is known), ``lowest``, ``fewest``, ``model``, ``failures``
        and ``facts``.
    """
    from clearwood import __version__

    lowest = fewest = None
    if any(point.rules is not None for point in frontier.points):
        lowest, fewest = frontier.best_point(), frontier.enough()
    points, model = _points(frontier), model_in_words(frontier.model)
    words = _words(frontier, lowest, fewest)
    shown = None if fewest is None else frontier.points.index(fewest)
    for number, point in enumerate(points):
        point["is_shown"] = number == shown
    page = {
        "title": printable(str(title or f"How many rules for {model}?")),
        "version": __version__,
        "is_class": frontier.outcome.is_share,
        "unit": frontier.outcome.unit,
        "points": points,
        **_charts(frontier, words),
        "words": words,
        "has_better_peer": _better_peer(frontier) is not None,
        "lowest": None if lowest is None else _short(frontier, lowest),
        "fewest": None if fewest is None else _short(frontier, fewest),
        "corrected_error": None if fewest is None else _known(frontier.enough_error()),
        "model": model,
        "model_error": _known(frontier.model_error),
        "model_spread": _known(frontier.model_error_se),
        "constant_error": _known(frontier.constant_error),
        "scored_by": SCORES.get(frontier.scoring, "error"),
        "model_refitted": frontier.model_refitted,
        "n_rows": frontier.n_rows,
        "n_folds": frontier.n_folds,
        "n_described": frontier.n_described,
        "n_refits": frontier.n_refits,
        "failures": [
            (printable(method), printable(why)) for method, why in frontier.failures
        ],
        "facts": _facts(frontier),
    }
    return disclosed(page, show_rows)


def _charts(frontier: Frontier, words: str) -> dict[str, Any]:
    """Charts for wide and narrow screens; empty if no error is known."""
    if not any(math.isfinite(point.error) for point in frontier.points):
        return {"charts": [], "keys": []}
    chart = FrontierDisplay.from_frontier(frontier).chart()
    return {
        "charts": [
            svg(replace(chart, width=width), name, words, look=f"frontier {name}")
            for name, width in (("wide", 720.0), ("narrow", 360.0))
        ],
        "keys": keys(chart),
    }


def _points(frontier: Frontier) -> list[dict[str, Any]]:
    as_many = Counter((point.method, point.n_rules) for point in frontier.points)
    points = [
        {
            "number": number,
            "method": printable(point.method),
            "lines": _rules_text(point.n_rules)
            + f" (requested {point.requested})"
            * (as_many[point.method, point.n_rules] > 1),
            "n_rules": point.n_rules,
            "n_literals": point.n_literals,
            **{
                name: _known(getattr(point, name))
                for name in ("coverage", "overlap", "seconds", *SCORES)
            },
            **{f"{name}_se": _known(getattr(point, f"{name}_se")) for name in SCORES},
            # Not -1e-13 in place of 0. An error has a unit and may be tiny.
            **{
                name: _known(round(getattr(point, name), 4) + 0.0)
                for name in ("fidelity", "stability")
            },
            "is_best": point.on_frontier,
            "rules": None,
            "text": None,
        }
        for number, point in enumerate(frontier.points)
    ]
    _link(points)
    _add_rules(points, frontier)
    return points


def _link(points: list[dict[str, Any]]) -> None:
    """Link each point to those of its method with fewer and with more rules."""
    by_method: dict[str, list[dict[str, Any]]] = {}
    for point in points:
        by_method.setdefault(point["method"], []).append(point)
    for row in by_method.values():
        for before, point, after in zip([None, *row], row, [*row[1:], None]):
            point["before"] = before and (before["number"], before["lines"])
            point["after"] = after and (after["number"], after["lines"])


def _add_rules(points: list[dict[str, Any]], frontier: Frontier) -> None:
    """Rules as tables while the page has room, then as text, then not at all."""
    tables, texts = LARGEST_TABLES, LARGEST_TEXTS
    # The frontier first: it is what readers most likely look at.
    order = sorted(range(len(points)), key=lambda k: not points[k]["is_best"])
    for number in order:
        point, found = points[number], frontier.points[number]
        table = (
            TABLE_SHARE
            + LINE_SHARE * found.n_rules
            + LITERAL_SHARE * found.n_literals
            + len(found.text)
        )
        if found.rules is not None and table <= tables:
            point["rules"] = summarize_rules(found.rules)
            tables -= table
        elif len(found.text) <= texts:
            lines = found.text.expandtabs(4).splitlines()
            known = found.rules or ()
            rows = [rule.statistics.rows_assigned for rule in known]
            point["text"] = OfRows("\n".join(map(printable, lines)), *rows)
            texts -= len(found.text)


def _short(frontier: Frontier, point: FrontierPoint) -> dict[str, Any]:
    return {
        "number": frontier.points.index(point),
        "method": printable(point.method),
        "lines": _rules_text(point.n_rules),
        "n_rules": point.n_rules,
        "error": point.error,
        "error_se": _known(point.error_se),
    }


def _better_peer(frontier: Frontier) -> FrontierPoint | None:
    """The peer of lowest error if none of our rules reach it."""
    known = [point for point in frontier.points if math.isfinite(point.error)]
    best = min(known, key=lambda p: (p.error, p.rules is None, p.n_rules), default=None)
    return best if best is not None and best.rules is None else None


def _words(
    frontier: Frontier, lowest: FrontierPoint | None, fewest: FrontierPoint | None
) -> str:
    """Text alternative to the chart."""
    if lowest is None or fewest is None:
        return "No method found rules with a known error."
    shown = frontier.outcome.figure
    words = (
        f"The lowest error of rules is {shown(lowest.error)}, by "
        f"{printable(lowest.method)} with {_rules_text(lowest.n_rules)}."
    )
    if fewest is not lowest:
        words += (
            f" The fewest rules within one standard error of the lowest "
            f"{SCORES.get(frontier.scoring, 'error')} are {fewest.n_rules:,}, by "
            f"{printable(fewest.method)}, with an error of {shown(fewest.error)}."
        )
    peer = _better_peer(frontier)
    if peer is not None:
        words += (
            f" The peer {printable(peer.method)} has a lower one, {shown(peer.error)} "
            f"with {_rules_text(peer.n_rules)}."
        )
    if frontier.scoring == OF_MODEL:
        words += f" {ORDERED}."
    if math.isfinite(frontier.model_error) and frontier.model_refitted:
        words += f" The error of the model itself is {shown(frontier.model_error)}."
    if math.isfinite(frontier.constant_error):
        what = frontier.outcome.constant
        words += (
            f" The error of always predicting the {what} is "
            f"{shown(frontier.constant_error)}."
        )
    return words


def _facts(frontier: Frontier) -> list[tuple[str, str]]:
    names = ", ".join(map(printable, frontier.feature_names))
    return [
        ("Model", printable(frontier.model)),
        ("Task", frontier.outcome.in_words()),
        ("Features", f"{len(frontier.feature_names)}: {names}"),
        ("Rows", f"{frontier.n_rows:,}"),
        ("Folds", f"{frontier.n_folds}"),
        ("Refits on bootstrap samples", f"{frontier.n_refits}"),
        ("Seconds in total", short_text(frontier.seconds)),
    ]


def _rules_text(n: int) -> str:
    return f"{n:,} rule{'s' * (n != 1)}"


def _known(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
