"""Content of the report, as plain data."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from clearwood._html.disclosure import MIN_ROWS, OfRows, disclosed, is_few
from clearwood._words.labels import printable, type_text
from clearwood.columns.some_rows import one_row
from clearwood.columns.sparse_tables import is_matrix
from clearwood.ensembles import TreeEnsemble, read_ensemble
from clearwood.ensembles.read import as_predictor
from clearwood.exceptions import InputError, ModelError
from clearwood.families import PageSection, section_of
from clearwood.reporting.decisions import summarize_decisions
from clearwood.reporting.failures import summarize_failures
from clearwood.reporting.history import summarize_history
from clearwood.reporting.lead import read_model_in_words
from clearwood.reporting.path import summarize_path
from clearwood.reporting.score_lines import LAST_LINE, summarize_scores
from clearwood.reporting.survival import summarize_survival
from clearwood.reporting.table import (
    Table,
    in_used_columns,
    path_of,
    table_of,
)
from clearwood.reporting.verdict import summarize_verdict
from clearwood.reporting.words import words_of
from clearwood.rules import RuleSet
from clearwood.rules.drawn.nodes import draw_tree, tree_of
from clearwood.rules.drawn.page import summarize_tree
from clearwood.rules.evaluation.tables import survey
from clearwood.rules.explain import explain
from clearwood.rules.exports.html_table import summarize_rules
from clearwood.rules.importances.page import summarize_importances
from clearwood.rules.importances.permuted import importances_of
from clearwood.rules.rule_set import ensemble_of, rules_of
from clearwood.rules.scores import orders_only

LONGEST = 300
"""Maximum letters of a setting."""

FEWEST_SHUFFLED, MOST_SHUFFLED = 20, 1000
"""Number of rows for permutation importances on a page."""


NEW_TO = {
    None: "given rows",
    "rules": "rows not used to fit the rules",
    "model": "rows used to fit neither the model nor the rules",
}
"""Rows by what they are held out from: unknown, the rules alone, or the model too."""


def summarize(
    result: Any,
    *,
    X: Any = None,
    y: Any = None,
    model: Any = None,
    title: str | None = None,
    pos_label: Any = None,
    threshold: float | None = None,
    held_out_from: str | None = None,
    row: Any = None,
    show_rows: bool = True,
) -> dict[str, Any]:
    """Content of the report, as a dictionary of plain data.

    Parameters
    ----------
    result : fitted estimator, RuleSet, or another result that has a section
        What to report.
    X, y, model, title, pos_label, threshold, held_out_from, row, show_rows
        As in :func:`report`.

    Returns
    -------
    dict
        Keys ``title``, ``version``, ``target``, ``facts``, ``verdict``, ``warning``,
        ``rules``, ``as_found``, ``row``, ``survival``, ``interval`` (the
        key of its explanation), ``scores``, ``decisions``,
        ``failures``, ``path``, ``history``, ``settings``, ``words``, ``family`` (the
        record of the result's class, see :func:`clearwood.families.section_of`) and
        ``section`` (its content, also under ``family.name``); ``as_found`` (the rules
        with their stored
        statistics), ``scores``, ``decisions`` and ``failures`` are None if no rows (or
        no labels, or no model) were given, the others if ``result`` holds none. Without
        rules: ``title``, ``version``, ``settings`` and the section.

    Examples
    --------
    >>> from clearwood.rules import FeatureSpace
    >>> from clearwood.rules import Interval, Rule, RuleList
    >>> rules = RuleList(
    ...     (Rule((Interval(0, low=37.5),), 1.0),),
    ...     Rule((), 0.0),
    ...     FeatureSpace.numeric(1, ["temperature"]))
    >>> page = summarize(rules, X=[[36.9], [39.0]], y=[0.0, 2.0])
    >>> [line["rules"] for line in page["scores"]["lines"][:2]]
    [0.7071067811865476, 0.5]
    """
    from clearwood import __version__

    if X is None and y is not None:
        raise InputError("y was passed without X; pass its rows, too.")
    if held_out_from not in NEW_TO:
        raise InputError(
            f"held_out_from must be one of {(*NEW_TO,)}, found {held_out_from!r}."
        )
    record = section_of(result)
    has_rules = record is None or record.has_rules
    if (y is None or not has_rules) and not (pos_label is None and threshold is None):
        raise InputError(
            "pos_label and threshold are for classification rules and need the true "
            "labels: pass X and y."
        )
    if record is not None and not has_rules:
        if row is not None:
            raise InputError("row is for results with rules only; leave it out.")
        alone = _summarize_alone(record, result, X, y, model, title)
        alone |= {"held_out_from": held_out_from, "show_rows": show_rows}
        unused = "rows not used in the fit"
        alone["on_which"] = unused if held_out_from else NEW_TO[None]
        return disclosed(alone, show_rows)
    rules = rules_of(result, "result")
    if model is None and record is not None:
        model = record.model_of(result, X)
    elif model is None:
        model = ensemble_of(result, X)
    model = as_predictor(model)
    ensemble = _ensemble_of(model)
    facts = _facts(rules, model, ensemble)
    explained = _explained(result, rules, row)
    given = X
    if record is None and is_matrix(X):
        result, X, row = in_used_columns(result, X, row)
        rules = rules_of(result)
    path = path_of(result)
    # Survival times are no values with errors; they have a section of their own.
    values, times = (None, y) if rules.outcome.horizons else (y, None)
    table = None if X is None else table_of(rules, X, given, values, model, path)
    least = 1 if show_rows else MIN_ROWS
    survival = summarize_survival(rules, X, times, table and table.of_model, least)
    shown, scores = rules, None
    if table is not None:
        shown, reached = survey(rules, table.rows, table.y, table.of_model)
    verdict = summarize_verdict(rules, shown, table, held_out_from, survival, least)
    if table is not None and orders_only(rules):
        # A score has no error against true values.
        table = table._replace(y=None)
    if table is not None:
        first = survival["scores"] if survival else []
        scores = summarize_scores(rules, reached, table, ensemble, first)
    if table is not None and rules.outcome.estimates_truth:
        # What follows compares single true values with predictions of means.
        table = table._replace(y=None)
    failures = None
    if table is not None and table.of_model is not None:
        failures = summarize_failures(rules, table, table.of_model)
    counted = "Training rows" if table is None else NEW_TO[held_out_from].capitalize()
    content = None if record is None else record.content(result, X, y)
    page: dict[str, Any] = {
        # As text, even if it looks like HTML.
        "title": printable(str(title or f"Rules for {rules.target}")),
        "version": __version__,
        "target": printable(rules.target),
        "facts": facts,
        "model": read_model_in_words(model, ensemble),
        "verdict": verdict,
        "warning": rules.about.get("warning"),
        "rules": summarize_rules(shown, counted, is_linked=True),
        "as_found": None if table is None else _as_found(rules),
        "held_out_from": held_out_from,
        "on_which": NEW_TO[held_out_from],
        "last_line": LAST_LINE[type(rules)],
        "family": record,
        "section": content,
        "scores": scores,
        "survival": survival,
        "interval": "draws" if survival and survival["of_draws"] else "interval",
        "decisions": summarize_decisions(rules, table, pos_label, threshold),
        "failures": failures,
        # A section reports its sizes itself.
        "path": None if record is not None else summarize_path(result, table),
        "history": summarize_history(result),
        "tree": _tree(result, table, row),
        "row": explained,
        "importances": None
        if record is not None
        else _importances(rules, table, model),
        "settings": _settings(result),
    }
    if record is not None:
        page |= _named(record, content, page)
    known = [rule.statistics for rule in shown]
    few = any(is_few(one.rows_assigned) or is_few(one.rows) for one in known)
    withheld = MIN_ROWS * (few and not show_rows)
    page |= {"words": words_of(page), "show_rows": show_rows, "withheld": withheld}
    return disclosed(page, show_rows)


def _summarize_alone(
    record: PageSection, result: Any, X: Any, y: Any, model: Any, title: str | None
) -> dict[str, Any]:
    """Content of the page of a result without rules."""
    from clearwood import __version__

    if model is not None:
        raise InputError(
            f"The page of {type_text(result)} compares it with no model; leave "
            "model out."
        )
    content = record.content(result, X, y)
    page = {
        "title": printable(str(title or content.get("title", record.title))),
        "version": __version__,
        "family": record,
        "section": content,
        "settings": _settings(result),
    }
    return page | _named(record, content, page)


def _named(
    record: PageSection, content: Any, page: Mapping[str, Any]
) -> dict[str, Any]:
    """Content of a section under its name, which no other part of the page has."""
    if record.name in page:
        raise InputError(
            f"A section of a page cannot be called {record.name!r}; rename it in its "
            "PageSection."
        )
    return {record.name: content}


def _ensemble_of(model: Any) -> TreeEnsemble | None:
    try:
        return None if model is None else read_ensemble(model)
    except ModelError:
        # Any model, or plain predictions, may be explained; only an ensemble has trees.
        return None


def _as_found(rules: RuleSet) -> dict[str, Any] | None:
    """The rules with their stored statistics, if they have some."""
    return None if math.isnan(rules.n_rows) else summarize_rules(rules, is_linked=True)


def _facts(
    rules: RuleSet, model: Any, ensemble: TreeEnsemble | None
) -> list[tuple[str, str]]:
    if ensemble is not None:
        facts = [
            ("Model", ensemble.source),
            ("Size", f"{ensemble.n_trees:,} trees, {ensemble.n_leaves:,} leaves"),
        ]
    else:
        name = read_model_in_words(model, None)
        facts = [] if name is None else [("Model", name)]
    if rules.statistic:
        facts.append(("Predicts", printable(rules.about["predicts"])))
    own = ("Thresholds", "cuts"), ("Stability", "stability")
    facts += [(name, printable(rules.about[k])) for name, k in own if k in rules.about]
    names = rules.features.names
    used = {c.feature for rule in rules for c in rule.conditions}
    facts.append(("Features", f"{len(names)}, of which the rules use {len(used)}"))
    facts.append(("Task", rules.outcome.in_words()))
    if not math.isnan(rules.n_rows):
        weight = f", weight {rules.total_weight:,.6g}"
        weighing = weight if rules.total_weight != rules.n_rows else ""
        facts.append(("Rules fitted to", f"{rules.n_rows:,.0f} rows{weighing}"))
    return facts


def _explained(result: Any, rules: RuleSet, row: Any) -> dict[str, Any] | None:
    """Explanation of one row's prediction, with its certainty."""
    if row is None:
        return None
    explanation = explain(result, row)
    if isinstance(explanation, list):
        raise InputError(f"row has {len(explanation)} rows; expected one.")
    rule = None if explanation.rule is None else rules[explanation.rule - 1]
    sure = ""
    if rule is not None and not rules.outcome.estimates_truth:
        sure = rules.outcome.expected_text(rule.statistics)
    return {"explanation": explanation, "sure": sure}


def _tree(result: Any, table: Table | None, row: Any) -> OfRows | None:
    """Diagram of a tree or list; None for other rules, or nodes of few rows."""
    if tree_of(result) is None:
        return None
    way = None if row is None else one_row(row)
    rows = known = None
    if table is not None:
        rows, known = table.rows, table.of_model if table.y is None else table.y
    tree = draw_tree(result, rows, known, row=way)
    if tree.dots and table is not None and table.y is None:
        tree = replace(tree, dots="mean prediction of the model")
    return OfRows(summarize_tree(tree), *(node.rows for node in tree.nodes))


def _importances(
    rules: RuleSet, table: Table | None, model: Any
) -> dict[str, Any] | None:
    """Permutation importances; None if the model cannot predict permuted rows."""
    if table is None or table.of_model is None or not hasattr(model, "predict"):
        return None
    # A matrix may have thousands of columns, each of which would be permuted.
    if is_matrix(table.for_model) or len(table.of_model) < FEWEST_SHUFFLED:
        return None
    tables = table.rows, table.for_model
    found = importances_of(rules, model, tables, 3, MOST_SHUFFLED)
    features = rules.features
    called = {name: features.shown(d) for d, name in enumerate(features.names)}
    return summarize_importances(found, called)


def _settings(result: Any) -> list[tuple[str, str]]:
    if isinstance(result, RuleSet):
        return [(k, str(v)) for k, v in result.about.items() if k != "warning"]
    settings: Any = getattr(result, "get_params", lambda deep: {})(deep=False)
    return [(name, setting_text(settings[name])) for name in sorted(settings)]


def setting_text(value: Any) -> str:
    """Text of a setting, the same in every run.

    Examples
    --------
    >>> setting_text(10), setting_text("fab")
    ('10', "'fab'")
    """
    # An object's address differs from run to run and carries no information.
    text = re.sub(r" at 0x[0-9A-Fa-f]+", "", repr(value))
    # A setting may be a whole tree in arrays.
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
